/*
 * Files on the volumes of I/O nodes. After each run e2fsck judges every image.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/guest.h"

TestSuite(volumes, .timeout = 600);

#define PROGRAM "guest/files"

static const struct volume_case {
    const char *dim, *name;
    int kilobytes, block_bytes;
} volume_cases[] = {
    {"0", "opens and closes", 1024, 1024},
    {"0", "reads and writes", 1024, 1024},
    {"0", "reads and writes", 8192, 4096},
    {"0", "truncates and appends", 1024, 1024},
    {"0", "appends move the offset", 1024, 1024},
    {"0", "describes", 1024, 1024},
    {"0", "serves stdio", 1024, 1024},
    {"0", "renames and links", 1024, 1024},
    {"0", "makes and removes folders", 1024, 1024},
    {"0", "lists", 1024, 1024},
    {"0", "many files", 4096, 1024},
    {"0", "many files", 8192, 4096},
    {"0", "all descriptors", 1024, 1024},
    {"0", "a big file", 2048, 1024},
    {"0", "a big file", 4096, 2048},
    {"0", "holes", 1024, 1024},
    {"0", "holes", 4096, 4096},
    {"0", "beyond 4 GB", 4096, 4096},
    {"0", "starts and ends", 1024, 1024},
    {"3", "own files", 4096, 1024},
    {"2", "one file", 2048, 1024},
    {"3", "appended records", 1024, 1024},
    {"0", "a full volume", 500, 1024},
    {"0", "a full volume", 1200, 4096},
};

DrawnRowTest(volumes, keep_files, volume_cases, 2)
{
    const struct volume_case *v = &volume_cases[*row];
    char *folder = folder_with_images(1, v->kilobytes, v->block_bytes), *machine = machine_file(folder, 3, 1, "");

    guest_must_pass(
        &(struct ncube_run){.dim = v->dim, .machine = machine, .program = PROGRAM, .args = {v->name, "//df00/"}});
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* One of 2 MB has room for less of a cache beside what concurrent service takes. */
static const char *const small_services[] = {"", "service = \"concurrent\";"};

RowTest(volumes, keep_files_on_small_nodes, small_services)
{
    char *folder = folder_with_images(2, 4096, 1024),
         *machine = machine_file_one_node(folder, 1, 2, small_services[*row], "ram_mb = 2;");

    for (int i = 0; i < 2; i++)
        guest_must_pass(&(struct ncube_run){
            .dim = "0", .machine = machine, .program = PROGRAM, .args = {i ? "many files" : "a big file", "//df01/"}});
    images_check(folder, 2);
    free(machine);
    folder_remove(folder);
}

Test(volumes, keep_files_that_the_program_has_not_closed)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");
    struct ncube_run r = {.machine = machine, .program = PROGRAM, .args = {"leaves open", "//df00/"}};

    guest_must_pass(&r);
    images_check(folder, 1);
    r.args[0] = "finds what was left";
    guest_must_pass(&r);
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

Test(volumes, are_several_file_systems)
{
    char *folder = folder_with_images(3, 512, 1024), *machine = machine_file(folder, 2, 3, "");
    struct ncube_run r = {.machine = machine, .program = PROGRAM, .args = {"other volume", "//df00/", "//df02/file"}};

    guest_must_pass(&r);
    r.args[1] = "//df01/", r.args[2] = "front-end";
    guest_must_pass(&r);
    images_check(folder, 3);
    free(machine);
    folder_remove(folder);
}

Test(volumes, that_do_not_exist_are_named)
{
    char *folder = folder_with_images(1, 512, 1024), *machine = machine_file(folder, 1, 1, "");

    outcome_must_be(
        ncube_run(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"no such volume", "//nosuch/"}}),
        "no such volume", 0, "passed\n", "//nosuch/file: No such file or directory\n");
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* ---- The host's view ---- */

static void debugfs(const char *folder, const char *request)
{
    char *image = format("%s/df00.img", folder);

    command_must_succeed((char *[]){"debugfs", "-w", "-R", (char *)request, image, NULL});
    free(image);
}

Test(volumes, give_files_to_the_host)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");
    char *dump = format("dump /text %s/text", folder);
    size_t bytes;

    guest_must_pass(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"serves stdio", "//df00/"}});
    debugfs(folder, dump);
    char *text = file_read(folder, "text", &bytes);
    cr_expect_eq(bytes, 8899, "%zu bytes", bytes);
    cr_expect(strncmp(text, "line 0\nline 1\n", 14) == 0 && strcmp(text + 8890, "appended\n") == 0, "%s", text);
    free(text);
    free(dump);
    free(machine);
    folder_remove(folder);
}

Test(volumes, take_files_from_the_host)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");
    char *write = format("write %s/left left", folder), *write_empty = format("write %s/left-empty left-empty", folder);

    guest_must_pass(&(struct ncube_run){.serve = folder, .program = PROGRAM, .args = {"leaves open", ""}});
    debugfs(folder, write);
    debugfs(folder, write_empty);
    guest_must_pass(
        &(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"finds what was left", "//df00/"}});
    images_check(folder, 1);
    free(write);
    free(write_empty);
    free(machine);
    folder_remove(folder);
}

/* ---- Ends ---- */

Test(volumes, stay_whole_when_a_program_faults)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "1", .machine = machine, .program = "guest/faults", .args = {"null load", "1"}});

    cr_expect_eq(o.status, 1, "status %d: %s", o.status, o.err);
    cr_expect_eq(count_lines(o.err), 1, "%s", o.err);
    images_check(folder, 1);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

/* Starts a program that syncs files and prints a line for each, and kills ncube some time after a number of lines.
 * Returns how many files the program had synced. */
static int cut_power(const char *machine, int signal_number, size_t after_files, int after_ms)
{
    struct command c =
        ncube_start(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"syncs", "//df00/"}});

    command_await_lines(&c, after_files);
    command_ends_within(&c, after_ms);
    kill(c.pid, signal_number);
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 128 + signal_number, "it ended before, status %d: %s", o.status, o.err);
    command_expect_nothing_left(&c, "power cut");
    int synced = (int)count_lines(o.out);
    outcome_free(&o);
    return synced;
}

static void repair(const char *folder)
{
    char *image = format("%s/df00.img", folder);
    struct outcome o = command_run((char *[]){"e2fsck", "-fp", image, NULL}, NULL);

    cr_expect_leq(o.status, 1, "e2fsck: %d: %s%s", o.status, o.out, o.err);
    outcome_free(&o);
    free(image);
}

Test(volumes, keep_what_was_synced_when_the_power_fails)
{
    static const struct {
        int signal_number, after_files, after_ms;
    } moments[] = {{SIGKILL, 0, 100}, {SIGTERM, 0, 200}, {SIGKILL, 1, 0}, {SIGKILL, 7, 3}, {SIGTERM, 20, 6}};

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        char *folder = folder_with_images(1, 8192, 1024), *machine = machine_file(folder, 1, 1, "");
        int files = cut_power(machine, moments[i].signal_number, moments[i].after_files, moments[i].after_ms);
        char *synced = format("%d", files);

        repair(folder);
        guest_must_pass(&(struct ncube_run){
            .machine = machine, .program = PROGRAM, .args = {"finds what was synced", "//df00/", synced}});
        images_check(folder, 1);
        free(synced);
        free(machine);
        folder_remove(folder);
    }
}

/* ---- Determinism ---- */

static void copy_image(const char *folder, const char *from, const char *to)
{
    command_must_succeed((char *[]){"cp", format("%s/%s", folder, from), format("%s/%s", folder, to), NULL});
}

Test(volumes, have_the_same_bytes_after_two_runs)
{
    char *folder = folder_with_images(1, 2048, 1024), *machine = machine_file(folder, 2, 1, "");
    struct ncube_run r = {.dim = "2", .machine = machine, .program = PROGRAM, .args = {"own files", "//df00/"}};

    copy_image(folder, "df00.img", "fresh.img");
    guest_must_pass(&r);
    copy_image(folder, "df00.img", "first.img");
    copy_image(folder, "fresh.img", "df00.img");
    r.on_cpu = "0";
    guest_must_pass(&r);
    command_must_succeed((char *[]){"cmp", format("%s/first.img", folder), format("%s/df00.img", folder), NULL});
    free(machine);
    folder_remove(folder);
}

/* ---- Damage ---- */

Test(volumes, that_are_damaged_are_refused_in_one_line)
{
    char *folder = folder_with_images(1, 512, 1024), *machine = machine_file(folder, 1, 1, "");

    debugfs(folder, "set_super_value free_blocks_count 4000000000");
    debugfs(folder, "set_super_value inodes_per_group 1");
    struct outcome o = ncube_run(&(struct ncube_run){.machine = machine, .program = "examples/hello"});
    cr_expect_eq(o.status, 1, "status %d: %s%s", o.status, o.out, o.err);
    cr_expect(count_lines(o.err) == 1 && strstr(o.err, "df00") != NULL, "%s", o.err);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

/* ---- Signals ---- */

Test(volumes, are_clean_after_a_signal_at_any_moment)
{
    static const struct {
        int signal_number, after_files, after_ms;
    } moments[] = {{SIGTERM, 0, 300}, {SIGINT, 1, 0}, {SIGTERM, 5, 7}, {SIGHUP, 12, 30}};

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        char *folder = folder_with_images(1, 8192, 1024), *machine = machine_file(folder, 1, 1, "");

        cut_power(machine, moments[i].signal_number, moments[i].after_files, moments[i].after_ms);
        images_check(folder, 1);
        free(machine);
        folder_remove(folder);
    }
}

/* ---- Where memory is scarce ---- */

static const struct scarce {
    const char *dim, *name;
    int ram_mb;
} scarce[] = {
    {"0", "all sizes", 2},    {"3", "all sizes", 2},    {"0", "all sizes", 4},    {"0", "all sizes", 8},
    {"0", "all sizes", 16},   {"0", "many at once", 2}, {"3", "many at once", 2}, {"3", "many at once", 4},
    {"3", "many at once", 8}, {"3", "floods", 2},       {"2", "many files", 2},   {"5", "opens in a flood", 4},
};

DrawnRowTest(volumes, are_served_whatever_a_client_asks_for, scarce, 2)
{
    const struct scarce *c = &scarce[*row];
    char *more = format("ram_mb = %d;", c->ram_mb), *folder = folder_with_images(1, 65536, 1024);
    char *machine = machine_file(folder, 5, 1, more);

    guest_must_pass(&(struct ncube_run){
        .dim = c->dim, .machine = machine, .program = "guest/starved", .args = {c->name, "//df00/"}});
    images_check(folder, 1);
    free(machine);
    free(more);
    folder_remove(folder);
}

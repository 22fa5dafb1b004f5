/* The same program and input give the same output, trace and virtual times, whatever the host does meanwhile. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/observe.h"

TestSuite(determinism, .timeout = 600);

static const struct ncube_run mixed = {.dim = "3", .program = "guest/clockwork"};

static void expect_as_undisturbed(struct ncube_run r, disturb_fn disturb, const char *how)
{
    struct observed plain = observe(mixed, NULL), other = observe(r, disturb);

    cr_expect_gt(plain.trace_bytes, 10000, "the trace is too short to tell");
    cr_expect_geq(count_lines(plain.out), 8, "the program says too little: %s", plain.out);
    observed_expect_same(&plain, &other, how);
    observed_free(&plain);
    observed_free(&other);
}

Test(determinism, holds_for_two_runs)
{
    expect_as_undisturbed(mixed, NULL, "again");
}

Test(determinism, holds_when_threads_change_their_processor)
{
    expect_as_undisturbed(mixed, disturb_by_moves, "with moves");
}

Test(determinism, holds_under_load)
{
    expect_as_undisturbed(mixed, disturb_by_load, "under load");
}

Test(determinism, holds_when_processes_are_stopped_now_and_then)
{
    expect_as_undisturbed(mixed, disturb_by_stops, "with stops");
}

static void expect_same_on_machines(const char *one, const char *other)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, one);
    struct ncube_run r = mixed;

    r.machine = machine;
    struct observed a = observe(r, NULL);
    free(machine);
    machine = machine_file(folder, 3, 0, other);
    r.machine = machine;
    struct observed b = observe(r, NULL);
    observed_expect_same(&a, &b, other);
    observed_free(&a);
    observed_free(&b);
    free(machine);
    folder_remove(folder);
}

Test(determinism, holds_for_any_number_of_cabinets)
{
    expect_same_on_machines("", "nodes_per_cabinet = 3;");
}

Test(determinism, is_no_accident_other_machines_differ)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, "cycles = { branch = 4; };");
    struct ncube_run r = mixed;

    r.machine = machine;
    struct observed slow = observe(r, NULL), plain = observe(mixed, NULL);
    cr_expect_str_neq(slow.out, plain.out);
    observed_free(&slow);
    observed_free(&plain);
    free(machine);
    folder_remove(folder);
}

/* Nor do options of which ncube's help says that the results are the same, or which look at a run. */
Test(determinism, does_not_depend_on_who_looks_on_and_how_the_host_executes_it)
{
    char *folder = folder_new();
    char *core = format("--core=%s", folder);
    const char *const options[] = {"--sync=strict",    "--cores=1", "--harts=threads", core,
                                   "--heartbeat=0.01", "--progress"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct ncube_run r = mixed;

        r.options[0] = options[i];
        expect_as_undisturbed(r, NULL, options[i]);
    }
    free(core);
    folder_remove(folder);
}

Test(determinism, does_not_depend_on_whether_it_is_recorded)
{
    struct observed recorded = observe(mixed, NULL);

    outcome_must_be(ncube_run(&mixed), "neither trace nor statistics", 0, recorded.out, "");
    observed_free(&recorded);
}

/* ---- Input ---- */

static struct observed observe_input_from_pipe(const char *text, int pause_ms)
{
    char *folder = folder_new(), *trace = format("%s/trace", folder);
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c =
        ncube_start_on(&(struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .trace = trace},
                       (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    for (; *text != '\0'; text++) {
        cr_assert_eq(write(ends[1], text, 1), 1);
        poll(NULL, 0, pause_ms);
    }
    close(ends[1]);
    struct observed seen = observe_end(&c, folder, "trace", false);
    free(trace);
    folder_remove(folder);
    return seen;
}

Test(determinism, does_not_depend_on_when_input_comes)
{
    const char *text = "one\ntwo and more\n\nthe last";
    struct observed file =
        observe((struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .input = text}, NULL);
    struct observed slow = observe_input_from_pipe(text, 15);

    observed_expect_same(&file, &slow, "input byte by byte");
    observed_free(&file);
    observed_free(&slow);
}

/* ---- Files of the front end ---- */

static void put_file(const char *folder, const char *name)
{
    static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    static char content[50000];
    char *path = format("%s/%s", folder, name);

    file_write(folder, name, content, sizeof content);
    cr_assert_eq(chmod(path, 0644), 0);
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

/* The same files in a folder of `base`, made in one of two orders, and served to a user with that umask. */
static struct observed observe_files(const char *base, bool backwards, mode_t mask)
{
    static const char *const names[] = {"cut", "old", "other"};
    char *folder = format("%s/ncube-test-XXXXXX", base);

    cr_assert_not_null(mkdtemp(folder));
    char *sub = format("%s/sub", folder);
    if (backwards)
        cr_assert_eq(mkdir(sub, 0755), 0);
    for (int i = 0; i < 3; i++)
        put_file(folder, names[backwards ? 2 - i : i]);
    if (!backwards)
        cr_assert_eq(mkdir(sub, 0755), 0);
    umask(mask);
    struct observed seen =
        observe((struct ncube_run){.program = "guest/described", .args = {"all"}, .serve = folder}, NULL);
    umask(022);
    free(sub);
    folder_remove(folder);
    return seen;
}

Test(determinism, holds_for_files_on_any_file_system)
{
    struct observed one = observe_files("/tmp", false, 0), other = observe_files("/dev/shm", true, 077);

    cr_expect_geq(count_lines(one.out), 20, "the program says too little: %s", one.out);
    observed_expect_same(&one, &other, "files on another file system");
    observed_free(&one);
    observed_free(&other);
}

Test(determinism, holds_for_the_times_of_files_written_just_before_the_start)
{
    for (int i = 0; i < 20; i++) {
        char *folder = folder_new(), *path = format("%s/fresh", folder);
        struct stat st;

        file_write(folder, "fresh", "x", 1);
        struct outcome o =
            ncube_run(&(struct ncube_run){.program = "guest/described", .args = {"times"}, .serve = folder});
        cr_assert_eq(stat(path, &st), 0);
        char *expected = format("%ld 0\npassed\n", (long)st.st_mtime);
        outcome_expect(&o, "times", 0, expected, "");
        free(expected);
        free(path);
        folder_remove(folder);
    }
}

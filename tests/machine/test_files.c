/* Files of the front end: a program works in the served folder, and reaches no other. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(files, .timeout = 600);

#define PROGRAM "guest/files"

static const struct file_case {
    const char *dim, *name;
} file_cases[] = {
    {"0", "appends move the offset"},
    {"0", "opens and closes"},
    {"0", "reads and writes"},
    {"0", "truncates and appends"},
    {"0", "describes"},
    {"0", "serves stdio"},
    {"0", "renames and links"},
    {"0", "lists"},
    {"0", "makes and removes folders"},
    {"0", "many files"},
    {"0", "all descriptors"},
    {"0", "a big file"},
    {"0", "holes"},
    {"0", "beyond 4 GB"},
    {"0", "starts and ends"},
    {"0", "starts at places"},
    {"3", "own files"},
    {"2", "one file"},
    {"3", "appended records"},
};

/* One after the other on one machine. */
Test(files, of_the_served_folder_work)
{
    struct booted b = booted_up(WORDS("-d", "3"));

    for (size_t i = 0; i < sizeof file_cases / sizeof *file_cases; i++) {
        const struct file_case *f = &file_cases[i];
        char *folder = folder_new();

        xnc_must_pass(&b,
                      &(struct ncube_run){.dim = f->dim, .serve = folder, .program = PROGRAM, .args = {f->name, ""}});
        folder_remove(folder);
    }
    booted_down(&b);
}

Test(files, are_kept_when_the_program_has_not_closed_them)
{
    char *folder = folder_new();
    struct ncube_run r = {.serve = folder, .program = PROGRAM, .args = {"leaves open", ""}};

    guest_must_pass(&r);
    r.args[0] = "finds what was left";
    guest_must_pass(&r);
    folder_remove(folder);
}

Test(files, are_the_hosts_files)
{
    char *folder = folder_new(), *hello = format("%s/hello", folder);
    size_t bytes;

    guest_must_pass(&(struct ncube_run){.serve = folder, .program = PROGRAM, .args = {"serves stdio", ""}});
    char *text = file_read(folder, "text", &bytes);
    cr_expect_eq(bytes, 8899, "%zu bytes", bytes);
    cr_expect(strncmp(text, "line 0\nline 1\n", 14) == 0, "%.14s", text);
    free(text);
    free(hello);
    folder_remove(folder);
}

/* ---- Elsewhere ---- */

/* A folder with a neighbour and with ways out of it. */
static char *make_trap(void)
{
    char *folder = folder_new(), *in = format("%s/in", folder), *out = format("%s/out", folder);

    cr_assert_eq(mkdir(in, 0755), 0);
    cr_assert_eq(mkdir(out, 0755), 0);
    file_write(out, "file", "secret", 6);
    file_write(in, "plain", "plain", 5);
    cr_assert_eq(symlink("../out", format("%s/relative", in)), 0);
    cr_assert_eq(symlink(out, format("%s/absolute", in)), 0);
    cr_assert_eq(symlink("..", format("%s/up", in)), 0);
    free(in);
    free(out);
    return folder;
}

static void expect_untouched(const char *folder, const char *prefix)
{
    char *out = format("%s/out", folder);
    size_t bytes;
    char *text = file_read(out, "file", &bytes);

    cr_expect_str_eq(text, "secret", "%s: %s", prefix, text);
    free(text);
    char *other = format("%s/other", out);
    cr_expect_neq(access(other, F_OK), 0, "%s: something was made outside", prefix);
    free(other);
    free(out);
}

static const struct {
    const char *prefix, *name; /* the case of the program */
} ways_out[] = {
    {"../out/", "nothing there"},   {"./../out/", "nothing there"},  {"relative/", "nothing there"},
    {"absolute/", "nothing there"}, {"up/out/", "nothing there"},    {"relative/../out/", "nothing there"},
    {"/etc/", "nothing there"},     {"/../out/", "nothing there"},   {NULL, "nothing there"},
    {"/", "above the root"},        {"../", "above the root"},       {"up/", "above the root"},
    {"/../../", "above the root"},  {"up/up/../", "above the root"},
};

/* NULL: the path of the file outside, as the host has it. */
Test(files, outside_the_served_folder_are_not_there)
{
    struct booted b = booted_up(WORDS("-d", "0"));

    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++) {
        char *folder = make_trap(), *in = format("%s/in", folder), *absolute = format("%s/out/", folder);
        const char *prefix = ways_out[i].prefix ? ways_out[i].prefix : absolute;

        xnc_must_pass(&b, &(struct ncube_run){.serve = in, .program = PROGRAM, .args = {ways_out[i].name, prefix}});
        expect_untouched(folder, prefix);
        free(absolute);
        free(in);
        folder_remove(folder);
    }
    booted_down(&b);
}

Test(files, are_refused_when_no_folder_is_served_and_once_told_why)
{
    static const char *const prefixes[] = {"./", "/home/", "any/"};

    for (int i = 0; i < 3; i++) {
        struct outcome o =
            ncube_run(&(struct ncube_run){.dim = "1", .program = PROGRAM, .args = {"permission denied", prefixes[i]}});
        char *told =
            format("ncube: %sfile is a file of the host, but no folder is served; give --serve DIR\n", prefixes[i]);

        outcome_expect(&o, prefixes[i], 0, "passed\n", told);
        cr_expect_str_eq(o.err, told, "told once");
        free(told);
        outcome_free(&o);
    }
}

/* Calls of POSIX beyond reading and writing, on the front end and on volumes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(posix, .timeout = 600);

#define PROGRAM "guest/posix"
#define PROCESS "guest/posix_process"

static const char *const file_cases[] = {
    "working directory", "names at directories", "symbolic links", "attributes",
    "sorted lists",      "several buffers",      "file systems",   "temporary files",
    "real paths",        "synchronous writes",   "polls",          "largest offset",
};

Test(posix, holds_for_files_of_the_front_end)
{
    struct booted b = booted_up(WORDS("-d", "0"));

    for (size_t i = 0; i < sizeof file_cases / sizeof *file_cases; i++) {
        char *folder = folder_new();

        xnc_must_pass(&b, &(struct ncube_run){.serve = folder, .program = PROGRAM, .args = {file_cases[i], "/"}});
        folder_remove(folder);
    }
    booted_down(&b);
}

RowTest(posix, holds_for_files_of_volumes, file_cases)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");

    guest_must_pass(&(struct ncube_run){
        .machine = machine, .serve = folder, .program = PROGRAM, .args = {file_cases[*row], "//df00/"}});
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

Test(posix, names_volumes_with_one_slash_too)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");

    guest_must_pass(
        &(struct ncube_run){.machine = machine, .serve = folder, .program = PROGRAM, .args = {"one slash"}});
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* The temporary files of the programs are in memory; of the folder only if it has a folder tmp. */
Test(posix, has_temporary_files_without_a_folder_and_in_a_folder_tmp)
{
    char *folder = folder_new(), *tmp = format("%s/tmp", folder);
    struct ncube_run r = {.dim = "2", .program = PROGRAM, .args = {"temporary files", "/"}};

    guest_must_pass(&r);
    r.serve = folder;
    guest_must_pass(&r);
    cr_expect_neq(access(tmp, F_OK), 0);
    cr_assert_eq(mkdir(tmp, 0755), 0);
    guest_must_pass(&r);
    r.args[0] = "leaves a temporary file";
    guest_must_pass(&r);
    char *left = format("%s/left", tmp);
    cr_expect_eq(access(left, F_OK), 0);
    free(left);
    free(tmp);
    folder_remove(folder);
}

static const struct {
    const char *dim, *name;
} process_cases[] = {
    {"0", "identity"}, {"2", "identity"}, {"0", "memory"},   {"0", "patterns"},      {"0", "lines"},
    {"0", "alarms"},   {"0", "selects"},  {"0", "no shell"}, {"0", "left handlers"}, {"0", "group"},
    {"0", "wait3"},    {"0", "locks"},    {"1", "locks"},    {"0", "locale"},        {"2", "devices"},
};

RowTest(posix, holds_for_processes, process_cases)
{
    guest_must_pass(&(struct ncube_run){
        .dim = process_cases[*row].dim, .program = PROCESS, .args = {process_cases[*row].name, "/"}});
}

static const struct {
    const char *dim, *name;
} fatal_alarms[] = {{"0", "alarm ends computing"}, {"2", "alarm ends computing"}, {"2", "alarm ends waiting"}};

RowTest(posix, alarms_that_nobody_catches_end_the_program, fatal_alarms)
{
    outcome_must_be(ncube_run(&(struct ncube_run){
                        .dim = fatal_alarms[*row].dim, .program = PROCESS, .args = {fatal_alarms[*row].name, "/"}}),
                    fatal_alarms[*row].name, 142, "", "ended by its own signal 14 (SIGALRM)");
}

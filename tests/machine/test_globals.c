/* Calls of all nodes, and types of 16 bits: their results, their separation from other messages, and the report when
 * one node does not make the call. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/command.h"

TestSuite(globals, .timeout = 600);

#define PROGRAM "guest/globals"

static const char *const dims[] = {"0", "1", "2", "3", "5"};
static const char *const self_tests[] = {
    "operations", "same everywhere", "broadcasts", "wildcards see no others", "types of others are free", "all types",
    "ranges",     "other ways",      "groups",     "group barriers",
};

ParameterizedTestParameters(globals, work_on_all_cubes)
{
    return TABLE_ROWS(self_tests);
}

ParameterizedTest(size_t *row, globals, work_on_all_cubes)
{
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        guest_must_pass(&(struct ncube_run){.dim = dims[d], .program = PROGRAM, .args = {self_tests[*row]}});
}

ParameterizedTestParameters(globals, have_one_trace)
{
    return TABLE_ROWS(self_tests);
}

ParameterizedTest(size_t *row, globals, have_one_trace)
{
    char *folder = folder_new();

    guest_must_repeat(&(struct ncube_run){.dim = "3", .program = PROGRAM, .args = {self_tests[*row]}}, folder);
    folder_remove(folder);
}

/* Runs in which one of several nodes does not make the call. */
static const struct end {
    const char *name, *dim, *faults;
    int status;
    const char *err;
} ends[] = {
    {"one has ended", "2", "", 125, "node 2 waits in isumn for node 3\n"},
    {"another call", "2", "", 125, "waits in isumn for node 0\n"},
    {"one in nsync", "2", "", 125, "waits in nsync of type 64769 for node 1\n"},
    {"lost", "2", "{ node = 3; from_us = 200000; }", 123, "node 3 has been dead since 0.200000 s"},
    {"lost", "2", "{ node = 3; from_us = 200000; until_us = 400000; }", 125,
     "  node 3 was dead from 0.200000 s to 0.400000 s\n"},
    {"lost", "2", "{ link = [0, 0]; from_us = 200000; until_us = 400000; }", 125, "each waits in isumn for node 0\n"},
    {"lost broadcast", "1", "{ parity = 1500; link = [0, 0]; from_us = 200000; }", 134, "nbrdcst: node 1 and node 0: "},
};

ParameterizedTestParameters(globals, name_who_is_missing)
{
    return TABLE_ROWS(ends);
}

ParameterizedTest(size_t *row, globals, name_who_is_missing)
{
    const struct end *e = &ends[*row];
    char *folder = folder_new(), *more = format("faults = ( %s );\n", e->faults);
    char *machine = machine_file(folder, 2, 0, more);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = e->dim, .machine = machine, .program = PROGRAM, .args = {e->name}});

    outcome_expect(&o, e->name, e->status, NULL, e->err);
    outcome_free(&o);
    free(machine);
    free(more);
    folder_remove(folder);
}

Test(globals, nperror_has_the_last_error)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "0", .program = PROGRAM, .args = {"errors"}});

    outcome_expect(&o, "errors", 0, "passed\n",
                   "nothing yet: no error\nnwrite: invalid argument\ntry again\ninvalid argument\n"
                   "nsync: invalid argument\n");
    outcome_free(&o);
}

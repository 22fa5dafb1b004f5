/* Calls of all nodes, and types of 16 bits: their results, their separation from other messages, and the report when
 * one node does not make the call. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(globals, .timeout = 600);

#define PROGRAM "guest/globals"

static const char *const dims[] = {"0", "1", "2", "5"}; /* and "3" in have_one_trace */
static const char *const self_tests[] = {
    "operations", "same everywhere", "broadcasts", "wildcards see no others", "types of others are free", "all types",
    "ranges",     "other ways",      "groups",     "group barriers",
};

/* One after the other on one machine. */
Test(globals, work_on_all_cubes)
{
    struct booted b = booted_up(WORDS("-d", "5"));

    for (size_t i = 0; i < sizeof self_tests / sizeof *self_tests; i++)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
            xnc_must_pass(&b, &(struct ncube_run){.dim = dims[d], .program = PROGRAM, .args = {self_tests[i]}});
    booted_down(&b);
}

DrawnRowTest(globals, have_one_trace, self_tests, 2)
{
    guest_must_repeat(&(struct ncube_run){.dim = "3", .program = PROGRAM, .args = {self_tests[*row]}});
}

/* On nodes with little memory, and without the network's broadcast, too. */
Test(globals, wait_for_a_late_node)
{
    static const char *const more[] = {"ram_mb = 2;\n",
                                       "ram_mb = 2;\nfaults = ( { link = [0, 0]; from_us = 900000000; } );\n"};

    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char *folder = folder_new(), *machine = machine_file(folder, 3, 0, more[i]);

        outcome_must_be(
            ncube_run(&(struct ncube_run){.dim = "3", .machine = machine, .program = PROGRAM, .args = {"late node"}}),
            more[i], 0, "late\npassed\n", "");
        free(machine);
        folder_remove(folder);
    }
}

/* Runs in which one of several nodes does not make the call. */
static const struct end {
    struct guest_end end;
    const char *faults;
} ends[] = {
    {{"2", "one has ended", 125, NULL, "node 2 waits in isumn for node 3\n"}, NULL},
    {{"2", "another call", 125, NULL, "waits in isumn for node 0\n"}, NULL},
    {{"2", "one in nsync", 125, NULL, "waits in nsync of type 64769 for node 1\n"}, NULL},
    {{"2", "lost", 123, NULL, "node 3 has been dead since 0.200000 s"}, "{ node = 3; from_us = 200000; }"},
    {{"2", "lost", 125, NULL, "  node 3 was dead from 0.200000 s to 0.400000 s\n"},
     "{ node = 3; from_us = 200000; until_us = 400000; }"},
    {{"2", "lost", 125, NULL, "each waits in isumn for node 0\n"},
     "{ link = [0, 0]; from_us = 200000; until_us = 400000; }"},
    {{"1", "lost broadcast", 134, NULL, "nbrdcst: node 1 and node 0: "},
     "{ parity = 1500; link = [0, 0]; from_us = 200000; }"},
};

RowTest(globals, name_who_is_missing, ends)
{
    guest_must_end(PROGRAM, &ends[*row].end, NULL, ends[*row].faults);
}

Test(globals, nperror_has_the_last_error)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "0", .program = PROGRAM, .args = {"errors"}}), "errors", 0,
                    "passed\n",
                    "nothing yet: no error\nnwrite: invalid argument\ntry again\ninvalid argument\n"
                    "nsync: invalid argument\n");
}

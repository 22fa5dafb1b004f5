/* Numbers of nodes that are no powers of two: a program has nodes 0 .. n-1, and nothing else of its subcube. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(odd, .timeout = 600);

static const struct row {
    const char *program, *name, *prefix; /* of files; NULL: the case has none */
} rows[] = {
    {"guest/odd", "numbers", NULL},
    {"guest/odd", "messages to all", NULL},
    {"guest/odd", "nobody behind", NULL},
    {"guest/globals", "operations", NULL},
    {"guest/globals", "broadcasts", NULL},
    {"guest/globals", "other ways", NULL},
    {"guest/globals", "group barriers", NULL},
    {"guest/groups", "odd sets", NULL},
    {"guest/groups", "subcubes", NULL},
    {"guest/groups", "overlapping", NULL},
    {"guest/groups3", "odd sets", NULL},
    {"guest/groups3", "overlapping", NULL},
    {"guest/endpoints", "all", NULL},
    {"guest/endpoints3", "all", NULL},
    {"guest/global_io", "all", "/"},
    {"guest/global_io", "mapped", "/"},
};

RowTest(odd, keep_the_promises_of_cubes, rows)
{
    static const char *const numbers[] = {"--nodes=3", "--nodes=5", "--nodes=6", "--nodes=7"};
    const struct row *r = &rows[*row];
    char *folder = folder_new();
    size_t most = strchr(r->program, '3') ? 2 : sizeof numbers / sizeof *numbers; /* three processes on each node */

    for (size_t i = *row % 2; i < most; i += 2) /* each number with every other row */
        guest_must_pass(&(struct ncube_run){
            .options = {numbers[i]}, .serve = folder, .program = r->program, .args = {r->name, r->prefix}});
    folder_remove(folder);
}

Test(odd, have_one_trace)
{
    guest_must_repeat(
        &(struct ncube_run){.options = {"--nodes=5"}, .program = "guest/globals", .args = {"operations"}});
}

Test(odd, programs_share_a_subcube)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.options = {"--nodes=2"},
                                                  .program = "guest/odd",
                                                  .args = {"counts", ":", "-n", "1", "guest/odd", "counts"}}),
                    "2 and 1", 0, "3 nodes\n", "");
}

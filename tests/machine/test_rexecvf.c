/* Programs that a program loads with descriptors of their own, ends of pipes among them: tests/guest/rexecvf.c. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(rexecvf, .timeout = 600);

#define PROGRAM "guest/rexecvf"

static const char *const cases[] = {
    "writer first", "reader first", "many",    "in the middle", "nobody reads", "nobody writes", "rest at the end",
    "reads itself", "unused ends",  "numbers", "files",         "errors",       "loads loaders",
};

DrawnRowTest(rexecvf, does, cases, 2)
{
    char *folder = folder_with_programs(PROGRAM);

    guest_must_pass(&(struct ncube_run){.dim = "3", .serve = folder, .program = PROGRAM, .args = {cases[*row]}});
    folder_remove(folder);
}

DrawnRowTest(rexecvf, repeats, cases, 2)
{
    char *folder = folder_with_programs(PROGRAM);

    guest_must_repeat(&(struct ncube_run){.dim = "3", .serve = folder, .program = PROGRAM, .args = {cases[*row]}});
    folder_remove(folder);
}

Test(rexecvf, works_in_a_pipeline)
{
    char *folder = folder_with_programs(PROGRAM);

    outcome_must_be(ncube_run(&(struct ncube_run){
                        .dim = "2", .serve = folder, .program = PROGRAM, .args = {"stage", "|", "examples/wc", "-c"}}),
                    "a stage", 0, "0\n", "a pipe of several nodes: say who writes what");
    folder_remove(folder);
}

Test(rexecvf, reports_an_end_that_nobody_gets)
{
    char *folder = folder_with_programs(PROGRAM);

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = "3", .serve = folder, .program = PROGRAM, .args = {"waits for a holder"}}),
        "deadlock", 125, "", "PEs 0-3 of rexecvf: each waits for a program at the other end of pipe 64");
    folder_remove(folder);
}

/* Mapped descriptors [P1 2.6] on the front end and on a volume: one file, written by all nodes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(mapped, .timeout = 600);

static const struct row {
    const char *dim;
    const char *args[4]; /* case; behind the prefix: pattern, size */
} rows[] = {
    {"1", {"calls"}},
    {"2", {"streams"}},
    {"0", {"shared file", "cyclic 1000 1", "9999"}},
    {"0", {"shared file", "cyclic 1000 1 +7", "9999"}},
    {"2", {"shared file", "cyclic 1024 4", "30000"}},
    {"2", {"shared file", "cyclic 1 4 +5", "3001"}},
    {"3", {"shared file", "array 50x60x8 block,block on 2x4", "24000"}},
    {"2", {"shared file", "array 31x37x3 cyclic(5),* on 4x1", "3441"}},
    {"3", {"shared file", "array 7x9x11x2 cyclic,block,cyclic(3) on 2x2x2", "1386"}},
    {"2", {"shared file", "bits p1-0 o9-0", "4096"}},
    {"1", {"shared file", "bits o3-0 p0-0 o8-4", "4096"}},
    {"2", {"shared file", "falls 16 (0,1,8,2,2,4)", "20000"}},
};

static void run_row(const struct row *row, const char *prefix, const char *machine, const char *folder)
{
    guest_must_pass(&(struct ncube_run){.dim = row->dim,
                                        .machine = machine,
                                        .serve = folder,
                                        .program = "guest/mapped",
                                        .args = {row->args[0], prefix, row->args[1], row->args[2]}});
}

RowTest(mapped, hold_for_files_of_the_front_end, rows)
{
    char *folder = folder_new();

    run_row(&rows[*row], "/", NULL, folder);
    folder_remove(folder);
}

RowTest(mapped, hold_for_files_of_volumes, rows)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 3, 1, "");

    run_row(&rows[*row], "//df00/", machine, folder);
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* [P1 1.1]: a program of one node does not pay for what it does not use. */
Test(mapped, costs_little_where_one_node_has_all)
{
    char *folder = folder_new();
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "0", .serve = folder, .program = "guest/transparency", .args = {"mapped", "/"}});
    long cycles = 0;

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_assert_eq(sscanf(o.out, "mapped write, beside a plain one: %ld", &cycles), 1, "%s", o.out);
    cr_expect_leq(cycles, 300, "%ld cycles", cycles);
    outcome_free(&o);
    folder_remove(folder);
}

/* File servers that are slow, and some that die: whom a node waits for, and how long. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(patience, .timeout = 600);

#define VOLUMES 4
#define DEATHS(from_us) \
    "faults = ( { io_node = [3, 1]; from_us = " from_us "; }, { io_node = [3, 2]; from_us = " from_us "; } );\n"

static const struct row {
    const char *name, *faults, *program; /* NULL: guest/patience */
} rows[] = {
    {"slow", "", NULL},
    {"queued", "", NULL},
    {"dead", DEATHS("500000"), NULL},
    {"dying", DEATHS("2500000"), NULL},
    {"dead volumes", DEATHS("2500000"), NULL},
    {"dying volumes", DEATHS("2500000"), NULL},
    {"gone", DEATHS("2500000"), "guest/patience2"},
};

static char *patient_machine(const char *folder, const char *faults)
{
    char *more = format("server_limit_s = 1;\n%s", faults), *machine = machine_file(folder, 3, VOLUMES, more);

    free(more);
    return machine;
}

RowTest(patience, is_for_servers_that_work, rows)
{
    const struct row *r = &rows[*row];
    char *folder = folder_with_images(VOLUMES, 4096, 1024), *machine = patient_machine(folder, r->faults);
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "2", .machine = machine, .program = r->program ? r->program : "guest/patience", .args = {r->name}});

    cr_expect_str_eq(o.out, "passed\n", "%s: %s%s", r->name, o.out, o.err);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

static char *dying_machine(const char *folder, int volumes)
{
    (void)volumes;
    return patient_machine(folder, DEATHS("2500000"));
}

Test(patience, repeats_every_event)
{
    const struct images_of_test images = {VOLUMES, 4096, 1024, dying_machine};

    ncube_must_repeat_on(
        &images,
        (struct ncube_run){.dim = "2", .program = "guest/patience", .args = {"dead volumes"}, .may_fail = true},
        "passed\n");
}

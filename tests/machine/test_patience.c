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

static struct outcome run_row(const struct row *r, const char *folder, const char *option, char *trace)
{
    char *more = format("server_limit_s = 1;\n%s", r->faults), *machine = machine_file(folder, 3, VOLUMES, more);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2",
                                                     .machine = machine,
                                                     .program = r->program ? r->program : "guest/patience",
                                                     .args = {r->name},
                                                     .trace = trace,
                                                     .options = {option}});

    free(machine);
    free(more);
    return o;
}

ParameterizedTestParameters(patience, is_for_servers_that_work)
{
    return TABLE_ROWS(rows);
}

ParameterizedTest(size_t *row, patience, is_for_servers_that_work)
{
    char *folder = folder_with_images(VOLUMES, 4096, 1024);
    struct outcome o = run_row(&rows[*row], folder, NULL, NULL);

    cr_expect_str_eq(o.out, "passed\n", "%s: %s%s", rows[*row].name, o.out, o.err);
    outcome_free(&o);
    folder_remove(folder);
}

/* Images differ after a run, so each run has its own. */
Test(patience, repeats_every_event)
{
    static const char *const sync[] = {"--sync=ahead", "--sync=strict"};
    struct first_trace first = {NULL, 0};

    for (int i = 0; i < 2; i++) {
        char *folder = folder_with_images(VOLUMES, 4096, 1024), *path = format("%s/trace", folder);
        struct outcome o = run_row(&rows[4], folder, sync[i], path);

        cr_expect_str_eq(o.out, "passed\n", "%s", o.err);
        trace_must_repeat(&first, folder, sync[i]);
        outcome_free(&o);
        free(path);
        folder_remove(folder);
    }
    free(first.text);
}

/*
 * Seven drives on the controller of one I/O node: in-order and concurrent service.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"

TestSuite(drives, .timeout = 120);

#define DRIVES 7

/* A machine file in the folder: 8 nodes, and one I/O node with all drives. */
static char *one_io_node(const char *folder, const char *more)
{
    char *path = format("%s/machine.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = 3;\nboards = ( { number = 0; io_nodes = ( { index = 0; %s\n    drives = (", more);
    for (int i = 0; i < DRIVES; i++)
        fprintf(f, "%s{ volume = \"df%02d\"; image = \"df%02d.img\"; }", i == 0 ? "" : ", ", i, i);
    fprintf(f, "); }); });\n");
    cr_assert_eq(fclose(f), 0);
    return path;
}

static const struct drives_case {
    const char *name, *service;
} drives_cases[] = {
    {"in turn", ""},
    {"all at once", "service = \"concurrent\";"},
    {"mixed", ""},
    {"mixed", "service = \"concurrent\";"},
};

ParameterizedTestParameters(drives, work_in_turn_or_at_once)
{
    return TABLE_ROWS(drives_cases);
}

ParameterizedTest(size_t *row, drives, work_in_turn_or_at_once)
{
    const struct drives_case *c = &drives_cases[*row];
    char *folder = folder_with_images(DRIVES, 2048, 1024), *machine = one_io_node(folder, c->service);

    guest_must_pass(&(struct ncube_run){.dim = "3", .machine = machine, .program = "guest/drives", .args = {c->name}});
    images_check(folder, DRIVES);
    free(machine);
    folder_remove(folder);
}

/* Images differ after a run, so each run has its own. */
Test(drives, repeat_every_event_when_they_work_at_once)
{
    static const char *const sync[] = {"--sync=ahead", "--sync=ahead", "--sync=strict"};
    char *first = NULL;
    size_t first_bytes = 0, bytes;

    for (int i = 0; i < 3; i++) {
        char *folder = folder_with_images(DRIVES, 2048, 1024);
        char *machine = one_io_node(folder, "service = \"concurrent\";"), *path = format("%s/trace", folder);

        guest_must_pass(&(struct ncube_run){.dim = "3",
                                            .machine = machine,
                                            .program = "guest/drives",
                                            .args = {"mixed"},
                                            .trace = path,
                                            .options = {sync[i]}});
        char *trace = file_read(folder, "trace", &bytes);
        cr_expect(first == NULL || (bytes == first_bytes && memcmp(trace, first, bytes) == 0), "%s: another trace",
                  sync[i]);
        if (first == NULL)
            first = trace, first_bytes = bytes;
        else
            free(trace);
        free(path);
        free(machine);
        folder_remove(folder);
    }
    free(first);
}

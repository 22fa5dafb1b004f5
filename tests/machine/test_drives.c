/*
 * Seven drives on the controller of one I/O node: in-order and concurrent service.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(drives, .timeout = 600);

#define DRIVES 7

static const struct drives_case {
    const char *name, *service;
} drives_cases[] = {
    {"in turn", ""},
    {"all at once", "service = \"concurrent\";"},
    {"mixed", ""},
    {"mixed", "service = \"concurrent\";"},
};

RowTest(drives, work_in_turn_or_at_once, drives_cases)
{
    const struct drives_case *c = &drives_cases[*row];
    char *folder = folder_with_images(DRIVES, 2048, 1024),
         *machine = machine_file_one_node(folder, 3, DRIVES, c->service, "");

    guest_must_pass(&(struct ncube_run){.dim = "3", .machine = machine, .program = "guest/drives", .args = {c->name}});
    images_check(folder, DRIVES);
    free(machine);
    folder_remove(folder);
}

static char *concurrent_machine(const char *folder, int drives)
{
    return machine_file_one_node(folder, 3, drives, "service = \"concurrent\";", "");
}

Test(drives, repeat_every_event_when_they_work_at_once)
{
    const struct images_of_test images = {DRIVES, 2048, 1024, concurrent_machine};

    ncube_must_repeat_on(&images, (struct ncube_run){.dim = "3", .program = "guest/drives", .args = {"mixed"}},
                         "passed\n");
}

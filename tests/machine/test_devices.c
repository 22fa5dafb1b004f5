/* nDEVICES [P1 2.3]: drivers in programs, and copies of descriptors, on the front end and on volumes. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(devices, .timeout = 600);

static const char *const cases[] = {
    "own device", "missing functions", "order of devices",   "copies", "redirected output", "copies of devices",
    "flags",      "all descriptors",   "cost of the switch",
};

RowTest(devices, hold_for_files_of_the_front_end, cases)
{
    char *folder = folder_new();

    guest_must_pass(&(struct ncube_run){.serve = folder, .program = "guest/devices", .args = {cases[*row], "/"}});
    folder_remove(folder);
}

RowTest(devices, hold_for_files_of_volumes, cases)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 1, 1, "");

    guest_must_pass(&(struct ncube_run){
        .machine = machine, .serve = folder, .program = "guest/devices", .args = {cases[*row], "//df00/"}});
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* nDEVICES [P1 2.3]: drivers in programs, and copies of descriptors, on the front end and on volumes. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(devices, .timeout = 600);

static const char *const cases[] = {
    "own device", "missing functions", "order of devices",   "copies", "redirected output", "copies of devices",
    "flags",      "all descriptors",   "cost of the switch",
};

Test(devices, hold_for_files_of_the_front_end)
{
    struct booted b = booted_up(WORDS("-d", "0"));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_new();

        xnc_must_pass(&b, &(struct ncube_run){.serve = folder, .program = "guest/devices", .args = {cases[i], "/"}});
        folder_remove(folder);
    }
    booted_down(&b);
}

/* All on one volume, one after the other. */
Test(devices, hold_for_files_of_volumes)
{
    char *images = folder_with_images(1, 1024, 1024), *machine = machine_file(images, 1, 1, "");
    struct booted b = booted_up(WORDS(machine));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_new();

        xnc_must_pass(&b,
                      &(struct ncube_run){.serve = folder, .program = "guest/devices", .args = {cases[i], "//df00/"}});
        folder_remove(folder);
    }
    booted_down(&b);
    images_check(images, 1);
    free(machine);
    folder_remove(images);
}

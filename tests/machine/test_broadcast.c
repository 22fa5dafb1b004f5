/* Broadcasts of the hardware, and what Vertex does where there are none. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(broadcast, .timeout = 600);

static const struct broadcast_case {
    const char *dim, *name, *machine;
} broadcast_cases[] = {
    {"0", "times", NULL},
    {"1", "times", NULL},
    {"4", "times", NULL},
    {"0", "order", NULL},
    {"2", "order", NULL},
    {"4", "order", NULL},
    {"3", "order", "dim = 4;\n"},
    {"3", "order", "dim = 3; faults = ( { link = [0, 0]; from_us = 100000000; } );\n"}, /* by single messages */
};

RowTest(broadcast, works, broadcast_cases)
{
    const struct broadcast_case *b = &broadcast_cases[*row];
    char *folder = folder_new(), *machine = format("%s/m.conf", folder);
    struct ncube_run r = {.dim = b->dim, .program = "guest/broadcast", .args = {b->name}};

    if (b->machine != NULL) {
        file_write(folder, "m.conf", b->machine, strlen(b->machine));
        r.machine = machine;
    }
    guest_must_pass(&r);
    free(machine);
    folder_remove(folder);
}

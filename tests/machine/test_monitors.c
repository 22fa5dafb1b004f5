/* The published service times [P0 section 3], as the monitor programs see them in the machine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"

/* Exact: 45 cycles a hop and 9 a byte; [P0] measured 1854, 3697, 7384 and 15. */
Test(monitors, see_the_network_take_its_time)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "5", .program = "examples/netmon"});

    outcome_expect(&o, "netmon", 0,
                   "netmon hops=5 bytes=4096 us=1854.45\n"
                   "netmon hops=5 bytes=8192 us=3697.65\n"
                   "netmon hops=5 bytes=16384 us=7384.05\n"
                   "netmon hops=5 bytes=8 us=14.85\n",
                   "");
    outcome_free(&o);
}

static const struct {
    const char *line;
    double published_us;
} writes[] = {
    {"diskmon op=write bytes=4096 us=", 17300},
    {"diskmon op=write bytes=8192 us=", 19500},
    {"diskmon op=write bytes=16384 us=", 20500},
};

Test(monitors, see_an_nsdisk_take_its_time)
{
    char *folder = folder_with_images(1, 8192, 1024), *machine = machine_file(folder, 3, 1, "");
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "0", .machine = machine, .program = "examples/diskmon", .args = {"df00"}});

    outcome_expect(&o, "diskmon", 0, NULL, "");
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        const char *at = strstr(o.out, writes[i].line);
        cr_assert_not_null(at, "%s: %s", writes[i].line, o.out);
        double us = strtod(at + strlen(writes[i].line), NULL);
        cr_expect_lt(fabs(us / writes[i].published_us - 1), 0.05, "%s%.1f, published %.0f", writes[i].line, us,
                     writes[i].published_us);
    }
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

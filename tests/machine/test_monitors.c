/* The published times [P0 section 3], as the monitor programs see them in the machine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

/* Exact: 45 cycles a hop and 9 a byte; [P0] measured 1854, 3697, 7384 and 15. */
Test(monitors, see_the_network_take_its_time)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "5", .program = "examples/netmon"}), "netmon", 0,
                    "netmon hops=5 bytes=4096 us=1854.45\n"
                    "netmon hops=5 bytes=8192 us=3697.65\n"
                    "netmon hops=5 bytes=16384 us=7384.05\n"
                    "netmon hops=5 bytes=8 us=14.85\n",
                    "");
}

static const struct {
    const char *line;
    double disk_us, cpu_us; /* published */
} writes[] = {
    {"diskmon op=write bytes=4096 us=", 17300, 800},
    {"diskmon op=write bytes=8192 us=", 19500, 1065},
    {"diskmon op=write bytes=16384 us=", 20500, 1820},
};

/* Runs diskmon on a machine with one volume and these lines in its file. The processor's time must be within cpu_most
 * of the published time. */
static void see_disk(const char *more, double cpu_most)
{
    char *folder = folder_with_images(1, 8192, 1024), *machine = machine_file(folder, 3, 1, more);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "0", .machine = machine, .program = "examples/diskmon", .args = {"df00"}});

    outcome_expect(&o, "diskmon", 0, NULL, "");
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        const char *at = strstr(o.out, writes[i].line);
        double disk_us, cpu_us;

        cr_assert_not_null(at, "%s: %s", writes[i].line, o.out);
        cr_assert_eq(sscanf(at + strlen(writes[i].line), "%lf cpu_us=%lf", &disk_us, &cpu_us), 2, "%s", at);
        cr_expect_lt(fabs(disk_us / writes[i].disk_us - 1), 0.05, "%s%.1f, published %.0f", writes[i].line, disk_us,
                     writes[i].disk_us);
        cr_expect_lt(fabs(cpu_us / writes[i].cpu_us - 1), cpu_most, "%scpu_us=%.1f, published %.0f", writes[i].line,
                     cpu_us, writes[i].cpu_us);
    }
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

Test(monitors, say_when_the_volume_is_full)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 3, 1, "");

    outcome_must_be(
        ncube_run(&(struct ncube_run){
            .dim = "0", .machine = machine, .program = "examples/diskmon", .args = {"df00", "pauses=100,72", "32768"}}),
        "diskmon", 1, NULL, "diskmon: /diskmon-32768: No space left on device: //df00/diskmon-32768\n");
    free(machine);
    folder_remove(folder);
}

Test(monitors, see_an_nsdisk_take_its_time)
{
    see_disk("", 0.10);
}

Test(monitors, see_the_processor_of_1992_take_its_time)
{
    see_disk("timing = \"wang-leiss\";\n", 0.10);
}

Test(monitors, see_messages_of_1992_start_up_in_160_us)
{
    char *folder = folder_with_images(1, 8192, 1024),
         *machine = machine_file(folder, 3, 1, "timing = \"wang-leiss\";\n");

    guest_must_pass(
        &(struct ncube_run){.dim = "1", .machine = machine, .program = "guest/measure", .args = {"start-up of 1992"}});
    free(machine);
    folder_remove(folder);
}

/* ---- The iPSC/860 ---- */

/* Exact: 240 cycles a hop and 7 a byte, with the header of 8 bytes. */
Test(monitors, see_the_network_of_an_ipsc_860)
{
    char *folder = folder_new(), *machine = machine_file(folder, 5, 0, "timing = \"ipsc-860\";\n");

    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "5", .machine = machine, .program = "examples/netmon"}),
                    "netmon", 0,
                    "netmon hops=5 bytes=4096 us=1493.60\n"
                    "netmon hops=5 bytes=8192 us=2927.20\n"
                    "netmon hops=5 bytes=16384 us=5794.40\n"
                    "netmon hops=5 bytes=8 us=62.80\n",
                    "");
    free(machine);
    folder_remove(folder);
}

Test(monitors, see_an_ipsc_860_reach_the_rates_of_table_2)
{
    char *folder = folder_new(), *machine = machine_file(folder, 7, 0, "timing = \"ipsc-860\";\n");

    guest_must_pass(
        &(struct ncube_run){.dim = "7", .machine = machine, .program = "guest/measure", .args = {"table 2"}});
    free(machine);
    folder_remove(folder);
}

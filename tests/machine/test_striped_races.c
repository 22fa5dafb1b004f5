/*
 * Every pair of calls that change names of a striped volume, made by the nodes of a cube at about the same time
 * (tests/guest/striped_races.c). Then e2fsck judges every image.
 *
 * RACES_SEED=n takes every pair with 64 nodes, which begin at other moments for each n (make striped-races).
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(striped_races, .timeout = 7200);

#define VOLUMES 3
#define STRIPED "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\", \"df02\"]; map = \"cyclic 1000 3\"; } );\n"

static const struct part {
    const char *dim;
    int first, every; /* of the races */
} parts[] = {{"3", 0, 2}, {"3", 1, 2}, {"6", 5, 17}};

DrawnRowTest(striped_races, have_results_that_some_order_explains, parts, 2)
{
    const char *seed = getenv("RACES_SEED");
    struct part p = parts[*row];

    if (seed)
        p = (struct part){"6", (int)*row, sizeof parts / sizeof *parts};
    char *first = format("%d", p.first), *every = format("%d", p.every);
    char *folder = folder_with_images(VOLUMES, 4096, 1024), *machine = machine_file(folder, 6, VOLUMES, STRIPED);
    guest_must_pass(&(struct ncube_run){.dim = p.dim,
                                        .machine = machine,
                                        .program = "guest/striped_races",
                                        .args = {"//big/", first, every, seed ? seed : "1"}});
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
    free(every);
    free(first);
}

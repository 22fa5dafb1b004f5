/* Parallel files over four volumes. After each run e2fsck judges every image. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(pio, .timeout = 600);

#define PROGRAM "guest/pio"
#define VOLUMES 4

static const struct pio_case {
    const char *dim, *name;
    const char *args[5]; /* disks, bytes of a block, buffers, seed, map */
    int kilobytes;
} pio_cases[] = {
    {"0", "like one file", {"4", "4096", "2", "1"}, 1024},
    {"0", "like one file", {"1", "1024", "1", "2"}, 1024},
    {"0", "like one file", {"3", "1000", "2", "3"}, 1024},
    {"0", "like one file", {"4", "512", "3", "4"}, 1024},
    {"0", "like one file", {"2", "65536", "2", "5"}, 1024},
    {"0", "like one file", {"4", "101", "1", "6"}, 1024},
    {"0", "like one file", {"4", "8192", "4", "7"}, 1024},
    {"0", "sizes around blocks", {"4", "1000"}, 1024},
    {"0", "sizes around blocks", {"3", "4096", "1"}, 1024},
    {"0", "sizes around blocks", {"1", "8192", "3"}, 1024},
    {"0", "holes and ends", {"4", "1000"}, 1024},
    {"0", "holes and ends", {"4", "4096"}, 1024},
    {"0", "appends", {"4", "1000"}, 1024},
    {"0", "open errors", {"4", "1000"}, 1024},
    {"0", "descriptor errors", {"4", "1000"}, 1024},
    {"0", "unlinks", {"4", "4096"}, 1024},
    {"0", "renames", {"4", "4096"}, 1024},
    {"0", "a full volume", {"4", "4096"}, 400},
    {"0", "a full volume", {"3", "1000", "3"}, 400},
    {"3", "all nodes, one file", {"4", "4096"}, 1024},
    {"2", "all nodes, one file", {"3", "777", "1"}, 1024},
    {"0", "like one file", {"4", "4096", "2", "8", "array 100x150x8 block,cyclic(7) on 2x2"}, 1024},
    {"0", "like one file", {"3", "1000", "1", "9", "(0,999,-,1)(1000,4999,-,1,4000,2)"}, 1024},
    {"0", "holes and ends", {"4", "1000", "2", "0", "array 64x64x2 cyclic(5),block on 2x2"}, 1024},
    {"0", "appends", {"4", "1000", "2", "0", "array 64x64x2 cyclic(5),block on 2x2"}, 1024},
    {"0", "unlinks", {"4", "4096", "2", "0", "array 99x64x2 *,cyclic on 1x4"}, 1024},
    {"0", "a full volume", {"4", "4096", "2", "0", "array 32x32x8 block,block on 2x2"}, 400},
    {"2", "all nodes, one file", {"4", "4096", "2", "0", "array 61x64x3 block,cyclic on 2x2"}, 1024},
};

DrawnRowTest(pio, works, pio_cases, 2)
{
    const struct pio_case *p = &pio_cases[*row];
    char *folder = folder_with_images(VOLUMES, p->kilobytes, 1024), *machine = machine_file(folder, 3, VOLUMES, "");
    struct ncube_run r = {.dim = p->dim, .machine = machine, .program = PROGRAM, .args = {p->name}};

    memcpy(r.args + 1, p->args, sizeof p->args);
    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

static void exchange(const char *folder, const char *a, const char *b)
{
    char *path_a = format("%s/%s", folder, a), *path_b = format("%s/%s", folder, b), *path = format("%s/x", folder);

    cr_assert(rename(path_a, path) == 0 && rename(path_b, path_a) == 0 && rename(path, path_b) == 0);
    free(path_a);
    free(path_b);
    free(path);
}

/* How many random sequences: SEQUENCES_IN_MACHINE says it (make check-pio). */
static long sequences(void)
{
    const char *n = getenv("SEQUENCES_IN_MACHINE");

    return n ? strtol(n, NULL, 10) : 30;
}

static void must_pass(const char *dim, const char *program, const char *const args[4])
{
    char *folder = folder_with_images(VOLUMES, 4096, 1024), *machine = machine_file(folder, 4, VOLUMES, "");
    struct ncube_run r = {.dim = dim, .machine = machine, .program = program};

    memcpy(r.args, args, 4 * sizeof *args);
    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

Test(pio, random_calls_behave_as_those_on_plain_files, .timeout = 600)
{
    char *n = format("%ld", sequences());

    must_pass("0", "guest/sequences", (const char *const[]){"sequences", "1", "4", n});
    free(n);
}

Test(pio, random_parts_of_one_file_are_seen_by_all_nodes, .timeout = 600)
{
    static const char *const dims[] = {"0", "1", "2", "3", "4"};
    char *n = format("%ld", 1 + sequences() / 30);

    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        char *first = format("%zu", 1 + 1000 * i);

        must_pass(dims[i], "guest/shares", (const char *const[]){first, n, NULL, NULL});
        free(first);
    }
    free(n);
}

Test(pio, files_are_found_by_the_next_run_unless_volumes_are_exchanged)
{
    char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, "");
    struct ncube_run r = {.machine = machine, .program = PROGRAM, .args = {"leaves"}};

    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    r.args[0] = "finds";
    guest_must_pass(&r);
    exchange(folder, "df00.img", "df02.img");
    r.args[0] = "volumes were exchanged";
    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

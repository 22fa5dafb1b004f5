/*
 * How fast parallel files of virtual processors are, and by how many requests: bounds for the benchmark of the paper on
 * Stream* (images/examples/starbench.c), 65,536 virtual processors on 8 nodes of sandia.conf and 4
 * volumes. Times are virtual.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(star_aims, .timeout = 600);

#define PROGRAM   "examples/starbench"
#define VOLUMES   8 /* of which four are used */
#define KILOBYTES 65536

static char *folder;

static void make_machine(void)
{
    folder = folder_with_images(VOLUMES, KILOBYTES, 4096);
}

static void remove_machine(void)
{
    images_check(folder, VOLUMES);
    folder_remove(folder);
}

/* One run's line. `words`: up to five more, the last NULL. The caller frees it. */
static char *bench(const char *op, const char *mode, const char *const *words)
{
    struct ncube_run run = {.dim = "3",
                            .machine = "sandia",
                            .options = {"--images", folder},
                            .program = PROGRAM,
                            .args = {op, mode, "disks=4"},
                            .limit = "300"};

    for (int i = 0; words[i]; i++)
        run.args[3 + i] = words[i];
    struct outcome o = ncube_run(&run);
    cr_assert(o.status == 0 && strncmp(o.out, "star op=", 8) == 0, "%s %s: status %d, %s%s", op, mode, o.status, o.out,
              o.err);
    char *line = strdup(o.out);
    outcome_free(&o);
    return line;
}

static double value_of(const char *line, const char *name)
{
    char *word = format(" %s=", name);
    const char *at = strstr(line, word);

    cr_assert(at, "%s: no %s", line, name);
    double value = atof(at + strlen(word));
    free(word);
    return value;
}

static double measure(const char *op, const char *mode, const char *name, const char *const *words)
{
    char *line = bench(op, mode, words);
    double value = value_of(line, name);

    free(line);
    return value;
}

static const char *const doubles_16[] = {"doubles=16", NULL};

Test(star_aims, collective_modes_are_as_fast_as_pio, .init = make_machine, .fini = remove_machine)
{
    double pio_us = measure("write", "pio", "call_us", doubles_16);
    char *nb = bench("write", "nb", doubles_16);
    double cb_s = measure("write", "cb", "mb_s", doubles_16);

    cr_expect_geq(pio_us / value_of(nb, "call_us"), 0.97, "%s", nb);
    cr_expect_geq(cb_s / value_of(nb, "mb_s"), 0.97, "%g, %s", cb_s, nb);
    cr_expect_eq(value_of(nb, "requests"), 16, "%s", nb); /* of 64 KB, a row's part, on each of 8 nodes */
    cr_expect_eq(value_of(nb, "reductions"), 16, "%s", nb);
    free(nb);
}

Test(star_aims, independent_buffers_reach_half_of_it, .init = make_machine, .fini = remove_machine)
{
    double nb = measure("write", "nb", "mb_s", doubles_16), nb_read = measure("read", "nb", "mb_s", doubles_16);
    double ib = measure("write", "ib", "mb_s", doubles_16);
    char *ib_read = bench("read", "ib", doubles_16);

    cr_expect_geq(ib / nb, 0.55, "writing %g of %g MB/s", ib, nb);
    cr_expect_geq(value_of(ib_read, "mb_s") / nb_read, 0.5, "reading %s of %g MB/s", ib_read, nb_read);
    cr_expect_eq(value_of(ib_read, "superblocks"), 36, "%s", ib_read); /* 32 of data, 4 of entries, each once */
    free(ib_read);
}

/* [P4 section 7]: 32 MB in blocks of 64 bytes, two of them in an entry. */
Test(star_aims, superblocks_are_as_many_as_the_papers, .init = make_machine, .fini = remove_machine)
{
    char *ncube = build_path("bin/ncube");

    cr_expect_eq(measure("write", "ib", "superblocks", (const char *const[]){"doubles=64", NULL}), 128);
    struct outcome o =
        command_run((char *[]){ncube, "star", "-m", "sandia", "--images", folder, "show", "pio:/star", NULL}, "");
    cr_expect(o.status == 0 && strstr(o.out, "IB       blocks of 64 in 1024 superblocks of 32768") &&
                  strstr(o.out, "entries of 2 blocks in 128\n"),
              "%s%s", o.out, o.err);
    outcome_free(&o);
    free(ncube);
}

/* 32 x 32 doubles over a grid of nodes: 16 runs of 64 bytes of each node in a row. */
Test(star_aims, two_phases_are_four_times_as_fast_as_short_runs, .init = make_machine, .fini = remove_machine)
{
    static const char *const words[] = {"vps=1024", "grid=1", "doubles=8", NULL};
    double direct = measure("write", "pio", "us", words), two = measure("write", "nb", "us", words);

    cr_expect_geq(direct / two, 4, "%g us, %g us", direct, two);
}

/* The library chooses a way that is faster than two phases, directly. */
Test(star_aims, small_rows_are_read_faster_than_in_two_phases, .init = make_machine, .fini = remove_machine)
{
    static const char *const line[] = {"vps=1024", "doubles=48", "way=3", NULL};
    static const char *const chosen_line[] = {"vps=1024", "doubles=48", NULL};

    measure("write", "nb", "us", line);
    double two = measure("read", "nb", "us", line), chosen = measure("read", "nb", "us", chosen_line);
    cr_expect_geq(two / chosen, 1.5, "in a line: %g us, %g us", two, chosen);
}

/* What 24 more items of 8 bytes take, in blocks that do not fill: one reduction, and a copy for each of 8192 VPs. */
Test(star_aims, an_item_takes_100_cycles, .init = make_machine, .fini = remove_machine)
{
    double few = measure("write", "ib", "call_us", (const char *const[]){"doubles=8", "ib=512", NULL});
    double many = measure("write", "ib", "call_us", (const char *const[]){"doubles=32", "ib=512", NULL});

    cr_expect_leq((many - few) * 20 / (24 * 8192), 100, "%g us, %g us", few, many);
}

/*
 * Repeatability by hash: runs of one program on larger and larger machines have one hash of output, trace and
 * statistics, even if they are disturbed, or divided differently among the host's processors or into cabinets.
 *
 * RUNS=n and NODES=n ask for n runs of every size up to so many nodes; the hashes are then printed. Without them, the
 * largest size is left out. On racks there are fewer ways, and NODES alone says up to which size.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/machine/observe.h"

TestSuite(repeat, .timeout = 36000);

static const struct size {
    uint32_t dim;
    uint32_t nodes_per_cabinet; /* four cabinets */
    uint32_t runs;              /* in `make test`; two at least, or nothing is compared */
} sizes[] = {{3, 2, 6}, {6, 16, 2}, {9, 128, 2}};

#define NODES_OF_A_TEST 64

static const struct way {
    const char *name;
    disturb_fn disturb;
    const char *on_cpu, *cores;
    bool four_cabinets, threads;  /* --harts=threads */
    const char *ncube, *delay_us; /* on racks: build/tests/racks/N, NCUBE_RACK_DELAY_US */
    const char *width;            /* NCUBE_WIDTH */
} ways[] = {
    {.name = "as it is"}, /* the reference */
    {.name = "stopped now and then, four cabinets", .disturb = disturb_by_stops, .four_cabinets = true},
    {.name = "under full load of the host", .disturb = disturb_by_load},
    {.name = "moved between processors", .disturb = disturb_by_moves},
    {.name = "spread, stopped now and then", .disturb = disturb_by_stops, .width = "2"},
    {.name = "spread, under full load of the host", .disturb = disturb_by_load, .width = "2"},
    {.name = "spread, without patience, four cabinets", .four_cabinets = true, .width = "2,0"},
    {.name = "a thread for each hart, four cabinets", .four_cabinets = true, .threads = true},
    {.name = "a thread for each hart, stopped now and then", .disturb = disturb_by_stops, .threads = true},
    {.name = "--cores 1", .cores = "1"},
    {.name = "--cores 2, four cabinets", .cores = "2", .four_cabinets = true},
    {.name = "under load, pinned, four cabinets", .disturb = disturb_by_load, .on_cpu = "0", .four_cabinets = true},
    {.name = "again"},
};
#define WAYS (sizeof ways / sizeof *ways)

static const struct way racks_ways[] = {
    {.name = "on two racks, processes stopped now and then", .disturb = disturb_by_stops, .ncube = "tests/racks/2"},
    {.name = "on three racks, pinned to one processor", .on_cpu = "0", .ncube = "tests/racks/3"},
    {.name = "on five racks, each message late", .ncube = "tests/racks/5", .delay_us = "300"},
    {.name = "on one rack, under full load of the host", .disturb = disturb_by_load, .ncube = "tests/racks/1"},
};
#define RACKS_WAYS (sizeof racks_ways / sizeof *racks_ways)

static uint32_t number_from(const char *variable, uint32_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL ? (uint32_t)atoi(text) : otherwise;
}

static struct observed run(const struct size *size, const struct way *way)
{
    char *folder = folder_new(), *dim = format("%u", size->dim);
    char *cabinets = way->four_cabinets ? format("nodes_per_cabinet = %u;", size->nodes_per_cabinet) : format("%s", "");
    char *machine = machine_file(folder, (int)size->dim, 0, cabinets);
    struct ncube_run r = {
        .dim = dim, .machine = machine, .program = "guest/clockwork", .on_cpu = way->on_cpu, .ncube = way->ncube};

    if (way->delay_us != NULL)
        setenv("NCUBE_RACK_DELAY_US", way->delay_us, 1);
    if (way->width != NULL)
        setenv("NCUBE_WIDTH", way->width, 1);
    if (way->cores != NULL) {
        r.options[0] = "--cores";
        r.options[1] = way->cores;
    }
    if (way->threads)
        r.options[0] = "--harts=threads";
    struct observed seen = observe(r, way->disturb);
    unsetenv("NCUBE_RACK_DELAY_US");
    unsetenv("NCUBE_WIDTH");
    free(machine);
    free(cabinets);
    free(dim);
    folder_remove(folder);
    return seen;
}

static void tell(const struct size *size, const struct way *way, const struct observed *seen)
{
    if (getenv("RUNS") != NULL)
        fprintf(stderr, "%4u nodes  %016" PRIx64 "  %zu events  %s\n", 1u << size->dim, observed_hash(seen),
                count_lines(seen->trace), way->name);
}

static size_t rows_up_to(uint32_t nodes)
{
    size_t rows = 1, all = sizeof sizes / sizeof *sizes;

    while (rows < all && 1u << sizes[rows].dim <= nodes)
        rows++;
    return rows;
}

/* Runs a way again, the k-th run, and compares it with the first. */
static void expect_same_run(const struct size *size, const struct way *way, uint32_t k, const struct observed *first)
{
    char *how = format("%u nodes, run %u, %s", 1u << size->dim, k + 1, way->name);
    struct observed other = run(size, way);

    tell(size, way, &other);
    cr_expect_eq(observed_hash(&other), observed_hash(first), "%s", how);
    observed_expect_same(first, &other, how);
    observed_free(&other);
    free(how);
}

ParameterizedTestParameters(repeat, gives_one_hash)
{
    return table_rows(rows_up_to(number_from("NODES", NODES_OF_A_TEST)), 1);
}

ParameterizedTest(size_t *row, repeat, gives_one_hash)
{
    const struct size *size = &sizes[*row];
    uint32_t runs = number_from("RUNS", size->runs);

    cr_assert_geq(runs, 2, "%u nodes: nothing to compare", 1u << size->dim);
    struct observed first = run(size, &ways[0]);
    tell(size, &ways[0], &first);
    cr_expect_gt(count_lines(first.trace), 50u << size->dim, "the trace is too short to tell");
    for (uint32_t k = 1; k < runs; k++)
        expect_same_run(size, &ways[k % WAYS], k, &first);
    observed_free(&first);
}

ParameterizedTestParameters(repeat, gives_one_hash_on_racks)
{
    return table_rows(rows_up_to(number_from("NODES", 0)), 1);
}

ParameterizedTest(size_t *row, repeat, gives_one_hash_on_racks)
{
    const struct size *size = &sizes[*row];

    if (access("build/bin/ncube-mpi", X_OK) != 0)
        cr_skip_test("Open MPI is not installed (libopenmpi-dev, openmpi-bin)");
    struct observed first = run(size, &ways[0]);
    tell(size, &ways[0], &first);
    for (uint32_t k = 0; k < RACKS_WAYS; k++)
        expect_same_run(size, &racks_ways[k], k + 1, &first);
    observed_free(&first);
}

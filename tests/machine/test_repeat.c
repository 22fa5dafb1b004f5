/*
 * Repeatability by hash: runs of one program on larger and larger machines have one hash of output, trace and
 * statistics, even if they are disturbed, or divided differently among the host's processors or into cabinets.
 *
 * RUNS=n and NODES=n ask for n runs of every size up to so many nodes; the hashes are then printed. Without them, the
 * largest size is left out.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    bool four_cabinets, threads; /* --harts=threads */
} ways[] = {
    {"as it is", NULL, NULL, NULL, false, false}, /* the reference */
    {"stopped now and then, four cabinets", disturb_by_stops, NULL, NULL, true, false},
    {"under full load of the host", disturb_by_load, NULL, NULL, false, false},
    {"moved between processors", disturb_by_moves, NULL, NULL, false, false},
    {"a thread for each hart, four cabinets", NULL, NULL, NULL, true, true},
    {"a thread for each hart, stopped now and then", disturb_by_stops, NULL, NULL, false, true},
    {"--cores 1", NULL, NULL, "1", false, false},
    {"--cores 2, four cabinets", NULL, NULL, "2", true, false},
    {"under load, pinned, four cabinets", disturb_by_load, "0", NULL, true, false},
    {"again", NULL, NULL, NULL, false, false},
};
#define WAYS (sizeof ways / sizeof *ways)

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
    struct ncube_run r = {.dim = dim, .machine = machine, .program = "guest/clockwork", .on_cpu = way->on_cpu};

    if (way->cores != NULL) {
        r.options[0] = "--cores";
        r.options[1] = way->cores;
    }
    if (way->threads)
        r.options[0] = "--harts=threads";
    struct observed seen = observe(r, way->disturb);
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

ParameterizedTestParameters(repeat, gives_one_hash)
{
    size_t rows = 1, all = sizeof sizes / sizeof *sizes;

    while (rows < all && 1u << sizes[rows].dim <= number_from("NODES", NODES_OF_A_TEST))
        rows++;
    return table_rows(rows, 1);
}

ParameterizedTest(size_t *row, repeat, gives_one_hash)
{
    const struct size *size = &sizes[*row];
    uint32_t runs = number_from("RUNS", size->runs);

    cr_assert_geq(runs, 2, "%u nodes: nothing to compare", 1u << size->dim);
    struct observed first = run(size, &ways[0]);
    tell(size, &ways[0], &first);
    cr_expect_gt(count_lines(first.trace), 50u << size->dim, "the trace is too short to tell");
    for (uint32_t k = 1; k < runs; k++) {
        const struct way *way = &ways[k % WAYS];
        char *how = format("%u nodes, run %u, %s", 1u << size->dim, k + 1, way->name);
        struct observed other = run(size, way);

        tell(size, way, &other);
        cr_expect_eq(observed_hash(&other), observed_hash(&first), "%s", how);
        observed_expect_same(&first, &other, how);
        observed_free(&other);
        free(how);
    }
    observed_free(&first);
}

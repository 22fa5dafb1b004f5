/*
 * Plans against HDF5: what two hyperslabs of random shapes have in common (H5S_SELECT_AND) must be the runs of the plan
 * of two views. test_judges.sh compiles and runs it. Arguments: rounds, seed. Prints each difference, and "N passed, N
 * failed".
 */
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/pattern.h"

#define DIMS_MAX 3
#define SIDE     24
#define POINTS   (SIDE * SIDE * SIDE)

static uint64_t state;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

struct slab {
    hsize_t start[DIMS_MAX], stride[DIMS_MAX], count[DIMS_MAX], block[DIMS_MAX];
    char text[600]; /* as a view, of points of one byte */
};

static void random_slab(struct slab *s, int dims, const hsize_t *size)
{
    char inner[sizeof s->text] = "";
    int extent = 1;

    for (int d = dims - 1; d >= 0; d--) {
        int n = (int)size[d], block = 1 + below(n), start = below(n - block + 1), stride = block + below(4);
        int count = 1 + below((n - start - block) / stride + 1);

        s->start[d] = (hsize_t)start;
        s->stride[d] = (hsize_t)stride;
        s->count[d] = (hsize_t)count;
        s->block[d] = (hsize_t)block;
        if (d == dims - 1)
            snprintf(s->text, sizeof s->text, "(%d,%d,%d,%d)", start, start + block - 1, stride, count);
        else
            snprintf(s->text, sizeof s->text, "(%d,%d,%d,%d,{(0,%d,%d,%d,{%.400s})})", start * extent,
                     (start + block) * extent - 1, stride * extent, count, extent - 1, extent, block, inner);
        memcpy(inner, s->text, sizeof inner);
        extent *= n;
    }
    snprintf(s->text, sizeof s->text, "view %d %.500s", extent, inner);
}

static char theirs[POINTS], ours[POINTS];

/* Marks the points of all blocks of a selection. */
static void mark_theirs(hid_t space, int dims, const hsize_t *size)
{
    hssize_t blocks = H5Sget_select_npoints(space) > 0 ? H5Sget_select_hyper_nblocks(space) : 0;
    hsize_t *corner = malloc(((size_t)blocks + 1) * 2 * DIMS_MAX * sizeof *corner);

    memset(theirs, 0, sizeof theirs);
    if (!corner || (blocks > 0 && H5Sget_select_hyper_blocklist(space, 0, (hsize_t)blocks, corner) < 0)) {
        fprintf(stderr, "judge_hdf5: no list of blocks\n");
        exit(1);
    }
    for (hssize_t i = 0; i < blocks; i++) {
        const hsize_t *low = &corner[i * 2 * dims], *high = low + dims;
        hsize_t at[DIMS_MAX];

        memcpy(at, low, (size_t)dims * sizeof *at);
        for (bool more = true; more;) {
            hsize_t point = 0;

            for (int d = 0; d < dims; d++)
                point = point * size[d] + at[d];
            theirs[point] = 1;
            more = false;
            for (int d = dims - 1; d >= 0 && !more; d--) {
                more = at[d] < high[d];
                at[d] = more ? at[d] + 1 : low[d];
            }
        }
    }
    free(corner);
}

static bool mark_run(void *ctx, const struct plan_run *run)
{
    (void)ctx;
    memset(ours + run->file, 1, (size_t)run->bytes);
    return true;
}

static bool equal(const struct slab slab[2], int dims, const hsize_t *size)
{
    struct pattern *view[2] = {NULL, NULL};
    struct plan *plan = NULL;
    char why[PATTERN_WHY_BYTES] = "no plan";
    hid_t space = H5Screate_simple(dims, size, NULL);

    H5Sselect_hyperslab(space, H5S_SELECT_SET, slab[0].start, slab[0].stride, slab[0].count, slab[0].block);
    H5Sselect_hyperslab(space, H5S_SELECT_AND, slab[1].start, slab[1].stride, slab[1].count, slab[1].block);
    mark_theirs(space, dims, size);
    hssize_t points = H5Sget_select_npoints(space);
    H5Sclose(space);
    if (pattern_parse(slab[0].text, &view[0], why) != 0 || pattern_parse(slab[1].text, &view[1], why) != 0 ||
        plan_make(view[0], 0, view[1], 0, &plan) != 0) {
        fprintf(stderr, "judge_hdf5: %s; %s: %s\n", slab[0].text, slab[1].text, why);
        exit(1);
    }
    memset(ours, 0, sizeof ours);
    plan_runs(plan, 0, view[0]->period, mark_run, NULL);
    bool same = plan_bytes(plan, view[0]->period) == points && memcmp(ours, theirs, sizeof ours) == 0;
    plan_free(plan);
    pattern_free(view[0]);
    pattern_free(view[1]);
    return same;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    long passed = 0, failed = 0;

    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int round = 0; round < rounds; round++) {
        int dims = 1 + below(DIMS_MAX);
        hsize_t size[DIMS_MAX];
        struct slab slab[2];

        for (int d = 0; d < dims; d++)
            size[d] = (hsize_t)(1 + below(SIDE));
        random_slab(&slab[0], dims, size);
        random_slab(&slab[1], dims, size);
        if (equal(slab, dims, size)) {
            passed++;
            continue;
        }
        failed++;
        printf("failed: round %d: %s and %s\n", round, slab[0].text, slab[1].text);
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed > 0;
}

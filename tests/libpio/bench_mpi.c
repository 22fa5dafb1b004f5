/*
 * bench_mpi: plan_gather and plan_scatter beside MPI_Pack and MPI_Unpack of the same type, and beside a memcpy of the
 * same pieces. Not a test: reads the host's clock. All take turns; of several turns the fastest counts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libpio/map/pattern.h"

#define TURNS 18

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void lower(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static const struct row {
    const char *name;
    int n; /* an n x n array of doubles */
    struct pattern_dimension d[2];
} rows[] = {
    {"rows", 2048, {{.kind = 'b', .procs = 16}, {.kind = '*', .procs = 1}}},
    {"columns, 1 KB", 2048, {{.kind = '*', .procs = 1}, {.kind = 'b', .procs = 16}}},
    {"blocks, 4 KB", 2048, {{.kind = 'b', .procs = 4}, {.kind = 'b', .procs = 4}}},
    {"cyclic(8), 64 bytes", 2048, {{.kind = '*', .procs = 1}, {.kind = 'c', .k = 8, .procs = 4}}},
    {"cyclic, 8 bytes", 2048, {{.kind = '*', .procs = 1}, {.kind = 'c', .procs = 4}}},
    {"cyclic in both", 2048, {{.kind = 'c', .procs = 4}, {.kind = 'c', .procs = 4}}},
    {"one column", 2048, {{.kind = '*', .procs = 1}, {.kind = 'b', .procs = 2048}}},
    {"columns, cached", 128, {{.kind = '*', .procs = 1}, {.kind = 'b', .procs = 4}}},
    {"cyclic(8), cached", 128, {{.kind = '*', .procs = 1}, {.kind = 'c', .k = 8, .procs = 4}}},
    {"cyclic, cached", 128, {{.kind = '*', .procs = 1}, {.kind = 'c', .procs = 4}}},
};

static MPI_Datatype type_of(const struct row *r, int all)
{
    int size[2], kind[2], argument[2], procs[2];
    MPI_Datatype type;

    for (int i = 0; i < 2; i++) {
        size[i] = r->n;
        kind[i] = r->d[i].kind == '*'   ? MPI_DISTRIBUTE_NONE
                  : r->d[i].kind == 'b' ? MPI_DISTRIBUTE_BLOCK
                                        : MPI_DISTRIBUTE_CYCLIC;
        argument[i] = r->d[i].k ? (int)r->d[i].k : MPI_DISTRIBUTE_DFLT_DARG;
        procs[i] = r->d[i].procs;
    }
    MPI_Type_create_darray(all, 1, 2, size, kind, argument, procs, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

struct pieces {
    char *spread, *packed;
    bool back;
};

static bool copy_piece(void *ctx, const struct plan_run *run)
{
    struct pieces *p = ctx;

    if (p->back)
        memcpy(p->spread + run->file, p->packed + run->in[PLAN_B], (size_t)run->bytes);
    else
        memcpy(p->packed + run->in[PLAN_B], p->spread + run->file, (size_t)run->bytes);
    return true;
}

static void bench(const struct row *r)
{
    struct pattern_dimension d[2] = {r->d[0], r->d[1]};
    struct pattern *part = NULL, *all = NULL;
    struct plan *plan = NULL;

    d[0].size = d[1].size = r->n;
    if (pattern_array(2, d, 8, &part) != 0 || pattern_stripe(part->period, 1, &all) != 0 ||
        plan_make(all, 0, part, 1, &plan) != 0)
        exit(1);
    int64_t bytes = part->period, own = part->element[1].bytes;
    struct pieces p = {.spread = malloc((size_t)bytes), .packed = malloc((size_t)own)};
    MPI_Datatype type = type_of(r, d[0].procs * d[1].procs);
    int repeats = bytes < 1 << 20 ? 100 : own < 1 << 20 ? 10 : 1, position;
    double least[6] = {0};
    if (!p.spread || !p.packed)
        exit(1);
    memset(p.spread, 1, (size_t)bytes);
    memset(p.packed, 2, (size_t)own);
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = 0; k < 7; k++) {
            int what = (k * (1 + turn % 6) + turn) % 7; /* each follows each of the others at times; 6: nothing */
            double start = now();

            if (what == 6)
                continue;

            for (int i = 0; i < repeats; i++) {
                p.back = what & 1;
                position = 0;
                if (what < 2)
                    p.back ? plan_scatter(plan, 0, bytes, p.spread, 0, p.packed)
                           : plan_gather(plan, 0, bytes, p.packed, p.spread, 0);
                else if (what < 4)
                    p.back ? MPI_Unpack(p.packed, (int)own, &position, p.spread, 1, type, MPI_COMM_SELF)
                           : MPI_Pack(p.spread, 1, type, p.packed, (int)own, &position, MPI_COMM_SELF);
                else
                    plan_runs(plan, 0, bytes, copy_piece, &p);
            }
            lower(&least[what], (now() - start) / repeats);
        }
    printf("%-20s gather %6.2f GB/s, %5.2f of MPI_Pack's, %5.2f of memcpy's of each run; scatter %6.2f, %5.2f, %5.2f\n",
           r->name, (double)own / least[0] / 1e9, least[2] / least[0], least[4] / least[0],
           (double)own / least[1] / 1e9, least[3] / least[1], least[5] / least[1]);
    MPI_Type_free(&type);
    free(p.spread);
    free(p.packed);
    plan_free(plan);
    pattern_free(all);
    pattern_free(part);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        bench(&rows[i]);
    MPI_Finalize();
    return 0;
}

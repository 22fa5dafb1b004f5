/*
 * Patterns against Open MPI's datatypes: darray, subarray, vector and indexed of random shapes. MPI_Pack and MPI_Unpack
 * must move the bytes that plan_gather and plan_scatter move, in the same order, over several periods. test_judges.sh
 * compiles and runs it, as one process. Arguments: rounds, seed. Prints each difference, and "N passed, N failed".
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/pattern.h"

#define PERIODS   3
#define BYTES_MAX (1 << 18) /* of one period */
#define DIMS_MAX  4

static uint64_t state;
static long passed, failed;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* A type and an element that should have the same bytes. */
struct same {
    MPI_Datatype type; /* its extent is the period */
    struct pattern *pattern;
    int32_t element;
    char name[400];
};

static void must(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "judge_mpi: %s: error %d\n", what, error);
        exit(1);
    }
}

static struct pattern *parse(const char *text)
{
    struct pattern *p;
    char why[PATTERN_WHY_BYTES];

    if (pattern_parse(text, &p, why) != 0) {
        fprintf(stderr, "judge_mpi: %s: %s\n", text, why);
        exit(1);
    }
    return p;
}

static MPI_Datatype item_type(int bytes)
{
    MPI_Datatype type;

    MPI_Type_contiguous(bytes, MPI_BYTE, &type);
    return type;
}

/* Gives a type the pattern's period for an extent. */
static void finish(struct same *s, MPI_Datatype bare)
{
    MPI_Type_create_resized(bare, 0, (MPI_Aint)s->pattern->period, &s->type);
    MPI_Type_free(&bare);
    MPI_Type_commit(&s->type);
}

/* ---- Types ---- */

static void make_darray(struct same *s)
{
    struct pattern_dimension d[DIMS_MAX];
    int size[DIMS_MAX], kind[DIMS_MAX], argument[DIMS_MAX], procs[DIMS_MAX], all = 1, item = 1 + below(9);
    int dims = 1 + below(DIMS_MAX), n = snprintf(s->name, sizeof s->name, "darray of %d-byte items", item);

    for (int i = 0; i < dims; i++) {
        size[i] = 1 + below(below(4) ? 9 : 20);
        d[i] = (struct pattern_dimension){.size = size[i], .kind = "*bc"[below(3)], .procs = 1 + below(4)};
        if (d[i].kind == '*')
            d[i].procs = 1;
        int least = d[i].kind == 'b' ? (size[i] + d[i].procs - 1) / d[i].procs : 1; /* BLOCK(k) must reach the end */
        d[i].k = d[i].kind == '*' || below(2) ? 0 : least + below(4);
        kind[i] = d[i].kind == '*'   ? MPI_DISTRIBUTE_NONE
                  : d[i].kind == 'b' ? MPI_DISTRIBUTE_BLOCK
                                     : MPI_DISTRIBUTE_CYCLIC;
        argument[i] = d[i].k ? (int)d[i].k : MPI_DISTRIBUTE_DFLT_DARG;
        procs[i] = d[i].procs;
        all *= procs[i];
        n += snprintf(s->name + n, sizeof s->name - (size_t)n, ", %d %c(%d) on %d", size[i], d[i].kind, (int)d[i].k,
                      procs[i]);
    }
    s->element = below(all);
    snprintf(s->name + n, sizeof s->name - (size_t)n, ", process %d", s->element);
    must(pattern_array(dims, d, item, &s->pattern), s->name);
    MPI_Datatype old = item_type(item), bare;
    MPI_Type_create_darray(all, s->element, dims, size, kind, argument, procs, MPI_ORDER_C, old, &bare);
    MPI_Type_free(&old);
    finish(s, bare);
}

static void make_subarray(struct same *s)
{
    int size[DIMS_MAX], part[DIMS_MAX], start[DIMS_MAX], item = 1 + below(9), dims = 1 + below(DIMS_MAX), extent = item;
    char text[400] = "", outer[sizeof text];

    for (int i = dims - 1; i >= 0; i--) {
        size[i] = 1 + below(9);
        part[i] = 1 + below(size[i]);
        start[i] = below(size[i] - part[i] + 1);
        if (i == dims - 1)
            snprintf(text, sizeof text, "(%d,%d,-,1)", start[i] * extent, (start[i] + part[i]) * extent - 1);
        else
            snprintf(outer, sizeof outer, "(%d,%d,%d,%d,{%.250s})", start[i] * extent, (start[i] + 1) * extent - 1,
                     extent, part[i], text);
        if (i < dims - 1)
            memcpy(text, outer, sizeof text);
        extent *= size[i];
    }
    snprintf(outer, sizeof outer, "view %d %.300s", extent, text);
    snprintf(s->name, sizeof s->name, "subarray %.380s", outer);
    s->pattern = parse(outer);
    MPI_Datatype old = item_type(item), bare;
    MPI_Type_create_subarray(dims, size, part, start, MPI_ORDER_C, old, &bare);
    MPI_Type_free(&old);
    finish(s, bare);
}

static void make_vector(struct same *s)
{
    int item = 1 + below(16), count = 1 + below(50), length = 1 + below(9), stride = length + below(9);
    MPI_Datatype old = item_type(item), bare;

    snprintf(s->name, sizeof s->name, "view %d (0,%d,%d,%d)", count * stride * item, length * item - 1, stride * item,
             count);
    s->pattern = parse(s->name);
    MPI_Type_vector(count, length, stride, old, &bare);
    MPI_Type_free(&old);
    finish(s, bare);
}

static void make_indexed(struct same *s)
{
    int length[12], at[12], item = 1 + below(9), n = 1 + below(12), end = 0, used = 0;
    char sets[360] = "";

    for (int i = 0; i < n; i++) {
        at[i] = end + below(20);
        length[i] = 1 + below(20);
        end = at[i] + length[i];
        used += snprintf(sets + used, sizeof sets - (size_t)used, "(%d,%d,-,1)", at[i] * item, end * item - 1);
    }
    end += below(9);
    snprintf(s->name, sizeof s->name, "view %d %s", end * item, sets);
    s->pattern = parse(s->name);
    MPI_Datatype old = item_type(item), bare;
    MPI_Type_indexed(n, length, at, old, &bare);
    MPI_Type_free(&old);
    finish(s, bare);
}

/* ---- Comparing ---- */

static unsigned char file[PERIODS * BYTES_MAX], ours[PERIODS * BYTES_MAX], theirs[PERIODS * BYTES_MAX],
    back_ours[PERIODS * BYTES_MAX], back_theirs[PERIODS * BYTES_MAX];

static bool equal(const struct same *s, int periods)
{
    char text[40];
    int64_t bytes = periods * s->pattern->period;
    int position = 0, end = 0, type_bytes;
    struct plan *plan;

    snprintf(text, sizeof text, "cyclic %lld 1", (long long)s->pattern->period);
    struct pattern *all = parse(text);
    must(plan_make(all, 0, s->pattern, s->element, &plan), s->name);
    int64_t moved = plan_gather(plan, 0, bytes, ours, file, 0);
    MPI_Type_size(s->type, &type_bytes);
    MPI_Pack(file, periods, s->type, theirs, sizeof theirs, &position, MPI_COMM_SELF);
    memset(back_ours, 0, (size_t)bytes);
    memset(back_theirs, 0, (size_t)bytes);
    int64_t moved_back = plan_scatter(plan, 0, bytes, back_ours, 0, ours);
    MPI_Unpack(theirs, position, &end, back_theirs, periods, s->type, MPI_COMM_SELF);
    plan_free(plan);
    pattern_free(all);
    return moved == position && moved_back == moved && moved == (int64_t)periods * type_bytes &&
           memcmp(ours, theirs, (size_t)moved) == 0 && memcmp(back_ours, back_theirs, (size_t)bytes) == 0;
}

int main(int argc, char **argv)
{
    static void (*const make[])(struct same *) = {make_darray, make_darray, make_subarray, make_vector, make_indexed};
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;

    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof file; i++)
        file[i] = (unsigned char)(i * 7 + i / 256 + i / 65536 + 1);
    for (int round = 0; round < rounds; round++) {
        struct same s = {0};

        make[below(sizeof make / sizeof *make)](&s);
        if (s.pattern->period <= BYTES_MAX && equal(&s, 1 + below(PERIODS)))
            passed++;
        else if (s.pattern->period <= BYTES_MAX) {
            failed++;
            printf("failed: round %d: %s\n", round, s.name);
        }
        MPI_Type_free(&s.type);
        pattern_free(s.pattern);
    }
    MPI_Finalize();
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed > 0;
}

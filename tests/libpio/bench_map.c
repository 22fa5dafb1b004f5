/*
 * bench_map: how fast patterns and plans are on this host. Not a test: reads the host's clock. Ratios compare loops
 * that take turns, so that other work on the host slows both; of several turns the fastest counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libpio/map/pattern.h"

#define TURNS 25

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct pattern *parse(const char *text)
{
    struct pattern *p;
    char why[PATTERN_WHY_BYTES];

    if (pattern_parse(text, &p, why) != 0) {
        fprintf(stderr, "bench_map: %s: %s\n", text, why);
        exit(1);
    }
    return p;
}

static struct plan *plan_of(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b)
{
    struct plan *plan;
    int error = plan_make(a, of_a, b, of_b, &plan);

    if (error) {
        fprintf(stderr, "bench_map: plan_make: error %d\n", error);
        exit(1);
    }
    return plan;
}

static void lower(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

/* ---- Plans ---- */

static void bench_plans(void)
{
    static const struct {
        const char *name, *text;
    } row[] = {
        {"rows", "array 4096x4096x8 block,* on 16x1"},
        {"columns", "array 4096x4096x8 *,block on 1x16"},
        {"blocks", "array 4096x4096x8 block,block on 4x4"},
        {"cyclic blocks", "array 4096x4096x8 cyclic(64),cyclic(64) on 4x4"},
        {"64 KB stripes", "cyclic 65536 16"},
    };
    enum { PATTERNS = sizeof row / sizeof *row, ROUNDS = 10 };

    printf("%-16s", "us a plan, with");
    for (int b = 0; b < PATTERNS; b++)
        printf(" %14s", row[b].name);
    printf("\n");
    for (int a = 0; a < PATTERNS; a++) {
        printf("%-16s", row[a].name);
        for (int b = 0; b < PATTERNS; b++) {
            struct pattern *p = parse(row[a].text), *q = parse(row[b].text);
            double least = 0;

            for (int turn = 0; turn < TURNS; turn++) {
                double start = now();

                for (int32_t i = 0; i < ROUNDS * 16; i++)
                    plan_free(plan_of(p, i % 16, q, (i * 7 + turn) % 16));
                lower(&least, (now() - start) / (ROUNDS * 16));
            }
            printf(" %14.2f", least * 1e6);
            pattern_free(p);
            pattern_free(q);
        }
        printf("\n");
    }
}

/* ---- Runs, ranks ---- */

static bool add_run(void *ctx, const struct plan_run *run)
{
    *(int64_t *)ctx += run->in[PLAN_B] ^ run->bytes;
    return true;
}

static void bench_runs(void)
{
    struct pattern *matrix = parse("array 4096x4096x8 cyclic,cyclic on 2x2"), *all = parse("cyclic 134217728 1");
    struct plan *plan = plan_of(all, 0, matrix, 1);
    int64_t runs = 4096 / 2 * (4096 / 2);
    volatile int64_t sum = 0;
    double least = 0;

    for (int turn = 0; turn < TURNS; turn++) {
        int64_t here = 0;
        double start = now();

        plan_runs(plan, 0, all->period, add_run, &here);
        lower(&least, now() - start);
        sum += here;
    }
    printf("runs listed      %.0f million a second\n", (double)runs / least / 1e6);
    plan_free(plan);
    pattern_free(matrix);
    pattern_free(all);
}

static void bench_rank(void)
{
    enum { RANKS = 1 << 16 };
    struct pattern *p =
        parse("view 65536 (0,16383,32768,2,{(0,511,1024,15,{(0,7,16,30),(490,500,-,1)}),(15872,16000,-,1)})");
    static int64_t x[RANKS];
    volatile int64_t sum = 0;
    uint64_t state = 1;
    double least = 0;

    for (int i = 0; i < RANKS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (int64_t)(state >> 48);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t here = 0;
        double start = now();

        for (int i = 0; i < RANKS; i++)
            here += falls_rank(&p->element[0], x[i]);
        lower(&least, (now() - start) / RANKS);
        sum += here;
    }
    printf("rank, depth 3    %.0f ns\n", least * 1e9);
    pattern_free(p);
}

static void bench_places(void)
{
    static const char *const text[] = {"cyclic 16384 8192", "array 512x512x512x8 block,cyclic(4),block on 16x16x16",
                                       "array 500x300x200x8 block,cyclic(3),block on 11x13x17",
                                       "falls (0,63,64,16,1024,16,{(0,0,16,4,1,16)})"};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        enum { PLACES = 1 << 14 };
        struct pattern *p = parse(text[i]);
        volatile int64_t sum = 0;
        double least = 0;

        for (int turn = 0; turn < TURNS; turn++) {
            int64_t here = 0, offset, x = turn;
            int32_t element;
            double start = now();

            for (int k = 0; k < PLACES; k++, x = (x * 7 + 12345) % (16 * p->period))
                if (pattern_place(p, x, &element, &offset) == 0)
                    here += element ^ offset;
            lower(&least, (now() - start) / PLACES);
            sum += here;
        }
        printf("place            %.0f ns: %s, %d elements\n", least * 1e9, text[i], p->elements);
        pattern_free(p);
    }
}

/* ---- Bytes ---- */

/* Every second piece of `piece` bytes of a memory, `bytes` in all, against a bare loop that copies the same pieces, and
 * against one memcpy of as many bytes. */
static void bench_pieces(int64_t piece, int64_t bytes)
{
    char text[80];
    snprintf(text, sizeof text, "view %ld (0,%ld,%ld,%ld)", (long)(2 * bytes), (long)piece - 1, (long)(2 * piece),
             (long)(bytes / piece));
    struct pattern *pieces = parse(text);
    snprintf(text, sizeof text, "cyclic %ld 1", (long)(2 * bytes));
    struct pattern *all = parse(text);
    struct plan *plan = plan_of(all, 0, pieces, 0);
    char *spread = malloc((size_t)(2 * bytes)), *packed = malloc((size_t)bytes), *copy = malloc((size_t)bytes);
    double least[5] = {0};
    int rounds = bytes < 1 << 20 ? 200 : 1;

    if (!spread || !packed || !copy) {
        fprintf(stderr, "bench_map: no memory for %ld bytes\n", (long)(4 * bytes));
        exit(1);
    }
    memset(spread, 1, (size_t)(2 * bytes));
    memset(packed, 2, (size_t)bytes);
    memset(copy, 3, (size_t)bytes);
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = 0; k < 5; k++) {
            int what = (k * (1 + turn % 4) + turn) % 5; /* each follows each of the others at times */
            double start = now();

            for (int round = 0; round < rounds; round++) {
                if (what == 0)
                    memcpy(copy, packed, (size_t)bytes);
                else if (what == 1)
                    plan_gather(plan, 0, 2 * bytes, packed, spread, 0);
                else if (what == 2)
                    plan_scatter(plan, 0, 2 * bytes, spread, 0, packed);
                else
                    for (int64_t i = 0; i < bytes; i += piece)
                        memcpy(what == 3 ? packed + i : spread + 2 * i, what == 3 ? spread + 2 * i : packed + i,
                               (size_t)piece);
                __asm__ volatile("" ::: "memory");
            }
            lower(&least[what], now() - start);
        }
    printf("%-5ld bytes, %5ld KB  gather %.2f, scatter %.2f of memcpy's of the pieces; %.2f, %.2f of one memcpy's %.1f "
           "GB/s\n",
           (long)piece, (long)bytes / 1024, least[3] / least[1], least[4] / least[2], least[0] / least[1],
           least[0] / least[2], (double)bytes * rounds / least[0] / 1e9);
    free(spread);
    free(packed);
    free(copy);
    plan_free(plan);
    pattern_free(all);
    pattern_free(pieces);
}

int main(void)
{
    bench_plans();
    bench_runs();
    bench_rank();
    bench_places();
    for (int64_t piece = 64; piece <= 4096; piece *= 8) {
        bench_pieces(piece, 64 << 10);
        bench_pieces(piece, 32 << 20);
    }
    return 0;
}

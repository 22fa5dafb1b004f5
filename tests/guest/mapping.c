/*
 * What patterns and plans cost on a node, in cycles: a byte's place and back, a run of a plan, a piece of 8 bytes that
 * is gathered or scattered. Sizes that are powers of two, then sizes that are not. Prints a line for each;
 * docs/mapping.md quotes them.
 */
#include <ntime.h>
#include <pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_PER_US 20
#define LOOKUPS       1000
#define STEP          2749 /* from one byte that is looked up to the next */

static volatile int64_t sink;

static struct pattern *parse(const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    if (pattern_parse(text, &p, why) != 0) {
        fprintf(stderr, "mapping: %s: %s\n", text, why);
        exit(1);
    }
    return p;
}

static struct plan *plan_of_whole(const struct pattern *p, int32_t element)
{
    struct pattern *whole;
    struct plan *plan;

    if (pattern_stripe(p->period, 1, &whole) != 0 || plan_make(whole, 0, p, element, &plan) != 0) {
        fprintf(stderr, "mapping: no plan\n");
        exit(1);
    }
    pattern_free(whole);
    return plan;
}

static void report(const char *what, const char *kind, double start_us, double end_us, int64_t times)
{
    printf("%s, %s: %.1f cycles\n", what, kind, (end_us - start_us) * CYCLES_PER_US / (double)times);
}

/* ---- Bytes ---- */

static void measure_places(const struct pattern *p, const char *kind)
{
    int64_t sum = 0, offset;
    int32_t element;

    double start = amicclk();
    for (int64_t i = 0, x = 0; i < LOOKUPS; i++, x += STEP)
        if (pattern_place(p, x, &element, &offset) == 0)
            sum += offset + element;
    report("element and place of a byte", kind, start, amicclk(), LOOKUPS);
    start = amicclk();
    for (int64_t i = 0, y = 0; i < LOOKUPS; i++, y += STEP / 8)
        sum += pattern_file(p, 3, y);
    report("byte of a place", kind, start, amicclk(), LOOKUPS);
    const struct falls_set *set = &p->element[3];
    start = amicclk();
    for (int64_t i = 0, x = 0; i < LOOKUPS; i++, x += STEP / 8)
        sum += falls_rank(set, x);
    report("rank of a byte", kind, start, amicclk(), LOOKUPS);
    sink = sum;
}

/* ---- Runs and pieces ---- */

static bool add_run(void *ctx, const struct plan_run *run)
{
    *(int64_t *)ctx += run->in[PLAN_B] + run->bytes;
    return true;
}

static void measure_plan(const struct pattern *p, int32_t element, int64_t runs, const char *what, const char *kind)
{
    struct plan *plan = plan_of_whole(p, element);
    char *spread = malloc((size_t)p->period), *packed = malloc((size_t)p->element[element].bytes), name[80];
    int64_t sum = 0;

    if (!spread || !packed)
        exit(1);
    memset(spread, 1, (size_t)p->period); /* a page's first use costs more */
    memset(packed, 2, (size_t)p->element[element].bytes);
    double start = amicclk();
    plan_runs(plan, 0, p->period, add_run, &sum);
    snprintf(name, sizeof name, "run of a plan, %s", what);
    report(name, kind, start, amicclk(), runs);
    start = amicclk();
    plan_gather(plan, 0, p->period, packed, spread, 0);
    snprintf(name, sizeof name, "gathered piece of 8 bytes, %s", what);
    report(name, kind, start, amicclk(), runs);
    start = amicclk();
    plan_scatter(plan, 0, p->period, spread, 0, packed);
    snprintf(name, sizeof name, "scattered piece of 8 bytes, %s", what);
    report(name, kind, start, amicclk(), runs);
    sink = sum;
    plan_free(plan);
    free(spread);
    free(packed);
}

static void measure(const char *kind, const char *cube, const char *columns, int64_t runs, const char *both,
                    int64_t runs_both)
{
    struct pattern *p = parse(cube);

    measure_places(p, kind);
    pattern_free(p);
    p = parse(columns);
    measure_plan(p, 1, runs, "items of a row", kind);
    pattern_free(p);
    p = parse(both);
    measure_plan(p, 3, runs_both, "rows of 8 items", kind);
    pattern_free(p);
}

int main(void)
{
    measure("powers of two", "array 64x64x64x8 block,cyclic(4),block on 2x2x2", "array 64x256x8 *,cyclic on 1x4",
            64 * 64, "array 256x16x8 cyclic,cyclic on 2x2", 128 * 8);
    measure("other sizes", "array 60x50x70x8 block,cyclic(3),block on 2x2x2", "array 50x300x8 *,cyclic on 1x3",
            50 * 100, "array 250x16x8 cyclic,cyclic on 2x2", 125 * 8);
    return 0;
}

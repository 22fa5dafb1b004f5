/* Plans of a stream a window at a time, against the elements byte by byte. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "libpio/map/window.h"
#include "tests/libpio/random_pattern.h"

#define HORIZON 12000 /* bytes of the stream that are looked at */

static bool has(const struct pattern *p, int32_t e, int64_t x, int64_t *place)
{
    const struct falls_set *set = &p->element[e];

    if (x < p->displacement || !falls_find(set, (x - p->displacement) % p->period, PLAN_A, place))
        return false;
    *place += (x - p->displacement) / p->period * set->bytes;
    return true;
}

/* The next window takes about half of the nodes, as this one's needed so many; one that was too long is halved, or is
 * half of what fitted. */
Test(window, the_next_one_is_as_long_as_its_nodes_allow)
{
    static const struct {
        int64_t span;
        int32_t nodes, most;
        int64_t next;
    } longer[] = {{100, 10, 100, 500},
                  {100, 0, 100, 5000},
                  {100, 1, 100, 5000},
                  {100, 50, 100, 100},
                  {100, 51, 100, 100},
                  {100, 33, 100, 100},
                  {100, 16, 100, 300},
                  {PATTERN_OFFSET_MAX / 2, 10, 100, PATTERN_OFFSET_MAX},
                  {PATTERN_OFFSET_MAX / 5, 10, 100, PATTERN_OFFSET_MAX / 5 * 5}};
    static const struct {
        int64_t span, from, reached, next;
    } shorter[] = {{100, 0, 0, 50},       {100, 1000, 1040, 20}, {100, 1000, 1098, 49},
                   {100, 1000, 1100, 50}, {100, 1000, 1200, 50}, {1, 0, 0, 1},
                   {3, 0, 2, 1},          {2, 0, 0, 1},          {100, 1000, 1003, 1}};

    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        cr_expect_eq(plan_span_next(longer[i].span, longer[i].nodes, longer[i].most), longer[i].next, "longer %zu", i);
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        cr_expect_eq(plan_span_shorter(shorter[i].span, shorter[i].from, shorter[i].reached), shorter[i].next,
                     "shorter %zu", i);
}

static int64_t got[2][HORIZON]; /* places of the common bytes, or -1 */

static bool note_run(void *ctx, const struct plan_run *run)
{
    (void)ctx;
    for (int64_t k = 0; k < run->bytes && run->file + k < HORIZON; k++) {
        cr_assert_eq(got[0][run->file + k], -1, "byte %ld twice", (long)(run->file + k));
        got[0][run->file + k] = run->in[0] + k;
        got[1][run->file + k] = run->in[1] + k;
    }
    return true;
}

/* Checks counts within a window, and ahead of it. below[x]: common bytes below x. */
static void check_counts(const struct plan_window *w, const int64_t *below, uint64_t round)
{
    int64_t end = w->to < HORIZON ? w->to : HORIZON;

    cr_assert_eq(w->before, below[w->from < HORIZON ? w->from : HORIZON], "round %lu", round);
    for (int64_t x = w->from; x < end; x += 1 + x % 7) {
        cr_assert_eq(plan_window_bytes(w, x), below[x], "round %lu: below %ld", round, (long)x);
        if (below[x] == below[end])
            continue;
        int64_t at = plan_window_file(w, below[x]);
        cr_assert(at >= x && below[at] == below[x] && below[at + 1] == below[x] + 1, "round %lu: byte %ld", round,
                  (long)below[x]);
    }
    if (plan_window_is_last(w))
        return;
    cr_assert_eq(plan_window_file(w, w->before + w->plan->body.bytes), w->to);
    cr_assert_eq(plan_window_bytes(w, w->to + 5), plan_window_bytes(w, w->to));
    if (w->to < HORIZON)
        cr_assert_eq(plan_window_ahead(w, HORIZON), below[HORIZON] - below[w->to], "round %lu", round);
    cr_assert_eq(plan_window_ahead(w, w->to), 0);
}

Test(window, windows_have_the_common_bytes_one_after_the_other)
{
    static int64_t below[HORIZON + 1];
    uint64_t state = 5;
    int several = 0, one = 0;

    for (uint64_t round = 0; round < 600; round++) {
        struct pattern *p[2] = {random_pattern(&state, 300, round % 4), random_pattern(&state, 300, round % 3)};
        struct plan_pair pair = {p[0], p[1], 0, 0};
        int32_t most = 4 + (int32_t)random_below(&state, 40);
        struct plan_window w;
        int64_t place[2], end = 0;

        for (int64_t x = 0; x < HORIZON; x++)
            got[0][x] = -1;
        for (int64_t x = 0; x < HORIZON; x++)
            below[x + 1] = below[x] + (has(p[0], 0, x, &place[0]) && has(p[1], 0, x, &place[1]));
        cr_assert_eq(plan_window_open(&w, &pair, most), 0, "round %lu", round);
        for (;;) {
            cr_assert(w.plan->body.nodes <= most && (end == 0 || w.from == end), "round %lu", round);
            end = w.to;
            check_counts(&w, below, round);
            plan_runs(w.plan, w.from, w.to < HORIZON ? w.to : HORIZON, note_run, NULL);
            if (w.to >= HORIZON)
                break;
            several++;
            cr_assert_eq(plan_window_next(&w), 0, "round %lu", round);
        }
        one += plan_window_is_last(&w) && w.before == 0;
        for (int64_t x = 0; x < HORIZON; x++) {
            bool common = has(p[0], 0, x, &place[0]) && has(p[1], 0, x, &place[1]);

            cr_assert_eq(got[0][x] >= 0, common, "round %lu: byte %ld", round, (long)x);
            cr_assert(!common || (got[0][x] == place[0] && got[1][x] == place[1]), "round %lu: byte %ld", round,
                      (long)x);
        }
        plan_window_close(&w);
        pattern_free(p[0]);
        pattern_free(p[1]);
    }
    cr_expect(several > 1000 && one > 50, "%d windows, %d plans of all", several, one);
}

/* What a node with 360 KB for its plans goes through for 100 periods of a matrix: no window is tried more than a few
 * times, and all but the first have about as many nodes as they may. */
Test(window, windows_of_a_matrix_are_as_long_as_the_nodes_allow)
{
    struct pattern *a, *b;
    struct plan_window w;
    char why[PATTERN_WHY_BYTES];
    int windows = 1;

    cr_assert_eq(pattern_parse("array 999x1001x8 block,cyclic on 2x2", &a, why), 0);
    cr_assert_eq(pattern_parse("cyclic 4096 3", &b, why), 0);
    cr_assert_eq(plan_window_open(&w, &(struct plan_pair){a, b, 0, 0}, 1024), 0);
    cr_expect_eq(w.to, a->period);
    cr_expect_eq(w.plan->body.nodes, 494);
    for (; w.to < 100 * a->period; windows++) {
        cr_assert_eq(plan_window_next(&w), 0);
        cr_expect(w.plan->body.nodes <= 1024, "%d nodes", w.plan->body.nodes);
    }
    cr_expect_leq(windows, 110);
    plan_window_close(&w);
    pattern_free(a);
    pattern_free(b);
}

static const struct {
    const char *a, *b;
    bool all; /* in one plan */
} short_plans[] = {
    {"array 1024x1024x8 block,block on 4x4", "cyclic 16384 8", true},
    {"array 16384x16384x8 block,block on 4x4", "cyclic 4096 3", true},
    {"cyclic 1 3", "cyclic 1 2", true},
    {"array 999x1001x8 block,cyclic on 2x2", "cyclic 65536 1", true}, /* all bytes: any period is one of them */
    {"array 1000x1000x8 block,block on 4x4", "cyclic 16384 8", false},
    {"array 999x1001x8 block,cyclic on 2x2", "cyclic 4096 3", false},
};

Test(window, a_plan_of_all_is_made_where_it_is_short)
{
    for (size_t i = 0; i < sizeof short_plans / sizeof *short_plans; i++) {
        struct pattern *a, *b;
        struct plan_window w;
        char why[PATTERN_WHY_BYTES];

        cr_assert_eq(pattern_parse(short_plans[i].a, &a, why), 0);
        cr_assert_eq(pattern_parse(short_plans[i].b, &b, why), 0);
        cr_assert_eq(plan_window_open(&w, &(struct plan_pair){a, b, 0, 0}, 400), 0);
        cr_expect_eq(plan_window_is_last(&w), short_plans[i].all, "%s, %s", short_plans[i].a, short_plans[i].b);
        plan_window_close(&w);
        pattern_free(a);
        pattern_free(b);
    }
}

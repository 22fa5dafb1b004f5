/* Patterns and plans against tables of all bytes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/random_pattern.h"

#define HORIZON 20000           /* bytes of a file that are looked at */
#define MEMORY  (HORIZON + 512) /* of an element: a bit permutation goes ahead within its period */

static uint64_t rounds(uint64_t usual)
{
    const char *wanted = getenv("PATTERN_ROUNDS");

    return wanted ? strtoull(wanted, NULL, 10) : usual;
}

/* place[x]: where element e has file byte x, or -1: node by node, without falls.c. */
static int64_t spread_list(const struct falls_set *set, int32_t first, int32_t n, int64_t file, int64_t at,
                           int64_t *place, int64_t horizon)
{
    int64_t bytes = 0;

    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        for (int64_t block = 0; block < f->count; block++) {
            int64_t x = file + f->left + block * f->stride, y = at + f->in[0].at + block * f->in[0].step;

            if (f->children > 0) {
                bytes += spread_list(set, f->child, f->children, x, y, place, horizon);
                continue;
            }
            for (int64_t k = 0; k < f->length; k++, bytes++)
                if (x + k < horizon) {
                    cr_assert_eq(place[x + k], -1, "byte %ld twice", (long)(x + k));
                    place[x + k] = y + k;
                }
        }
    }
    return bytes;
}

static void spread(const struct pattern *p, int32_t e, int64_t *place)
{
    const struct falls_set *set = &p->element[e];

    for (int64_t x = 0; x < HORIZON; x++)
        place[x] = -1;
    for (int64_t k = 0; p->displacement + k * p->period < HORIZON; k++) {
        int64_t bytes =
            spread_list(set, set->top, set->tops, p->displacement + k * p->period, k * set->bytes, place, HORIZON);

        cr_assert_eq(bytes, set->bytes);
    }
}

static int64_t place_a[HORIZON], place_b[HORIZON];

Test(pattern, rank_select_next_and_previous_are_those_of_the_table)
{
    uint64_t state = 1;

    for (uint64_t round = 0; round < rounds(3000); round++) {
        struct pattern *p = random_pattern(&state, 120, true);
        int32_t e = (int32_t)random_below(&state, (uint32_t)p->elements);
        const struct falls_set *set = &p->element[e];
        int64_t rank = 0, last = -1;

        cr_assert(set->ascending);
        p->displacement = 0;
        spread(p, e, place_a);
        for (int64_t x = 0; x < p->period && x < HORIZON; x++) {
            bool has = place_a[x] >= 0;
            int64_t place = -1;

            cr_assert_eq(falls_rank(set, x), rank, "round %lu, byte %ld", round, (long)x);
            cr_assert_eq(falls_find(set, x, PLAN_A, &place), has);
            if (has) {
                cr_assert_eq(place, rank);
                cr_assert_eq(falls_select(set, rank), x);
                rank++;
                last = x;
            }
            cr_assert_eq(falls_previous(set, x), last);
            if (has)
                cr_assert_eq(falls_next(set, x), x);
            else if (falls_next(set, x) >= 0)
                cr_assert_gt(place_a[falls_next(set, x)], -1);
        }
        cr_assert_eq(rank, set->bytes);
        cr_assert_eq(falls_select(set, rank), -1);
        pattern_free(p);
    }
}

Test(pattern, every_byte_has_one_element_and_a_place_that_leads_back)
{
    uint64_t state = 7;
    char why[PATTERN_WHY_BYTES];

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *p = random_pattern(&state, 100, false);
        int64_t all = 0;

        if (p->elements == 1 && p->element[0].bytes < p->period) { /* a set that does not cover */
            cr_assert_eq(pattern_check(p, why), -EINVAL);
            pattern_free(p);
            continue;
        }
        cr_assert_eq(pattern_check(p, why), 0, "%s", why);
        for (int32_t e = 0; e < p->elements; e++)
            all += p->element[e].bytes;
        cr_assert_eq(all, p->period);
        for (int64_t x = p->displacement; x < p->displacement + 2 * p->period && x < HORIZON; x++) {
            int64_t offset;
            int32_t e;

            cr_assert_eq(pattern_place(p, x, &e, &offset), 0);
            if (p->element[e].ascending)
                cr_assert_eq(pattern_file(p, e, offset), x);
        }
        pattern_free(p);
    }
}

static int64_t got_a[HORIZON], got_b[HORIZON];
static int64_t end_of_last;

static bool note_run(void *ctx, const struct plan_run *run)
{
    (void)ctx;
    cr_assert_geq(run->file, end_of_last, "runs come in file order");
    end_of_last = run->file + run->bytes;
    for (int64_t k = 0; k < run->bytes; k++) {
        cr_assert_eq(got_a[run->file + k], -1);
        got_a[run->file + k] = run->in[0] + k;
        got_b[run->file + k] = run->in[1] + k;
    }
    return true;
}

static void compare_plan(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b, int64_t from,
                         int64_t to, uint64_t round)
{
    struct plan *plan;
    int64_t start = a->displacement > b->displacement ? a->displacement : b->displacement, bytes = 0;

    int error = plan_make(a, of_a, b, of_b, &plan);
    if (error == -E2BIG && a->period > 1000 && b->period > 1000)
        return; /* two large periods without a common divisor: more than PATTERN_NODES_MAX nodes */
    cr_assert_eq(error, 0, "round %lu: %d", round, error);
    memset(got_a, -1, sizeof got_a);
    end_of_last = from;
    plan_runs(plan, from, to, note_run, NULL);
    for (int64_t x = 0; x < HORIZON; x++) {
        bool common = x >= start && x >= from && x < to && place_a[x] >= 0 && place_b[x] >= 0;

        cr_assert_eq(got_a[x] >= 0, common, "round %lu, byte %ld", round, (long)x);
        if (common) {
            cr_assert_eq(got_a[x], place_a[x], "round %lu, byte %ld: at %ld of A, not %ld", round, (long)x,
                         (long)got_a[x], (long)place_a[x]);
            cr_assert_eq(got_b[x], place_b[x], "round %lu, byte %ld", round, (long)x);
        }
        if (x >= start && x < to && place_a[x] >= 0 && place_b[x] >= 0)
            bytes++;
    }
    cr_assert_eq(plan_bytes(plan, to), bytes, "round %lu", round);
    plan_free(plan);
}

Test(pattern, plans_have_what_the_tables_have_in_common)
{
    uint64_t state = 42;

    for (uint64_t round = 0; round < rounds(4000); round++) {
        struct pattern *a = random_pattern(&state, round % 3 ? 60 : 400, false);
        struct pattern *b = random_pattern(&state, round % 5 ? 60 : 400, false);
        int32_t of_a = (int32_t)random_below(&state, (uint32_t)a->elements);
        int32_t of_b = (int32_t)random_below(&state, (uint32_t)b->elements);
        int64_t from = random_below(&state, 300),
                to = from + random_below(&state, random_below(&state, 4) ? 2000 : HORIZON - 300);

        spread(a, of_a, place_a);
        spread(b, of_b, place_b);
        compare_plan(a, of_a, b, of_b, from, to, round);
        pattern_free(a);
        pattern_free(b);
    }
}

static uint8_t file[HORIZON], memory_a[MEMORY], memory_b[MEMORY], wanted_b[MEMORY], packed[HORIZON];

static int64_t common_bytes(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b)
{
    struct plan *plan;

    cr_assert_eq(plan_make(a, of_a, b, of_b, &plan), 0);
    int64_t bytes = plan->body.bytes * (a->period / (plan->period / b->period)); /* of a->period * b->period bytes */
    plan_free(plan);
    return bytes;
}

Test(pattern, what_an_element_has_in_common_with_all_of_another_pattern_is_all_that_it_has)
{
    uint64_t state = 3;

    for (uint64_t round = 0; round < rounds(500); round++) {
        struct pattern *a = random_pattern(&state, 60, false), *b;
        int64_t sum = 0;

        do
            b = random_pattern(&state, 60, false);
        while (b->elements == 1 && b->element[0].bytes < b->period && (pattern_free(b), true));
        a->displacement = b->displacement = 0;
        if (a->period > 1000 && b->period > 1000) { /* too many nodes, perhaps */
            pattern_free(b);
            cr_assert_eq(pattern_stripe(3, 2, &b), 0);
        }
        int32_t of_a = (int32_t)random_below(&state, (uint32_t)a->elements);
        for (int32_t e = 0; e < b->elements; e++) {
            int64_t bytes = common_bytes(a, of_a, b, e);

            cr_assert_eq(bytes, common_bytes(b, e, a, of_a), "round %lu: either way the same", round);
            sum += bytes;
        }
        cr_assert_eq(sum, a->element[of_a].bytes * b->period, "round %lu", round);
        pattern_free(a);
        pattern_free(b);
    }
}

Test(pattern, bytes_go_where_the_tables_say_and_come_back)
{
    uint64_t state = 99;

    for (int64_t x = 0; x < HORIZON; x++)
        file[x] = (uint8_t)(x * 7 + x / 256 + 1);
    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *a = random_pattern(&state, 60, false), *b = random_pattern(&state, 60, false);
        int64_t from = random_below(&state, 300),
                to = from + random_below(&state, random_below(&state, 4) ? 2000 : HORIZON - 300), bytes = 0;
        struct plan *plan;

        spread(a, 0, place_a);
        spread(b, 0, place_b);
        memset(memory_a, 0, sizeof memory_a);
        memset(memory_b, 0, sizeof memory_b);
        memset(wanted_b, 0, sizeof wanted_b);
        int64_t start = a->displacement > b->displacement ? a->displacement : b->displacement;
        start = start > from ? start : from;
        for (int64_t x = 0; x < HORIZON; x++)
            if (place_a[x] >= 0)
                memory_a[place_a[x]] = file[x];
        for (int64_t x = start; x < to; x++)
            if (place_a[x] >= 0 && place_b[x] >= 0) {
                wanted_b[place_b[x]] = file[x];
                cr_assert(bytes < HORIZON);
                bytes++;
            }
        cr_assert_eq(plan_make(a, 0, b, 0, &plan), 0);
        cr_assert_eq(plan_copy(plan, from, to, memory_b, 0, memory_a, 0), bytes);
        cr_assert_arr_eq(memory_b, wanted_b, MEMORY, "round %lu", round);
        cr_assert_eq(plan_gather(plan, from, to, packed, memory_a, 0), bytes);
        int64_t n = 0;
        for (int64_t x = start; x < to; x++)
            if (place_a[x] >= 0 && place_b[x] >= 0)
                cr_assert_eq(packed[n++], file[x], "round %lu: packed bytes come in file order", round);
        memset(wanted_b, 0, sizeof wanted_b);
        memcpy(memory_b, memory_a, sizeof memory_b);
        for (int64_t x = start; x < to; x++)
            if (place_a[x] >= 0 && place_b[x] >= 0)
                memory_b[place_a[x]] = 0;
        cr_assert_eq(plan_scatter(plan, from, to, memory_b, 0, packed), bytes);
        cr_assert_arr_eq(memory_b, memory_a, MEMORY, "round %lu: scattered back", round);
        plan_free(plan);
        pattern_free(a);
        pattern_free(b);
    }
}

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

Test(pattern, ranks_of_all_elements_sum_up_to_the_bytes_below)
{
    uint64_t state = 17;

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *p = random_pattern(&state, 300, false);
        int64_t all = 0;

        for (int32_t e = 0; e < p->elements; e++)
            all += p->element[e].bytes;
        for (int i = 0; i < 40 && all == p->period; i++) {
            int64_t x = random_below(&state, (uint32_t)p->period + 1), sum = 0;

            for (int32_t e = 0; e < p->elements; e++)
                sum += falls_rank(&p->element[e], x);
            cr_assert_eq(sum, x, "round %lu: %ld bytes below %ld", round, (long)sum, (long)x);
        }
        pattern_free(p);
    }
}

Test(pattern, a_plan_the_other_way_round_is_the_same_swapped)
{
    uint64_t state = 5150;

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *a = random_pattern(&state, 60, false), *b = random_pattern(&state, 60, false);
        int64_t to = 1 + random_below(&state, HORIZON);
        struct plan *plan;

        for (int way = 0; way < 2; way++) {
            memset(got_a, -1, sizeof got_a);
            memset(got_b, -1, sizeof got_b);
            end_of_last = 0;
            cr_assert_eq(way == 0 ? plan_make(a, 0, b, 0, &plan) : plan_make(b, 0, a, 0, &plan), 0);
            plan_runs(plan, 0, to, note_run, NULL);
            plan_free(plan);
            if (way == 0) {
                memcpy(place_a, got_a, sizeof got_a);
                memcpy(place_b, got_b, sizeof got_b);
            }
        }
        cr_assert_arr_eq(place_a, got_b, sizeof got_b, "round %lu", round);
        cr_assert_arr_eq(place_b, got_a, sizeof got_a, "round %lu", round);
        pattern_free(a);
        pattern_free(b);
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

Test(pattern, plans_of_a_range_have_what_lies_in_it)
{
    uint64_t state = 4242;

    for (uint64_t round = 0; round < rounds(2000); round++) {
        struct pattern *a = random_pattern(&state, round % 3 ? 60 : 400, false);
        struct pattern *b = random_pattern(&state, round % 5 ? 60 : 400, false);
        int64_t from = random_below(&state, 300), to = from + random_below(&state, 2000), bytes = 0;
        struct plan *plan;

        spread(a, 0, place_a);
        spread(b, 0, place_b);
        cr_assert_eq(plan_make_within(a, 0, b, 0, from, to, &plan), 0, "round %lu", round);
        memset(got_a, -1, sizeof got_a);
        end_of_last = from;
        plan_runs(plan, from, to, note_run, NULL);
        for (int64_t x = 0; x < HORIZON; x++) {
            bool common = x >= a->displacement && x >= b->displacement && x >= from && x < to && place_a[x] >= 0 &&
                          place_b[x] >= 0;

            cr_assert_eq(got_a[x] >= 0, common, "round %lu, byte %ld", round, (long)x);
            cr_assert(!common || (got_a[x] == place_a[x] && got_b[x] == place_b[x]), "round %lu, byte %ld", round,
                      (long)x);
            bytes += common;
        }
        cr_assert_eq(plan_bytes(plan, to), bytes, "round %lu", round);
        plan_free(plan);
        pattern_free(a);
        pattern_free(b);
    }
}

/* Columns repeat after a row; blocks of a matrix do not. */
Test(pattern, a_plan_of_columns_has_a_row_for_a_period)
{
    struct pattern *a, *b;
    struct plan *plan;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse("array 1000x1000x8 *,block on 1x7", &a, why), 0);
    cr_assert_eq(pattern_parse("cyclic 65536 4", &b, why), 0);
    cr_assert_eq(plan_make(a, 1, b, 1, &plan), 0);
    cr_expect_eq(plan->period, 65536 * 4 / 64 * 8000, "%ld", (long)plan->period);
    cr_expect_leq(plan->body.nodes, 200, "%d nodes", plan->body.nodes);
    plan_free(plan);
    pattern_free(a);
    pattern_free(b);
}

/* Files of 24 MB and 8 MB without much of a common divisor. */
Test(pattern, a_plan_of_a_file_is_short_where_the_whole_is_not)
{
    struct pattern *a, *b;
    struct plan *plan;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse("array 999x1001x24 *,cyclic(3) on 1x5", &a, why), 0);
    cr_assert_eq(pattern_parse("array 1000x1000x8 cyclic(11),cyclic(13) on 2x2", &b, why), 0);
    cr_expect_eq(plan_make(a, 1, b, 1, &plan), -E2BIG);
    int64_t bytes = 0;
    for (int32_t e = 0; e < 4; e++) {
        cr_assert_eq(plan_make_within(a, 1, b, e, 0, a->period, &plan), 0);
        cr_expect_leq(plan->body.nodes, 40000, "%d nodes", plan->body.nodes);
        bytes += plan_bytes(plan, a->period);
        plan_free(plan);
    }
    cr_expect_eq(bytes, a->element[1].bytes);
    cr_expect_eq(plan_make_within(a, 1, b, 1, 5, 4, &plan), -EINVAL);
    cr_expect_eq(plan_make_within(a, 1, b, 1, -1, 4, &plan), -EINVAL);
    pattern_free(a);
    pattern_free(b);
}

static uint8_t file[HORIZON], memory_a[MEMORY], memory_b[MEMORY], wanted_b[MEMORY], packed[HORIZON];

static int64_t common_bytes(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b)
{
    struct plan *plan;

    cr_assert_eq(plan_make(a, of_a, b, of_b, &plan), 0);
    int64_t bytes = plan->body.bytes * (a->period * b->period / plan->period); /* of a->period * b->period bytes */
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

Test(pattern, a_byte_is_placed_where_the_tables_say_in_every_way_of_looking_it_up)
{
    uint64_t state = 11;
    char text[1 << 15], why[PATTERN_WHY_BYTES];

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *p = random_pattern(&state, 300, false), *again = NULL;
        bool covers = p->elements > 1 || p->element[0].bytes == p->period;

        if (pattern_format(p, text, sizeof text) < sizeof text) /* as PITFALLS: looked up by their runs */
            cr_assert_eq(pattern_parse(text, &again, why), 0, "%s: %s", text, why);
        for (int32_t e = 0; e < p->elements; e++) {
            spread(p, e, place_a);
            for (int64_t x = 0; x < p->displacement + 2 * p->period && x < HORIZON; x++) {
                int64_t offset = -1, other = -1;
                int32_t element = -1, same = -1;
                int error = pattern_place(p, x, &element, &offset);

                cr_assert(!covers || error == (x < p->displacement ? -EINVAL : 0));
                cr_assert_eq(place_a[x] >= 0, error == 0 && element == e, "round %lu, byte %ld", round, (long)x);
                if (place_a[x] >= 0)
                    cr_assert_eq(offset, place_a[x], "round %lu, byte %ld: at %ld, not %ld", round, (long)x,
                                 (long)offset, (long)place_a[x]);
                if (again) {
                    cr_assert_eq(pattern_place(again, x, &same, &other), error);
                    cr_assert(error || (same == element && other == offset), "round %lu: %s: byte %ld", round, text,
                              (long)x);
                }
            }
        }
        pattern_free(p);
        pattern_free(again);
    }
}

Test(pattern, many_elements_have_a_way_of_looking_bytes_up)
{
    static const char *const text[] = {"cyclic 3 8192",
                                       "cyclic 4096 1024",
                                       "array 64x64x64x8 block,cyclic,cyclic(4) on 8x8x8",
                                       "array 100x99x7 cyclic(3),block on 13x17",
                                       "bits p7-4 o9-0 p3-0 o13-10",
                                       "falls (0,63,64,16,1024,4,{(0,0,16,4,1,16)})",
                                       "array 1000003x999983x13 block,cyclic(77) on 7x5",
                                       "array 7x1x3x1000003x999983x13 cyclic,block,*,cyclic(78),block on 3x1x1x5x2",
                                       "cyclic 1048573 8191"};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char why[PATTERN_WHY_BYTES];
        struct pattern *p;
        uint64_t state = i;

        cr_assert_eq(pattern_parse(text[i], &p, why), 0, "%s: %s", text[i], why);
        cr_assert_not_null(p->places, "%s", text[i]);
        for (int round = 0; round < 2000; round++) {
            int64_t x = ((int64_t)random_below(&state, 1u << 31) << 31 | random_below(&state, 1u << 31)) % p->period;
            int64_t offset, place, most = PATTERN_OFFSET_MAX / 2 / p->period, periods = random_below(&state, 3);
            int32_t element, owner = -1;

            if (round % 2)
                periods = most > INT32_MAX ? random_below(&state, INT32_MAX) : random_below(&state, (uint32_t)most + 1);

            for (int32_t e = 0; e < p->elements; e++)
                if (falls_find(&p->element[e], x, PLAN_A, &place)) {
                    owner = e;
                    break;
                }
            cr_assert_eq(pattern_place(p, periods * p->period + x, &element, &offset), 0);
            cr_assert_eq(element, owner, "%s: byte %ld: element %d, not %d", text[i], (long)x, element, owner);
            cr_assert_eq(offset, place + periods * p->element[owner].bytes, "%s: byte %ld", text[i], (long)x);
        }
        pattern_free(p);
    }
}

Test(pattern, a_set_is_cut_where_the_table_is)
{
    uint64_t state = 5;

    for (uint64_t round = 0; round < rounds(3000); round++) {
        struct pattern *p = random_pattern(&state, 200, random_below(&state, 3) > 0);
        int32_t e = (int32_t)random_below(&state, (uint32_t)p->elements);
        int64_t from = random_below(&state, (uint32_t)p->period + 3), bytes = 0;
        int64_t to = from + random_below(&state, (uint32_t)p->period + 3);
        struct falls_set cut;

        p->displacement = 0;
        spread(p, e, place_a);
        memset(place_b, -1, sizeof place_b);
        cr_assert_eq(falls_cut(&p->element[e], from, to, &cut), 0);
        spread_list(&cut, cut.top, cut.tops, 0, 0, place_b, HORIZON);
        int64_t first = p->element[e].ascending ? falls_rank(&p->element[e], from) : 0;
        for (int64_t x = 0; x < HORIZON; x++) {
            bool in = from + x < to && from + x < p->period && from + x < HORIZON && place_a[from + x] >= 0;

            cr_assert_eq(place_b[x] >= 0, in, "round %lu: byte %ld of %ld to %ld", round, (long)x, (long)from,
                         (long)to);
            if (in)
                cr_assert_eq(place_b[x], place_a[from + x] - first, "round %lu: byte %ld", round, (long)x);
            bytes += in;
        }
        cr_assert_eq(cut.bytes, bytes);
        cr_assert(!p->element[e].ascending || cut.ascending);
        falls_free(&cut);
        pattern_free(p);
    }
    cr_expect_eq(falls_cut(&(struct falls_set){0}, 5, 4, &(struct falls_set){0}), -EINVAL);
    cr_expect_eq(falls_cut(&(struct falls_set){0}, -1, 4, &(struct falls_set){0}), -EINVAL);
}

/* Bytes of an element that lie below file offset HORIZON: so many places can be checked. */
static int64_t places_below_horizon(const struct pattern *p, int32_t e)
{
    int64_t reach = HORIZON - p->displacement, whole = reach / p->period * p->element[e].bytes;

    return p->element[e].ascending ? whole + falls_rank(&p->element[e], reach % p->period) : whole;
}

Test(pattern, a_plan_is_projected_to_the_places_in_either_element)
{
    uint64_t state = 77, in_order = 0;

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *of[2] = {random_pattern(&state, 60, round % 4), random_pattern(&state, 60, round % 4)}, *view;
        struct plan *plan;

        spread(of[0], 0, place_a);
        spread(of[1], 0, place_b);
        int error = plan_make(of[0], 0, of[1], 0, &plan);
        cr_assert(error == 0 || error == -E2BIG);
        for (int side = 0; side < 2 && !error; side++) {
            int64_t *place = side == 0 ? place_a : place_b;

            int order = plan_project(plan, side, &view);
            cr_assert(order == 0 || (order == -EINVAL && !of[side]->element[0].ascending), "round %lu: %d", round,
                      order);
            if (order)
                continue;
            in_order++;
            spread(view, 0, got_a);
            memset(got_b, -1, sizeof got_b);
            for (int64_t x = plan->from; x < HORIZON; x++)
                if (place_a[x] >= 0 && place_b[x] >= 0 && place[x] < HORIZON)
                    got_b[place[x]] = x;
            for (int64_t y = 0; y < places_below_horizon(of[side], 0); y++)
                cr_assert_eq(got_a[y] >= 0, got_b[y] >= 0, "round %lu, side %d: place %ld", round, side, (long)y);
            cr_assert_eq(view->element[0].bytes, plan->body.bytes);
            pattern_free(view);
        }
        if (!error)
            plan_free(plan);
        pattern_free(of[0]);
        pattern_free(of[1]);
    }
    cr_assert_gt(in_order, rounds(1500));
}

/* The displacement of one cuts a period of the other, whose bytes come in an order that is the file's only in parts. */
Test(pattern, a_plan_that_begins_within_a_permuted_period_is_projected_only_in_file_order)
{
    struct pattern *a, *b, *view;
    struct plan *plan;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse("cyclic 1 1 +27", &a, why), 0);
    cr_assert_eq(pattern_parse("bits o0-0 p1-1 o1-1 p2-2 p0-0 p3-3", &b, why), 0);
    for (int32_t e = 0; e < b->elements; e++) {
        cr_assert_eq(plan_make(a, 0, b, e, &plan), 0);
        cr_expect_eq(plan_project(plan, PLAN_B, &view), -EINVAL, "element %d", e);
        cr_assert_eq(plan_project(plan, PLAN_A, &view), 0);
        pattern_free(view);
        plan_free(plan);
    }
    pattern_free(a);
    pattern_free(b);
}

Test(pattern, a_plan_of_an_element_with_itself_is_one_run_in_it)
{
    uint64_t state = 123;

    for (uint64_t round = 0; round < rounds(1500); round++) {
        struct pattern *p = random_pattern(&state, 300, true), *view;
        int32_t e = (int32_t)random_below(&state, (uint32_t)p->elements);
        struct plan *plan;

        cr_assert_eq(plan_make(p, e, p, e, &plan), 0);
        cr_assert_eq(p->period % plan->period, 0);
        cr_assert_eq(plan->body.bytes * (p->period / plan->period), p->element[e].bytes);
        for (int side = 0; side < 2; side++) {
            cr_assert_eq(plan_project(plan, side, &view), 0);
            const struct falls_set *set = &view->element[0];
            if (p->element[e].bytes > 0) {
                cr_assert(view->displacement == 0 && set->bytes == view->period, "round %lu", round);
                cr_assert(set->tops == 1 && set->node[set->top].children == 0 && set->node[set->top].count == 1,
                          "round %lu: %d nodes", round, set->nodes);
            } else {
                cr_assert_eq(set->tops, 0);
            }
            pattern_free(view);
        }
        cr_assert_eq(plan_project(plan, 2, &view), -EINVAL);
        plan_free(plan);
        pattern_free(p);
    }
}

/*
 * Two-phase I/O (two_phase.h): views, plans, turns. two_phase_window.c has what a holder does with a window.
 *
 *   ranges of all members -> plans -> turn by turn: each holder has the next window of its part -> who moved how far
 *
 * Windows begin at multiples of their length in the part, so a call that goes on where another one ended shares at most
 * one window with it.
 */
#include "libpio/group/two_phase.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/two_phase_window.h"
#include "libpio/map/window.h"
#include "vertex/contract/errors.h"

#define PLAN_NODES 1024 /* of a plan of all the file; beyond, it is made of an access's range */

/* ---- Views ---- */

struct view {
    const struct pattern *pattern;
    int32_t element;
};

static struct view view_of(const struct two_phase *t, int rank)
{
    return t->learned ? (struct view){t->learned[rank], 0} : (struct view){t->known, rank};
}

static void free_plans(struct two_phase *t)
{
    for (int32_t h = 0; t->own && h < t->parts->elements; h++)
        plan_free(t->own[h]);
    for (int r = 0; t->held && r < t->g->size; r++)
        plan_free(t->held[r]);
    free(t->own);
    free(t->held);
    t->own = t->held = NULL;
    t->planned_from = t->planned_to = 0;
}

static void free_views(struct two_phase *t)
{
    for (int r = 0; t->learned && r < t->g->size; r++)
        pattern_free(t->learned[r]);
    free(t->learned);
    t->learned = NULL;
    t->known = NULL;
}

void two_phase_end(struct two_phase *t)
{
    free_plans(t);
    free_views(t);
    free(t->part_of);
    t->part_of = NULL;
    if (t->kept)
        two_phase_window_close(t->kept);
    free(t->kept);
    t->kept = NULL;
}

/* The least of what members give, which is an error if one of them gives one. */
static int agree(const struct two_phase *t, int error)
{
    int64_t least = error;
    int result = group_all_reduce(t->g, &least, 1, GROUP_INT64, GROUP_LEAST);

    return result < 0 ? result : (int)least;
}

static int list_holders(struct two_phase *t)
{
    if (!t->part_of)
        t->part_of = malloc((size_t)t->g->size * sizeof *t->part_of);
    if (!t->part_of)
        return -N_ENOMEM;
    for (int r = 0; r < t->g->size; r++)
        t->part_of[r] = -1;
    for (int32_t h = 0; h < t->parts->elements; h++)
        t->part_of[t->holder[h]] = (int)h;
    return 0;
}

int two_phase_know(struct two_phase *t, const struct pattern *views)
{
    free_plans(t);
    free_views(t);
    t->known = views;
    return list_holders(t);
}

static int unpack_all(struct two_phase *t, const char *all, const int *bytes)
{
    int error = 0;

    for (int r = 0; r < t->g->size && error == 0; all += bytes[r++])
        error = pattern_unpack(all, (size_t)bytes[r], &t->learned[r]);
    return error;
}

/* The packed views of all, in the order of ranks, or NULL. *total: their bytes; negative: a member's error. */
static char *gather_views(struct two_phase *t, const char *own, int *bytes, int *total)
{
    int *each = malloc((size_t)t->g->size * sizeof *each), sum = 0, error = agree(t, each ? 0 : -N_ENOMEM);
    char *all = NULL;

    for (int r = 0; r < t->g->size && error == 0; r++)
        each[r] = (int)sizeof *bytes;
    if (error == 0)
        error = group_all_gather(t->g, &bytes[t->g->rank], bytes, each);
    free(each);
    for (int r = 0; r < t->g->size && error == 0; r++)
        error = bytes[r] < 0 ? bytes[r] : bytes[r] > INT_MAX - sum ? -N_E2BIG : (sum += bytes[r], 0);
    if (error == 0) {
        all = malloc((size_t)sum);
        error = agree(t, all ? 0 : -N_ENOMEM);
    }
    if (error == 0)
        error = group_all_gather(t->g, own, all, bytes);
    if (error < 0) {
        free(all);
        all = NULL;
    }
    *total = error < 0 ? error : sum;
    return all;
}

int two_phase_learn(struct two_phase *t, const struct pattern *view)
{
    int *bytes = calloc((size_t)t->g->size, sizeof *bytes), error, total;
    int64_t n = pattern_pack(view, 0, NULL, 0);
    char *own = n > 0 && n <= INT_MAX ? malloc((size_t)n) : NULL;

    free_plans(t);
    free_views(t);
    t->learned = calloc((size_t)t->g->size, sizeof(struct pattern *));
    error = agree(t, bytes && t->learned && (own || n < 0) ? list_holders(t) : -N_ENOMEM);
    if (error == 0) {
        bytes[t->g->rank] = own ? (int)n : -N_E2BIG;
        if (own)
            pattern_pack(view, 0, own, (size_t)n);
        char *all = gather_views(t, own, bytes, &total);
        error = total < 0 ? total : agree(t, unpack_all(t, all, bytes));
        free(all);
    }
    if (error < 0)
        free_views(t);
    free(own);
    free(bytes);
    return error;
}

/* ---- Plans ---- */

static int64_t later(const struct pattern *a, const struct pattern *b)
{
    return a->displacement > b->displacement ? a->displacement : b->displacement;
}

/* Of the whole file, or, where that has too many nodes, of a range: then *whole becomes false. */
static int make_plan(struct plan_pair pair, const struct two_phase_range *range, struct plan **plan, bool *whole)
{
    int64_t reached;
    int error = plan_make_some(&pair, later(pair.a, pair.b), PATTERN_OFFSET_MAX, PLAN_NODES, &reached, plan);

    if (error != -N_E2BIG)
        return error;
    *whole = false;
    return plan_make_within(pair.a, pair.of_a, pair.b, pair.of_b, range->from, range->to, plan);
}

static int make_plans(struct two_phase *t, const struct two_phase_range *range, bool *whole)
{
    const struct view own = view_of(t, t->g->rank);
    const int part = t->part_of[t->g->rank];
    int error = 0;

    t->own = calloc((size_t)t->parts->elements, sizeof(struct plan *));
    t->held = part >= 0 ? calloc((size_t)t->g->size, sizeof(struct plan *)) : NULL;
    if (!t->own || (part >= 0 && !t->held))
        return -N_ENOMEM;
    for (int32_t h = 0; h < t->parts->elements && error == 0; h++)
        error = make_plan((struct plan_pair){own.pattern, t->parts, own.element, h}, range, &t->own[h], whole);
    for (int r = 0; r < t->g->size && part >= 0 && error == 0; r++) {
        const struct view v = view_of(t, r);

        error = make_plan((struct plan_pair){t->parts, v.pattern, part, v.element}, range, &t->held[r], whole);
    }
    return error;
}

static int plan_range(struct two_phase *t, const struct two_phase_range *range)
{
    bool whole = true;

    if (t->planned_from <= range->from && range->to <= t->planned_to)
        return 0;
    free_plans(t);
    int error = make_plans(t, range, &whole);
    if (error < 0) {
        free_plans(t);
        return error;
    }
    t->planned_from = whole ? 0 : range->from;
    t->planned_to = whole ? PATTERN_OFFSET_MAX : range->to;
    return 0;
}

/* ---- An access ---- */

/* What this member wants; from == to: nothing. -N_EINVAL: there are no such bytes. */
static int find_range(const struct two_phase *t, int64_t n, int64_t at, struct two_phase_range *range)
{
    const struct view v = view_of(t, t->g->rank);

    *range = (struct two_phase_range){0, 0};
    if (n <= 0 || at < 0 || n > PATTERN_OFFSET_MAX - at)
        return n == 0 ? 0 : -N_EINVAL;
    const int64_t first = pattern_file(v.pattern, v.element, at);
    const int64_t last = pattern_file(v.pattern, v.element, at + n - 1);
    if (first < 0 || last < 0)
        return -N_EINVAL;
    *range = (struct two_phase_range){first, last + 1};
    return 0;
}

/* All members' ranges, in `of`, and the range of all together. */
static int agree_on_ranges(struct two_phase *t, struct two_phase_range own, struct two_phase_call *c)
{
    struct two_phase_range *all = &c->range;
    int error = agree(t, two_phase_lists(t, c) ? 0 : -N_ENOMEM);

    for (int r = 0; r < t->g->size && error == 0; r++)
        c->each[r] = (int)sizeof own;
    if (error == 0)
        error = group_all_gather(t->g, &own, c->of, c->each);
    *all = (struct two_phase_range){PATTERN_OFFSET_MAX, 0};
    for (int r = 0; r < t->g->size && error == 0; r++)
        if (c->of[r].from < c->of[r].to) {
            all->from = c->of[r].from < all->from ? c->of[r].from : all->from;
            all->to = c->of[r].to > all->to ? c->of[r].to : all->to;
        }
    return error < 0 ? error : 0;
}

/* Returns how many bytes of this member were moved. */
static int64_t find_good(const struct two_phase *t, const struct two_phase_call *c, int64_t n)
{
    const struct view v = view_of(t, t->g->rank);
    const struct two_phase_range *own = &c->of[t->g->rank];
    int64_t good = n, why = 0;

    for (int32_t h = 0; h < t->parts->elements; h++) {
        const struct two_phase_reach *x = &c->reach[t->holder[h]];

        if (x->file >= own->to)
            continue;
        const int64_t first = plan_file(t->own[h], plan_bytes(t->own[h], x->file > own->from ? x->file : own->from));
        const int64_t at = first < 0 ? n : pattern_rank(v.pattern, v.element, first) - c->at;

        if (at < good) {
            good = at;
            why = x->error;
        }
    }
    return good == 0 && why < 0 ? why : good;
}

static int64_t agree_on_end(struct two_phase *t, struct two_phase_call *c, int64_t n)
{
    const struct two_phase_reach own = {c->failed, c->error};

    for (int r = 0; r < t->g->size; r++)
        c->each[r] = (int)sizeof own;
    const int error = group_all_gather(t->g, &own, c->reach, c->each);
    return error < 0 ? error : n == 0 ? 0 : find_good(t, c, n);
}

static int64_t move(struct two_phase *t, struct two_phase_call *c, int64_t n, int refused)
{
    struct two_phase_range own = {0, 0};

    if (refused == 0)
        refused = find_range(t, n, c->at, &own);
    int error = agree_on_ranges(t, own, c);
    if (error < 0)
        return error;
    error = c->range.from < c->range.to ? plan_range(t, &c->range) : 0;
    if (error == 0)
        error = two_phase_window_open(t, c);
    error = agree(t, error);
    for (int64_t i = 0; i < c->turns && error == 0; i++)
        error = two_phase_turn(t, c, i);
    if (error < 0 || c->turns == 0)
        return error < 0 ? error : refused;
    const int64_t good = agree_on_end(t, c, own.from < own.to ? n : 0);
    return refused < 0 ? refused : good;
}

int64_t two_phase_move(struct two_phase *t, bool writes, void *buf, int64_t n, int64_t at)
{
    struct two_phase_call own = {0}, *c = t->kept ? t->kept : &own;

    t->counts.calls++;
    c->writes = writes;
    c->buf = buf;
    c->at = at;
    c->failed = PATTERN_OFFSET_MAX;
    c->turns = c->error = 0;
    const int64_t moved = move(t, c, n, n < 0 ? -N_EINVAL : 0);
    if (c == &own)
        two_phase_window_close(c);
    return moved;
}

int two_phase_reserve(struct two_phase *t, int64_t most)
{
    const int64_t theirs = t->part_of[t->g->rank] >= 0 ? t->window_bytes : 0;

    t->kept = t->kept ? t->kept : calloc(1, sizeof *t->kept);
    if (!t->kept || !two_phase_lists(t, t->kept))
        return -N_ENOMEM;
    int error = two_phase_window_reserve(t, t->kept, most, theirs);
    return error < 0 ? error : plan_range(t, &(struct two_phase_range){0, 1});
}

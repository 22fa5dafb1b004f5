/*
 * Plans: the common bytes of two elements [P3 section 5.2], made by one walk over both trees.
 *
 * The paper's INTERSECT is not printed whole, and the printed part goes wrong for nested sets that interleave. This
 * walk keeps to windows of the file in which only one FALLS of either side matters, so that its results are in file
 * order:
 *
 *   A     |==f0==|     |==f1==|        windows: where an f and a g overlap, one after the other
 *   B  |===g0===|  |======g1======|
 *
 * In a window, of f and g:
 *
 *   one is a single block           its children take its place
 *   one is whole (a leaf)           the other, cut to the window
 *   g's stride fits into f's block  f's blocks are walked until g stands as it did at the first: that takes
 *                                   s_g / gcd(s_f, s_g) blocks; the rest repeats them
 *   neither fits                    two blocks overlap here and there. For each distance D between their starts,
 *                                   i s_f - j s_g = D - (l_f - l_g) says which blocks do (extended Euclid); that
 *                                   repeats with lcm(s_f, s_g)
 *
 * So the work depends on how often the two patterns shift against each other, not on the number of blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/falls.h"
#include "libpio/map/numbers.h"
#include "libpio/map/window.h"

#define REPEATS_MIN 2  /* that many periods are said as one node */
#define NODE_STEPS  16 /* of one search for overlaps, for each node that the plan may have */

typedef __int128 wide;

/* Some siblings of one element, or all bytes (n = 0). */
struct side {
    const struct falls *node; /* of the element's set, for children */
    const struct falls *first;
    int32_t n;
    int64_t origin; /* file offset of the block that contains them */
    int64_t at;     /* where that block's bytes begin in the element */
};

/* The origin of the nodes being pushed. */
struct base {
    int64_t file, at[2];
    int32_t mark;
};

struct meeting {
    int64_t start; /* file offset at which the later block begins */
    int64_t i, j;  /* numbers of the blocks: of side 0 and of side 1 */
};

static void meet(struct falls_build *b, const struct side side[2], int64_t from, int64_t to, const struct base *base);

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b rounded down, b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Least common multiple, PATTERN_OFFSET_MAX if it lies beyond. */
static int64_t lcm(int64_t a, int64_t b)
{
    wide all = (wide)(a / gcd(a, b)) * b;

    return all > PATTERN_OFFSET_MAX ? PATTERN_OFFSET_MAX : (int64_t)all;
}

/* x with a x = 1 mod m, for coprime a and m. */
static int64_t inverse(int64_t a, int64_t m)
{
    int64_t x = 0, next = 1, rest = m;

    for (int64_t left = a % m; left;) {
        int64_t quotient = rest / left, swap = rest % left;

        rest = left;
        left = swap;
        swap = x - quotient * next;
        x = next;
        next = swap;
    }
    return x < 0 ? x + m : x;
}

static int64_t start_of(const struct side *s, const struct falls *f)
{
    return s->origin + f->left;
}

static int64_t end_of(const struct side *s, const struct falls *f)
{
    return start_of(s, f) + (f->count - 1) * f->stride + f->length;
}

static int64_t place_of(const struct side *s, int64_t block)
{
    return s->at + s->first->in[0].at + block * s->first->in[0].step;
}

/* Returns the side that consists of the children in one block of a side's first FALLS. */
static struct side inside(const struct side *s, int64_t block)
{
    const struct falls *f = s->first;

    return (struct side){.node = s->node,
                         .first = f->children > 0 ? &s->node[f->child] : NULL,
                         .n = f->children,
                         .origin = start_of(s, f) + block * f->stride,
                         .at = place_of(s, block)};
}

/* Returns the side that consists of only one FALLS of a side. */
static struct side only(const struct side *s, const struct falls *f)
{
    struct side one = *s;

    one.first = f;
    one.n = 1;
    return one;
}

static bool is_whole(const struct side *s)
{
    return s->n == 0;
}

static void push_run(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                     const struct base *base)
{
    struct falls run = {.left = from - base->file, .length = to - from, .count = 1};

    for (int s = 0; s < 2; s++)
        run.in[s].at = side[s].at + (from - side[s].origin) - base->at[s];
    if (!b->error)
        b->reached = from;
    falls_push(b, base->mark, &run);
}

/* Pushes the bytes of side c's row of runs that are in the window, all of which the other side has: a run that is cut,
 * the whole ones as a row, another cut one. Most plans consist of these, so it goes through no other function here. */
static void push_row(struct falls_build *b, const struct side side[2], int c, int64_t from, int64_t to,
                     const struct base *base)
{
    const struct falls *f = side[c].first;
    int64_t block = max(0, floor_div(from - start_of(&side[c], f), f->stride)), n;

    for (int64_t at = start_of(&side[c], f) + block * f->stride; block < f->count && at < to && !b->error;
         block += n, at += n * f->stride) {
        int64_t begin = max(from, at), end = min(to, at + f->length);
        struct falls row = {.left = begin - base->file, .length = end - begin, .stride = f->stride};

        n = row.length == f->length ? min(f->count - block, (to - end) / f->stride + 1) : 1;
        if (begin >= end)
            continue;
        row.count = n;
        row.in[c].at = place_of(&side[c], block) + (begin - at) - base->at[c];
        row.in[c].step = f->in[0].step;
        row.in[1 - c].at = side[1 - c].at + (begin - side[1 - c].origin) - base->at[1 - c];
        row.in[1 - c].step = f->stride;
        b->reached = begin;
        falls_push(b, base->mark, &row);
    }
}

/* Meets one block of side c's FALLS with the other side, within the window; of single blocks in it, the innermost. */
static void meet_block(struct falls_build *b, const struct side side[2], int c, int64_t block, int64_t from, int64_t to,
                       const struct base *base)
{
    struct side pair[2] = {side[0], side[1]};

    for (;; block = 0) {
        const struct falls *f = pair[c].first;

        pair[c] = inside(&pair[c], block);
        from = max(from, pair[c].origin);
        to = min(to, pair[c].origin + f->length);
        if (from >= to)
            return;
        if (pair[c].n != 1 || pair[c].first->count > 1)
            break;
    }
    meet(b, pair, from, to, base);
}

/* Where the bytes of a side's block that is not after x begin in its element, and how far they are apart after
 * `distance` bytes of the file, a multiple of its stride. */
static int64_t place_near(const struct side *s, int64_t x)
{
    if (is_whole(s))
        return s->at + (x - s->origin);
    return place_of(s, s->first->count > 1 ? floor_div(x - start_of(s, s->first), s->first->stride) : 0);
}

static int64_t step_after(const struct side *s, int64_t distance)
{
    return is_whole(s) ? distance : distance / s->first->stride * s->first->in[0].step;
}

/* Walks the blocks of side c. The other side's stride fits into each block, or the other side is whole. */
static void meet_coarse(struct falls_build *b, const struct side side[2], int c, int64_t from, int64_t to,
                        const struct base *base)
{
    const struct side *other = &side[1 - c];
    const struct falls *f = side[c].first;
    int64_t start = start_of(&side[c], f);
    int64_t phases = is_whole(other) ? 1 : other->first->stride / gcd(f->stride, other->first->stride);
    int64_t low = max(0, floor_div(from - start, f->stride)); /* the first block that may be in the window */
    int64_t high = min(f->count - 1, floor_div(to - 1 - start, f->stride));
    int64_t first =
        start + low * f->stride >= from ? low : low + 1; /* the first and the last one that are whole in it */
    int64_t last = start + high * f->stride + f->length <= to ? high : high - 1;
    int64_t periods = last >= first ? (last - first + 1) / phases : 0;
    int64_t block = low;

    for (; block < first && block <= high; block++)
        meet_block(b, side, c, block, from, to, base);
    if (periods >= REPEATS_MIN && !b->error) {
        int64_t at = start + first * f->stride, stride = phases * f->stride;
        struct falls outer = {.left = at - base->file, .stride = stride, .count = periods};
        struct base within = {.file = at, .mark = b->listed};

        for (int s = 0; s < 2; s++) {
            within.at[s] = place_near(&side[s], at);
            outer.in[s].at = within.at[s] - base->at[s];
            outer.in[s].step = step_after(&side[s], stride);
        }
        for (int64_t k = 0; k < phases && !b->error; k++)
            meet_block(b, side, c, first + k, at, at + stride, &within);
        falls_wrap(b, base->mark, within.mark, &outer);
        block = first + periods * phases;
    }
    for (; block <= high && !b->error; block++)
        meet_block(b, side, c, block, from, to, base);
}

static int compare_meetings(const void *a, const void *b)
{
    int64_t x = ((const struct meeting *)a)->start, y = ((const struct meeting *)b)->start;

    return (x > y) - (x < y);
}

struct meetings {
    struct meeting *list;
    int64_t n, room;
};

static void note_meeting(struct falls_build *b, struct meetings *m, int64_t start, int64_t i, int64_t j)
{
    if (m->n == m->room && !b->error) {
        struct meeting *larger =
            m->n < b->nodes_most ? realloc(m->list, (size_t)(2 * m->room + 16) * sizeof *larger) : NULL;

        if (!larger) {
            b->error = m->n < b->nodes_most ? -ENOMEM : -E2BIG;
            return;
        }
        m->room = 2 * m->room + 16;
        m->list = larger;
    }
    if (!b->error)
        m->list[m->n++] = (struct meeting){.start = start, .i = i, .j = j};
}

/* Finds meetings for each distance D at which blocks overlap: `nearest` is the first such distance, `common` is between
 * two. */
static void meetings_by_distance(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                                 int64_t nearest, int64_t common, struct meetings *m)
{
    const struct falls *f = side[0].first, *g = side[1].first;
    int64_t f0 = start_of(&side[0], f), g0 = start_of(&side[1], g), modulus = g->stride / common;
    int64_t inverted = modulus > 1 ? inverse(f->stride / common % modulus, modulus) : 0;
    wide all = (wide)modulus * f->stride;

    for (int64_t distance = nearest; distance < g->length && !b->error; distance += common) {
        int64_t turns = (distance - (f0 - g0)) / common; /* i s_f - j s_g = turns * common */
        int64_t i = (int64_t)((wide)(turns % modulus + modulus) % modulus * inverted % modulus);
        int64_t lag = distance < 0 ? -distance : 0; /* from f's start to where the overlap begins */
        wide start = (wide)f0 + (wide)i * f->stride + lag;

        start += start < from ? (from - start + all - 1) / all * all : -((start - from) / all * all);
        for (; start < to; start += all) {
            int64_t at = (int64_t)start - lag;

            note_meeting(b, m, (int64_t)start, (at - f0) / f->stride, (at - distance - g0) / g->stride);
        }
    }
}

/* Finds meetings for each of f's blocks, which overlaps at most two of g's, as g's stride is longer than the block. */
static void meetings_by_block(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                              struct meetings *m)
{
    const struct falls *f = side[0].first, *g = side[1].first;
    int64_t f0 = start_of(&side[0], f), g0 = start_of(&side[1], g);
    int64_t low = max(0, floor_div(from - f0, f->stride)), high = min(f->count - 1, floor_div(to - 1 - f0, f->stride));

    for (int64_t i = low; i <= high && !b->error; i++) {
        int64_t at = f0 + i * f->stride, first = floor_div(at - g0, g->stride);

        for (int64_t j = max(first, 0); j <= min(first + 1, g->count - 1); j++) {
            int64_t other = g0 + j * g->stride, start = max(at, other);

            if (start < min(at + f->length, other + g->length) && start >= from && start < to)
                note_meeting(b, m, start, i, j);
        }
    }
}

/* Finds where blocks of both sides' FALLS begin to overlap, from `from` to before `to`, in file order; the caller frees
 * the list. */
static struct meetings find_meetings(struct falls_build *b, const struct side side[2], int64_t from, int64_t to)
{
    const struct falls *f = side[0].first, *g = side[1].first;
    int64_t common = gcd(f->stride, g->stride), nearest = 1 - f->length;
    int64_t rest = (start_of(&side[0], f) - start_of(&side[1], g) - nearest) % common;
    struct meetings m = {0};

    nearest += rest < 0 ? rest + common : rest;
    int64_t distances = nearest < g->length ? (g->length - 1 - nearest) / common + 1 : 0;
    int64_t blocks = (to - from) / f->stride + 2;
    if (min(distances, blocks) > (int64_t)NODE_STEPS * b->nodes_most)
        b->error = -E2BIG;
    else if (distances <= blocks)
        meetings_by_distance(b, side, from, to, nearest, common, &m);
    else
        meetings_by_block(b, side, from, to, &m);
    if (m.n > 1)
        qsort(m.list, (size_t)m.n, sizeof *m.list, compare_meetings);
    return m;
}

/* Meets two blocks where they overlap. */
static void meet_at(struct falls_build *b, const struct side side[2], const struct meeting *m, int64_t to,
                    const struct base *base)
{
    const struct side pair[2] = {inside(&side[0], m->i), inside(&side[1], m->j)};
    int64_t end = min(pair[0].origin + side[0].first->length, pair[1].origin + side[1].first->length);

    if (m->start < min(to, end))
        meet(b, pair, m->start, min(to, end), base);
}

/* The end of an overlap, which may lie beyond the window. */
static int64_t meeting_end(const struct side side[2], const struct meeting *m)
{
    return min(start_of(&side[0], side[0].first) + m->i * side[0].first->stride + side[0].first->length,
               start_of(&side[1], side[1].first) + m->j * side[1].first->stride + side[1].first->length);
}

/* Meets two blocks whose overlap begins before the window. */
static void meet_begun(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                       const struct base *base)
{
    struct meeting m = {.start = from};
    int64_t *block[2] = {&m.i, &m.j};
    bool begins_here = false;

    for (int s = 0; s < 2; s++) {
        int64_t start = start_of(&side[s], side[s].first), stride = side[s].first->stride;

        *block[s] = floor_div(from - start, stride);
        if (*block[s] < 0 || from >= start + *block[s] * stride + side[s].first->length)
            return;
        begins_here |= start + *block[s] * stride == from;
    }
    if (!begins_here) /* else it is among the meetings */
        meet_at(b, side, &m, to, base);
}

/* Pushes the meetings of one period, repeated, if it occurs often enough. Returns the file offset from which on
 * meetings are left to do. */
static int64_t meet_periods(struct falls_build *b, const struct side side[2], const struct meetings *m, int64_t from,
                            int64_t to, int64_t all, const struct base *base)
{
    int64_t at = m->list[0].start, end = meeting_end(side, &m->list[m->n - 1]);
    int64_t periods = to >= end ? (to - end) / all + 1 : 0;
    struct falls outer = {.left = at - base->file, .stride = all, .count = periods};
    struct base within = {.file = at, .mark = b->listed};

    if (periods < REPEATS_MIN)
        return from;
    for (int s = 0; s < 2; s++) {
        within.at[s] = place_of(&side[s], s == 0 ? m->list[0].i : m->list[0].j);
        outer.in[s].at = within.at[s] - base->at[s];
        outer.in[s].step = step_after(&side[s], all);
    }
    for (int64_t k = 0; k < m->n && !b->error; k++)
        meet_at(b, side, &m->list[k], end, &within);
    falls_wrap(b, base->mark, within.mark, &outer);
    return at + periods * all;
}

/* Meets two FALLS of which neither side's stride fits into the other's block. */
static void meet_sparse(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                        const struct base *base)
{
    int64_t all = lcm(side[0].first->stride, side[1].first->stride);

    meet_begun(b, side, from, to, base);
    if (all <= (to - from) / REPEATS_MIN) {
        struct meetings period = find_meetings(b, side, from, from + all);

        from = period.n > 0 && !b->error ? meet_periods(b, side, &period, from, to, all, base) : to;
        free(period.list);
    }
    if (from >= to || b->error)
        return;
    struct meetings left = find_meetings(b, side, from, to);
    for (int64_t k = 0; k < left.n && !b->error; k++)
        meet_at(b, side, &left.list[k], to, base);
    free(left.list);
}

/* Meets two sides of one FALLS each, or of all bytes, within a window that lies in both. */
static void meet_pair(struct falls_build *b, const struct side side[2], int64_t from, int64_t to,
                      const struct base *base)
{
    for (int c = 0; c < 2; c++)
        if (is_whole(&side[1 - c]) && side[c].first->children == 0) {
            push_row(b, side, c, from, to, base);
            return;
        }
    for (int c = 0; c < 2; c++)
        if (!is_whole(&side[c]) && side[c].first->count == 1) {
            meet_block(b, side, c, 0, from, to, base);
            return;
        }
    for (int c = 0; c < 2; c++) {
        const struct side *other = &side[1 - c];

        if (!is_whole(&side[c]) && (is_whole(other) || other->first->stride <= side[c].first->length)) {
            meet_coarse(b, side, c, from, to, base);
            return;
        }
    }
    meet_sparse(b, side, from, to, base);
}

/* The first of a side's siblings that ends after x. */
static int32_t first_after(const struct side *s, int64_t x)
{
    return FIRST_NOT(0, s->n, i, end_of(s, &s->first[i]) <= x);
}

/* Meets two lists of siblings. As siblings do not interleave, it takes them in pairs, one window after the other. */
static void meet(struct falls_build *b, const struct side side[2], int64_t from, int64_t to, const struct base *base)
{
    int32_t at[2] = {first_after(&side[0], from), first_after(&side[1], from)};

    if (is_whole(&side[0]) && is_whole(&side[1])) {
        push_run(b, side, from, to, base);
        return;
    }
    while (from < to && !b->error) {
        struct side pair[2];
        int64_t start = from, end = to, next = to;

        for (int s = 0; s < 2; s++) {
            pair[s] = side[s];
            if (is_whole(&side[s]))
                continue;
            if (at[s] == side[s].n)
                return;
            const struct falls *f = &side[s].first[at[s]];
            pair[s] = only(&side[s], f);
            start = max(start, start_of(&side[s], f));
            end = min(end, end_of(&side[s], f));
        }
        if (start < end)
            meet_pair(b, pair, start, end, base);
        for (int s = 0; s < 2; s++)
            if (!is_whole(&side[s]) && end_of(&side[s], &side[s].first[at[s]]) <= end) {
                next = min(next, end_of(&side[s], &side[s].first[at[s]]));
                at[s]++;
            }
        from = next;
    }
}

/* ---- Plans of a set and a window ---- */

int falls_cut(const struct falls_set *set, int64_t from, int64_t to, struct falls_set *cut)
{
    struct falls_build b = {.nodes_most = PATTERN_NODES_MAX};
    struct side side[2] = {{.node = set->node, .first = set->node + set->top, .n = set->tops},
                           {.origin = from, .at = 0}}; /* all bytes */
    struct base base = {.file = from, .at = {set->ascending ? falls_rank(set, max(from, 0)) : 0}};

    if (from < 0 || to < from)
        return -EINVAL;
    if (set->tops > 0 && from < to)
        meet(&b, side, from, to, &base);
    int error = falls_finish(&b, cut);
    falls_build_free(&b);
    return error;
}

/* ---- Plans of two patterns ---- */

/* An element as one side: its period, repeated for ever. `repeated` is the node for that. Where the element has only
 * rows that go on evenly from one period to the next, such as a column of a matrix, one row is a period. Of one that
 * has all bytes the period means nothing. */
static struct side side_of(const struct pattern *p, int32_t element, struct falls *repeated)
{
    const struct falls_set *set = &p->element[element];
    const struct falls *row = set->node + set->top;

    if (set->tops == 1 && row->count == 1 && row->children == 0 && row->length == p->period) {
        *repeated = (struct falls){.stride = 1};
        return (struct side){.origin = p->displacement};
    }
    if (set->tops == 1 && row->count > 1 && row->count * row->stride == p->period &&
        row->count * row->in[0].step == set->bytes) {
        *repeated = *row;
        repeated->count = (PATTERN_OFFSET_MAX - p->displacement) / row->stride;
        return (struct side){.node = set->node, .first = repeated, .n = 1, .origin = p->displacement};
    }
    *repeated = (struct falls){.length = p->period,
                               .stride = p->period,
                               .count = (PATTERN_OFFSET_MAX - p->displacement) / p->period,
                               .bytes = set->bytes,
                               .child = set->top,
                               .children = set->tops};
    repeated->in[0].step = set->bytes;
    return (struct side){.node = set->node, .first = repeated, .n = 1, .origin = p->displacement};
}

int64_t pattern_common_period(const struct pattern *a, const struct pattern *b)
{
    return lcm(a->period, b->period);
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    free((void *)p->body.node);
    free(p);
}

int plan_make(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b, struct plan **plan)
{
    return plan_make_within(a, of_a, b, of_b, 0, PATTERN_OFFSET_MAX, plan);
}

int plan_make_within(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b, int64_t from,
                     int64_t to, struct plan **plan)
{
    const struct plan_pair pair = {a, b, of_a, of_b};
    int64_t reached;

    return plan_make_some(&pair, from, to, PATTERN_NODES_MAX, &reached, plan);
}

/* The period after which what both sides have in common is repeated. */
static int64_t repeats_after(const struct plan_pair *pair, const struct side side[2], const struct falls repeated[2])
{
    if (is_whole(&side[0]) && is_whole(&side[1]))
        return pattern_common_period(pair->a, pair->b);
    return lcm(repeated[0].stride, repeated[1].stride);
}

int64_t plan_periods(const struct plan_pair *pair, int64_t *longer)
{
    struct falls repeated[2];
    const struct side side[2] = {side_of(pair->a, pair->of_a, &repeated[0]),
                                 side_of(pair->b, pair->of_b, &repeated[1])};
    int64_t common = repeats_after(pair, side, repeated);

    *longer = is_whole(&side[0]) && is_whole(&side[1]) ? common : max(repeated[0].stride, repeated[1].stride);
    return common;
}

int plan_make_some(const struct plan_pair *pair, int64_t from, int64_t to, int32_t nodes_most, int64_t *reached,
                   struct plan **plan)
{
    const struct pattern *a = pair->a, *b = pair->b;
    struct falls_build build = {.nodes_most = nodes_most};
    struct falls repeated[2];
    int error = 0;

    if (pair->of_a < 0 || pair->of_a >= a->elements || pair->of_b < 0 || pair->of_b >= b->elements || from < 0 ||
        to < from)
        return -EINVAL;
    struct plan *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    struct side side[2] = {side_of(a, pair->of_a, &repeated[0]), side_of(b, pair->of_b, &repeated[1])};
    struct base base = {.file = max(max(a->displacement, b->displacement), from)};
    p->from = base.file;
    p->period = min(repeats_after(pair, side, repeated), PATTERN_OFFSET_MAX - p->from);
    int64_t window = min(p->period, max(to - p->from, 0));
    if (window < p->period) /* it is not repeated */
        p->period = PATTERN_OFFSET_MAX - p->from;
    for (int s = 0; s < 2; s++)
        p->step[s] = step_after(&side[s], p->period);
    build.reached = p->from;
    if (a->element[pair->of_a].tops > 0 && b->element[pair->of_b].tops > 0)
        meet(&build, side, p->from, p->from + window, &base);
    *reached = build.reached;
    error = falls_finish(&build, &p->body);
    falls_build_free(&build);
    if (error) {
        plan_free(p);
        return error;
    }
    *plan = p;
    return 0;
}

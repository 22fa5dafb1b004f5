/*
 * Gather, scatter, and the exchange of unequal parts (collect.h).
 *
 * Short parts travel along the binomial tree: a member collects the parts of the positions below it, which follow its
 * own, and passes them on in one message. That is log2 n messages at the root instead of n - 1. Long parts, of more
 * than DIRECT_BYTES on average, go straight to where they belong, since bytes then cost more than messages.
 *
 * All have all parts after log2 n exchanges of what has come together, in a group of 2^k members; of others, short
 * parts are gathered and broadcast, and long ones go round a ring, in which the neighbours' messages share no channel.
 *
 * In step k of an exchange, a member of 2^k members has the partner place ^ k; in a subcube no two messages of a step
 * share a channel [Bokhari: Complete exchange on the iPSC-860, ICASE report 91-4, 1991]. Other groups shift by k
 * places. Both sides know the lengths, so an empty part is no message.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

enum { DIRECT_BYTES = 1 << 10 };

/* What a gather or scatter is about. */
struct parts {
    const int *bytes;
    int root; /* a place */
    int type;
    char *all;   /* at the root: all parts, in the order of ranks */
    int *offset; /* [size], of each rank's part there */
    int *start;  /* [size + 1], of each position's part, if they lie in the order of positions */
};

/* All parts together; -1: a length is negative, or they are too many. */
static int64_t total(const struct group *g, const int *bytes)
{
    int64_t sum = 0;

    for (int r = 0; r < g->size; r++) {
        if (bytes[r] < 0)
            return -1;
        sum += bytes[r];
    }
    return sum <= INT_MAX ? sum : -1;
}

static int rank_of_position(const struct group *g, const struct parts *x, int position)
{
    return collect_rank(g, collect_place_at(g, position, x->root));
}

/* Where each rank's part begins among all, in `offset`. */
static void lay_out(const struct group *g, const int *bytes, int *offset)
{
    for (int r = 0, sum = 0; r < g->size; sum += bytes[r++])
        offset[r] = sum;
}

/* The bytes of the positions first .. end - 1. */
static int span(const struct parts *x, int first, int end)
{
    return x->start[end] - x->start[first];
}

/* Copies the parts of all positions between `by_position` and `all`. */
static void reorder(const struct group *g, const struct parts *x, char *by_position, bool to_all)
{
    for (int position = 0; position < g->size; position++) {
        int rank = rank_of_position(g, x, position);
        char *part = x->all + x->offset[rank];

        memcpy(to_all ? part : by_position, to_all ? by_position : part, (size_t)x->bytes[rank]);
        by_position += x->bytes[rank];
    }
}

/* EPROTO: the message is shorter than the lists tell. */
static int take_exactly(struct group *g, int place, void *buf, int bytes, int type)
{
    int result = collect_take(g, place, buf, bytes, type);

    if (result >= 0 && result != bytes)
        return collect_note(g, place, trap_note(-N_EPROTO));
    return result < 0 ? result : 0;
}

/* ---- Along the tree: `room` has the parts of this member's subtree, by position ---- */

static int gather_below(struct group *g, const struct parts *x, char *room, int position, int end)
{
    int result = 0, type = x->type;

    for (int distance = 1; result >= 0 && position + distance < end; distance <<= 1) {
        int child = position + distance, child_end = child + collect_subtree(g, child);

        result = take_exactly(g, collect_place_at(g, child, x->root), room + span(x, position, child),
                              span(x, child, child_end), type);
    }
    if (result >= 0 && position > 0)
        result =
            collect_give(g, collect_place_at(g, collect_parent(position), x->root), room, span(x, position, end), type);
    return result < 0 ? result : 0;
}

static int scatter_below(struct group *g, const struct parts *x, char *room, int position, int end)
{
    int result = 0, distance = 1, type = x->type;

    if (position > 0)
        result =
            take_exactly(g, collect_place_at(g, collect_parent(position), x->root), room, span(x, position, end), type);
    while (position + distance < end)
        distance <<= 1;
    while (result >= 0 && (distance /= 2) > 0) {
        int child = position + distance, child_end = child + collect_subtree(g, child);

        result = collect_give(g, collect_place_at(g, child, x->root), room + span(x, position, child),
                              span(x, child, child_end), type);
    }
    return result < 0 ? result : 0;
}

static int move_by_tree(struct group *g, const struct parts *x, void *part, bool gathers)
{
    int position = collect_position(g, x->root), end = position + collect_subtree(g, position);
    size_t own = (size_t)x->bytes[g->rank];
    char *room = malloc((size_t)span(x, position, end) + 1);

    if (!room)
        return trap_note(-N_ENOMEM);
    if (gathers)
        memcpy(room, part, own);
    else if (position == 0)
        reorder(g, x, room, false);
    int result = gathers ? gather_below(g, x, room, position, end) : scatter_below(g, x, room, position, end);
    if (result >= 0 && !gathers)
        memcpy(part, room, own);
    else if (result >= 0 && position == 0)
        reorder(g, x, room, true);
    free(room);
    return result;
}

/* ---- Straight ---- */

static int move(struct group *g, int place, char *part, int bytes, int type, bool takes)
{
    return takes ? take_exactly(g, place, part, bytes, type) : collect_give(g, place, part, bytes, type);
}

static int move_directly(struct group *g, const struct parts *x, void *part, bool gathers)
{
    char *own = x->all + x->offset[g->rank];
    size_t own_bytes = (size_t)x->bytes[g->rank];
    int result = 0;

    if (g->place != x->root)
        return move(g, x->root, part, x->bytes[g->rank], x->type, !gathers);
    if (gathers)
        memcpy(own, part, own_bytes);
    for (int position = 1; result >= 0 && position < g->size; position++) {
        int rank = rank_of_position(g, x, position);

        result = move(g, collect_place(g, rank), x->all + x->offset[rank], x->bytes[rank], x->type, gathers);
    }
    if (!gathers)
        memcpy(part, own, own_bytes);
    return result;
}

/* ---- To all: `room` has all parts, by position from place 0 ---- */

/* Gives `count` parts from place `first` on to a member, and takes as many from place `from_first` on. */
static int swap(struct group *g, const struct parts *x, char *room, int to, int first, int from, int from_first,
                int count)
{
    int result = collect_give(g, to, room + x->start[first], span(x, first, first + count), x->type);

    return result < 0
               ? result
               : take_exactly(g, from, room + x->start[from_first], span(x, from_first, from_first + count), x->type);
}

static int spread_by_doubling(struct group *g, const struct parts *x, char *room)
{
    int result = 0;

    for (int count = 1; result >= 0 && count < g->size; count <<= 1) {
        int partner = g->place ^ count, first = g->place & -count;

        result = swap(g, x, room, partner, first, partner, first ^ count, count);
    }
    return result;
}

static int spread_by_ring(struct group *g, const struct parts *x, char *room)
{
    int next = (g->place + 1) % g->size, before = (g->place + g->size - 1) % g->size, result = 0;

    for (int at = g->place, k = 1; result >= 0 && k < g->size; k++) {
        int coming = (at + g->size - 1) % g->size;

        result = swap(g, x, room, next, at, before, coming, 1);
        at = coming;
    }
    return result;
}

/* ---- The calls ---- */

/* Checks the lengths and makes the lists of *x, which the caller frees: x->offset. */
static int prepare(const struct group *g, struct parts *x)
{
    if (total(g, x->bytes) < 0)
        return trap_note(-N_EINVAL);
    x->offset = malloc((size_t)(2 * g->size + 1) * sizeof(int));
    if (!x->offset)
        return trap_note(-N_ENOMEM);
    lay_out(g, x->bytes, x->offset);
    x->start = x->offset + g->size;
    x->start[0] = 0;
    for (int position = 0; position < g->size; position++)
        x->start[position + 1] = x->start[position] + x->bytes[rank_of_position(g, x, position)];
    return 0;
}

static bool has_short_parts(const struct group *g, const struct parts *x)
{
    return x->start[g->size] <= (int64_t)g->size * DIRECT_BYTES;
}

static int move_parts(struct group *g, struct parts *x, void *part, bool gathers)
{
    int result = prepare(g, x);

    if (result >= 0)
        result = has_short_parts(g, x) ? move_by_tree(g, x, part, gathers) : move_directly(g, x, part, gathers);
    free(x->offset);
    return result;
}

int collect_gather(struct group *g, const void *part, void *all, const int *bytes, int root, int type)
{
    struct parts x = {.bytes = bytes, .root = root, .type = type, .all = all};

    return move_parts(g, &x, (void *)part, true); /* which gathering only reads */
}

int collect_scatter(struct group *g, const void *all, void *part, const int *bytes, int root, int type)
{
    struct parts x = {.bytes = bytes, .root = root, .type = type, .all = (char *)all};

    return move_parts(g, &x, part, false);
}

static int spread(struct group *g, const struct parts *x, const void *part)
{
    char *room = malloc((size_t)x->start[g->size] + 1);

    if (!room)
        return trap_note(-N_ENOMEM);
    memcpy(room + x->start[g->place], part, (size_t)x->bytes[g->rank]);
    int result = collect_is_cube(g) ? spread_by_doubling(g, x, room) : spread_by_ring(g, x, room);
    if (result >= 0)
        reorder(g, x, room, true);
    free(room);
    return result;
}

int collect_all_gather(struct group *g, const void *part, void *all, const int *bytes, int type)
{
    struct parts x = {.bytes = bytes, .type = type, .all = all};
    int result = prepare(g, &x);

    if (result >= 0 && (collect_is_cube(g) || !has_short_parts(g, &x))) {
        result = spread(g, &x, part);
    } else if (result >= 0) {
        result = move_by_tree(g, &x, (void *)part, true);
        if (result >= 0)
            result = collect_broadcast(g, all, x.start[g->size], 0, type);
    }
    free(x.offset);
    return result;
}

/* ---- Exchange ---- */

struct part {
    int bytes, offset;
};

/* Lists the parts that are not empty by the step of an exchange in which they go to (sign 1) or come from (-1) a
 * member. -1 as total. */
static int64_t list_steps(const struct group *g, const int *bytes, int sign, struct part *step)
{
    int64_t sum = 0;

    for (int r = 0; r < g->size; r++) {
        if (bytes[r] == 0)
            continue;
        if (bytes[r] < 0 || bytes[r] > INT_MAX - sum)
            return -1;
        int place = collect_place(g, r), ahead = sign * (place - g->place), k = ahead < 0 ? ahead + g->size : ahead;

        step[collect_is_cube(g) ? place ^ g->place : k] = (struct part){bytes[r], (int)sum};
        sum += bytes[r];
    }
    return sum;
}

static int exchange_steps(struct group *g, const char *to, const struct part *give, char *from, const struct part *take,
                          int type)
{
    bool cube = collect_is_cube(g);
    int result = 0;

    memcpy(from + take->offset, to + give->offset, (size_t)give->bytes);
    for (int k = 1; result >= 0 && k < g->size; k++) {
        if (give[k].bytes != 0)
            result = collect_give(g, cube ? g->place ^ k : (g->place + k) % g->size, to + give[k].offset, give[k].bytes,
                                  type);
        if (take[k].bytes != 0 && result >= 0)
            result = take_exactly(g, cube ? g->place ^ k : (g->place - k + g->size) % g->size, from + take[k].offset,
                                  take[k].bytes, type);
    }
    return result;
}

int collect_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes, int type)
{
    struct part *give = calloc(2 * (size_t)g->size, sizeof *give), *take = give + g->size;
    int result = -N_EINVAL;

    if (!give)
        return trap_note(-N_ENOMEM);
    if (list_steps(g, to_bytes, 1, give) >= 0 && list_steps(g, from_bytes, -1, take) >= 0 && give->bytes == take->bytes)
        result = exchange_steps(g, to, give, from, take, type);
    else
        trap_note(result);
    free(give);
    return result;
}

/*
 * Gather, scatter, and the exchange of unequal parts (group.h).
 *
 * Short parts travel along the binomial tree: a member collects the parts of the positions below it, which follow its
 * own, and passes them on in one message. That is log2 n messages at the root instead of n - 1. Long parts, of more
 * than DIRECT_BYTES on average, go straight to where they belong, since bytes then cost more than messages.
 *
 * In step k of an exchange, a member of 2^k members has the partner place ^ k; in a subcube no two messages of a step
 * share a channel [Bokhari: Complete exchange on the iPSC-860, ICASE report 91-4, 1991]. Other groups shift by k
 * places.
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

    if (result >= 0 && result != bytes) {
        g->failed = collect_rank(g, place);
        return trap_note(-N_EPROTO);
    }
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

/* ---- The calls ---- */

/* Checks the arguments and makes the lists of *x, which the caller frees: x->offset. */
static int prepare(struct group *g, struct parts *x, int root)
{
    if (root < 0 || root >= g->size || total(g, x->bytes) < 0)
        return trap_note(-N_EINVAL);
    x->root = collect_place(g, root);
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

static int move_parts(struct group *g, struct parts *x, void *part, int root, bool gathers)
{
    int result = prepare(g, x, root);

    if (result >= 0)
        result = x->start[g->size] <= (int64_t)g->size * DIRECT_BYTES ? move_by_tree(g, x, part, gathers)
                                                                      : move_directly(g, x, part, gathers);
    free(x->offset);
    return result;
}

int group_gather(struct group *g, const void *part, void *all, const int *bytes, int root)
{
    struct parts x = {.bytes = bytes, .type = GROUP_TYPE(group_gather), .all = all};

    return move_parts(g, &x, (void *)part, root, true); /* which gathering only reads */
}

int group_scatter(struct group *g, const void *all, void *part, const int *bytes, int root)
{
    struct parts x = {.bytes = bytes, .type = GROUP_TYPE(group_scatter), .all = (char *)all};

    return move_parts(g, &x, part, root, false);
}

/* ---- Exchange ---- */

struct exchange {
    const char *to;
    char *from;
    const int *to_bytes, *from_bytes;
    int *to_offset, *from_offset;
};

static int exchange_step(struct group *g, const struct exchange *x, int k)
{
    bool cube = collect_is_cube(g);
    int dest = cube ? g->place ^ k : (g->place + k) % g->size;
    int src = cube ? dest : (g->place - k + g->size) % g->size;
    int dest_rank = collect_rank(g, dest), src_rank = collect_rank(g, src), type = GROUP_TYPE(group_exchange);
    int result = collect_give(g, dest, x->to + x->to_offset[dest_rank], x->to_bytes[dest_rank], type);

    if (result < 0)
        return result;
    return take_exactly(g, src, x->from + x->from_offset[src_rank], x->from_bytes[src_rank], type);
}

int group_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes)
{
    struct exchange x = {.to = to, .from = from, .to_bytes = to_bytes, .from_bytes = from_bytes};
    int own = g->rank, result = 0;

    if (g->size < 1 || total(g, to_bytes) < 0 || total(g, from_bytes) < 0 || to_bytes[own] != from_bytes[own])
        return trap_note(-N_EINVAL);
    x.to_offset = malloc(2 * (size_t)g->size * sizeof(int));
    if (!x.to_offset)
        return trap_note(-N_ENOMEM);
    x.from_offset = x.to_offset + g->size;
    lay_out(g, to_bytes, x.to_offset);
    lay_out(g, from_bytes, x.from_offset);
    memcpy(x.from + x.from_offset[own], x.to + x.to_offset[own], (size_t)to_bytes[own]);
    for (int k = 1; result >= 0 && k < g->size; k++)
        result = exchange_step(g, &x, k);
    free(x.to_offset);
    return result;
}

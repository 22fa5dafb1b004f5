/*
 * Barrier, broadcast and reduction (collect.h). stream.c has the broadcast of long data.
 */
#include "libpio/group/collect.h"

#include <string.h>
#include <sysn.h>

#include "libpio/group/halves.h"
#include "libpio/group/stream.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

/* ---- Reduction ---- */

static long bytes_of(const struct collect_reduction *x)
{
    return (long)x->n * x->element_bytes;
}

#define INLINE inline __attribute__((always_inline)) /* on the way from the last child to the parent each call counts */

/* Combines what the children of this member have. The nearest has the smallest subtree, so its message comes first. */
static INLINE int reduce_children(struct group *g, const struct collect_reduction *x, int root, int type)
{
    int position = collect_position(g, root), own_reach = collect_reach(g, position);
    long bytes = bytes_of(x);

    for (int distance = 1; distance < own_reach && position + distance < g->size; distance <<= 1) {
        int place = collect_place_at(g, position + distance, root);
        long result = collect_take(g, place, x->room, bytes, type);
        if (result != bytes)
            return result < 0 ? (int)result : collect_note(g, place, -N_EPROTO);
        if (x->n > 0)
            x->operation(x->elements, x->elements, x->room, x->n);
    }
    return 0;
}

int collect_reduce(struct group *g, const struct collect_reduction *x, int root, int type)
{
    if (bytes_of(x) > HALVES_LEAST_BYTES)
        return halves_reduce(g, x, root, type);
    int position = collect_position(g, root), result = reduce_children(g, x, root, type);

    if (result == 0 && position > 0)
        result = collect_give(g, collect_place_at(g, collect_parent(position), root), x->elements, bytes_of(x), type);
    return result < 0 ? result : 0;
}

/* ---- Broadcast ---- */

/* To the children in the tree, the largest subtree first. */
static int pass_on(struct group *g, void *buf, int bytes, int root, int type)
{
    int position = collect_position(g, root), result = 0;

    for (int distance = collect_reach(g, position) / 2; result >= 0 && distance > 0; distance /= 2)
        if (position + distance < g->size)
            result = collect_give(g, collect_place_at(g, position + distance, root), buf, bytes, type);
    return result < 0 ? result : 0;
}

static int broadcast_by_tree(struct group *g, void *buf, int bytes, int root, int type)
{
    int position = collect_position(g, root), result = 0;

    if (position > 0)
        result = collect_take(g, collect_place_at(g, collect_parent(position), root), buf, bytes, type);
    return result < 0 ? result : pass_on(g, buf, bytes, root, type);
}

int collect_broadcast(struct group *g, void *buf, int bytes, int root, int type)
{
    if (g->size == 1)
        return 0;
    if (g->has_broadcast)
        return stream_by_hardware(g, buf, bytes, root, type);
    if (bytes > STREAM_LEAST_BYTES)
        return stream_in_pieces(g, buf, bytes, root, type);
    return broadcast_by_tree(g, buf, bytes, root, type);
}

/* ---- Reduction for all ---- */

/* True if a broadcast of so many bytes is one message for each member. */
static bool is_one_message(const struct group *g, long bytes)
{
    return bytes <= (g->has_broadcast ? STREAM_HARDWARE_BYTES : STREAM_LEAST_BYTES);
}

/* As collect_all_reduce with a result of one message, at all places but 0: one trap gives to the parent and waits for
 * the result. All that can be computed before the children's messages come is. */
static int all_reduce_below(struct group *g, const struct collect_reduction *x, long bytes, int type)
{
    int parent = collect_place_at(g, collect_parent(collect_position(g, 0)), 0), source = g->has_broadcast ? 0 : parent;
    int to = collect_process_at(g, parent), from = collect_process_at(g, source);
    bool given;

    int result = reduce_children(g, x, 0, type);
    if (result < 0)
        return result;
    long got = trap_write_and_read(x->elements, bytes, to, from, type, g->context, &given);
    if (got != bytes)
        return collect_note(g, given ? source : parent, got < 0 ? got : -N_EPROTO);
    return g->has_broadcast ? 0 : pass_on(g, x->elements, (int)bytes, 0, type);
}

int collect_all_reduce(struct group *g, const struct collect_reduction *x, int type)
{
    long bytes = bytes_of(x);

    if (bytes > HALVES_LEAST_BYTES)
        return halves_reduce(g, x, HALVES_ALL, type);
    if (g->place != 0 && is_one_message(g, bytes) && !g->take)
        return all_reduce_below(g, x, bytes, type);
    int result = collect_reduce(g, x, 0, type);

    return result < 0 ? result : collect_broadcast(g, x->elements, (int)bytes, 0, type);
}

/* ---- Scan ---- */

/* In step i every rank has the combination of the 2^i ranks up to it, gives it 2^i ranks on, and puts what comes before
 * its own [Hillis, Steele: Data parallel algorithms, Comm. ACM 29(12), 1986]. */
int collect_scan(struct group *g, const struct collect_reduction *x, void *before, int type)
{
    long bytes = bytes_of(x);
    bool has_before = false;
    int result = 0;

    for (int distance = 1; result >= 0 && distance < g->size; distance <<= 1) {
        if (g->rank + distance < g->size)
            result = collect_give(g, collect_place(g, g->rank + distance), x->elements, bytes, type);
        if (result < 0 || g->rank < distance)
            continue;
        result = collect_take(g, collect_place(g, g->rank - distance), x->room, bytes, type);
        if (result < 0 || x->n == 0)
            continue;
        if (before && has_before)
            x->operation(before, x->room, before, x->n);
        else if (before)
            memcpy(before, x->room, (size_t)bytes);
        has_before = true;
        x->operation(x->elements, x->room, x->elements, x->n);
    }
    return result < 0 ? result : 0;
}

/* ---- Barrier ---- */

/* The members that a trap csync concerns: the children of this one, the nearest first, whom it tells, and from whom it
 * learns that all have come. */
struct turnstile {
    int child[16], children, to, source;
};

static struct turnstile turnstile_of(const struct group *g)
{
    int position = collect_position(g, 0), own_reach = collect_reach(g, position);
    struct turnstile t = {.to = g->place};

    for (int distance = 1; distance < own_reach && position + distance < g->size; distance <<= 1)
        t.child[t.children++] = collect_place_at(g, position + distance, 0);
    if (position > 0)
        t.to = collect_place_at(g, collect_parent(position), 0);
    t.source = g->has_broadcast ? 0 : t.to;
    return t;
}

int collect_barrier(struct group *g, int type)
{
    const struct turnstile t = turnstile_of(g);
    int64_t from[sizeof t.child / sizeof *t.child];
    bool is_root = g->place == t.to;
    struct trap_sync s = {.from = from, .n = t.children, .dest = is_root ? -1 : collect_process_at(g, t.to)};

    if (g->size == 1)
        return 0;
    if (g->take)
        return collect_all_reduce(g, &(struct collect_reduction){0}, type);
    if (is_root && g->has_broadcast)
        s.dest = N_PROCESS(N_DEST_ALL, g->procid);
    for (int i = 0; i < t.children; i++)
        from[i] = collect_process_at(g, t.child[i]);
    long result = trap_context_sync(&s, is_root ? -1 : collect_process_at(g, t.source), type, g->context);
    if (result < 0)
        return collect_note(g, s.n > 0 ? t.child[t.children - s.n] : s.dest >= 0 ? t.to : t.source, result);
    return g->has_broadcast ? 0 : pass_on(g, NULL, 0, 0, type);
}

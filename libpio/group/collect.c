/*
 * Barrier, broadcast and reduction (collect.h). stream.c has the broadcast of long data.
 */
#include "libpio/group/collect.h"

#include <stddef.h>
#include <sysn.h>

#include "libpio/group/stream.h"
#include "vertex/contract/traps.h"

void collect_all(struct group *g, int context)
{
    const struct group *domain = endpoint_domain ? endpoint_domain() : NULL;

    if (domain) {
        *g = *domain;
        return;
    }
    const struct abi_whoami *self = trap_self();
    *g = (struct group){.size = self->nodes,
                        .rank = self->node,
                        .place = self->node,
                        .context = context,
                        .procid = self->proc,
                        .is_subcube = (self->nodes & (self->nodes - 1)) == 0,
                        .has_broadcast = self->broadcasts != 0};
}

/* ---- Places ---- */

int collect_rank(const struct group *g, int place)
{
    return g->process ? g->rank_at[place] : place;
}

int collect_place(const struct group *g, int rank)
{
    return g->process ? g->place_of[rank] : rank;
}

static int process_at(const struct group *g, int place)
{
    return g->process ? g->process[g->rank_at[place]] : N_PROCESS(place, g->procid);
}

static int note(struct group *g, int place, long result)
{
    if (result < 0)
        g->failed = collect_rank(g, place);
    return (int)result;
}

int collect_give(struct group *g, int place, const void *buf, long bytes, int type)
{
    return note(g, place, trap_cwrite(buf, bytes, process_at(g, place), type, g->context));
}

int collect_take(struct group *g, int place, void *buf, long bytes, int type)
{
    int from = process_at(g, place);

    return note(g, place, trap_read_context(buf, bytes, &from, &type, g->context));
}

bool collect_is_cube(const struct group *g)
{
    return (g->size & (g->size - 1)) == 0;
}

/* ---- The tree ---- */

int collect_place_at(const struct group *g, int position, int root)
{
    return collect_is_cube(g) ? position ^ root : (position + root) % g->size;
}

int collect_position(const struct group *g, int root)
{
    return collect_is_cube(g) ? g->place ^ root : (g->place - root + g->size) % g->size;
}

/* The lowest bit that is set; of the root, the first power of two that is not below the size. */
static int reach(const struct group *g, int position)
{
    int bit = 1;

    while (bit < g->size && (position & bit) == 0)
        bit <<= 1;
    return bit;
}

int collect_subtree(const struct group *g, int position)
{
    int most = reach(g, position), left = g->size - position;

    return most < left ? most : left;
}

int collect_parent(int position)
{
    return position & (position - 1);
}

/* ---- Reduction ---- */

int collect_reduce(struct group *g, const struct collect_reduction *x, int root, int type)
{
    int position = collect_position(g, root), own_reach = reach(g, position), result = 0;
    long bytes = (long)x->n * x->element_bytes;

    /* The nearest child has the smallest subtree, so its message comes first. */
    for (int distance = 1; distance < own_reach && position + distance < g->size; distance <<= 1) {
        result = collect_take(g, collect_place_at(g, position + distance, root), x->room, bytes, type);
        if (result < 0)
            return result;
        if (x->n > 0)
            x->operation(x->elements, x->elements, x->room, x->n);
    }
    if (position > 0)
        result = collect_give(g, collect_place_at(g, collect_parent(position), root), x->elements, bytes, type);
    return result < 0 ? result : 0;
}

int collect_all_reduce(struct group *g, const struct collect_reduction *x, int type)
{
    int result = collect_reduce(g, x, 0, type);

    return result < 0 ? result : collect_broadcast(g, x->elements, x->n * x->element_bytes, 0, type);
}

/* ---- Barrier ---- */

int collect_barrier(struct group *g, int type)
{
    char own, other;

    return collect_all_reduce(g, &(struct collect_reduction){&own, &other, 0, 1, NULL}, type);
}

/* ---- Broadcast ---- */

static int broadcast_by_tree(struct group *g, void *buf, int bytes, int root, int type)
{
    int position = collect_position(g, root), result = 0;

    if (position > 0)
        result = collect_take(g, collect_place_at(g, collect_parent(position), root), buf, bytes, type);
    /* The largest subtree first. */
    for (int distance = reach(g, position) / 2; result >= 0 && distance > 0; distance /= 2)
        if (position + distance < g->size)
            result = collect_give(g, collect_place_at(g, position + distance, root), buf, bytes, type);
    return result < 0 ? result : 0;
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

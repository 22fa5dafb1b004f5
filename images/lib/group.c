#include "images/lib/group.h"

#include <stdbool.h>
#include <stddef.h>
#include <sysn.h>

#include "vertex/contract/traps.h"

void group_all(struct group *g, int context)
{
    struct abi_whoami self = {0};

    trap_whoami(&self);
    *g = (struct group){.size = 1 << self.dim, .rank = self.node, .context = context, .procid = self.proc};
}

static int process(struct group *g, int rank)
{
    return g->member ? g->member[rank] : N_PROCESS(rank, g->procid);
}

static int note(struct group *g, int rank, long result)
{
    if (result < 0)
        g->failed = rank;
    return (int)result;
}

static int give(struct group *g, int rank, const void *buf, long bytes, int type)
{
    return note(g, rank, trap_cwrite(buf, bytes, process(g, rank), type, g->context));
}

/* Bytes, or a negative error. */
static int take(struct group *g, int rank, void *buf, long bytes, int type)
{
    int from = process(g, rank);

    return note(g, rank, trap_read_context(buf, bytes, &from, &type, g->context));
}

static bool is_cube(struct group *g)
{
    return (g->size & (g->size - 1)) == 0;
}

/* What a reduction is about. */
struct reduction {
    void *own, *other;
    int n;
    long bytes;
    group_operation *operation;
    int type;
};

static void combine(const struct reduction *x, bool own_is_low)
{
    if (x->n > 0)
        x->operation(x->own, own_is_low ? x->own : x->other, own_is_low ? x->other : x->own, x->n);
}

/*
 * After the step of a bit, a member has the result over all whose ranks differ from its own in this and lower bits.
 * Each message is read by its source: a partner that is already in the next call cannot be taken for one of this, since
 * messages of one source and type keep their order.
 */
static int reduce_by_dimensions(struct group *g, const struct reduction *x)
{
    for (int bit = 1; bit < g->size; bit <<= 1) {
        int partner = g->rank ^ bit;
        int result = give(g, partner, x->own, x->bytes, x->type);

        if (result >= 0)
            result = take(g, partner, x->other, x->bytes, x->type);
        if (result < 0)
            return result;
        combine(x, g->rank < partner);
    }
    return 0;
}

/* The lowest power of 2 above r: the distance in ranks to its first child in the tree; its parent is half as far away. */
static int reach(int r)
{
    int distance = 1;

    while (distance <= r)
        distance <<= 1;
    return distance;
}

static int reduce_to_first(struct group *g, const struct reduction *x)
{
    int first = reach(g->rank), result = 0;

    for (int distance = first; result >= 0 && g->rank + distance < g->size; distance <<= 1) {
        result = take(g, g->rank + distance, x->other, x->bytes, x->type);
        if (result >= 0)
            combine(x, true);
    }
    if (result >= 0 && g->rank > 0)
        result = give(g, g->rank - first / 2, x->own, x->bytes, x->type);
    return result < 0 ? result : 0;
}

int group_reduce(struct group *g, void *elements, void *room, int n, int element_bytes, group_operation *operation,
                 int type)
{
    const struct reduction x = {elements, room, n, (long)n * element_bytes, operation, type};

    if (is_cube(g))
        return reduce_by_dimensions(g, &x);
    int result = reduce_to_first(g, &x);
    return result < 0 ? result : group_broadcast(g, elements, (int)x.bytes, 0, type);
}

int group_barrier(struct group *g, int type)
{
    char own, other;

    return group_reduce(g, &own, &other, 0, 1, NULL, type);
}

/* The rank of the r-th process of the tree with that root, and the reverse. */
static int rank_in_tree(struct group *g, int r, int root)
{
    return is_cube(g) ? r ^ root : (r + root) % g->size;
}

static int place_in_tree(struct group *g, int root)
{
    return is_cube(g) ? g->rank ^ root : (g->rank - root + g->size) % g->size;
}

int group_broadcast(struct group *g, void *buf, int bytes, int root, int type)
{
    int r = place_in_tree(g, root), first = reach(r), result = 0;
    long length = bytes;

    if (r > 0)
        length = result = take(g, rank_in_tree(g, r - first / 2, root), buf, bytes, type);
    for (int distance = first; result >= 0 && r + distance < g->size; distance <<= 1)
        result = give(g, rank_in_tree(g, r + distance, root), buf, length, type);
    return result < 0 ? result : 0;
}

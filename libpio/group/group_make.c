/*
 * Groups made and given back.
 *
 * Each process keeps the set of its free contexts. The members combine their sets by AND, and take the lowest context
 * that is left: no server, two passes over the tree. Groups without a common member may get the same context; their
 * messages never reach the same process. The agreement's messages have CONTEXT_GROUP and a type of their own. Two
 * processes that are in several groups make them in the same order, so they pair the messages rightly.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

_Static_assert(CONTEXT_MOST == 31, "a set of contexts has 32 bits");
static uint32_t free_contexts = ~0u << CONTEXT_LIBRARIES;

/* ---- Places ---- */

struct placing {
    uint32_t key;
    int rank;
};

static int compare(const void *a, const void *b)
{
    uint32_t x = ((const struct placing *)a)->key, y = ((const struct placing *)b)->key;

    return x < y ? -1 : x > y;
}

/* The order of dimensions: e-cube routing corrects the lowest bit first, so that bit counts most. */
static uint32_t dimension_order(int process)
{
    uint32_t key = 0, node = N_NODE_OF(process);

    for (int bit = 0; bit < 16; bit++)
        key |= (node >> bit & 1) << (15 - bit);
    return key << 8 | (uint32_t)N_PROCID_OF(process);
}

/* The bits of `node` that `mask` has, moved together. */
static uint32_t position_in_subcube(uint32_t node, uint32_t mask)
{
    uint32_t position = 0;

    for (int at = 0; mask != 0; mask &= mask - 1, at++)
        position |= (node & mask & -mask ? 1u : 0u) << at;
    return position;
}

/* The bits in which the members' numbers differ; two nodes' processes with different procids differ in bits from 16
 * on. */
static uint32_t differing_bits(const struct group *g)
{
    uint32_t mask = 0;

    for (int r = 1; r < g->size; r++)
        mask |= (uint32_t)(g->process[r] ^ g->process[0]);
    return mask;
}

/* -EINVAL: a process is in the list twice. */
static int place_all(struct group *g, struct placing *order)
{
    uint32_t mask = differing_bits(g);

    g->is_subcube = mask >> 16 == 0 && g->size == 1 << __builtin_popcount(mask);
    g->procid = N_PROCID_OF(g->process[0]);
    for (int r = 0; r < g->size; r++)
        order[r] = (struct placing){
            g->is_subcube ? position_in_subcube((uint32_t)g->process[r], mask) : dimension_order(g->process[r]), r};
    qsort(order, (size_t)g->size, sizeof *order, compare);
    for (int p = 0; p < g->size; p++) {
        if (p > 0 && order[p].key == order[p - 1].key)
            return -N_EINVAL;
        g->rank_at[p] = order[p].rank;
        g->place_of[order[p].rank] = p;
    }
    g->place = g->place_of[g->rank];
    return 0;
}

/* ---- The list ---- */

static int find_self(struct group *g)
{
    const struct abi_whoami *who = trap_self();
    int self = N_PROCESS(who->node, who->proc), nodes = who->nodes;

    g->rank = -1;
    for (int r = 0; r < g->size; r++) {
        if (g->process[r] < 0 || N_NODE_OF(g->process[r]) >= nodes)
            return -N_EINVAL;
        if (g->process[r] == self)
            g->rank = r;
    }
    return g->rank < 0 ? -N_ESRCH : 0;
}

/* Ranks by process, at most two thirds full. */
static void fill_lookup(struct group *g)
{
    uint32_t mask = (1u << g->lookup_bits) - 1;

    memset(g->lookup, -1, (mask + 1) * sizeof *g->lookup);
    for (int r = 0; r < g->size; r++) {
        uint32_t at = group_hash(g, g->process[r]);

        while (g->lookup[at] >= 0)
            at = (at + 1) & mask;
        g->lookup[at] = r;
    }
}

static int take_list(struct group *g, const int *member, int size)
{
    int error, nodes = trap_self()->nodes;

    if (size < 1 || size > nodes * (int)PROCS_MAX)
        return -N_EINVAL;
    size_t bytes = (size_t)size * sizeof(int);
    g->size = size;
    for (g->lookup_bits = 1; 2 << g->lookup_bits < 3 * size; g->lookup_bits++)
        ;
    g->process = malloc(3 * bytes + (sizeof(int) << g->lookup_bits));
    struct placing *order = malloc((size_t)size * sizeof *order);
    if (g->process && order) {
        g->rank_at = g->process + size;
        g->place_of = g->rank_at + size;
        g->lookup = g->place_of + size;
        memcpy(g->process, member, bytes);
        error = find_self(g);
        if (!error)
            error = place_all(g, order);
        if (!error)
            fill_lookup(g);
        g->has_broadcast = !error && g->is_subcube && size == nodes && trap_self()->broadcasts != 0;
    } else {
        error = -N_ENOMEM;
    }
    free(order);
    return error;
}

/* ---- The agreement ---- */

/* Lists that are equal have equal sums; the second is inverted, so that AND shows whether all are equal. */
struct offer {
    uint32_t contexts, sum, inverted_sum;
};

/* FNV-1a, by words. */
static uint32_t sum_list(const struct group *g)
{
    uint32_t sum = 2166136261u ^ (uint32_t)g->size;

    for (int r = 0; g->process && r < g->size; r++)
        sum = (sum ^ (uint32_t)g->process[r]) * 16777619u;
    return sum;
}

static int agree(struct group *g)
{
    uint32_t sum = sum_list(g);
    struct offer own = {free_contexts, sum, ~sum}, other;
    int result = collect_all_reduce(
        g, &(struct collect_reduction){&own, &other, sizeof own / sizeof(int), sizeof(int), collect_and_ints},
        collect_type(g, TYPE_group_make));

    if (result < 0)
        return result;
    if (own.sum != ~own.inverted_sum)
        return -N_EINVAL;
    if (own.contexts == 0)
        return -N_EAGAIN;
    g->context = __builtin_ctz(own.contexts);
    free_contexts &= ~(1u << g->context);
    return 0;
}

static void drop(struct group *g)
{
    free(g->process);
    g->process = NULL;
    g->size = 0;
}

static int finish(struct group *g, int error)
{
    if (!error && !g->is_guest)
        error = agree(g);
    if (error)
        drop(g);
    return error;
}

static int make_of(struct group *g, const int *member, int size)
{
    return finish(g, take_list(g, member, size));
}

int group_make_of(struct group *g, const int *member, int size)
{
    *g = (struct group){.context = CONTEXT_GROUP};
    return make_of(g, member, size);
}

/* Members by the ranks of another group; *g has its context. */
static int make_by_ranks(struct group *g, const struct group *of, const int *rank_of, int size)
{
    if (size < 1 || size > of->size)
        return -N_EINVAL;
    int *process = malloc((size_t)size * sizeof *process), error = process ? 0 : -N_ENOMEM;
    for (int r = 0; r < size && !error; r++) {
        error = rank_of[r] < 0 || rank_of[r] >= of->size ? -N_EINVAL : 0;
        process[r] = error ? 0 : collect_process(of, rank_of[r]);
    }
    if (!error)
        error = make_of(g, process, size);
    free(process);
    return error;
}

int group_make_in(struct group *g, const struct group *of, const int *rank_of, int size)
{
    *g = (struct group){.context = of->context, .is_guest = true, .take = of->take};
    return trap_note(make_by_ranks(g, of, rank_of, size));
}

int group_make(struct group *g, const int *member, int size)
{
    const struct group *domain = endpoint_domain ? endpoint_domain() : NULL;

    *g = (struct group){.context = CONTEXT_GROUP};
    if (domain && member) /* by the domain's ranks */
        return trap_note(make_by_ranks(g, domain, member, size));
    if (domain || member)
        return trap_note(domain ? make_of(g, domain->process, domain->size) : make_of(g, member, size));
    collect_all(g, CONTEXT_GROUP);
    return trap_note(finish(g, 0));
}

int group_free(struct group *g)
{
    int result = 0;

    if (g->size < 1)
        return trap_note(-N_EINVAL);
    if (!g->is_guest) {
        result = collect_barrier(g, GROUP_TYPE(group_free));
        free_contexts |= 1u << g->context;
    }
    drop(g);
    return trap_note(result);
}

/*
 * The members of a group: their ranks, places and processes, and the binomial tree of collect.h. Inline, since each
 * cycle between a child's message and the parent's is one of every barrier.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sysn.h>

#include "libpio/group/group.h"

static inline int collect_rank(const struct group *g, int place)
{
    return g->process ? g->rank_at[place] : place;
}

static inline int collect_place(const struct group *g, int rank)
{
    return g->process ? g->place_of[rank] : rank;
}

static inline int collect_process(const struct group *g, int rank)
{
    return g->process ? g->process[rank] : N_PROCESS(rank, g->procid);
}

static inline int collect_process_at(const struct group *g, int place)
{
    return collect_process(g, collect_rank(g, place));
}

/* Where the search for a process's rank begins in g->lookup. */
static inline uint32_t group_hash(const struct group *g, int process)
{
    return (uint32_t)process * 2654435769u >> (32 - g->lookup_bits); /* Knuth's multiplicative hashing */
}

/* N_ANY: it is no member. */
static inline int collect_rank_of(const struct group *g, int process)
{
    if (!g->process)
        return N_NODE_OF(process);
    for (uint32_t at = group_hash(g, process);; at = (at + 1) & ((1u << g->lookup_bits) - 1)) {
        int rank = g->lookup[at];

        if (rank < 0 || g->process[rank] == process)
            return rank < 0 ? N_ANY : rank;
    }
}

/* 2^k members. */
static inline bool collect_is_cube(const struct group *g)
{
    return (g->size & (g->size - 1)) == 0;
}

/* ---- The tree ---- */

/* The place of a position of the tree with that root (a place), and the position of this member. */
static inline int collect_place_at(const struct group *g, int position, int root)
{
    return collect_is_cube(g) ? position ^ root : (position + root) % g->size;
}

static inline int collect_position(const struct group *g, int root)
{
    return collect_is_cube(g) ? g->place ^ root : (g->place - root + g->size) % g->size;
}

/* The lowest bit that is set; of the root, the first power of two that is not below the size. */
static inline int collect_reach(const struct group *g, int position)
{
    int bit = 1;

    while (bit < g->size && (position & bit) == 0)
        bit <<= 1;
    return bit;
}

/* How many positions the subtree of a position has, itself included. */
static inline int collect_subtree(const struct group *g, int position)
{
    int most = collect_reach(g, position), left = g->size - position;

    return most < left ? most : left;
}

static inline int collect_parent(int position)
{
    return position & (position - 1);
}

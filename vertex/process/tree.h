/*
 * The binomial spanning tree by which a load reaches all nodes of its part of a subcube (vertex/contract/system.h).
 * Pure.
 */
#pragma once

#include <stdint.h>

/* Stores in `child` the children of node r in a tree of nodes 0 .. nodes - 1, ascending: every r + 2^k below `nodes`
 * with 2^k > r. Returns their number, at most log2(nodes) rounded up. */
uint32_t tree_children(uint32_t r, uint32_t nodes, uint32_t *child);

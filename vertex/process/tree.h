/*
 * The binomial spanning tree by which a load reaches all nodes of its part of a subcube (vertex/contract/system.h). Pure.
 */
#ifndef VERTEX_TREE_H
#define VERTEX_TREE_H

#include <stdint.h>

/* The children of node r of 0 .. nodes - 1: r + 2^k for each k with 2^k > r, below `nodes`. Fills child with at most
 * log2(nodes), rounded up; returns how many, in ascending order. */
uint32_t tree_children(uint32_t r, uint32_t nodes, uint32_t *child);

#endif

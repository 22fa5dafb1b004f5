/*
 * The binomial spanning tree by which a load reaches all nodes of a subcube (vertex/system.h). Pure.
 */
#ifndef VERTEX_TREE_H
#define VERTEX_TREE_H

#include <stdint.h>

/* The children of logical node r: r + 2^k for each k < dim with 2^k > r. Fills child[0..dim-1], returns how
 * many, in ascending order. */
uint32_t tree_children(uint32_t r, uint32_t dim, uint32_t *child);

#endif

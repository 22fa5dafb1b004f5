/*
 * Ranks the nodes on which a program can run that uses several volumes at the same time. [P0 section 5] advises a node
 * with many channel-disjoint routings. Among equal ones, a node is better if its busiest channel carries fewer of the
 * paths to the volumes and back, then if it is nearer.
 */
#ifndef NCUBE_PLACE_H
#define NCUBE_PLACE_H

#include <stdint.h>

#include "emu/network/topo.h"

struct place {
    uint32_t node;
    uint32_t routings; /* channel-disjoint, from the node to the volumes */
    uint32_t busiest;  /* paths through the busiest channel, there or back */
    uint32_t hops;     /* to all volumes together */
};

/* Returns all compute nodes, the best first, as an array of 2^dim that the caller frees. io_node: of each of n volumes,
 * n at least 1. */
struct place *place_rank(const struct topo *t, const uint32_t *io_node, uint32_t n);

#endif

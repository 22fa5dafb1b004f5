/*
 * Paths as sets of channels: which of them share a channel, how many are channel-disjoint, how many use the busiest
 * channel. Arithmetic on a topology: no time passes, and no machine is booted. topo_route (topo.h)
 * computes each path, for the network as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/network/topo.h"

struct path {
    uint32_t from, to;
    uint32_t hops;
    uint32_t channel[TOPO_ROUTE_MAX];
    int first_dimension; /* P(from, node at which it leaves the cube) [P0 section 3]; only meaningful if the source is
                          * a compute node */
};

/* Finds the path from `from` to `to` by the I/O channel `via`, or NCU_VIA_NEAREST. Returns false if there is none. */
bool path_find(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, struct path *path);

/* Returns the cycles from send to last byte on an idle network; `bytes` include the header. */
uint64_t path_cycles(const struct topo *t, const struct path *path, uint64_t bytes);

/* Returns true if the paths have a channel in common. */
bool path_shares_channel(const struct path *a, const struct path *b);

/* Return the number of channel-disjoint routings of n paths: the largest number of groups such that paths of different
 * groups share no channel. paths_disjoint compares the channels; paths_disjoint_by_theorem applies the theorem of [P0
 * section 3] to paths from one compute node, and counts the different P. */
uint32_t paths_disjoint(const struct path *path, uint32_t n);
uint32_t paths_disjoint_by_theorem(const struct path *path, uint32_t n);

/* Returns the number of paths through the busiest channel; 0 if no path has a channel. */
uint32_t paths_busiest_channel(const struct path *path, uint32_t n);

/*
 * Paths as sets of channels: which share one, how many are channel-disjoint, how busy the busiest channel is.
 * Arithmetic on a topology; no time passes and nothing is booted.
 */
#ifndef NCUBE_PATHS_H
#define NCUBE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/topo.h"

struct path {
    uint32_t from, to;
    uint32_t hops;
    uint32_t channel[TOPO_ROUTE_MAX];
    int first_dimension; /* P(from, node at which it leaves the cube) [P0 section 3]; says nothing for a source that
                          * is no compute node */
};

/* False if no way leads from `from` to `to`, or by the I/O channel `via` (or NCU_VIA_NEAREST). */
bool path_find(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, struct path *path);

/* From send to last byte on an idle network; bytes include the header of NET_HEADER_BYTES. */
uint64_t path_cycles(const struct path *path, uint64_t bytes);

bool path_shares_channel(const struct path *a, const struct path *b);

/* Channel-disjoint routings of n paths: the number of groups such that paths of different groups share no channel.
 * By the channel sets; by the theorem of [P0 section 3], for paths from one compute node: the number of different P. */
uint32_t paths_disjoint(const struct path *path, uint32_t n);
uint32_t paths_disjoint_by_theorem(const struct path *path, uint32_t n);

/* Most paths that use one channel; 0 if none uses any. */
uint32_t paths_busiest_channel(const struct path *path, uint32_t n);

#endif

/*
 * Pacing. In an operation in which bytes go one way, members that only send do not wait for those that take, and may be
 * many calls ahead of one that comes late. Its memory would fill with what it has not read, and what it waits for would
 * find no room. So before more than PACE_AHEAD_BYTES of such operations lie behind the last in which each member waited
 * for all, or more than Vertex keeps in an eighth of a node's memory, there is a barrier. All members count the same,
 * so none has to be told.
 *
 * These are the operations of collect.h, paced. Those in which each waits for all say so by pace_in_step.
 */
#pragma once

#include <stdint.h>

#include "libpio/group/collect.h"

#define PACE_AHEAD_BYTES (256 << 10)

static inline void pace_in_step(struct group *g)
{
    g->ahead_bytes = g->ahead_memory = 0;
}

static inline void pace_copy(struct group *to, const struct group *from)
{
    to->ahead_bytes = from->ahead_bytes;
    to->ahead_memory = from->ahead_memory;
}

/* Whether a member may get so many bytes more, in one message, without a barrier; if so, they are counted. */
bool pace_allows(struct group *g, int64_t bytes);

/* Before an operation in which one member may get so many bytes in so many messages, as all members know. */
int pace(struct group *g, int64_t bytes, int messages, int type);
/* The same where only one member knows how many bytes. */
int pace_unequal(struct group *g, int messages, int type);

int pace_broadcast(struct group *g, void *buf, int bytes, int root, int type);
int pace_reduce(struct group *g, const struct collect_reduction *x, int root, int type);
int pace_scan(struct group *g, const struct collect_reduction *x, void *before, int type);
int pace_gather(struct group *g, const void *part, void *all, const int *bytes, int root, int type);
int pace_scatter(struct group *g, const void *all, void *part, const int *bytes, int root, int type);

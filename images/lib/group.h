/*
 * Groups: ordered sets of processes, and what they do together. nsync and the global operations are made of it.
 *
 * A member has a rank, 0 .. size - 1. All members call the same operations in the same order, with the same arguments
 * but for the data. Messages go in a context of the group's, so that no read of the program meets them. Types tell
 * operations apart: members that call different ones wait, and ncube reports a deadlock.
 *
 * A group of 2^k members goes by dimensions: in step k a member exchanges with the one whose rank differs in bit k.
 * Where ranks are the nodes of a subcube these are neighbours, and no two messages of a step share a channel. Other
 * sizes go by a binomial tree: its root is rank 0, and rank r has the children r + 2^k, for each 2^k > r. A broadcast
 * always goes by that tree, of ranks counted from its root; in a group of 2^k, its edges are dimensions.
 *
 * Every call returns 0, or the negative error of the message that failed: as nwrite and nread.
 */
#ifndef NCUBE_LIB_GROUP_H
#define NCUBE_LIB_GROUP_H

#include "vertex/contract/system.h"

struct group {
    int size, rank;
    int context;       /* CONTEXT_SYNC .. CONTEXT_MOST */
    int procid;        /* rank r is process N_PROCESS(r, procid), */
    const int *member; /* or member[r], the caller's, if it is not NULL */
    int failed;        /* after an error: the rank whom the message was to or from */
};

/* The processes of the subcube that have the caller's procid. */
void group_all(struct group *g, int context);

/* *into = low OP high, n elements of each. `low` comes from lower ranks than `high`. `into` is one of the two. */
typedef void group_operation(void *into, const void *low, const void *high, int n);

/* Returns when all members have called it. */
int group_barrier(struct group *g, int type);

/* The bytes of the root's buffer come to the others'. EMSGSIZE: it has more than this member's. */
int group_broadcast(struct group *g, void *buf, int bytes, int root, int type);

/*
 * n elements of so many bytes each become the same on all members: the operation over all of theirs. `room` is for as
 * many more. What is combined with what depends on the ranks only, so floating-point results are the same on all, and
 * in every run.
 */
int group_reduce(struct group *g, void *elements, void *room, int n, int element_bytes, group_operation *operation,
                 int type);

#endif

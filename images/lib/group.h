/*
 * Groups: ordered sets of processes, and their collective operations, from which nsync and the global operations are
 * built.
 *
 * A member has a rank, 0 .. size - 1. All members call the same operations in the same order, with the same arguments
 * except the data. The group's messages have a context of their own, so no read of the program sees them. Each
 * operation has a type: members that call different ones wait, and ncube reports a deadlock.
 *
 * A group of 2^k members works dimension by dimension: in step k a member exchanges with the member whose rank differs
 * in bit k. If ranks are the nodes of a subcube these are neighbours, and no two messages of a step share a channel. A
 * group of another size uses a binomial tree with root 0, in which rank r has the children r + 2^k for each 2^k > r. A
 * broadcast always uses that tree, with ranks counted from its root; in a group of 2^k its edges are dimensions.
 *
 * Every call returns 0, or the negative error of the message that failed, as nwrite and nread.
 */
#ifndef NCUBE_LIB_GROUP_H
#define NCUBE_LIB_GROUP_H

#include "vertex/contract/system.h"

struct group {
    int size, rank;
    int context;       /* CONTEXT_SYNC .. CONTEXT_MOST */
    int procid;        /* if member is NULL, rank r is process N_PROCESS(r, procid) */
    const int *member; /* else rank r is process member[r]; the caller owns the array */
    int failed;        /* after an error, the rank to or from which the message failed */
};

/* Makes *g the group of all processes of the subcube that have the caller's procid. */
void group_all(struct group *g, int context);

/* Combines n elements: into[i] = low[i] OP high[i]. `low` comes from lower ranks than `high`; `into` is one of the
 * two. */
typedef void group_operation(void *into, const void *low, const void *high, int n);

/* Returns when all members have called it. */
int group_barrier(struct group *g, int type);

/* Copies the root's buffer to all members. EMSGSIZE: the root's has more bytes than this member's. */
int group_broadcast(struct group *g, void *buf, int bytes, int root, int type);

/*
 * Replaces each of the n elements, of element_bytes each, by the combination of all members' elements. `room` is
 * scratch memory of the same size. The order of combination depends only on the ranks, so floating-point results are
 * equal on all members and in every run.
 */
int group_reduce(struct group *g, void *elements, void *room, int n, int element_bytes, group_operation *operation,
                 int type);

#endif

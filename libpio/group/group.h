/*
 * Groups: ordered sets of processes, with messages of their own and collective operations.
 *
 * A member has a rank, 0 .. size - 1. All members call the same operations in the same order, with the same arguments
 * except the data; an operation ends when this member's part is done. A group's messages are in its context (cwrite and
 * cread of docs/vertex.md), so neither nread of the program nor another group sees them.
 *
 * If all members are the processes of a subcube, the operations use its dimensions: partners are neighbours, and no two
 * messages of a step share a channel. Otherwise the members are put in the order of dimensions, in which a binomial
 * tree, or a chain, has no two messages on one channel (McKinley, Xu, Esfahanian, Ni: Unicast-based multicast
 * communication in wormhole-routed networks, IEEE TPDS 5(12), 1994). docs/group.md has the costs.
 *
 * Every call returns >= 0, or a negative error of <n_errno.h>. Besides those listed, each can return the errors of
 * nwrite and nread; `failed` is then the rank to or from which a message failed. errno is not touched.
 */
#ifndef _GROUP_H
#define _GROUP_H

#define GROUP_TYPE_MAX 0x7fff /* the types of group_write are 0 .. GROUP_TYPE_MAX */

/* Made by group_make. A program reads size, rank, context and failed; the rest is the library's. */
struct group {
    int size, rank;
    int context; /* its number in deadlock reports */
    int failed;  /* after an error, the rank to or from which the message failed */
    /* Every rank has a place, 0 .. size - 1, by which the operations work. In a subcube that is the position there. */
    int place;
    int procid;    /* if process is NULL, rank r has place r and is N_PROCESS(r, procid) */
    int *process;  /* [size], at each rank */
    int *rank_at;  /* [size], at each place */
    int *place_of; /* [size], of each rank */
    int *lookup;   /* [1 << lookup_bits], of ranks by process */
    int lookup_bits;
    int is_subcube;
    int has_broadcast; /* all nodes, and the network can broadcast to them */
    int is_guest;      /* the context belongs to another group */
    /* Receives the messages of the operations; NULL: a trap does. Arguments and result are those of cread. */
    int (*take)(struct group *g, int process, void *buf, long bytes, int type);
    long ahead_bytes, ahead_memory; /* that a member may have unread (pacing.h) */
};

/* What a reduction does with two elements, and what these are: int, double or int64_t. Sums and products of integers
 * that are too large have the low bits of the true ones. GROUP_AND, GROUP_OR and GROUP_XOR combine the bits of
 * integers; there are none of doubles. */
enum group_operation { GROUP_SUM, GROUP_LEAST, GROUP_GREATEST, GROUP_AND, GROUP_PRODUCT, GROUP_OR, GROUP_XOR };
enum group_element { GROUP_INT, GROUP_DOUBLE, GROUP_INT64 };

/*
 * Makes a group. All members call it, with the same list: member[r] is the process (N_PROCESS) of rank r; NULL, with
 * any size, stands for all nodes of the program, those processes that have the caller's procid. The list is copied. The
 * members agree on a context that is free on all of them, by a reduction.
 * Returns 0. Errors, after which there is no group: EINVAL: size < 1, a number that is no process, a process that is
 * in the list twice, or lists that differ (only if the difference did not stop the agreement); ESRCH: the caller is not
 * in the list; EAGAIN: no context is free on all members (each process can be in 27 groups); ENOMEM.
 */
int group_make(struct group *g, const int *member, int size);

/*
 * Makes a group in the context of `of`, without a message: rank r is rank_of[r] of `of`, which must live longer. The
 * list is copied. Members of several groups in one context must call the operations of these in one order, as if they
 * were one group, and must not use one type for messages of two of them.
 * Returns 0. Errors, after which there is no group: EINVAL: size < 1, a rank that `of` does not have, or one that is
 * in the list twice; ESRCH: the caller is not in the list; ENOMEM.
 */
int group_make_in(struct group *g, const struct group *of, const int *rank_of, int size);

/* Gives a group back. All members call it. Before that they must have received all messages of group_write. For a group
 * of group_make_in it is no message.
 * Returns 0. After an error of a message this member has given its part back, too. */
int group_free(struct group *g);

/* nwrite, nread and ntest between ranks, in the group's context; the types are 0 .. GROUP_TYPE_MAX. N_ANY or a NULL
 * pointer matches any rank or type; nrange has no effect. Errors: those of nwrite, nread and ntest, with EINVAL for a
 * bad rank. */
int group_write(struct group *g, const void *buf, int n, int rank, int type);
int group_read(struct group *g, void *buf, int n, int *rank, int *type);
int group_test(struct group *g, int *rank, int *type);

/* Returns 0 when all members have called it. */
int group_barrier(struct group *g);

/* Copies the root's buffer to all members. Returns 0. Errors: EINVAL: bytes < 0 or a bad root. */
int group_broadcast(struct group *g, void *buf, int bytes, int root);

/*
 * Combine n elements of all members, place by place: group_reduce at the root, while the other members' elements are
 * left undefined; group_all_reduce at all members. The order of combination depends only on the members and on n, so
 * sums of doubles have the same bits on all members and in every run.
 * Return 0. Errors: EINVAL: n < 0, a bad root, an operation or element that does not exist; ENOMEM.
 */
int group_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation,
                 int root);
int group_all_reduce(struct group *g, void *elements, int n, enum group_element element,
                     enum group_operation operation);

/*
 * Combine n elements of all ranks up to this one: group_scan with this one's, group_scan_before without, which leaves
 * rank 0's as they are. Results and errors are those of group_all_reduce.
 */
int group_scan(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation);
int group_scan_before(struct group *g, void *elements, int n, enum group_element element,
                      enum group_operation operation);

/*
 * Collect parts at the root, and share them out. bytes[r] is the length of rank r's part; the list is the same on all
 * members. At the root, `all` has the parts one after the other in the order of ranks; elsewhere it is not used.
 * Return 0. Errors: EINVAL: a negative length, more than 2^31 - 1 bytes in all, or a bad root; EPROTO, EMSGSIZE: the
 * members' lists differ; ENOMEM.
 */
int group_gather(struct group *g, const void *part, void *all, const int *bytes, int root);
int group_scatter(struct group *g, const void *all, void *part, const int *bytes, int root);

/* Collects the parts at all members. Arguments, result and errors are those of group_gather. */
int group_all_gather(struct group *g, const void *part, void *all, const int *bytes);

/*
 * All to all: sends to_bytes[r] bytes to each rank r, and receives from_bytes[r] from it. The parts lie one after the
 * other in the order of ranks, in `to` and in `from`. An empty part costs no message.
 * Returns 0. Errors: EINVAL: a negative length, more than 2^31 - 1 bytes in all, or two lengths of the own part;
 * EPROTO: a part is shorter than from_bytes tells; EMSGSIZE: it is longer; ENOMEM. A part that only its sender knows of
 * stays unread, and the next exchange with that member gets it.
 */
int group_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes);

#endif

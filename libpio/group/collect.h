/*
 * What all collective operations are made of, in any context and with any type: those of groups (group.h), nsync, and
 * the global operations of all nodes.
 *
 * They work by places. With root p, place q has the position (q - p) mod size, in a group of 2^k members q ^ p. In the
 * binomial tree position v has the children v + 2^k for each 2^k below v's lowest bit that is set, so the positions
 * below a node follow it without a gap; in a group of 2^k members the edges are dimensions.
 *
 * Members that call operations with different types wait, and ncube reports a deadlock. Each message is read by its
 * source: a partner that is already in the next call cannot be taken for one of this, since messages of one source and
 * type keep their order.
 *
 * Every function returns 0, unless another result is stated, or the negative error of the message that failed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/group/group.h"
#include "libpio/group/members.h"
#include "vertex/contract/system.h"

/* Makes *g the group of all nodes, with the caller's procid, in a context whose number the caller knows to be free. If
 * `nself` is a domain, *g is that, in its own context. */
void collect_all(struct group *g, int context);

/* The type that a call of all has in collect_all's group: there it may lie in the context of a domain, whose lower
 * types are the program's, and the first of the others those of group.h. */
static inline int collect_type(const struct group *g, int type)
{
    return g->context < CONTEXT_LIBRARIES ? type : TYPE_OF_DOMAIN(type);
}

/* The group that `nself` is; NULL: all nodes. A program that does not name `nself` has no such function. */
struct group *endpoint_domain(void) __attribute__((weak));

/* Messages by place. collect_take returns the bytes. A library that must make progress while it waits sets g->take,
 * which then receives every message of the group's operations. */
int collect_give(struct group *g, int place, const void *buf, long bytes, int type);
int collect_take(struct group *g, int place, void *buf, long bytes, int type);

/* The result of a message to or from that place: an error is noted in g->failed. */
int collect_note(struct group *g, int place, long result);

/* As group_make; the members are processes of the program, even if `nself` is a domain. The caller calls trap_note. */
int group_make_of(struct group *g, const int *member, int size);

int collect_barrier(struct group *g, int type);

/* Copies the buffer of the member at that place to all. */
int collect_broadcast(struct group *g, void *buf, int bytes, int root, int type);

/* Combines n elements: into[i] = low[i] OP high[i]. `low` comes from lower places, in scans from lower ranks, than
 * `high`; `into` is one of the two. OP is associative. */
typedef void collect_operation(void *into, const void *low, const void *high, int n);
collect_operation collect_sum_ints, collect_product_ints, collect_least_ints, collect_greatest_ints;
collect_operation collect_and_ints, collect_or_ints, collect_xor_ints;
collect_operation collect_sum_int64s, collect_product_int64s, collect_least_int64s, collect_greatest_int64s;
collect_operation collect_and_int64s, collect_or_int64s, collect_xor_int64s;
collect_operation collect_sum_doubles, collect_product_doubles, collect_least_doubles, collect_greatest_doubles;

/* n elements of element_bytes each; `room` is scratch memory of the same size as all of them. */
struct collect_reduction {
    void *elements, *room;
    int n, element_bytes;
    collect_operation *operation;
};

/* At the place `root`, replaces the elements by the combination of all members'. Elsewhere they are used as scratch. */
int collect_reduce(struct group *g, const struct collect_reduction *x, int root, int type);
/* The same at all members. */
int collect_all_reduce(struct group *g, const struct collect_reduction *x, int type);

/* Replaces the elements by the combination of those of all ranks up to this one. before: the combination without this
 * rank's, not written on rank 0; NULL: not wanted. */
int collect_scan(struct group *g, const struct collect_reduction *x, void *before, int type);

/* As group_gather and so on, with a place for the root. They check nothing but the sum of the lengths. */
int collect_gather(struct group *g, const void *part, void *all, const int *bytes, int root, int type);
int collect_scatter(struct group *g, const void *all, void *part, const int *bytes, int root, int type);
int collect_all_gather(struct group *g, const void *part, void *all, const int *bytes, int type);
int collect_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes, int type);

/*
 * How all nodes of a program make one call together [P1 section 2.5]: they come to it, node 0 carries it out, and what
 * it gives reaches all.
 *
 *     global_begin   a reduction: everybody is there, and means the same file     nodes 1.. -> node 0
 *     (node 0)       the call of the driver below
 *     global_share   its result, with what it has stored                          node 0 -> nodes 1..
 *
 * The messages are in CONTEXT_GROUP, and each call has a type of its own there: nodes that make different calls wait,
 * and ncube's deadlock report names the calls.
 */
#pragma once

#include <ndevices.h>
#include <stdbool.h>
#include <stdint.h>

#include "libpio/group/collect.h"
#include "vertex/contract/system.h"

/* The nodes that make a call: a group of collect_all. Node 0 is its place 0. */
static inline bool global_is_first(const struct group *nodes)
{
    return nodes->place == 0;
}

/* Node 0 is carrying out a call: those that it makes below are its own. */
extern bool global_inside;

/* Calls of all nodes fail with EINVAL, without a message: nodes make different ones. */
extern bool global_refuses;

/* Begins a call. `about` says which file or path the node means; count: a number of bytes, or a negative errno. Returns
 * at node 0 the least count, or a negative errno: -EINVAL: the nodes do not mean the same; elsewhere 0. */
long global_begin(struct group *nodes, enum global_call_type type, uint32_t about, long count);

/* Ends a call: all nodes get node 0's result and, unless that is negative, its `bytes` bytes at `data`; at most
 * GLOBAL_DATA_BYTES. Returns the result, or the negative error of a message. */
#define GLOBAL_DATA_BYTES 1100
long global_share(struct group *nodes, enum global_call_type type, long result, void *data, size_t bytes);

/* Makes a call whose only result is its number. `expression` is evaluated at node 0. */
#define GLOBAL_ONCE(nodes, type, about, expression, data, bytes) \
    ({                                                           \
        long result_ = global_begin(nodes, type, about, 0);      \
        if (result_ >= 0 && global_is_first(nodes)) {            \
            global_inside = true;                                \
            result_ = (expression);                              \
            global_inside = false;                               \
        }                                                        \
        global_share(nodes, type, result_, data, bytes);         \
    })

/* Where node 0 reads. */
struct global_source {
    const struct ndevice *device;
    void *state;
    enum global_call_type type; /* GLOBAL_read: at the file's offset; GLOBAL_pread: at `at`; GLOBAL_readend */
    off_t at;
};

/* Reads up to n bytes at node 0 into the buffers of all nodes. A long read at the file's offset goes in pieces: the
 * drive reads one while the one before it is broadcast. The least n of all nodes counts. Returns the number of bytes;
 * an error that comes behind some of them is left to the next call. */
long global_read(struct group *nodes, const struct global_source *from, uint32_t about, void *buf, long n);

/* FNV-1a of a string, on top of an earlier value. */
uint32_t global_sum(uint32_t sum, const char *text);

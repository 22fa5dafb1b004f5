/*
 * In-order service: one request after another, in the order of their arrival, whichever drive it is for [P0 section 3].
 *
 *   0              ARRIVAL_REPLY_AT               ARRIVAL_REPLY_AT + sizeof(struct file_reply) + file_io_bytes
 *   +--------------+------------------------------+
 *   | request  - - - - - with data, over all of it|    one request
 *   +--------------+------------------------------+
 *   | without data | reply with data              |    replies without data have a place of their own
 *   +--------------+------------------------------+
 *   | write | write | write | ...                 |    several writes that are carried out as one (merge.h)
 *   +--------------+------------------------------+
 *
 * Only writes that wait for one file are taken out of the queue together, so nothing else ever comes out of its turn.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/arrival.h"

/* What it needs from the node, or from a test. */
struct in_order_node {
    /* Waits for a message, and returns its bytes. */
    size_t (*receive)(void *ctx, void *buf, size_t bytes, int *from, int *type);
    /* How many messages were known to wait at the end of the last command of a drive. Costs nothing. */
    uint32_t (*known)(void *ctx);
    /* The bytes and the type of the oldest message that waits; negative: none does. */
    long (*test)(void *ctx, int *type);
    void *ctx;
};

struct in_order {
    struct server *server;
    const struct in_order_node *node;
    struct arrival_area area;
    uint64_t short_reply[SERVE_REPLY_MIN_BYTES / sizeof(uint64_t)];
    /* the writes that are carried out together */
    struct merge *merge; /* NULL: none are */
    struct arrival taken[MERGE_WRITES];
    size_t used; /* bytes of the area */
    /* a write that was received behind them and is not one of them; bytes == NULL: none */
    struct arrival held;
    uint32_t merged;        /* writes that were carried out with another one; for tests */
    struct replies replies; /* the caller's, by serve_hold_replies */
};

/* Serves until N_SHUTDOWN from the front end. The reply to it is the caller's. */
void in_order_run(struct in_order *o);

/*
 * Locks of volumes (N_O_LOCK), and those who wait for one.
 *
 *   lock[]      that clients have: each a folder's open file, so it goes with that, by whatever way that is closed
 *   waiting ->  client -> client -> ...     in order of arrival; one that is in the way of nobody before it gets its
 *                                           lock as soon as no lock is in its way
 *
 * The service says by serve_hold_replies that it can send replies later. While any is held back, its replies go by way
 * of held_reply, which then looks whether a lock has become free. Where none is held back, nothing looks.
 */
#ifndef NSDISK_VOLUME_LOCKS_H
#define NSDISK_VOLUME_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/serve.h"

struct call;

typedef void reply_fn(void *ctx, int to, int type, const void *reply, size_t n);

/* Where a service's replies really go. */
struct held_replies {
    struct server *server;
    reply_fn *reply;
    void *ctx;
};

/* switch_way(ctx, true) is called within serve_request when the first reply is held back: from then on, also for that
 * request, replies go by held_reply; switch_way(ctx, false), when none is any more. Without this, who would wait gets
 * -N_EAGAIN. */
void serve_hold_replies(struct server *s, void (*switch_way)(void *ctx, bool holds), void *ctx);

/* A reply_fn, ctx is a struct held_replies: sends the reply unless it is held back, then those that are due. */
reply_fn held_reply;

/* N_FOPEN with N_O_LOCK. */
int64_t invoke_lock(struct server *s, struct call *c);

/* Forgets all who wait, without a reply. */
void locks_end(struct server *s);

#endif

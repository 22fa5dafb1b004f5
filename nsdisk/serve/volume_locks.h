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
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/serve.h"

struct call;

typedef void reply_fn(void *ctx, int to, int type, const void *reply, size_t n);

/* The way of a service's replies: each goes by `reply` with `ctx`. These are the service's own until, within
 * serve_request, the first reply is held back: from then on, also for that request, until none is any more, `reply` is
 * held_reply. */
struct replies {
    reply_fn *reply;
    void *ctx;
    struct server *server;
    reply_fn *own_reply;
    void *own_ctx;
};

/* Without this, who would wait gets -N_EAGAIN. */
void serve_hold_replies(struct server *s, struct replies *r, reply_fn *own_reply, void *own_ctx);

/* A reply_fn, ctx is a struct replies: sends the reply unless it is held back, then those that are due. */
reply_fn held_reply;

/* N_FOPEN with N_O_LOCK. */
int64_t invoke_lock(struct server *s, struct call *c);

/* Forgets all who wait, without a reply. */
void locks_end(struct server *s);

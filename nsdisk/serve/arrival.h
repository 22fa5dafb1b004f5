/*
 * A request as it has arrived, which both kinds of service serve alone or merge with others.
 *
 * A request lies at the start of an area, and the reply to it behind it, unless that is short. A source is a node, and
 * a procid from bit 16 up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nsdisk/serve/merge.h"
#include "nsdisk/serve/serve.h"
#include "nsdisk/serve/volume_locks.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/service.h"
#include "vertex/contract/system.h"

#define ARRIVAL_REPLY_AT SERVICE_REPLY_AT

struct arrival {
    int from, type;
    uint8_t *bytes;
    size_t n;
};

struct arrival_area {
    uint8_t *bytes;
    size_t size;
};

static inline size_t arrival_area_bytes(uint32_t io_bytes)
{
    return service_area_bytes(io_bytes);
}

/* Most data of one read or write, a multiple of 16 bytes, with which such an area was made. */
static inline uint32_t arrival_io_bytes(const struct arrival_area *area)
{
    return (uint32_t)(area->size - ARRIVAL_REPLY_AT - sizeof(struct file_reply)) & ~15u;
}

/* Messages of programs and replies are not requests. Two servers that answered replies would never stop. */
static inline bool arrival_is_request(int type)
{
    const unsigned reply_bit = N_REPLY(N_FOPEN) & ~N_FOPEN;

    return type > (int)N_TYPE_USER_MAX && ((unsigned)type & reply_bit) == 0;
}

static inline uint32_t arrival_node(const struct arrival *a)
{
    return (uint32_t)a->from & 0xffff;
}

static inline uint32_t arrival_tag(const struct arrival *a)
{
    return TAG(a->type, a->from >> 16, 0);
}

/* Carries the request out. Returns the reply's bytes; *reply: where it is, in the area, or in short_reply, of
 * SERVE_REPLY_MIN_BYTES. A request that asks for data and carries data is malformed, so its reply is short. */
static inline size_t arrival_serve(struct server *s, const struct arrival *a, const struct arrival_area *area,
                                   void *short_reply, void **reply)
{
    uint32_t tag = arrival_tag(a);
    bool is_short = serve_reply_bytes(tag, a->bytes, a->n) <= SERVE_REPLY_MIN_BYTES || a->n > ARRIVAL_REPLY_AT;

    *reply = is_short ? short_reply : area->bytes + ARRIVAL_REPLY_AT;
    return serve_request(s, arrival_node(a), tag, a->bytes, a->n, *reply,
                         is_short ? SERVE_REPLY_MIN_BYTES : area->size - ARRIVAL_REPLY_AT);
}

/* Adds a write to the group *merge, or begins one with it. False: it is none that can be merged. */
static inline bool arrival_join(struct server *s, const struct arrival *a, struct merge **merge)
{
    struct serve_write w;

    if (!serve_can_merge(s, arrival_node(a), arrival_tag(a), a->bytes, a->n, &w))
        return false;
    struct merge *m = *merge ? *merge : serve_merge(s, w.drive);
    if (!m || !merge_add(m, w.inode, w.view, w.r.offset, w.r.bytes, w.data))
        return false;
    *merge = m;
    return true;
}

/* Whether a write may be several commands, so that others may join it between them. */
static inline bool arrival_is_by_view(const struct arrival *a)
{
    return a->n >= sizeof(struct file_request) && ((const struct file_request *)a->bytes)->view != 0;
}

static inline void arrival_answer(const struct replies *r, const struct arrival *a, uint32_t seq, int64_t status)
{
    const struct file_reply reply = {seq, (int32_t)status};

    r->reply(r->ctx, a->from, a->type, &reply, sizeof reply);
}

/* The answer to a write that is on the medium. */
static inline struct file_reply arrival_reply_to_write(const struct arrival *a)
{
    struct file_request r;

    memcpy(&r, a->bytes, sizeof r);
    return (struct file_reply){r.seq, (int32_t)r.bytes};
}

static inline void arrival_answer_write(const struct replies *replies, const struct arrival *a)
{
    struct file_request r;

    memcpy(&r, a->bytes, sizeof r);
    arrival_answer(replies, a, r.seq, r.bytes);
}

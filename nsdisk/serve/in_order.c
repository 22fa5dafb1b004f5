/*
 * In-order service (in_order.h).
 *
 * A single client that waits for each reply costs nothing here: a plain write looks for others only if messages were
 * waiting when the last command of a drive ended.
 */
#include "nsdisk/serve/in_order.h"

#include <string.h>

#include "nsdisk/serve/serve.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

/* A source is a node, and a procid from bit 16 up. */
static uint32_t tag_of(const struct in_order_request *q)
{
    return TAG(q->type, q->from >> 16, 0);
}

static void serve_alone(struct in_order *o, const struct in_order_request *q)
{
    uint32_t tag = tag_of(q);
    size_t room;
    void *reply = loop_place_reply(tag, q->bytes, q->n, &o->area, o->short_reply, &room);
    size_t n = serve_request(o->server, (uint32_t)q->from & 0xffff, tag, q->bytes, q->n, reply, room);

    o->node->reply(o->node->reply_ctx, q->from, q->type, reply, n);
}

/* ---- Several writes ---- */

/* Adds a write to the group, or begins one with it. */
static bool join(struct in_order *o, const struct in_order_request *q)
{
    struct serve_write w;

    if (!serve_can_merge(o->server, (uint32_t)q->from & 0xffff, tag_of(q), q->bytes, q->n, &w))
        return false;
    struct merge *m = o->merge ? o->merge : serve_merge(o->server, w.drive);
    if (!m || !merge_add(m, w.inode, w.view, w.r.offset, w.r.bytes, w.data))
        return false;
    o->merge = m;
    o->taken[m->writes - 1] = *q;
    o->used = (size_t)(q->bytes + q->n - o->area.bytes + 7) & ~(size_t)7;
    return true;
}

/* Receives the writes that wait, as long as they join. */
static void take_more(void *ctx)
{
    struct in_order *o = ctx;
    const struct in_order_node *node = o->node;
    int type;

    while (!o->held.bytes && o->merge->writes < MERGE_WRITES && node->known(node->ctx) > 0) {
        struct in_order_request q = {.bytes = o->area.bytes + o->used};
        size_t room = o->area.size - o->used;
        long n = node->test(node->ctx, &type);

        if (n < 0 || type != (int)N_FWRITE || (size_t)n > room)
            return;
        q.n = node->receive(node->ctx, q.bytes, room, &q.from, &q.type);
        if (join(o, &q))
            o->merged++;
        else
            o->held = q;
    }
}

static void answer(void *ctx, uint32_t write)
{
    const struct in_order *o = ctx;
    const struct in_order_request *q = &o->taken[write];
    struct file_request r;

    memcpy(&r, q->bytes, sizeof r);
    const struct file_reply reply = {r.seq, (int32_t)r.bytes};
    o->node->reply(o->node->reply_ctx, q->from, q->type, &reply, sizeof reply);
}

/* Carries out the group that begins with a write. False: the write is none that could. */
static bool serve_group(struct in_order *o, const struct in_order_request *first)
{
    const struct merge_calls calls = {take_more, answer, o};

    o->merge = NULL;
    if (!join(o, first))
        return false;
    struct merge *m = o->merge;
    take_more(o);
    if (m->writes > 1 || m->write[0].view)
        merge_run(m, &calls);
    uint32_t answered = m->answered, writes = m->writes;
    merge_end(m);
    for (uint32_t i = answered; i < writes; i++)
        serve_alone(o, &o->taken[i]);
    return true;
}

/* ---- All requests ---- */

/* A write through a view is several commands, and others may join it between them. */
static bool may_merge(const struct in_order *o, const struct in_order_request *q)
{
    const struct file_request *r = (const struct file_request *)q->bytes;

    return q->type == (int)N_FWRITE && q->n >= sizeof *r && (r->view != 0 || o->node->known(o->node->ctx) > 0);
}

static struct in_order_request next(struct in_order *o)
{
    struct in_order_request q = o->held;

    o->held.bytes = NULL;
    if (!q.bytes) {
        q.bytes = o->area.bytes;
        q.n = o->node->receive(o->node->ctx, q.bytes, o->area.size, &q.from, &q.type);
    }
    return q;
}

static void switch_way(void *ctx, bool holds)
{
    struct in_order *o = ctx;

    o->node = holds ? &o->holding : o->plain;
}

static void prepare_holding(struct in_order *o)
{
    o->plain = o->node;
    o->held_replies = (struct held_replies){o->server, o->node->reply, o->node->reply_ctx};
    o->holding = *o->node;
    o->holding.reply = held_reply;
    o->holding.reply_ctx = &o->held_replies;
    serve_hold_replies(o->server, switch_way, o);
}

void in_order_run(struct in_order *o)
{
    prepare_holding(o);
    for (;;) {
        struct in_order_request q = next(o);

        if (q.type == (int)N_SHUTDOWN && q.from == (int)NODE_HOST)
            return;
        if (!loop_is_request(q.type))
            continue;
        if (!may_merge(o, &q) || !serve_group(o, &q))
            serve_alone(o, &q);
    }
}

/*
 * In-order service (in_order.h).
 *
 * A single client that waits for each reply costs nothing here: a plain write looks for others only if messages were
 * waiting when the last command of a drive ended.
 */
#include "nsdisk/serve/in_order.h"

#include "vertex/contract/machine.h"

static void serve_alone(struct in_order *o, const struct arrival *q)
{
    void *reply;
    size_t n = arrival_serve(o->server, q, &o->area, o->short_reply, &reply);

    o->replies.reply(o->replies.ctx, q->from, q->type, reply, n);
}

/* ---- Several writes ---- */

/* Adds a write to the group, or begins one with it. */
static bool join(struct in_order *o, const struct arrival *q)
{
    if (!arrival_join(o->server, q, &o->merge))
        return false;
    o->taken[o->merge->writes - 1] = *q;
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
        struct arrival q = {.bytes = o->area.bytes + o->used};
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

    arrival_answer_write(&o->replies, &o->taken[write]);
}

/* Carries out the group that begins with a write. False: the write is none that could. */
static bool serve_group(struct in_order *o, const struct arrival *first)
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

static bool may_merge(const struct in_order *o, const struct arrival *q)
{
    return q->type == (int)N_FWRITE && (arrival_is_by_view(q) || o->node->known(o->node->ctx) > 0);
}

static struct arrival next(struct in_order *o)
{
    struct arrival q = o->held;

    o->held.bytes = NULL;
    if (!q.bytes) {
        q.bytes = o->area.bytes;
        q.n = o->node->receive(o->node->ctx, q.bytes, o->area.size, &q.from, &q.type);
    }
    return q;
}

void in_order_run(struct in_order *o)
{
    for (;;) {
        struct arrival q = next(o);

        if (q.type == (int)N_SHUTDOWN && q.from == (int)NODE_HOST)
            return;
        if (!arrival_is_request(q.type))
            continue;
        if (!may_merge(o, &q) || !serve_group(o, &q))
            serve_alone(o, &q);
    }
}

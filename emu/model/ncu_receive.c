/*
 * The NCUs' receiving side: ARM, headers that find an armed buffer or wait for one, and messages that arrive.
 */
#include "emu/model/ncu_state.h"

static uint32_t channel_of(const struct net_message *m)
{
    if (m->from != m->to)
        return m->in_channel;
    return NODE_IS_IO(m->to) ? NCU_SI_CHANNELS : NCU_CHANNELS;
}

static struct ncu_cause cause_of_message(uint32_t kind, const struct transfer *t, const struct net_message *m)
{
    return (struct ncu_cause){.kind = kind,
                              .channel = channel_of(m),
                              .node = t->parent != NULL ? t->origin : m->from,
                              .tag = m->tag,
                              .bytes = m->bytes,
                              .cookie = t->number, /* for the trace; Vertex does not read it */
                              .start_cycles = t->parent != NULL ? t->sent.start_cycles : m->start_cycles};
}

/* Gives the armed buffer to a header. Returns false if none is armed, or it is too small. */
static bool receive_take(struct receive *r, struct transfer *t)
{
    if (!r->armed || r->landing || t->message->bytes > r->bytes)
        return false;
    r->armed = false;
    r->landing = t;
    t->landing = r->addr;
    if (t->parent)
        ncu_pass_on(t->ncu, t, t->message->to, t->message->in_channel);
    return true;
}

static void announce_header(struct ncu_node *node, const struct transfer *t)
{
    struct ncu_cause c = cause_of_message(CAUSE_RECV_HEADER, t, t->message);

    trace_write(node->ncu->trace, &(struct trace_record){.kind = TRACE_HEADER,
                                                         .node = node->address,
                                                         .cycles = node->ncu->now_cycles,
                                                         .peer = c.node,
                                                         .channel = c.channel,
                                                         .bytes = t->message->bytes});
    ncu_cause(node, &c);
}

/* Returns true if the receiver refuses this message: it accepts nothing from that source until a RESTART. */
static bool port_refuses(struct port *port, const struct transfer *t, uint32_t from)
{
    if (t->restart)
        nodeset_remove(&port->refused, from);
    return nodeset_has(&port->refused, from);
}

bool ncu_net_header(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct ncu *n = ctx;
    struct transfer *t = m->data;

    n->now_cycles = now_cycles;
    t->message = m;
    t->refused = port_refuses(ncu_port_at(n, m->to), t, m->from);
    if (t->refused || m->to == NODE_HOST)
        return true;
    struct ncu_node *node = ncu_node_at(n, m->to);
    struct receive *r = &node->receive[channel_of(m)];
    if (TAILQ_EMPTY(&r->waiting) && receive_take(r, t))
        return true;
    TAILQ_INSERT_TAIL(&r->waiting, t, queued);
    node->headers++;
    node->statistics.held++;
    if (TAILQ_FIRST(&r->waiting) == t && !r->landing && !r->later)
        announce_header(node, t);
    return false;
}

/* Lets the first waiting header of a channel land, if it can; a receive has been armed, or has ended. */
static void receive_retry(struct ncu_node *node, struct receive *r, bool armed_now)
{
    struct transfer *t = TAILQ_FIRST(&r->waiting);

    if (!t || r->landing)
        return;
    if (!receive_take(r, t)) {
        announce_header(node, t);
        return;
    }
    TAILQ_REMOVE(&r->waiting, t, queued);
    node->headers--;
    t->accepted_cycles = armed_now ? node->ncu->now_cycles : 0;
    net_accept(node->ncu->net, t->message, node->ncu->now_cycles);
}

static void deliver_to_host(struct ncu *n, const struct transfer *t, const struct net_message *m)
{
    if (m->status != NCU_OK)
        return;
    trace_write(n->trace, &(struct trace_record){.kind = TRACE_ARRIVAL,
                                                 .node = m->to,
                                                 .cycles = n->now_cycles,
                                                 .since = m->start_cycles,
                                                 .peer = m->from,
                                                 .tag = m->tag,
                                                 .bytes = m->bytes,
                                                 .number = t->number});
    ncu_count_received(n, m->to, m->bytes);
    uint8_t *bytes = t->holder ? ncu_memory_lend(t->holder, t->held_at, m->bytes, true) : t->copy;
    n->ops->host_message(n->ctx, m->from, (uint32_t)m->tag, bytes, m->bytes);
    if (t->holder)
        ncu_memory_take_back(t->holder, t->held_at, m->bytes, bytes, false);
}

/* Ends a receive with RECV_DONE; the channel may be armed for the next. */
static void receive_end(struct ncu_node *node, const struct ncu_cause *c)
{
    struct receive *r = &node->receive[c->channel];

    r->landing = NULL;
    trace_write(node->ncu->trace, &(struct trace_record){.kind = c->status == NCU_OK ? TRACE_ARRIVAL : TRACE_DAMAGE,
                                                         .node = node->address,
                                                         .cycles = node->ncu->now_cycles,
                                                         .peer = c->node,
                                                         .tag = c->tag,
                                                         .bytes = c->bytes});
    if (c->status == NCU_OK) {
        ncu_count_received(node->ncu, node->address, c->bytes);
        if (node->ncu->ops->arrived)
            node->ncu->ops->arrived(node->ncu->ctx, node->address, c);
    }
    ncu_cause(node, c);
    receive_retry(node, r, false);
}

void ncu_receive_hop(struct ncu *n, struct transfer *t)
{
    receive_end(ncu_node_at(n, t->sent.node), &t->received);
}

static void deliver_to_node(struct ncu *n, struct transfer *t, const struct net_message *m)
{
    struct ncu_node *node = ncu_node_at(n, m->to);

    if (m->status == NCU_OK && t->holder)
        ncu_memory_move(node, t->landing, t->holder, t->held_at, m->bytes);
    else if (m->status == NCU_OK)
        ncu_memory_write(node, t->landing, t->copy, m->bytes);
    struct ncu_cause c = cause_of_message(CAUSE_RECV_DONE, t, m);
    c.status = m->status;
    c.addr = t->landing;
    c.done_cycles = n->now_cycles;
    t->landed = true;
    t->received = c;
    if (t->forks == 0)
        receive_end(node, &c);
}

void ncu_deliver(struct ncu *n, struct transfer *t, const struct net_message *m)
{
    if (t->refused || m->status == NCU_ELINK)
        return;
    if (m->status == NCU_EPARITY)
        nodeset_add(&ncu_port_at(n, m->to)->refused, m->from);
    if (m->to == NODE_HOST)
        deliver_to_host(n, t, m);
    else
        deliver_to_node(n, t, m);
}

static void arm_now(void *arg, uint64_t now_cycles)
{
    struct receive *r = arg;

    r->node->ncu->now_cycles = now_cycles;
    r->later = 0;
    r->armed = true;
    receive_retry(r->node, r, true);
}

void ncu_arm(struct ncu_node *node, const uint64_t *arg)
{
    struct ncu *n = node->ncu;
    uint64_t channel = arg[0] & ~NCU_ARM_LATER;

    if (channel >= CHANNELS || !ncu_memory_has(node->ncu, arg[1], arg[2]))
        return; /* Vertex checks first; no receive is armed outside of memory */
    struct receive *r = &node->receive[channel];
    if (r->later)
        eventq_cancel(n->events, r->later);
    r->later = 0;
    r->addr = arg[1];
    r->bytes = arg[2];
    r->armed = !(arg[0] & NCU_ARM_LATER) || arg[3] <= n->now_cycles;
    if (r->armed)
        receive_retry(node, r, true);
    else
        r->later = eventq_add(n->events, arg[3], NODE_ORDER + 1 + node->index, arm_now, r);
}

/*
 * The NCUs' sending side: messages of the nodes and of the front end, order after damage, broadcasts.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/model/ncu_state.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

/* ---- Order after damage ---- */

static void port_note_sent(struct port *port, struct transfer *t)
{
    LIST_INSERT_HEAD(&port->sent, t, sending);
    t->under_way = true;
}

/* Notes that a transfer has ended, whether or not it was under way. Returns how many to its destination are left. */
static uint32_t port_note_done(struct port *port, struct transfer *t)
{
    const struct transfer *other;
    uint32_t left = 0;

    if (t->under_way)
        LIST_REMOVE(t, sending);
    t->under_way = false;
    LIST_FOREACH(other, &port->sent, sending)
        left += other->sent.node == t->sent.node;
    if (t->sent.status == NCU_EPARITY)
        nodeset_add(&port->stopped, t->sent.node);
    return left;
}

static bool port_is_sending(const struct port *port, uint32_t to)
{
    const struct transfer *t;

    LIST_FOREACH(t, &port->sent, sending)
        if (t->sent.node == to)
            return true;
    return false;
}

/* Returns true if a message may start: no RESTART is due for its destination, or it is one. */
static bool port_lets_out(struct port *port, const struct transfer *t)
{
    if (t->restart)
        nodeset_remove(&port->stopped, t->sent.node);
    return !nodeset_has(&port->stopped, t->sent.node);
}

static void transfer_free(struct transfer *t)
{
    free(t->copy);
    free(t);
}

/* ---- The trace ---- */

/* Numbers a message that is about to be sent, and traces it. */
static void trace_send(struct ncu *n, struct transfer *t, uint32_t from, uint64_t tag)
{
    t->number = ++n->sends;
    trace_write(n->trace, &(struct trace_record){.kind = TRACE_SEND,
                                                 .node = from,
                                                 .cycles = n->now_cycles,
                                                 .peer = t->sent.node,
                                                 .tag = tag,
                                                 .bytes = t->sent.bytes,
                                                 .number = t->number,
                                                 .dim_plus_1 = t->subcube});
}

static const char *volume_of(const struct ncu *n, uint32_t node, uint32_t drive)
{
    const struct topo_io_node *io = topo_io_node(n->topo, node);

    return io && drive < io->ndrives ? io->drive[drive].volume : "";
}

/* Traces a message that is a request to a file server. */
static void trace_request(struct ncu *n, const struct transfer *t, uint32_t from)
{
    struct file_request request;

    if (!trace_wants(n->trace, TRACE_REQUEST) || t->subcube > 0 || !N_IS_FILE_REQUEST(TAG_TYPE(t->sent.tag)) ||
        t->sent.bytes < sizeof request || !ncu_memory_has(n, t->held_at, sizeof request))
        return;
    ncu_memory_read(t->holder, t->held_at, &request, sizeof request);
    trace_write(n->trace, &(struct trace_record){.kind = TRACE_REQUEST,
                                                 .node = from,
                                                 .cycles = n->now_cycles,
                                                 .since = n->now_cycles,
                                                 .peer = t->sent.node,
                                                 .tag = t->sent.tag,
                                                 .bytes = request.bytes,
                                                 .number = request.seq,
                                                 .text = volume_of(n, t->sent.node, request.drive)});
}

/* ---- The front end's messages ---- */

static void host_start(struct ncu *n, struct transfer *t);

/* Takes the oldest message to that destination out of those to be sent again; NULL: there is none. */
static struct transfer *host_take_failed(struct ncu *n, uint32_t to)
{
    struct transfer *t;

    TAILQ_FOREACH(t, &n->host_failed, queued)
        if (t->sent.node == to) {
            TAILQ_REMOVE(&n->host_failed, t, queued);
            return t;
        }
    return NULL;
}

/* Starts again all messages to one destination that have failed, the first as RESTART. */
static void host_restart(struct ncu *n, uint32_t to)
{
    bool first = true;

    for (struct transfer *t; (t = host_take_failed(n, to));) {
        t->restart = first;
        t->attempts += first; /* the others fail only because of it */
        first = false;
        host_start(n, t);
    }
}

/* Puts a message among those to be sent again, in the order of their cookies. */
static void host_keep(struct ncu *n, struct transfer *t)
{
    struct transfer *before;

    TAILQ_FOREACH_REVERSE(before, &n->host_failed, transfer_queue, queued)
        if (before->sent.cookie < t->sent.cookie) {
            TAILQ_INSERT_AFTER(&n->host_failed, before, t, queued);
            return;
        }
    TAILQ_INSERT_HEAD(&n->host_failed, t, queued);
}

static void host_sent(struct ncu *n, struct transfer *t)
{
    uint32_t to = t->sent.node, left = port_note_done(&n->host, t);

    ncu_count_ended(&n->host_statistics, t->sent.status);
    if (t->sent.status == NCU_EPARITY && t->attempts < NCU_HOST_RESENDS) {
        host_keep(n, t);
    } else {
        if (t->sent.status != NCU_OK)
            n->ops->host_lost(n->ctx, to, (uint32_t)t->sent.tag, t->copy, t->sent.bytes, t->sent.status);
        transfer_free(t);
    }
    if (left == 0 && nodeset_has(&n->host.stopped, to))
        host_restart(n, to);
}

static void host_start(struct ncu *n, struct transfer *t)
{
    if (!port_lets_out(&n->host, t)) {
        host_keep(n, t);
        return;
    }
    t->refused = false;
    t->accepted_cycles = 0;
    trace_send(n, t, NODE_HOST, (uint32_t)t->sent.tag);
    ncu_count_sent(&n->host_statistics, t->sent.bytes);
    t->sent.status =
        net_send(n->net, n->now_cycles, NODE_HOST, t->sent.node, NCU_VIA_NEAREST, t->sent.bytes, t->sent.tag, 0, t);
    if (t->sent.status == NCU_OK)
        port_note_sent(&n->host, t);
    else
        host_sent(n, t);
}

void ncu_host_send(struct ncu *n, uint32_t to, uint32_t tag, const void *bytes, size_t count)
{
    struct transfer *t = memory_new(1, sizeof *t);

    *t = (struct transfer){.ncu = n,
                           .copy = memory_new(count, 1),
                           .sent = {.node = to, .tag = tag, .bytes = count, .cookie = n->host_sends++}};
    if (count > 0)
        memcpy(t->copy, bytes, count);
    host_start(n, t);
    if (nodeset_has(&n->host.stopped, to) && !port_is_sending(&n->host, to)) /* the RESTART was given up */
        host_restart(n, to);
}

/* ---- The nodes' messages ---- */

static void hop_done(struct transfer *t);

static void send_done(void *arg, uint64_t now_cycles)
{
    struct transfer *t = arg;

    t->ncu->now_cycles = now_cycles;
    if (t->parent) {
        hop_done(t);
        return;
    }
    if (!t->sender) {
        host_sent(t->ncu, t);
        return;
    }
    t->sent.channel = port_note_done(&t->sender->port, t);
    ncu_count_ended(&t->sender->statistics, t->sent.status);
    if (t->sent.status != NCU_OK)
        trace_write(t->ncu->trace, &(struct trace_record){.kind = TRACE_FAILED,
                                                          .node = t->sender->address,
                                                          .cycles = now_cycles,
                                                          .peer = t->sent.node,
                                                          .status = t->sent.status});
    ncu_cause(t->sender, &t->sent);
    transfer_free(t);
}

void ncu_net_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct ncu *n = ctx;
    struct transfer *t = m->data;

    n->now_cycles = now_cycles;
    t->sent.status = t->refused ? NCU_EPARITY : m->status;
    t->sent.done_cycles = now_cycles;
    ncu_deliver(n, t, m);
    /* The sender of a message that was held learns of its end no sooner than one lookahead after the ARM that accepted
     * it: the release travels back over the path. So an ARM, too, affects no other node within the lookahead. */
    uint64_t earliest = t->accepted_cycles > 0 && m->from != m->to ? t->accepted_cycles + n->lookahead_cycles : 0;
    if (earliest > now_cycles)
        eventq_add(n->events, earliest, NODE_ORDER, send_done, t);
    else
        send_done(t, now_cycles);
}

/* ---- Broadcasts: ncu_fork.c has the picture ---- */

static void transfer_end_hop(struct transfer *t)
{
    if (t->left && t->landed && t->forks == 0)
        transfer_free(t);
}

/* Notes that a fork of t, which is the broadcast itself or a hop, has ended; the last one ends t. */
static void fork_done(struct transfer *t)
{
    struct ncu *n = t->ncu;

    if (--t->forks > 0)
        return;
    if (!t->parent) {
        t->sent.done_cycles = n->now_cycles;
        send_done(t, n->now_cycles);
        return;
    }
    assert(t->landed); /* a fork starts after its hop, and has as many bytes */
    ncu_receive_hop(n, t);
    transfer_end_hop(t);
}

static void hop_done(struct transfer *t)
{
    t->left = true;
    fork_done(t->parent);
    transfer_end_hop(t);
}

static int broadcast_check(const struct ncu_node *node, const struct transfer *t, uint64_t addr)
{
    const struct ncu *n = node->ncu;
    uint32_t dim = t->subcube - 1;

    if (!ncu_can_broadcast(n) || !NODE_IS_COMPUTE(node->address) || dim > n->topo->dim ||
        t->sent.node != (node->address >> dim << dim))
        return NCU_EDEST;
    return ncu_memory_has(n, addr, t->sent.bytes) ? NCU_OK : NCU_EADDR;
}

static void broadcast(struct ncu_node *node, struct transfer *t)
{
    struct ncu *n = node->ncu;

    t->origin = node->address;
    t->sent.status = broadcast_check(node, t, t->held_at);
    if (t->sent.status == NCU_OK)
        ncu_fork_above(n, t, node->address, 0, t->held_at);
    if (t->forks == 0)
        send_done(t, n->now_cycles);
}

/* ---- SEND ---- */

/* Checks a SEND and starts its message. Returns NCU_OK if it is under way. */
static int start_send(struct ncu_node *node, struct transfer *t, const uint64_t *arg)
{
    struct ncu *n = node->ncu;

    if (!ncu_memory_has(n, arg[1], arg[2]))
        return NCU_EADDR;
    if (!port_lets_out(&node->port, t))
        return NCU_EPARITY;
    return net_send(n->net, n->now_cycles, node->address, t->sent.node, arg[5], arg[2], (uint32_t)arg[3], arg[4], t);
}

void ncu_send(struct ncu_node *node, const uint64_t *arg)
{
    struct ncu *n = node->ncu;
    struct transfer *t = memory_new(1, sizeof *t);

    *t = (struct transfer){.ncu = n,
                           .sender = node,
                           .holder = node,
                           .held_at = arg[1],
                           .restart = (arg[0] & NCU_SEND_RESTART) != 0,
                           .sent = {.kind = CAUSE_SEND_DONE,
                                    .node = (uint32_t)arg[0],
                                    .tag = (uint32_t)arg[3],
                                    .bytes = arg[2],
                                    .cookie = arg[4],
                                    .start_cycles = n->now_cycles}};
    t->subcube = NCU_SUBCUBE_OF(arg[0]);
    trace_send(n, t, node->address, arg[3]);
    trace_request(n, t, node->address);
    ncu_count_sent(&node->statistics, arg[2]);
    ncu_count_pipe_message(n, (uint32_t)arg[3], arg[2]);
    if (t->subcube > 0) {
        broadcast(node, t);
        return;
    }
    t->sent.status = start_send(node, t, arg);
    if (t->sent.status == NCU_OK)
        port_note_sent(&node->port, t);
    else
        send_done(t, n->now_cycles);
}

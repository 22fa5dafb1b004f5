/*
 * The NCUs: causes and how nodes learn of them, receiving, and the NCU instructions. Sending is in ncu_send.c, drives
 * are in ncu_disk.c, texts for the user in ncu_report.c.
 */
#include "emu/model/ncu.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/model/fault_plan.h"
#include "emu/model/ncu_state.h"
#include "emu/time/sched.h"

bool ncu_memory_has(const struct ncu *n, uint64_t addr, uint64_t bytes)
{
    return addr <= n->topo->ram_bytes && bytes <= n->topo->ram_bytes - addr;
}

/* ---- Causes ---- */

static void causes_push(struct causes *q, const struct ncu_cause *c)
{
    if (q->count == q->room) {
        uint32_t room = q->room > 0 ? 2 * q->room : 8;
        struct ncu_cause *bigger = memory_new(room, sizeof *bigger);

        for (uint32_t k = 0; k < q->count; k++)
            bigger[k] = q->cause[(q->first + k) % q->room];
        free(q->cause);
        *q = (struct causes){.cause = bigger, .count = q->count, .room = room};
    }
    q->cause[(q->first + q->count++) % q->room] = *c;
}

static struct ncu_cause causes_pop(struct causes *q)
{
    uint32_t first = q->first;

    q->first = (first + 1) % q->room;
    q->count--;
    return q->cause[first];
}

/* Traces that the node's kernel learns of a message. */
static void trace_receive(const struct ncu_node *node, const struct ncu_cause *c)
{
    if (c->kind == CAUSE_RECV_DONE)
        trace_event(node->ncu->trace, node->ncu->now_cycles, node->address,
                    "receive from=%u tag=%#" PRIx64 " bytes=%" PRIu64, c->node, c->tag, c->bytes);
}

static void causes_deliver(struct ncu_node *node, struct causes *q)
{
    uint32_t n = q->count < NCU_CAUSES_MAX ? q->count : NCU_CAUSES_MAX;

    for (uint32_t k = 0; k < n; k++) {
        node->mailbox->cause[k] = causes_pop(q);
        trace_receive(node, &node->mailbox->cause[k]);
    }
    node->mailbox->ans[0] = n;
}

void ncu_cause(struct ncu_node *node, const struct ncu_cause *c)
{
    struct ncu *n = node->ncu;

    if (c->kind == CAUSE_SEND_DONE && c->status == NCU_OK && !node->reap) {
        causes_push(&node->sent, c);
        return;
    }
    causes_push(&node->causes, c);
    if (!node->idle) {
        sched_cause(n->sched, node->index, n->now_cycles);
        return;
    }
    node->idle = false;
    causes_deliver(node, &node->causes);
    sched_wake(n->sched, node->index, n->now_cycles);
}

void ncu_answer(struct ncu *n, uint32_t index, uint64_t value)
{
    n->node[index].mailbox->ans[0] = value;
}

void ncu_advance(struct ncu *n, uint64_t now_cycles)
{
    n->now_cycles = now_cycles;
}

bool ncu_cause_waits(const struct ncu *n, uint32_t index)
{
    return n->node[index].causes.count > 0;
}

struct ncu_node *ncu_node_at(struct ncu *n, uint32_t address)
{
    return &n->node[n->index_of[address]];
}

/* ---- Counting ---- */

static struct ncu_node_statistics *statistics_at(struct ncu *n, uint32_t address)
{
    return address == NODE_HOST ? &n->host_statistics : &ncu_node_at(n, address)->statistics;
}

void ncu_count_sent(struct ncu_node_statistics *s, uint64_t bytes)
{
    s->sent++;
    s->sent_bytes += bytes;
}

void ncu_count_ended(struct ncu_node_statistics *s, int status)
{
    s->damaged += status == NCU_EPARITY;
    s->failed += status != NCU_OK && status != NCU_EPARITY;
}

static void count_received(struct ncu *n, uint32_t address, uint64_t bytes)
{
    struct ncu_node_statistics *s = statistics_at(n, address);

    s->received++;
    s->received_bytes += bytes;
}

struct ncu_node_statistics ncu_node_statistics(const struct ncu *n, uint32_t index)
{
    return n->node[index].statistics;
}

struct ncu_node_statistics ncu_host_statistics(const struct ncu *n)
{
    return n->host_statistics;
}

const struct net *ncu_net(const struct ncu *n)
{
    return n->net;
}

/* ---- Receiving ---- */

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

    trace_event(node->ncu->trace, node->ncu->now_cycles, node->address, "header from=%u channel=%u bytes=%" PRIu64,
                c.node, c.channel, t->message->bytes);
    ncu_cause(node, &c);
}

struct port *ncu_port_at(struct ncu *n, uint32_t address)
{
    return address == NODE_HOST ? &n->host : &ncu_node_at(n, address)->port;
}

/* Returns true if the receiver refuses this message: it accepts nothing from that source until a RESTART. */
static bool port_refuses(struct port *port, const struct transfer *t, uint32_t from)
{
    if (t->restart)
        nodeset_remove(&port->refused, from);
    return nodeset_has(&port->refused, from);
}

static bool net_header(void *ctx, struct net_message *m, uint64_t now_cycles)
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
    node->statistics.held++;
    if (TAILQ_FIRST(&r->waiting) == t && !r->landing)
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
    t->accepted_cycles = armed_now ? node->ncu->now_cycles : 0;
    net_accept(node->ncu->net, t->message, node->ncu->now_cycles);
}

static void deliver_to_host(struct ncu *n, const struct transfer *t, const struct net_message *m)
{
    if (m->status != NCU_OK)
        return;
    trace_event(n->trace, n->now_cycles, m->to, "arrival from=%u tag=%#" PRIx64 " bytes=%" PRIu64, m->from, m->tag,
                m->bytes);
    count_received(n, m->to, m->bytes);
    n->ops->host_message(n->ctx, m->from, (uint32_t)m->tag, t->bytes, m->bytes);
}

/* Ends a receive with RECV_DONE; the channel may be armed for the next. */
static void receive_end(struct ncu_node *node, const struct ncu_cause *c)
{
    struct receive *r = &node->receive[c->channel];

    r->landing = NULL;
    trace_event(node->ncu->trace, node->ncu->now_cycles, node->address, "%s from=%u tag=%#" PRIx64 " bytes=%" PRIu64,
                c->status == NCU_OK ? "arrival" : "damage", c->node, c->tag, c->bytes);
    if (c->status == NCU_OK)
        count_received(node->ncu, node->address, c->bytes);
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

    if (m->status == NCU_OK)
        memcpy(node->ram + t->landing, t->bytes, m->bytes);
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

/* ---- Arming, time ---- */

static void execute_arm(struct ncu_node *node, const uint64_t *arg)
{
    if (arg[0] >= CHANNELS || !ncu_memory_has(node->ncu, arg[1], arg[2]))
        return; /* Vertex checks first; no receive is armed outside of memory */
    struct receive *r = &node->receive[arg[0]];
    r->armed = true;
    r->addr = arg[1];
    r->bytes = arg[2];
    receive_retry(node, r, true);
}

static void timer_due(void *arg, uint64_t now_cycles)
{
    struct ncu_node *node = arg;

    node->ncu->now_cycles = now_cycles;
    node->timer = 0;
    ncu_cause(node, &(struct ncu_cause){.kind = CAUSE_TIMER, .done_cycles = now_cycles});
}

static void execute_timer(struct ncu_node *node, uint64_t at_cycles)
{
    struct ncu *n = node->ncu;

    if (node->timer != 0)
        eventq_cancel(n->events, node->timer);
    node->timer = 0;
    if (at_cycles == NCU_TIMER_NONE)
        return;
    uint64_t at = at_cycles > n->now_cycles ? at_cycles : n->now_cycles;
    node->timer = eventq_add(n->events, at, NODE_ORDER + 1 + node->index, timer_due, node);
}

/* ---- Instructions ---- */

static void execute_reap(struct ncu_node *node, bool wanted)
{
    node->reap = wanted || node->ncu->faults > 0;
    while (node->reap && node->sent.count > 0) {
        struct ncu_cause c = causes_pop(&node->sent);

        ncu_cause(node, &c);
    }
}

static bool execute_idle(struct ncu_node *node)
{
    node->statistics.copies = node->mailbox->copies;
    memcpy(node->wait, node->mailbox->arg, sizeof node->wait);
    node->idle = node->causes.count == 0;
    if (!node->idle)
        causes_deliver(node, &node->causes);
    return !node->idle;
}

static void execute_fault(struct ncu_node *node)
{
    struct ncu *n = node->ncu;
    uint64_t addr = node->mailbox->arg[0], bytes = node->mailbox->arg[1];
    char text[512] = "(no text)";

    if (ncu_memory_has(n, addr, bytes) && bytes > 0)
        snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1),
                 (const char *)node->ram + addr);
    n->ops->fault(n->ctx, node->index, text);
}

static bool execute_text(struct ncu_node *node)
{
    struct ncu *n = node->ncu;
    uint64_t addr = node->mailbox->arg[0], bytes = node->mailbox->arg[1];

    if ((addr | bytes) % NODE_PAGE_BYTES != 0 || !ncu_memory_has(n, addr, bytes)) {
        n->ops->fault(n->ctx, node->index, "the NCU instruction TEXT names no whole pages of its memory");
        return false;
    }
    node->mailbox->ans[0] = n->ops->text(n->ctx, node->index, addr, bytes);
    return true;
}

bool ncu_execute(struct ncu *n, uint32_t index, uint32_t op, const uint64_t *arg, uint64_t now_cycles)
{
    struct ncu_node *node = &n->node[index];

    n->now_cycles = now_cycles;
    switch (op) {
    case NCU_SEND:
        ncu_send(node, arg);
        return true;
    case NCU_ARM:
        execute_arm(node, arg);
        return true;
    case NCU_TIMER:
        execute_timer(node, arg[0]);
        return true;
    case NCU_DISK:
        ncu_disk(node, arg);
        return true;
    case NCU_REAP:
        execute_reap(node, arg[0] != 0);
        return true;
    case NCU_IDLE:
        return execute_idle(node);
    case NCU_CAUSES:
        causes_deliver(node, &node->causes);
        return true;
    case NCU_SENT:
        causes_deliver(node, &node->sent);
        return true;
    case NCU_TEXT:
        return execute_text(node);
    case NCU_FAULT:
        execute_fault(node);
        return false;
    default:
        n->ops->fault(n->ctx, index, "unknown NCU instruction");
        return false;
    }
}

/* ---- Building ---- */

static int net_fault(void *ctx, const struct net_message *m, uint32_t channel, uint64_t now_cycles)
{
    return fault_plan_draw(((struct ncu *)ctx)->plan, channel, m->bytes, now_cycles);
}

static void on_recovery(void *ctx, uint64_t now_cycles)
{
    struct ncu *n = ctx;

    n->now_cycles = now_cycles;
    n->ops->recovered(n->ctx);
}

static const struct net_ops from_net = {.header = net_header, .done = ncu_net_done, .fault = net_fault};

struct ncu *ncu_new(const struct topo *topo, struct eventq *queue, struct sched *sched, uint32_t count,
                    const struct ncu_ops *ops, void *ctx, struct trace *trace, const struct fault *fault,
                    uint32_t faults)
{
    struct ncu *n = memory_new(1, sizeof *n);

    *n = (struct ncu){.topo = topo,
                      .events = queue,
                      .sched = sched,
                      .ops = ops,
                      .ctx = ctx,
                      .trace = trace,
                      .count = count,
                      .fault = fault,
                      .faults = faults,
                      .node = memory_new(count, sizeof(struct ncu_node)),
                      .index_of = memory_new(NODE_HOST, sizeof(uint32_t))};
    TAILQ_INIT(&n->host_failed);
    LIST_INIT(&n->host.sent);
    n->net = net_new(topo, queue, &from_net, n);
    n->plan = fault_plan_new(topo, queue, n->net, trace, fault, faults);
    fault_plan_on_recovery(n->plan, on_recovery, n);
    return n;
}

static void port_free(struct port *port)
{
    nodeset_free(&port->stopped);
    nodeset_free(&port->refused);
}

void ncu_free(struct ncu *n)
{
    net_free(n->net);
    for (uint32_t i = 0; i < n->count; i++) {
        free(n->node[i].causes.cause);
        free(n->node[i].sent.cause);
        port_free(&n->node[i].port);
    }
    port_free(&n->host);
    fault_plan_free(n->plan);
    free(n->node);
    free(n->index_of);
    free(n);
}

void ncu_set_software_cost(struct ncu *n, const struct software_cost *cost)
{
    n->software = *cost;
}

void ncu_attach(struct ncu *n, uint32_t index, uint32_t address, uint8_t *ram, struct disk *const *disks,
                uint64_t boot_number)
{
    const struct topo_io_node *io = topo_io_node(n->topo, address);
    struct ncu_mailbox *mailbox = (struct ncu_mailbox *)(ram + NCU_MAILBOX_PA);
    struct ncu_node *node = &n->node[index];

    *node = (struct ncu_node){
        .ncu = n, .index = index, .address = address, .ram = ram, .mailbox = mailbox, .reap = n->faults > 0};
    for (uint32_t c = 0; c < CHANNELS; c++)
        TAILQ_INIT(&node->receive[c].waiting);
    for (uint32_t d = 0; d < DRIVE_MAX; d++)
        STAILQ_INIT(&node->line[d].commands);
    LIST_INIT(&node->port.sent);
    n->index_of[address] = index;
    *mailbox = (struct ncu_mailbox){.magic = NCU_MAGIC,
                                    .ram_bytes = n->topo->ram_bytes,
                                    .node = address,
                                    .dim = n->topo->dim,
                                    .channels = topo_node_channels(n->topo, address),
                                    .boot_number = boot_number,
                                    .broadcasts = n->faults == 0,
                                    .software = n->software};
    if (!io)
        return;
    mailbox->drives = node->drives = io->ndrives;
    mailbox->concurrent = node->concurrent = io->concurrent;
    for (uint32_t d = 0; d < io->ndrives; d++) {
        node->drive[d].disk = disks[d];
        mailbox->drive_sectors[d] = disk_sectors(disks[d]);
        mailbox->drive_cache[d] = io->drive[d].cache;
        memcpy(mailbox->drive_volume[d], io->drive[d].volume, VOLUME_NAME_BYTES);
    }
}

uint32_t ncu_address(const struct ncu *n, uint32_t index)
{
    return n->node[index].address;
}

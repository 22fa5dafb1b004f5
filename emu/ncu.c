#include "emu/ncu.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net.h"
#include "emu/nodeset.h"

#define CHANNELS (NCU_CHANNELS + 1u) /* and a node's messages to itself, in the channel after its last */
#define NODE_ORDER 0x40000000u       /* in the event queue: after the network's own events of the same cycle */

/* A message between NCUs, from SEND to SEND_DONE. */
struct transfer {
    struct ncu *ncu;
    struct net_message *message; /* while the network has it */
    struct ncu_node *sender;     /* NULL: the front end */
    const uint8_t *bytes;        /* in the sender's memory, or a copy that the transfer owns */
    uint8_t *copy;
    uint64_t landing;            /* receive buffer, node-physical */
    uint64_t accepted_cycles;    /* by an ARM that it waited for; else 0 */
    bool restart;                /* NCU_SEND_RESTART */
    bool refused;                /* by the receiver: it comes after a damaged one */
    uint32_t attempts;           /* of the front end */
    struct ncu_cause sent;       /* the sender's SEND_DONE */
    struct transfer *next;       /* waiting for a receive on the same channel; of the front end: to be sent again */
    struct transfer *next_sent;  /* among those that its sender has under way */
};

/* Either end of the ways to and from other nodes, on which order after damage is kept (machine.h). */
struct port {
    struct transfer *sent;       /* under way */
    struct nodeset stopped;      /* destinations for which a RESTART is due */
    struct nodeset refused;      /* sources from which it is */
};

struct receive {
    bool armed;
    uint64_t addr, bytes;
    struct transfer *landing; /* in progress */
    struct transfer *waiting; /* headers; more than one only on the channel to oneself */
};

struct causes { /* a queue in an array that grows */
    struct ncu_cause *cause;
    uint32_t first, count, room;
};

struct ncu_node {
    struct ncu *ncu;
    uint32_t index, address;
    uint8_t *ram;
    struct ncu_mailbox *mailbox;
    bool idle;
    uint64_t wait[3]; /* IDLE's arguments, while idle */
    struct causes causes;
    struct receive receive[CHANNELS];
    uint64_t timer; /* event, 0: none */
    struct disk *disk[DRIVE_MAX];
    uint32_t disks;
    struct port port;
    uint64_t disks_free_cycles; /* the controller does one command at a time [P0 section 3] */
    uint32_t disk_commands; /* under way */
};

struct disk_command {
    struct ncu_node *node;
    struct disk *disk;
    uint32_t drive;
    bool write;
    uint64_t sector, addr;
    uint32_t sectors;
    struct ncu_cause done;
};

struct ncu {
    const struct topo *topo;
    struct eventq *events;
    struct net *net;
    const struct ncu_ops *ops;
    void *ctx;
    struct trace *trace;
    uint32_t count;
    struct ncu_node *node;
    uint32_t *index_of; /* by address */
    struct port host;
    uint64_t host_sends;
    struct transfer *host_failed; /* to be sent again, oldest first */
    const struct fault *fault;
    uint32_t faults;
    struct fault_event *fault_event; /* [2 * faults] */
    uint64_t *passed; /* messages that have taken each channel; NULL: no parity errors in this machine */
    uint64_t now_cycles;
};

static void *allocate(size_t n, size_t bytes) {
    void *p = calloc(n > 0 ? n : 1, bytes);
    if (p == NULL)
        abort();
    return p;
}

/* ---- Causes ---- */

static void causes_push(struct causes *q, const struct ncu_cause *c) {
    if (q->count == q->room) {
        uint32_t room = q->room > 0 ? 2 * q->room : 8;
        struct ncu_cause *bigger = allocate(room, sizeof *bigger);
        for (uint32_t k = 0; k < q->count; k++)
            bigger[k] = q->cause[(q->first + k) % q->room];
        free(q->cause);
        *q = (struct causes){.cause = bigger, .count = q->count, .room = room};
    }
    q->cause[(q->first + q->count++) % q->room] = *c;
}

static void causes_deliver(struct ncu_node *node) {
    struct causes *q = &node->causes;
    uint32_t n = q->count < NCU_CAUSES_MAX ? q->count : NCU_CAUSES_MAX;
    for (uint32_t k = 0; k < n; k++) {
        node->mailbox->cause[k] = q->cause[q->first];
        q->first = (q->first + 1) % q->room;
    }
    q->count -= n;
    node->mailbox->ans[0] = n;
}

static void node_cause(struct ncu_node *node, const struct ncu_cause *c) {
    struct ncu *n = node->ncu;
    causes_push(&node->causes, c);
    if (!node->idle) {
        n->ops->cause(n->ctx, node->index, n->now_cycles);
        return;
    }
    node->idle = false;
    causes_deliver(node);
    n->ops->wake(n->ctx, node->index, n->now_cycles);
}

void ncu_answer(struct ncu *n, uint32_t index, uint64_t value) {
    n->node[index].mailbox->ans[0] = value;
}

bool ncu_cause_waits(const struct ncu *n, uint32_t index) {
    return n->node[index].causes.count > 0;
}

/* ---- Receiving ---- */

static struct ncu_node *node_at(struct ncu *n, uint32_t address) {
    return &n->node[n->index_of[address]];
}

static uint32_t channel_of(const struct net_message *m) {
    if (m->from != m->to)
        return m->in_channel;
    return NODE_IS_IO(m->to) ? NCU_SI_CHANNELS : NCU_CHANNELS;
}

static struct ncu_cause cause_of_message(uint32_t kind, const struct net_message *m) {
    return (struct ncu_cause){.kind = kind,
                              .channel = channel_of(m),
                              .node = m->from,
                              .tag = m->tag,
                              .bytes = m->bytes,
                              .start_cycles = m->start_cycles};
}

/* Gives the armed buffer to a header, if it is there and large enough. */
static bool receive_take(struct receive *r, struct transfer *t) {
    if (!r->armed || r->landing != NULL || t->message->bytes > r->bytes)
        return false;
    r->armed = false;
    r->landing = t;
    t->landing = r->addr;
    return true;
}

static void receive_wait(struct receive *r, struct transfer *t) {
    struct transfer **end = &r->waiting;
    while (*end != NULL)
        end = &(*end)->next;
    *end = t;
}

static void announce_header(struct ncu_node *node, const struct transfer *t) {
    struct ncu_cause c = cause_of_message(CAUSE_RECV_HEADER, t->message);
    trace_event(node->ncu->trace, node->ncu->now_cycles, node->address, "header from=%u channel=%u bytes=%" PRIu64,
                t->message->from, c.channel, t->message->bytes);
    node_cause(node, &c);
}

static struct port *port_at(struct ncu *n, uint32_t address) {
    return address == NODE_HOST ? &n->host : &node_at(n, address)->port;
}

/* Whether the receiver takes nothing from this source until a RESTART, which this is not. */
static bool port_refuses(struct port *port, const struct transfer *t, uint32_t from) {
    if (t->restart)
        nodeset_remove(&port->refused, from);
    return nodeset_has(&port->refused, from);
}

static bool net_header(void *ctx, struct net_message *m, uint64_t now_cycles) {
    struct ncu *n = ctx;
    struct transfer *t = m->data;
    n->now_cycles = now_cycles;
    t->message = m;
    t->refused = port_refuses(port_at(n, m->to), t, m->from);
    if (t->refused || m->to == NODE_HOST)
        return true;
    struct ncu_node *node = node_at(n, m->to);
    struct receive *r = &node->receive[channel_of(m)];
    if (r->waiting == NULL && receive_take(r, t))
        return true;
    receive_wait(r, t);
    if (r->waiting == t && r->landing == NULL)
        announce_header(node, t);
    return false;
}

/* Something has changed at a channel: does its first waiting header land now? */
static void receive_retry(struct ncu_node *node, struct receive *r, bool armed_now) {
    struct transfer *t = r->waiting;
    if (t == NULL || r->landing != NULL)
        return;
    if (!receive_take(r, t)) {
        announce_header(node, t);
        return;
    }
    r->waiting = t->next;
    t->next = NULL;
    t->accepted_cycles = armed_now ? node->ncu->now_cycles : 0;
    net_accept(node->ncu->net, t->message, node->ncu->now_cycles);
}

static void deliver_to_host(struct ncu *n, const struct transfer *t, const struct net_message *m) {
    if (m->status != NCU_OK)
        return;
    trace_event(n->trace, n->now_cycles, m->to, "arrival from=%u tag=%#" PRIx64 " bytes=%" PRIu64, m->from, m->tag,
                m->bytes);
    n->ops->host_message(n->ctx, m->from, (uint32_t)m->tag, t->bytes, m->bytes);
}

static void deliver_to_node(struct ncu *n, struct transfer *t, const struct net_message *m) {
    struct ncu_node *node = node_at(n, m->to);
    struct receive *r = &node->receive[channel_of(m)];
    r->landing = NULL;
    if (m->status == NCU_OK)
        memcpy(node->ram + t->landing, t->bytes, m->bytes);
    struct ncu_cause c = cause_of_message(CAUSE_RECV_DONE, m);
    c.status = m->status;
    c.addr = t->landing;
    c.done_cycles = n->now_cycles;
    trace_event(n->trace, n->now_cycles, m->to, "%s from=%u tag=%#" PRIx64 " bytes=%" PRIu64,
                m->status == NCU_OK ? "arrival" : "damage", m->from, m->tag, m->bytes);
    node_cause(node, &c);
    receive_retry(node, r, false);
}

/* The last byte is there: what the receiver sees of it. */
static void deliver(struct ncu *n, struct transfer *t, const struct net_message *m) {
    if (t->refused || m->status == NCU_ELINK)
        return;
    if (m->status == NCU_EPARITY)
        nodeset_add(&port_at(n, m->to)->refused, m->from);
    if (m->to == NODE_HOST)
        deliver_to_host(n, t, m);
    else
        deliver_to_node(n, t, m);
}

/* ---- Sending ---- */

static void port_note_sent(struct port *port, struct transfer *t) {
    t->next_sent = port->sent;
    port->sent = t;
}

/* The transfer has ended; tells how many are left to the same destination. */
static uint32_t port_note_done(struct port *port, const struct transfer *t) {
    uint32_t left = 0;
    for (struct transfer **link = &port->sent; *link != NULL;) {
        if (*link == t) {
            *link = t->next_sent;
            continue;
        }
        left += (*link)->sent.node == t->sent.node;
        link = &(*link)->next_sent;
    }
    if (t->sent.status == NCU_EPARITY)
        nodeset_add(&port->stopped, t->sent.node);
    return left;
}

/* Whether a message may start: not to where a RESTART is due, unless it is one. */
static bool port_lets_out(struct port *port, const struct transfer *t) {
    if (t->restart)
        nodeset_remove(&port->stopped, t->sent.node);
    return !nodeset_has(&port->stopped, t->sent.node);
}

static void transfer_free(struct transfer *t) {
    free(t->copy);
    free(t);
}

/* ---- The front end's messages ---- */

static void host_start(struct ncu *n, struct transfer *t);

/* What has failed to one destination starts again, the first as RESTART. */
static void host_restart(struct ncu *n, uint32_t to) {
    bool first = true;
    for (struct transfer **link = &n->host_failed; *link != NULL;) {
        struct transfer *t = *link;
        if (t->sent.node != to) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        t->next = NULL;
        t->restart = first;
        t->attempts += first; /* the others fail only because of it */
        first = false;
        host_start(n, t);
    }
}

/* Among those to be sent again, in the order of their cookies. */
static void host_keep(struct ncu *n, struct transfer *t) {
    struct transfer **link = &n->host_failed;
    while (*link != NULL && (*link)->sent.cookie < t->sent.cookie)
        link = &(*link)->next;
    t->next = *link;
    *link = t;
}

static void host_sent(struct ncu *n, struct transfer *t) {
    uint32_t to = t->sent.node, left = port_note_done(&n->host, t);
    if (t->sent.status == NCU_EPARITY && t->attempts < NCU_HOST_RESENDS) {
        host_keep(n, t);
    } else {
        if (t->sent.status != NCU_OK)
            n->ops->host_lost(n->ctx, to, (uint32_t)t->sent.tag, t->sent.status);
        transfer_free(t);
    }
    if (left == 0 && nodeset_has(&n->host.stopped, to))
        host_restart(n, to);
}

static void host_start(struct ncu *n, struct transfer *t) {
    if (!port_lets_out(&n->host, t)) {
        host_keep(n, t);
        return;
    }
    t->refused = false;
    t->accepted_cycles = 0;
    trace_event(n->trace, n->now_cycles, NODE_HOST, "send to=%u tag=%#x bytes=%" PRIu64, t->sent.node,
                (uint32_t)t->sent.tag, t->sent.bytes);
    t->sent.status = net_send(n->net, n->now_cycles, NODE_HOST, t->sent.node, NCU_VIA_NEAREST, t->sent.bytes,
                              t->sent.tag, 0, t);
    if (t->sent.status == NCU_OK)
        port_note_sent(&n->host, t);
    else
        host_sent(n, t);
}

void ncu_host_send(struct ncu *n, uint32_t to, uint32_t tag, const void *bytes, size_t count) {
    struct transfer *t = allocate(1, sizeof *t);
    *t = (struct transfer){.ncu = n,
                           .copy = allocate(count, 1),
                           .sent = {.node = to, .tag = tag, .bytes = count, .cookie = n->host_sends++}};
    memcpy(t->copy, bytes, count);
    t->bytes = t->copy;
    host_start(n, t);
}

/* ---- The nodes' messages ---- */

static void send_done(void *arg, uint64_t now_cycles) {
    struct transfer *t = arg;
    t->ncu->now_cycles = now_cycles;
    if (t->sender == NULL) {
        host_sent(t->ncu, t);
        return;
    }
    t->sent.channel = port_note_done(&t->sender->port, t);
    if (t->sent.status != NCU_OK)
        trace_event(t->ncu->trace, now_cycles, t->sender->address, "failed to=%u status=%d", t->sent.node,
                    t->sent.status);
    node_cause(t->sender, &t->sent);
    transfer_free(t);
}

static void net_done(void *ctx, struct net_message *m, uint64_t now_cycles) {
    struct ncu *n = ctx;
    struct transfer *t = m->data;
    n->now_cycles = now_cycles;
    t->sent.status = t->refused ? NCU_EPARITY : m->status;
    t->sent.done_cycles = now_cycles;
    deliver(n, t, m);
    /* A sender whose message was held up learns of its end one lookahead after the ARM that let it in: the
     * release travels back over the path. So an ARM, too, affects no other node sooner than that. */
    uint64_t earliest = t->accepted_cycles > 0 && m->from != m->to ? t->accepted_cycles + NET_LOOKAHEAD_CYCLES : 0;
    if (earliest > now_cycles)
        eventq_add(n->events, earliest, NODE_ORDER, send_done, t);
    else
        send_done(t, now_cycles);
}

static bool memory_has(const struct ncu *n, uint64_t addr, uint64_t bytes) {
    return addr <= n->topo->ram_bytes && bytes <= n->topo->ram_bytes - addr;
}

/* NCU_OK: it is under way. */
static int start_send(struct ncu_node *node, struct transfer *t, const uint64_t *arg) {
    struct ncu *n = node->ncu;
    if (!memory_has(n, arg[1], arg[2]))
        return NCU_EADDR;
    if (!port_lets_out(&node->port, t))
        return NCU_EPARITY;
    return net_send(n->net, n->now_cycles, node->address, t->sent.node, arg[5], arg[2], (uint32_t)arg[3], arg[4], t);
}

static void execute_send(struct ncu_node *node, const uint64_t *arg) {
    struct ncu *n = node->ncu;
    struct transfer *t = allocate(1, sizeof *t);
    *t = (struct transfer){.ncu = n,
                           .sender = node,
                           .bytes = node->ram + arg[1],
                           .restart = (arg[0] & NCU_SEND_RESTART) != 0,
                           .sent = {.kind = CAUSE_SEND_DONE,
                                    .node = (uint32_t)arg[0],
                                    .tag = (uint32_t)arg[3],
                                    .bytes = arg[2],
                                    .cookie = arg[4],
                                    .start_cycles = n->now_cycles}};
    trace_event(n->trace, n->now_cycles, node->address, "send to=%u tag=%#" PRIx64 " bytes=%" PRIu64, t->sent.node,
                arg[3], arg[2]);
    t->sent.status = start_send(node, t, arg);
    if (t->sent.status == NCU_OK)
        port_note_sent(&node->port, t);
    else
        send_done(t, n->now_cycles);
}

/* ---- Arming, time, drives ---- */

static void execute_arm(struct ncu_node *node, const uint64_t *arg) {
    if (arg[0] >= CHANNELS || !memory_has(node->ncu, arg[1], arg[2]))
        return; /* Vertex checks; nothing can be received into what is not there */
    struct receive *r = &node->receive[arg[0]];
    r->armed = true;
    r->addr = arg[1];
    r->bytes = arg[2];
    receive_retry(node, r, true);
}

static void timer_due(void *arg, uint64_t now_cycles) {
    struct ncu_node *node = arg;
    node->ncu->now_cycles = now_cycles;
    node->timer = 0;
    node_cause(node, &(struct ncu_cause){.kind = CAUSE_TIMER, .done_cycles = now_cycles});
}

static void execute_timer(struct ncu_node *node, uint64_t at_cycles) {
    struct ncu *n = node->ncu;
    if (node->timer != 0)
        eventq_cancel(n->events, node->timer);
    node->timer = 0;
    if (at_cycles == NCU_TIMER_NONE)
        return;
    uint64_t at = at_cycles > n->now_cycles ? at_cycles : n->now_cycles;
    node->timer = eventq_add(n->events, at, NODE_ORDER + 1 + node->index, timer_due, node);
}

static void disk_command_end(struct disk_command *c) {
    struct ncu_node *node = c->node;
    trace_event(node->ncu->trace, node->ncu->now_cycles, node->address, "disk-done status=%d", c->done.status);
    c->done.done_cycles = node->ncu->now_cycles;
    node->disk_commands--;
    node_cause(node, &c->done);
    free(c);
}

static bool drive_is_dead(const struct disk_command *c) {
    const struct ncu *n = c->node->ncu;
    return fault_drive_is_dead(n->fault, n->faults, c->node->address, c->drive, n->now_cycles);
}

static void disk_command_due(void *arg, uint64_t now_cycles) {
    struct disk_command *c = arg;
    c->node->ncu->now_cycles = now_cycles;
    if (drive_is_dead(c))
        c->done.status = NCU_EMEDIA;
    else
        c->done.status = disk_transfer(c->disk, c->write, c->sector, c->sectors, c->node->ram + c->addr);
    disk_command_end(c);
}

static int disk_command_check(const struct ncu_node *node, uint64_t drive, uint64_t sector, uint64_t sectors,
                              uint64_t addr) {
    if (drive >= node->disks || sector > disk_sectors(node->disk[drive]) ||
        sectors > disk_sectors(node->disk[drive]) - sector || sectors == 0 || sectors > UINT32_MAX)
        return NCU_EDRIVE;
    return memory_has(node->ncu, addr, sectors * SECTOR_BYTES) ? NCU_OK : NCU_EADDR;
}

static void execute_disk(struct ncu_node *node, const uint64_t *arg) {
    struct ncu *n = node->ncu;
    struct disk_command *c = allocate(1, sizeof *c);
    *c = (struct disk_command){.node = node,
                               .drive = (uint32_t)arg[0],
                               .write = arg[1] != 0,
                               .sector = arg[2],
                               .sectors = (uint32_t)arg[3],
                               .addr = arg[4],
                               .done = {.kind = CAUSE_DISK_DONE, .cookie = arg[5], .start_cycles = n->now_cycles}};
    trace_event(n->trace, n->now_cycles, node->address, "disk drive=%" PRIu64 " %s sector=%" PRIu64 " sectors=%" PRIu64,
                arg[0], arg[1] ? "write" : "read", arg[2], arg[3]);
    node->disk_commands++;
    c->done.status = disk_command_check(node, arg[0], arg[2], arg[3], arg[4]);
    if (c->done.status != NCU_OK) {
        disk_command_end(c);
        return;
    }
    c->disk = node->disk[arg[0]];
    uint64_t start = node->disks_free_cycles > n->now_cycles ? node->disks_free_cycles : n->now_cycles;
    node->disks_free_cycles = disk_service(c->disk, start, c->write, c->sector, c->sectors);
    eventq_add(n->events, node->disks_free_cycles, NODE_ORDER + 1 + node->index, disk_command_due, c);
}

/* ---- Instructions ---- */

static bool execute_idle(struct ncu_node *node) {
    memcpy(node->wait, node->mailbox->arg, sizeof node->wait);
    node->idle = node->causes.count == 0;
    if (!node->idle)
        causes_deliver(node);
    return !node->idle;
}

static void execute_fault(struct ncu_node *node) {
    struct ncu *n = node->ncu;
    uint64_t addr = node->mailbox->arg[0], bytes = node->mailbox->arg[1];
    char text[512] = "(no text)";
    if (memory_has(n, addr, bytes) && bytes > 0)
        snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1),
                 (const char *)node->ram + addr);
    n->ops->fault(n->ctx, node->index, text);
}

bool ncu_execute(struct ncu *n, uint32_t index, uint32_t op, const uint64_t *arg, uint64_t now_cycles) {
    struct ncu_node *node = &n->node[index];
    n->now_cycles = now_cycles;
    switch (op) {
    case NCU_SEND:
        execute_send(node, arg);
        return true;
    case NCU_ARM:
        execute_arm(node, arg);
        return true;
    case NCU_TIMER:
        execute_timer(node, arg[0]);
        return true;
    case NCU_DISK:
        execute_disk(node, arg);
        return true;
    case NCU_IDLE:
        return execute_idle(node);
    case NCU_CAUSES:
        causes_deliver(node);
        return true;
    case NCU_FAULT:
        execute_fault(node);
        return false;
    default:
        n->ops->fault(n->ctx, index, "unknown NCU instruction");
        return false;
    }
}

/* ---- Building ---- */

/* ---- Faults ---- */

static bool concerns(const struct ncu *n, const struct fault *f, uint32_t channel) {
    uint32_t list[FAULT_CHANNELS_MAX];
    uint32_t count = f->node == TOPO_NONE ? 0 : fault_channels(n->topo, f, list);
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == channel)
            return true;
    return f->node == TOPO_NONE;
}

static int net_fault(void *ctx, const struct net_message *m, uint32_t channel, uint64_t now_cycles) {
    struct ncu *n = ctx;
    if (n->passed == NULL)
        return NCU_OK;
    uint64_t number = n->passed[channel]++;
    for (uint32_t i = 0; i < n->faults; i++) {
        const struct fault *f = &n->fault[i];
        if (f->kind == FAULT_PARITY && fault_is_active(f, now_cycles) && concerns(n, f, channel) &&
            fault_damages(f, channel, number, m->bytes + NET_HEADER_BYTES))
            return NCU_EPARITY;
    }
    return NCU_OK;
}

struct fault_event {
    struct ncu *ncu;
    const struct fault *fault;
    bool dies;
};

static void fault_due(void *arg, uint64_t now_cycles) {
    const struct fault_event *e = arg;
    uint32_t channel[FAULT_CHANNELS_MAX];
    uint32_t count = fault_channels(e->ncu->topo, e->fault, channel);
    trace_event(e->ncu->trace, now_cycles, e->fault->node, "%s %s", e->fault->kind == FAULT_NODE ? "node" : "link",
                e->dies ? "dies" : "recovers");
    for (uint32_t i = 0; i < count; i++) {
        if (e->dies)
            net_kill_channel(e->ncu->net, channel[i], now_cycles);
        else
            net_revive_channel(e->ncu->net, channel[i]);
    }
}

static void fault_schedule(struct ncu *n, const struct fault *f, bool dies, struct fault_event *e) {
    *e = (struct fault_event){n, f, dies};
    eventq_add(n->events, dies ? f->from_cycles : f->until_cycles, NET_ORDER_FAULT, fault_due, e);
}

static void faults_plan(struct ncu *n) {
    n->fault_event = allocate(2 * n->faults, sizeof *n->fault_event);
    for (uint32_t i = 0; i < n->faults; i++) {
        const struct fault *f = &n->fault[i];
        if (f->kind == FAULT_PARITY && n->passed == NULL)
            n->passed = allocate(topo_channels(n->topo), sizeof *n->passed);
        if (f->kind != FAULT_NODE && f->kind != FAULT_LINK)
            continue;
        fault_schedule(n, f, true, &n->fault_event[2 * i]);
        if (f->until_cycles != FAULT_NEVER)
            fault_schedule(n, f, false, &n->fault_event[2 * i + 1]);
    }
}

static const struct net_ops from_net = {.header = net_header, .done = net_done, .fault = net_fault};

struct ncu *ncu_new(const struct topo *topo, struct eventq *queue, uint32_t count, const struct ncu_ops *ops, void *ctx,
                    struct trace *trace, const struct fault *fault, uint32_t faults) {
    struct ncu *n = allocate(1, sizeof *n);
    *n = (struct ncu){.topo = topo,
                      .events = queue,
                      .ops = ops,
                      .ctx = ctx,
                      .trace = trace,
                      .count = count,
                      .fault = fault,
                      .faults = faults,
                      .node = allocate(count, sizeof(struct ncu_node)),
                      .index_of = allocate(NODE_HOST, sizeof(uint32_t))};
    n->net = net_new(topo, queue, &from_net, n);
    faults_plan(n);
    return n;
}

static void port_free(struct port *port) {
    nodeset_free(&port->stopped);
    nodeset_free(&port->refused);
}

void ncu_free(struct ncu *n) {
    net_free(n->net);
    for (uint32_t i = 0; i < n->count; i++) {
        free(n->node[i].causes.cause);
        port_free(&n->node[i].port);
    }
    port_free(&n->host);
    free(n->fault_event);
    free(n->passed);
    free(n->node);
    free(n->index_of);
    free(n);
}

void ncu_attach(struct ncu *n, uint32_t index, uint32_t address, uint8_t *ram, struct disk *const *disks,
                uint64_t boot_number) {
    const struct topo_io_node *io = topo_io_node(n->topo, address);
    struct ncu_mailbox *mailbox = (struct ncu_mailbox *)(ram + NCU_MAILBOX_PA);
    struct ncu_node *node = &n->node[index];
    *node = (struct ncu_node){.ncu = n, .index = index, .address = address, .ram = ram, .mailbox = mailbox};
    n->index_of[address] = index;
    *mailbox = (struct ncu_mailbox){.magic = NCU_MAGIC,
                                    .ram_bytes = n->topo->ram_bytes,
                                    .node = address,
                                    .dim = n->topo->dim,
                                    .channels = topo_node_channels(n->topo, address),
                                    .boot_number = boot_number};
    if (io == NULL)
        return;
    mailbox->drives = node->disks = io->ndrives;
    for (uint32_t d = 0; d < io->ndrives; d++) {
        node->disk[d] = disks[d];
        mailbox->drive_sectors[d] = disk_sectors(disks[d]);
        memcpy(mailbox->drive_volume[d], io->drive[d].volume, VOLUME_NAME_BYTES);
    }
}

uint32_t ncu_address(const struct ncu *n, uint32_t index) {
    return n->node[index].address;
}

/* "any" or a number, in a buffer of the caller's. */
static const char *name_number(uint64_t number, char *text, size_t bytes) {
    if (number == NCU_WAIT_ANY)
        return "any";
    snprintf(text, bytes, "%" PRIu64, number);
    return text;
}

static bool serves_files(const struct ncu_node *node) {
    return NODE_IS_IO(node->address) && node->wait[0] == NCU_WAIT_MESSAGE && node->wait[1] == NCU_WAIT_ANY &&
           node->wait[2] == NCU_WAIT_ANY;
}

static size_t describe_idle(const struct ncu_node *node, char *text, size_t bytes) {
    char from[24], type[24];
    switch (node->wait[0]) {
    case NCU_WAIT_PROCESS:
        return (size_t)snprintf(text, bytes, "has no program");
    case NCU_WAIT_MESSAGE:
        return (size_t)snprintf(text, bytes, "waits in nread for a message of type %s from node %s",
                                name_number(node->wait[2], type, sizeof type),
                                name_number(node->wait[1], from, sizeof from));
    case NCU_WAIT_REPLY:
        return (size_t)snprintf(text, bytes, "waits for the file server on node %s",
                                name_number(node->wait[1], from, sizeof from));
    case NCU_WAIT_MEMORY:
        return (size_t)snprintf(text, bytes, "waits for memory, until a message of its own has been received");
    case NCU_WAIT_DISK:
        return (size_t)snprintf(text, bytes, "waits for drive %s", name_number(node->wait[1], from, sizeof from));
    default:
        return (size_t)snprintf(text, bytes, "waits for something unknown (%" PRIu64 ")", node->wait[0]);
    }
}

static void describe_header(const struct receive *r, uint32_t channel, char *text, size_t bytes) {
    snprintf(text, bytes, "; a message of %" PRIu64 " bytes from node %u waits at channel %u for memory",
             r->waiting->message->bytes, r->waiting->message->from, channel);
}

bool ncu_describe_wait(const struct ncu *n, uint32_t index, char *text, size_t bytes) {
    const struct ncu_node *node = &n->node[index];
    bool tells = node->wait[0] != NCU_WAIT_PROCESS && !serves_files(node);
    size_t used = describe_idle(node, text, bytes);
    for (uint32_t c = 0; c < CHANNELS && used < bytes; c++)
        if (node->receive[c].waiting != NULL) {
            describe_header(&node->receive[c], c, text + used, bytes - used);
            return true;
        }
    return tells;
}

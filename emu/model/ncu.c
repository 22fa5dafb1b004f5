/*
 * The NCUs: the NCU instructions, the timer, and how NCUs are made. ncu_state.h lists the other parts.
 */
#include "emu/model/ncu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/model/fault_plan.h"
#include "emu/model/ncu_state.h"
#include "emu/time/sched.h"
#include "vertex/contract/abi.h"

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

bool ncu_arm_is_clear(const struct ncu *n, uint32_t index)
{
    return n->node[index].headers == 0;
}

struct ncu_node_statistics ncu_node_statistics(const struct ncu *n, uint32_t index)
{
    return n->node[index].statistics;
}

struct stated_excess ncu_stated_excess(const struct ncu *n, uint32_t row)
{
    struct stated_excess all = {0};

    for (uint32_t i = 0; i < n->count; i++) {
        const struct stated_excess *excess = &n->node[i].excess[row];

        all.count += excess->count;
        if (excess->most_cycles > all.most_cycles)
            all.most_cycles = excess->most_cycles;
    }
    return all;
}

struct ncu_node_statistics ncu_host_statistics(const struct ncu *n)
{
    return n->host_statistics;
}

struct ncu_pipe_statistics ncu_pipe_statistics(const struct ncu *n, uint32_t pipe)
{
    return n->pipe_statistics[pipe];
}

const struct net *ncu_net(const struct ncu *n)
{
    return n->net;
}

/* ---- Time ---- */

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
    if (at_cycles >= NCU_TIMER_LAST)
        return;
    uint64_t at = at_cycles > n->now_cycles ? at_cycles : n->now_cycles;
    node->timer = eventq_add(n->events, at, NODE_ORDER + 1 + node->index, timer_due, node);
}

/* ---- Instructions ---- */

static void execute_reap(struct ncu_node *node, bool wanted)
{
    node->reap = wanted || node->ncu->faults > 0;
    while (node->reap && node->sent.count > 0) {
        struct ncu_cause c = ncu_causes_pop(&node->sent);

        ncu_cause(node, &c);
    }
}

static bool execute_idle(struct ncu_node *node)
{
    node->statistics.copies = node->mailbox->copies;
    if (node->excesses != node->mailbox->excesses)
        memcpy(node->excess, node->mailbox->excess, sizeof node->excess);
    node->excesses = node->mailbox->excesses;
    memcpy(node->wait, node->mailbox->arg, sizeof node->wait);
    node->idle = node->causes.count == 0;
    node->idle_since = node->ncu->now_cycles;
    if (!node->idle) {
        ncu_causes_deliver(node, &node->causes);
        return true;
    }
    ncu_wait_begins(node);
    ncu_count_pipe_wait(node);
    return false;
}

static void execute_fault(struct ncu_node *node)
{
    struct ncu *n = node->ncu;
    uint64_t addr = node->mailbox->arg[0], bytes = node->mailbox->arg[1];
    char text[512] = "(no text)";

    if (bytes >= sizeof text)
        bytes = sizeof text - 1;
    if (ncu_memory_has(n, addr, bytes) && bytes > 0) {
        ncu_memory_read(node, addr, text, bytes);
        text[bytes] = '\0';
    }
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

static void execute_mark(const struct ncu_node *node, const uint64_t *arg)
{
    char name[ABI_MARK_BYTES + 1] = "";

    memcpy(name, arg, ABI_MARK_BYTES);
    trace_write(node->ncu->trace,
                &(struct trace_record){
                    .kind = TRACE_MARK, .node = node->address, .cycles = node->ncu->now_cycles, .text = name});
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
        ncu_arm(node, arg);
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
        ncu_causes_deliver(node, &node->causes);
        return true;
    case NCU_SENT:
        ncu_causes_deliver(node, &node->sent);
        return true;
    case NCU_TEXT:
        return execute_text(node);
    case NCU_MARK:
        execute_mark(node, arg);
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

static void net_freed(void *ctx, const struct net_message *m, const struct net_use *use, uint64_t now_cycles)
{
    const struct ncu *n = ctx;
    const struct transfer *t = m->data;
    uint32_t number;
    struct trace_record r = {.kind = TRACE_CHANNEL,
                             .cycles = now_cycles,
                             .since = use->taken_cycles,
                             .asked = use->asked_cycles,
                             .peer = m->from,
                             .channel = use->channel,
                             .number = t->number,
                             .bytes = m->bytes};

    if (!trace_wants(n->trace, TRACE_CHANNEL))
        return;
    topo_channel_start(n->topo, use->channel, &r.node, &number);
    topo_channel_end(n->topo, use->channel, &r.how, &number);
    trace_write(n->trace, &r);
}

static const struct net_ops from_net = {
    .header = ncu_net_header, .done = ncu_net_done, .fault = net_fault, .freed = net_freed};

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
                      .lookahead_cycles = channel_lookahead_cycles(topo_times(topo)),
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

void ncu_end_waits(struct ncu *n, uint64_t now_cycles)
{
    n->now_cycles = now_cycles;
    for (uint32_t i = 0; i < n->count; i++)
        if (n->node[i].idle)
            ncu_wait_ends(&n->node[i]);
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

void ncu_set_software_costs(struct ncu *n, const struct software_costs *costs)
{
    n->software = *costs;
}

void ncu_set_stated_costs(struct ncu *n, const struct stated_cost *stated)
{
    memcpy(n->stated, stated, sizeof n->stated);
}

void ncu_attach(struct ncu *n, uint32_t index, uint32_t address, uint8_t *ram, struct disk *const *disks,
                uint64_t boot_number)
{
    const struct topo_io_node *io = topo_io_node(n->topo, address);
    struct ncu_mailbox *mailbox = (struct ncu_mailbox *)(ram + NCU_MAILBOX_PA);
    struct ncu_node *node = &n->node[index];

    *node = (struct ncu_node){
        .ncu = n, .index = index, .address = address, .ram = ram, .mailbox = mailbox, .reap = n->faults > 0};
    for (uint32_t c = 0; c < CHANNELS; c++) {
        node->receive[c].node = node;
        TAILQ_INIT(&node->receive[c].waiting);
    }
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
                                    .broadcasts = ncu_can_broadcast(n),
                                    .software = io ? n->software.io : n->software.compute,
                                    .server_limit_s = n->topo->server_limit_s};
    memcpy(mailbox->stated, n->stated, sizeof mailbox->stated);
    if (!io)
        return;
    mailbox->drives = node->drives = io->ndrives;
    node->concurrent = io->concurrent;
    mailbox->concurrent = !io->concurrent ? 0 : n->software.io.after_cycles == 0 ? 1 : 2;
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

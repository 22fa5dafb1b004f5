/*
 * A node's NCU as its parts see it: which causes it has and how its kernel learns of them, its counts.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/model/ncu_state.h"
#include "emu/time/sched.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

struct ncu_node *ncu_node_at(struct ncu *n, uint32_t address)
{
    return &n->node[n->index_of[address]];
}

struct port *ncu_port_at(struct ncu *n, uint32_t address)
{
    return address == NODE_HOST ? &n->host : &ncu_node_at(n, address)->port;
}

/* ---- Causes ---- */

/* Not by memory_grow: the queue is a ring, whose first cause moves to the front. */
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

struct ncu_cause ncu_causes_pop(struct causes *q)
{
    uint32_t first = q->first;

    q->first = (first + 1) % q->room;
    q->count--;
    return q->cause[first];
}

/* Traces that the node's kernel learns of a message. */
static void trace_receive(const struct ncu_node *node, const struct ncu_cause *c)
{
    struct trace_record r = {.kind = TRACE_RECEIVE,
                             .node = node->address,
                             .cycles = node->ncu->now_cycles,
                             .since = c->start_cycles,
                             .peer = c->node,
                             .tag = c->tag,
                             .bytes = c->bytes,
                             .number = c->cookie};
    struct file_reply reply;

    if (c->kind != CAUSE_RECV_DONE || !node->ncu->trace)
        return;
    trace_write(node->ncu->trace, &r);
    if (!N_IS_FILE_REPLY(TAG_TYPE(c->tag)) || c->bytes < sizeof reply)
        return;
    ncu_memory_read(node, c->addr, &reply, sizeof reply);
    r.kind = TRACE_REPLY;
    r.number = reply.seq;
    r.since = r.cycles;
    trace_write(node->ncu->trace, &r);
}

static void trace_wait(const struct ncu_node *node, struct trace_record *r)
{
    r->node = node->address;
    r->cycles = node->ncu->now_cycles;
    r->how = (uint32_t)ncu_idle_kind(node);
    r->peer = (uint32_t)node->wait[1];
    r->tag = node->wait[2];
    trace_write(node->ncu->trace, r);
}

void ncu_wait_begins(const struct ncu_node *node)
{
    if (trace_wants(node->ncu->trace, TRACE_WAIT))
        trace_wait(node, &(struct trace_record){.kind = TRACE_WAIT, .since = node->ncu->now_cycles});
}

/* A second end at the same time, at the end of the run, ends nothing more. */
void ncu_wait_ends(struct ncu_node *node)
{
    char text[160];
    struct ncu *n = node->ncu;
    uint64_t since = node->idle_since;
    struct trace_call call;
    bool in_call = n->ops->waited && n->ops->waited(n->ctx, node->index, n->now_cycles - since, &call);

    node->idle_since = n->now_cycles;
    if (!trace_wants(n->trace, TRACE_IDLE))
        return;
    if (!in_call)
        ncu_describe_idle(node, text, sizeof text);
    trace_wait(node, &(struct trace_record){.kind = TRACE_IDLE,
                                            .since = since,
                                            .text = in_call ? call.wait : text,
                                            .call = in_call ? &call : NULL});
}

void ncu_causes_deliver(struct ncu_node *node, struct causes *q)
{
    uint32_t n = q->count < NCU_CAUSES_MAX ? q->count : NCU_CAUSES_MAX;

    for (uint32_t k = 0; k < n; k++) {
        node->mailbox->cause[k] = ncu_causes_pop(q);
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
    ncu_wait_ends(node);
    node->idle = false;
    ncu_causes_deliver(node, &node->causes);
    sched_wake(n->sched, node->index, n->now_cycles);
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

void ncu_count_pipe_message(struct ncu *n, uint32_t tag, uint64_t bytes)
{
    uint32_t pipe = TAG_NUMBER(tag) / PIPE_KINDS, kind = TAG_NUMBER(tag) % PIPE_KINDS;

    if (TAG_CONTEXT(tag) != CONTEXT_PIPE || pipe >= PIPES_MAX)
        return;
    struct ncu_pipe_statistics *s = &n->pipe_statistics[pipe];
    s->messages += kind == PIPE_DATA;
    s->bytes += kind == PIPE_DATA ? bytes : 0;
    s->rooms += kind == PIPE_ROOM;
}

void ncu_count_pipe_wait(struct ncu_node *node)
{
    uint32_t tag = (uint32_t)node->wait[2], pipe = TAG_NUMBER(tag) / PIPE_KINDS, kind = TAG_NUMBER(tag) % PIPE_KINDS;

    if (node->wait[0] != NCU_WAIT_MESSAGE || node->wait[2] >= NCU_WAIT_ANY_TYPE || TAG_CONTEXT(tag) != CONTEXT_PIPE ||
        pipe >= PIPES_MAX)
        return;
    struct ncu_pipe_statistics *s = &node->ncu->pipe_statistics[pipe];
    s->waits_for_data += kind == PIPE_DATA;
    s->waits_for_room += kind == PIPE_ROOM;
    s->waits_for_map += kind == PIPE_MAP;
}

void ncu_count_ended(struct ncu_node_statistics *s, int status)
{
    s->damaged += status == NCU_EPARITY;
    s->failed += status != NCU_OK && status != NCU_EPARITY;
}

void ncu_count_received(struct ncu *n, uint32_t address, uint64_t bytes)
{
    struct ncu_node_statistics *s = statistics_at(n, address);

    s->received++;
    s->received_bytes += bytes;
}

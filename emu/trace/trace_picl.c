/*
 * The trace in the portable format of PICL, version 2.0, which ParaGraph reads. One record on each line:
 *
 *   <record type> <event type> <seconds> <node> <process> <number of fields> [<descriptor> <field> ...]
 *
 *   -3 -901, -4 -901   tracing of the node begins, ends
 *   -3 -21 .. 3 2 bytes type to      a send begins; -4 -21 ends it: the NCU has it at once
 *   -3 -51 .. 1 2 type               a receive begins: the node waits in nread; type -1: any
 *   -4 -51 .. 3 2 bytes type from    it ends: the kernel has learned of the message
 *   -3 N, -4 N                       a phase begins, ends (nmark); phases are numbered from 0 as they first appear
 *
 * Records are in order of time. I/O nodes are numbered from 2^dim on. The front end is no node, so its messages are
 * left out. A broadcast is one send to each receiver. A node that waits again after something else than a message has
 * come is in the same receive still.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/trace/trace_parts.h"
#include "vertex/contract/system.h"

#define NO_NODE         UINT32_MAX
#define NO_PHASE        UINT32_MAX
#define NODE_END_BYTES  128u /* of the records that end a node */
#define ENTRY           "-3"
#define EXIT            "-4"
#define TRACE_NODE_TYPE -901
#define SEND_TYPE       -21
#define RECEIVE_TYPE    -51

struct picl_node {
    bool receives; /* a receive has begun */
    uint32_t phase;
};

struct picl {
    struct picl_node *node; /* by PICL's number */
    char **phase;           /* names; a phase's number is its index */
    uint32_t phases;
};

static uint32_t count_nodes(const struct trace *t)
{
    return (1u << t->options.topo->dim) + t->options.topo->n_io;
}

/* Returns PICL's number of a node, NO_NODE for the front end. */
static uint32_t number_of(const struct trace *t, uint32_t address)
{
    const struct topo *topo = t->options.topo;

    if (NODE_IS_COMPUTE(address))
        return address;
    for (uint32_t i = 0; i < topo->n_io; i++)
        if (topo->io[i].node == address)
            return (1u << topo->dim) + i;
    return NO_NODE;
}

static uint32_t address_of(const struct trace *t, uint32_t number)
{
    uint32_t compute = 1u << t->options.topo->dim;

    return number < compute ? number : t->options.topo->io[number - compute].node;
}

/* Writes a record; `fields`: their number, descriptor and values. `reserved`: it ends the node. */
static void put(struct trace *t, const char *record, int64_t type, uint64_t cycles, uint32_t node, const char *fields,
                bool reserved)
{
    char text[PIECE_BYTES];
    uint64_t rest = cycles % CLOCK_HZ * (100000000u / CLOCK_HZ);
    int n = snprintf(text, sizeof text, "%s %" PRId64 " %" PRIu64 ".%08" PRIu64 " %u 0 %s\n", record, type,
                     cycles / CLOCK_HZ, rest, node, fields);

    if (reserved)
        trace_put_reserved(t, text, (size_t)n);
    else
        trace_put(t, text, (size_t)n);
}

static int64_t type_of(uint64_t tag)
{
    return TAG_NUMBER(tag);
}

/* ---- Messages ---- */

static void put_send(struct trace *t, const struct trace_record *r, uint32_t to)
{
    char fields[80];
    uint32_t from = number_of(t, r->node);

    snprintf(fields, sizeof fields, "3 2 %" PRIu64 " %" PRId64 " %u", r->bytes, type_of(r->tag), to);
    put(t, ENTRY, SEND_TYPE, r->cycles, from, fields, false);
    put(t, EXIT, SEND_TYPE, r->cycles, from, "0", false);
}

static void send(struct trace *t, const struct trace_record *r)
{
    if (r->node == NODE_HOST || r->peer == NODE_HOST)
        return;
    if (r->dim_plus_1 == 0) {
        put_send(t, r, number_of(t, r->peer));
        return;
    }
    for (uint32_t i = 0; i < 1u << (r->dim_plus_1 - 1); i++)
        if (r->peer + i != r->node)
            put_send(t, r, r->peer + i);
}

static void begin_receive(struct trace *t, struct picl_node *n, uint32_t node, uint64_t cycles, int64_t type)
{
    char fields[40];

    if (n->receives)
        return;
    n->receives = true;
    snprintf(fields, sizeof fields, "1 2 %" PRId64, type);
    put(t, ENTRY, RECEIVE_TYPE, cycles, node, fields, false);
}

static void wait_begins(struct trace *t, const struct trace_record *r)
{
    uint32_t node = number_of(t, r->node);

    if (r->how == NCU_WAIT_MESSAGE || r->how == NCU_WAIT_REPLY)
        begin_receive(t, &((struct picl *)t->own)->node[node], node, r->cycles,
                      r->tag == NCU_WAIT_ANY ? -1 : type_of(r->tag));
}

static void receive(struct trace *t, const struct trace_record *r)
{
    uint32_t node = number_of(t, r->node);
    char fields[80];

    if (r->peer == NODE_HOST)
        return;
    struct picl_node *n = &((struct picl *)t->own)->node[node];
    begin_receive(t, n, node, r->cycles, type_of(r->tag));
    n->receives = false;
    snprintf(fields, sizeof fields, "3 2 %" PRIu64 " %" PRId64 " %u", r->bytes, type_of(r->tag), number_of(t, r->peer));
    put(t, EXIT, RECEIVE_TYPE, r->cycles, node, fields, false);
}

/* ---- Phases ---- */

static uint32_t phase_number(struct picl *p, const char *name)
{
    for (uint32_t i = 0; i < p->phases; i++)
        if (strcmp(p->phase[i], name) == 0)
            return i;
    p->phase = memory_resize(p->phase, p->phases + 1, sizeof *p->phase);
    p->phase[p->phases] = memory_copy_text(name, strlen(name));
    return p->phases++;
}

static void mark(struct trace *t, const struct trace_record *r)
{
    struct picl *p = t->own;
    uint32_t node = number_of(t, r->node);
    struct picl_node *n = &p->node[node];

    if (n->phase != NO_PHASE)
        put(t, EXIT, n->phase, r->cycles, node, "0", false);
    n->phase = NO_PHASE;
    if (r->text[0] == '\0')
        return;
    uint32_t phase = phase_number(p, r->text);
    put(t, ENTRY, phase, r->cycles, node, "0", false);
    if (t->kinds != 0)
        n->phase = phase;
}

/* ---- The writer ---- */

static void record(struct trace *t, const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_SEND:
        return send(t, r);
    case TRACE_WAIT:
        return wait_begins(t, r);
    case TRACE_RECEIVE:
        return receive(t, r);
    case TRACE_MARK:
        return mark(t, r);
    default:
        return;
    }
}

static void begin(struct trace *t)
{
    struct picl *p = memory_new(1, sizeof *p);

    t->own = p;
    p->node = memory_new(count_nodes(t), sizeof *p->node);
    for (uint32_t i = 0; i < count_nodes(t); i++) {
        p->node[i].phase = NO_PHASE;
        if (!trace_chose(t, address_of(t, i)))
            continue;
        t->reserve += NODE_END_BYTES;
        put(t, ENTRY, TRACE_NODE_TYPE, t->options.from_cycles, i, "0", true);
    }
}

static void end(struct trace *t, uint64_t now_cycles)
{
    struct picl *p = t->own;
    uint64_t cycles = now_cycles < t->full_cycles ? now_cycles : t->full_cycles;

    for (uint32_t i = 0; i < count_nodes(t); i++) {
        if (!trace_chose(t, address_of(t, i)))
            continue;
        if (p->node[i].phase != NO_PHASE)
            put(t, EXIT, p->node[i].phase, cycles, i, "0", true);
        put(t, EXIT, TRACE_NODE_TYPE, cycles, i, "0", true);
    }
    for (uint32_t i = 0; i < p->phases; i++)
        free(p->phase[i]);
    free(p->phase);
    free(p->node);
    free(p);
}

const struct trace_writer trace_picl = {
    .name = "picl",
    .ending = {".picl", ".trf"},
    .kinds = 1u << TRACE_SEND | 1u << TRACE_WAIT | 1u << TRACE_RECEIVE | 1u << TRACE_MARK,
    .begin = begin,
    .record = record,
    .end = end,
};

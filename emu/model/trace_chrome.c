/*
 * The trace in Chrome's trace event format, in JSON: what ui.perfetto.dev and chrome://tracing show.
 *
 *   process 1   a track for each node: user code, system calls, page faults, interrupts; in the calls, what they wait
 *               for; requests to file servers, and the phases that nmark begins; arrows from send to receive
 *   process 2   a track for each directed channel: the messages that held it
 *   process 3   a track for each drive: its commands; its queue
 *
 * Nothing is held back: an event is written when its end is known, so the events are not in the order of their
 * beginnings, which the format allows. Time stamps are microseconds of virtual time; a cycle is 0.05 of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/model/trace_arrows.h"
#include "emu/model/trace_parts.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

#define NEVER           UINT64_MAX
#define COUNTER_CYCLES  20000u /* between two values of a rate: 1 ms */
#define END             "\n]}\n"
#define PHASE_END_BYTES 96u
#define ARROW_END_BYTES 160u
#define DRIVES          ((NODE_HOST - NODE_IO_BASE) * DRIVE_MAX)

enum process { PROCESS_NODES = 1, PROCESS_CHANNELS, PROCESS_DRIVES };

struct node_view {
    bool named;
    uint64_t kernel_since; /* when the kernel was entered; NEVER: user code runs, or an interrupt is handled */
    uint32_t call;         /* by which */
    char *phase;           /* that nmark has begun; NULL: none */
};

struct rate {
    uint64_t bytes, shown; /* in this interval; the value that was written last */
};

struct chrome {
    struct node_view *node; /* by address */
    bool *channel_named, *drive_named;
    struct rate net, *drive;
    uint64_t interval; /* number of the one that `rate`s count in */
    bool begun;        /* an event has been written */
    struct trace_arrows arrows;
};

/* ---- Parts of an event ---- */

static void put_cycles(struct piece *p, uint64_t cycles)
{
    uint64_t hundredths = cycles % CYCLES_PER_US * (100 / CYCLES_PER_US);

    piece_number(p, cycles / CYCLES_PER_US);
    if (hundredths > 0)
        piece_bytes(p, (char[]){'.', (char)('0' + hundredths / 10), (char)('0' + hundredths % 10)}, 3);
}

/* Begins an event; its fields follow, then put_event. */
static void event_begin(struct piece *p, char phase, enum process process, uint32_t track, uint64_t cycles)
{
    p->n = 0;
    piece_literal(p, ",\n{\"ph\":\"");
    piece_bytes(p, &phase, 1);
    piece_literal(p, "\",\"pid\":");
    piece_number(p, process);
    piece_literal(p, ",\"tid\":");
    piece_number(p, track);
    piece_literal(p, ",\"ts\":");
    put_cycles(p, cycles);
}

/* Adds a name, and leaves it open for piece_text until name_end. */
static void name_begin(struct piece *p)
{
    piece_literal(p, ",\"name\":\"");
}

static void name_end(struct piece *p)
{
    piece_literal(p, "\"");
}

static void add_name(struct piece *p, const char *name)
{
    name_begin(p);
    piece_text(p, name);
    name_end(p);
}

/* Adds text of a program: quotes, control characters and bytes above ASCII become '?'. */
static void add_quoted(struct piece *p, const char *text)
{
    for (; *text; text++)
        piece_bytes(p, *text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? "?" : text, 1);
}

static bool put_event(struct trace *t, struct piece *p)
{
    struct chrome *c = t->own;
    size_t skip = c->begun ? 0 : 1; /* the comma */

    piece_literal(p, "}");
    if (!trace_put(t, p->text + skip, p->n - skip))
        return false;
    c->begun = true;
    return true;
}

static void put_meta(struct trace *t, enum process process, uint32_t track, const char *what, const char *name)
{
    struct piece p;

    event_begin(&p, 'M', process, track, 0);
    add_name(&p, what);
    piece_literal(&p, ",\"args\":{\"name\":\"");
    piece_text(&p, name);
    piece_literal(&p, "\"}");
    put_event(t, &p);
}

/* Begins a slice, cut to the window. Returns false if nothing of it is left. */
static bool slice_begin(const struct trace *t, struct piece *p, enum process process, uint32_t track, uint64_t since,
                        uint64_t until)
{
    uint64_t from = since > t->options.from_cycles ? since : t->options.from_cycles;
    uint64_t to = until < t->options.to_cycles ? until : t->options.to_cycles;

    if (from >= to)
        return false;
    event_begin(p, 'X', process, track, from);
    piece_literal(p, ",\"dur\":");
    put_cycles(p, to - from);
    return true;
}

/* ---- Nodes ---- */

static struct node_view *view_of(struct trace *t, uint32_t node)
{
    struct chrome *c = t->own;
    struct node_view *v = &c->node[node];
    char name[NODE_NAME_BYTES];

    if (!v->named) {
        v->named = true;
        v->call = TRACE_BY_INTERRUPT; /* at first, the kernel boots */
        node_name(node, name);
        put_meta(t, PROCESS_NODES, node, "thread_name", name);
    }
    return v;
}

static void put_slice(struct trace *t, uint32_t node, uint64_t since, uint64_t until, const char *name)
{
    struct piece p;

    if (!slice_begin(t, &p, PROCESS_NODES, node, since, until))
        return;
    add_name(&p, name);
    put_event(t, &p);
}

static void show_arrows(struct trace *t, uint32_t node, uint64_t until);

/* A spell of user code ends the kernel's before it. */
static void user(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    if (v->kernel_since != NEVER)
        put_slice(t, r->node, v->kernel_since, r->since, trace_call_name(v->call));
    put_slice(t, r->node, r->since, r->cycles, "user");
    v->kernel_since = r->how == TRACE_BY_INTERRUPT ? NEVER : r->cycles;
    v->call = r->how;
    show_arrows(t, r->node, r->cycles);
}

static void handled(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    put_slice(t, r->node, r->since, r->cycles, "interrupt");
    v->kernel_since = r->dies ? r->cycles : NEVER;
    v->call = TRACE_BY_SWITCH;
    show_arrows(t, r->node, r->cycles);
}

static void idle(struct trace *t, const struct trace_record *r)
{
    view_of(t, r->node);
    put_slice(t, r->node, r->since, r->cycles, r->text);
}

static void instant(struct trace *t, const struct trace_record *r, const char *name, const char *more)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, 'i', PROCESS_NODES, r->node, r->cycles);
    name_begin(&p);
    piece_text(&p, name);
    piece_text(&p, more);
    name_end(&p);
    piece_literal(&p, ",\"s\":\"t\"");
    put_event(t, &p);
}

/* ---- Phases ---- */

static bool put_phase(struct trace *t, uint32_t node, char phase, uint64_t cycles, const char *name)
{
    struct piece p;

    event_begin(&p, phase, PROCESS_NODES, node, cycles);
    piece_literal(&p, ",\"cat\":\"phase\",\"id\":\"p");
    piece_number(&p, node);
    piece_literal(&p, "\"");
    name_begin(&p);
    add_quoted(&p, name);
    name_end(&p);
    if (phase == 'b')
        return put_event(t, &p);
    piece_literal(&p, "}");
    trace_put_reserved(t, p.text, p.n);
    return true;
}

static void phase_end(struct trace *t, uint32_t node, uint64_t cycles)
{
    struct node_view *v = &((struct chrome *)t->own)->node[node];

    if (!v->phase)
        return;
    put_phase(t, node, 'e', cycles, v->phase);
    free(v->phase);
    v->phase = NULL;
    t->reserve -= PHASE_END_BYTES + ABI_MARK_BYTES;
}

static void mark(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    phase_end(t, r->node, r->cycles);
    if (r->text[0] == '\0')
        return;
    t->reserve += PHASE_END_BYTES + ABI_MARK_BYTES;
    if (put_phase(t, r->node, 'b', r->cycles, r->text))
        v->phase = memory_copy_text(r->text, ABI_MARK_BYTES);
    else
        t->reserve -= PHASE_END_BYTES + ABI_MARK_BYTES;
}

/* ---- Messages ---- */

static void put_flow_end(struct trace *t, char phase, uint32_t node, uint64_t cycles, uint64_t number)
{
    struct piece p;

    view_of(t, node);
    event_begin(&p, phase, PROCESS_NODES, node, cycles);
    piece_literal(&p, ",\"cat\":\"m\",\"id\":");
    piece_number(&p, number);
    add_name(&p, "msg");
    if (phase == 'f')
        piece_literal(&p, ",\"bp\":\"e\"");
    put_event(t, &p);
}

/* Writes both ends, or none if there is no room for both. */
static void put_arrow(void *ctx, const struct trace_arrow *a)
{
    struct trace *t = ctx;

    t->reserve += ARROW_END_BYTES;
    put_flow_end(t, 's', a->from, a->since, a->id);
    t->reserve -= ARROW_END_BYTES;
    put_flow_end(t, 'f', a->to, a->until, a->id);
}

static void show_arrows(struct trace *t, uint32_t node, uint64_t until)
{
    trace_arrows_show(&((struct chrome *)t->own)->arrows, node, until, put_arrow, t);
}

/* An arrow, if both its ends are wanted. A broadcast is one message with several: each receiver's arrow has a number of
 * its own. */
static void receive(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;

    if (r->since < t->options.from_cycles || r->peer == r->node || !trace_chose(t, r->peer))
        return;
    trace_arrows_add(&c->arrows,
                     (struct trace_arrow){r->peer, r->node, r->since, r->cycles, r->number << 16 | r->node});
}

/* The front end has no kernel that would show that it is at work: a slice of one cycle carries the arrows' ends. */
static void host_slice(struct trace *t, const struct trace_record *r, const char *name)
{
    if (r->node == NODE_HOST) {
        view_of(t, NODE_HOST);
        put_slice(t, NODE_HOST, r->cycles, r->cycles + 1, name);
        show_arrows(t, NODE_HOST, r->cycles + 1);
    }
}

static void arrival(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;

    c->net.bytes += r->bytes;
    host_slice(t, r, "receive");
    if (r->node == NODE_HOST)
        receive(t, r);
}

#define OP_NAME(name, number) [number - N_FOPEN] = #name,
static const char *const op_names[] = {FILE_OPS(OP_NAME)};
#undef OP_NAME

/* Returns "FWRITE" for N_FWRITE. */
static const char *op_name(uint64_t tag)
{
    uint32_t op = TAG_NUMBER(tag) - N_FOPEN;

    return op < sizeof op_names / sizeof *op_names && op_names[op] ? op_names[op] + 2 : "request";
}

static void put_request(struct trace *t, const struct trace_record *r, char phase, uint32_t procid)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, phase, PROCESS_NODES, r->node, r->cycles);
    piece_literal(&p, ",\"cat\":\"file\",\"id\":\"r");
    piece_number(&p, r->node);
    piece_literal(&p, ".");
    piece_number(&p, procid);
    piece_literal(&p, ".");
    piece_number(&p, r->peer);
    piece_literal(&p, ".");
    piece_number(&p, r->number);
    piece_literal(&p, "\"");
    name_begin(&p);
    piece_text(&p, op_name(r->tag & ~(uint64_t)N_REPLY(0)));
    name_end(&p);
    if (r->text) {
        piece_literal(&p, ",\"args\":{\"volume\":\"");
        piece_text(&p, r->text);
        piece_literal(&p, "\",\"bytes\":");
        piece_number(&p, r->bytes);
        piece_literal(&p, "}");
    }
    put_event(t, &p);
}

/* ---- Channels and drives ---- */

static void channel_named(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    char from[NODE_NAME_BYTES], to[NODE_NAME_BYTES], name[3 * NODE_NAME_BYTES];

    if (c->channel_named[r->channel])
        return;
    c->channel_named[r->channel] = true;
    node_name(r->node, from);
    node_name(r->how, to);
    snprintf(name, sizeof name, "%s to %s", from, to);
    put_meta(t, PROCESS_CHANNELS, r->channel, "thread_name", name);
}

static void channel(struct trace *t, const struct trace_record *r)
{
    struct piece p;

    channel_named(t, r);
    if (!slice_begin(t, &p, PROCESS_CHANNELS, r->channel, r->since, r->cycles))
        return;
    name_begin(&p);
    piece_number(&p, r->peer);
    piece_literal(&p, ": ");
    piece_number(&p, r->bytes);
    name_end(&p);
    put_event(t, &p);
}

static uint32_t drive_of(const struct trace_record *r)
{
    return (r->node - NODE_IO_BASE) * DRIVE_MAX + (uint32_t)r->drive;
}

static void put_counter(struct trace *t, enum process process, uint64_t cycles, const char *what, const char *of,
                        const char *unit, const char *value)
{
    struct piece p;

    event_begin(&p, 'C', process, 0, cycles);
    name_begin(&p);
    piece_text(&p, what);
    piece_text(&p, of);
    name_end(&p);
    piece_literal(&p, ",\"args\":{\"");
    piece_text(&p, unit);
    piece_literal(&p, "\":");
    piece_text(&p, value);
    piece_literal(&p, "}");
    put_event(t, &p);
}

static const char *volume_of(const struct trace *t, uint32_t drive)
{
    const struct topo_io_node *io = topo_io_node(t->options.topo, NODE_IO_BASE + drive / DRIVE_MAX);

    return io->drive[drive % DRIVE_MAX].volume;
}

static void queue(struct trace *t, const struct trace_record *r)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, r->bytes);
    put_counter(t, PROCESS_DRIVES, r->cycles, "queue of ", volume_of(t, drive_of(r)), "commands", number);
}

static void drive(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    uint32_t d = drive_of(r);
    struct piece p;

    if (!c->drive_named[d]) {
        c->drive_named[d] = true;
        put_meta(t, PROCESS_DRIVES, d + 1, "thread_name", volume_of(t, d));
    }
    c->drive[d].bytes += r->bytes * SECTOR_BYTES;
    if (!slice_begin(t, &p, PROCESS_DRIVES, d + 1, r->since, r->cycles))
        return;
    add_name(&p, r->write ? "write" : "read");
    piece_literal(&p, ",\"args\":{\"sector\":");
    piece_number(&p, r->sector);
    piece_literal(&p, ",\"sectors\":");
    piece_number(&p, r->bytes);
    piece_literal(&p, "}");
    put_event(t, &p);
}

/* ---- Rates ---- */

static void put_rate(struct trace *t, struct rate *rate, enum process process, uint64_t cycles, const char *what,
                     const char *of)
{
    char value[32];

    if (rate->bytes != rate->shown) {
        snprintf(value, sizeof value, "%.3f", (double)rate->bytes / 1e6 * CLOCK_HZ / COUNTER_CYCLES);
        put_counter(t, process, cycles, what, of, "MB/s", value);
    }
    rate->shown = rate->bytes;
    rate->bytes = 0;
}

static void put_rates(struct trace *t, uint64_t interval)
{
    struct chrome *c = t->own;
    uint64_t begin = interval * COUNTER_CYCLES;

    put_rate(t, &c->net, PROCESS_CHANNELS, begin, "arriving", "");
    for (uint32_t i = 0; i < t->options.topo->n_io; i++)
        for (uint32_t d = 0; d < t->options.topo->io[i].ndrives; d++) {
            uint32_t index = (t->options.topo->io[i].node - NODE_IO_BASE) * DRIVE_MAX + d;

            if (c->drive_named[index])
                put_rate(t, &c->drive[index], PROCESS_DRIVES, begin, "rate of ", volume_of(t, index));
        }
}

/* Writes the rates of the intervals that have ended: of the last that counted, and 0 after it if one lies between. */
static void pass_intervals(struct trace *t, uint64_t now_cycles)
{
    struct chrome *c = t->own;
    uint64_t interval = now_cycles / COUNTER_CYCLES;

    if (interval == c->interval)
        return;
    put_rates(t, c->interval);
    if (interval > c->interval + 1)
        put_rates(t, c->interval + 1);
    c->interval = interval;
}

/* ---- The writer ---- */

static void record(struct trace *t, const struct trace_record *r)
{
    pass_intervals(t, r->cycles);
    switch (r->kind) {
    case TRACE_USER:
        return user(t, r);
    case TRACE_HANDLED:
        return handled(t, r);
    case TRACE_IDLE:
        return idle(t, r);
    case TRACE_SEND:
        return host_slice(t, r, "send");
    case TRACE_ARRIVAL:
        return arrival(t, r);
    case TRACE_RECEIVE:
        return receive(t, r);
    case TRACE_FAILED:
        return instant(t, r, "a message failed", "");
    case TRACE_DAMAGE:
        return instant(t, r, "a damaged message", "");
    case TRACE_LINK:
        return instant(t, r, "a link ", r->dies ? "dies" : "recovers");
    case TRACE_NODE:
        return instant(t, r, "the node ", r->dies ? "dies" : "recovers");
    case TRACE_MARK:
        return mark(t, r);
    case TRACE_CHANNEL:
        return channel(t, r);
    case TRACE_DRIVE:
        return drive(t, r);
    case TRACE_QUEUE:
        return queue(t, r);
    case TRACE_REQUEST:
        return put_request(t, r, 'b', TAG_FROM(r->tag));
    case TRACE_REPLY:
        return put_request(t, r, 'e', TAG_TO(r->tag));
    default:
        return;
    }
}

static void begin(struct trace *t)
{
    static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    struct chrome *c = memory_new(1, sizeof *c);

    t->own = c;
    c->node = memory_new(NODE_HOST + 1, sizeof *c->node);
    c->channel_named = memory_new(topo_channels(t->options.topo), sizeof(bool));
    c->drive_named = memory_new(DRIVES, sizeof(bool));
    c->drive = memory_new(DRIVES, sizeof(struct rate));
    trace_arrows_begin(&c->arrows, NODE_HOST + 1);
    t->reserve = sizeof END - 1;
    trace_put(t, head, sizeof head - 1);
    put_meta(t, PROCESS_NODES, 0, "process_name", "nodes");
    put_meta(t, PROCESS_CHANNELS, 0, "process_name", "channels");
    put_meta(t, PROCESS_DRIVES, 0, "process_name", "drives");
}

/* The kernel's spells that last to the end; then what the reserve is for. */
static void end(struct trace *t, uint64_t now_cycles)
{
    struct chrome *c = t->own;

    for (uint32_t i = 0; i <= NODE_HOST; i++)
        if (c->node[i].named && i != NODE_HOST && c->node[i].kernel_since != NEVER) {
            put_slice(t, i, c->node[i].kernel_since, now_cycles, trace_call_name(c->node[i].call));
            show_arrows(t, i, now_cycles);
        }
    show_arrows(t, NODE_HOST, 0);
    pass_intervals(t, now_cycles);
    for (uint32_t i = 0; i <= NODE_HOST; i++)
        phase_end(t, i, now_cycles < t->full_cycles ? now_cycles : t->full_cycles);
    trace_put_reserved(t, END, sizeof END - 1);
    trace_arrows_end(&c->arrows);
    free(c->node);
    free(c->channel_named);
    free(c->drive_named);
    free(c->drive);
    free(c);
}

const struct trace_writer trace_chrome = {
    .name = "chrome",
    .ending = {".json", ".json" TRACE_PACKED_ENDING},
    .kinds = 1u << TRACE_SEND | 1u << TRACE_ARRIVAL | 1u << TRACE_DAMAGE | 1u << TRACE_FAILED | 1u << TRACE_RECEIVE |
             1u << TRACE_LINK | 1u << TRACE_NODE | 1u << TRACE_MARK | 1u << TRACE_USER | 1u << TRACE_HANDLED |
             1u << TRACE_IDLE | 1u << TRACE_CHANNEL | 1u << TRACE_DRIVE | 1u << TRACE_QUEUE | 1u << TRACE_REQUEST |
             1u << TRACE_REPLY,
    .begin = begin,
    .record = record,
    .end = end,
};

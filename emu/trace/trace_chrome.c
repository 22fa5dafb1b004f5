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
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/trace/trace_events.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

#define NEVER           UINT64_MAX
#define COUNTER_CYCLES  20000u /* between two values of a rate: 1 ms */
#define END             "\n]}\n"
#define END_AT_LIMIT    "\n],\"limit\":1}\n"
#define PHASE_END_BYTES 96u
#define ARROW_END_BYTES 160u
#define HEAD_BYTES      (TRACE_ABOUT_BYTES + 256)
#define DRIVES          ((NODE_HOST - NODE_IO_BASE) * DRIVE_MAX)

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

/* Ends an event with what it adds to the piece, and a brace. */
__attribute__((format(printf, 3, 4))) static bool put_event(struct trace *t, struct piece *p, const char *format, ...)
{
    struct chrome *c = t->own;
    size_t skip = c->begun ? 0 : 1; /* the comma */
    va_list arguments;

    va_start(arguments, format);
    piece_put_list(p, format, arguments);
    va_end(arguments);
    piece_put(p, "}");
    if (!trace_put(t, p->text + skip, p->n - skip))
        return false;
    c->begun = true;
    return true;
}

/* ---- Nodes ---- */

static void name_node(struct trace *t, uint32_t node)
{
    const struct topo_io_node *io = t->options.topo ? topo_io_node(t->options.topo, node) : NULL;
    char name[NODE_NAME_BYTES];
    struct piece p;

    event_meta_begin(&p, PROCESS_NODES, node, "thread_name", node_name(node, name));
    if (io)
        event_wiring(&p, io);
    put_event(t, &p, "}");
}

static struct node_view *view_of(struct trace *t, uint32_t node)
{
    struct chrome *c = t->own;
    struct node_view *v = &c->node[node];

    if (!v->named) {
        v->named = true;
        v->call = TRACE_BY_INTERRUPT; /* at first, the kernel boots */
        name_node(t, node);
    }
    return v;
}

static void put_slice(struct trace *t, uint32_t node, uint64_t since, uint64_t until, const char *name)
{
    struct piece p;

    if (event_slice_begin(t, &p, PROCESS_NODES, node, since, until))
        put_event(t, &p, ",'name':'%s'", name);
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
    struct piece p;

    view_of(t, r->node);
    if (event_slice_begin(t, &p, PROCESS_NODES, r->node, r->since, r->cycles))
        put_event(t, &p, ",'cat':'%s','name':'%s'", trace_wait_word(r->how), r->text);
}

static void instant(struct trace *t, const struct trace_record *r, const char *name, const char *more)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, 'i', PROCESS_NODES, r->node, r->cycles);
    put_event(t, &p, ",'name':'%s%s','s':'t'", name, more);
}

/* ---- Phases ---- */

static bool put_phase(struct trace *t, uint32_t node, char phase, uint64_t cycles, const char *name)
{
    struct piece p;

    event_begin(&p, phase, PROCESS_NODES, node, cycles);
    piece_put(&p, ",'cat':'phase','id':'p%u','name':'", node);
    event_quoted(&p, name, ABI_MARK_BYTES);
    if (phase == 'b')
        return put_event(t, &p, "'");
    piece_put(&p, "'}");
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

static void put_flow_end(struct trace *t, char phase, uint32_t node, uint64_t cycles, const struct trace_arrow *a)
{
    struct piece p;

    view_of(t, node);
    event_begin(&p, phase, PROCESS_NODES, node, cycles);
    piece_put(&p, ",'cat':'m','id':%lu,'name':'msg'", a->id);
    if (phase == 'f') {
        put_event(t, &p, ",'bp':'e'");
        return;
    }
    piece_put(&p, ",'args':{'to':%u,'bytes':%lu,'type':%u", a->to, a->bytes, a->type);
    if (a->context > 0)
        piece_put(&p, ",'context':%u", a->context);
    put_event(t, &p, "}");
}

/* Writes both ends, or none if there is no room for both. */
static void put_arrow(void *ctx, const struct trace_arrow *a)
{
    struct trace *t = ctx;

    t->reserve += ARROW_END_BYTES;
    put_flow_end(t, 's', a->from, a->since, a);
    t->reserve -= ARROW_END_BYTES;
    put_flow_end(t, 'f', a->to, a->until, a);
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
    trace_arrows_add(&c->arrows, (struct trace_arrow){.from = r->peer,
                                                      .to = r->node,
                                                      .since = r->since,
                                                      .until = r->cycles,
                                                      .id = r->number << 16 | r->node,
                                                      .bytes = r->bytes,
                                                      .type = (uint32_t)TAG_NUMBER(r->tag),
                                                      .context = (uint32_t)TAG_CONTEXT(r->tag)});
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

static void put_request(struct trace *t, const struct trace_record *r, char phase, uint32_t procid)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, phase, PROCESS_NODES, r->node, r->cycles);
    piece_put(&p, ",'cat':'file','id':'r%u.%u.%u.%lu','name':'%s'", r->node, procid, r->peer, r->number,
              event_op_name(r->tag & ~(uint64_t)N_REPLY(0)));
    if (r->text)
        piece_put(&p, ",'args':{'volume':'%s','bytes':%lu}", r->text, r->bytes);
    put_event(t, &p, "%s", "");
}

/* ---- Channels and drives ---- */

static void channel_named(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    char from[NODE_NAME_BYTES], to[NODE_NAME_BYTES], name[3 * NODE_NAME_BYTES];
    struct piece p;

    if (c->channel_named[r->channel])
        return;
    c->channel_named[r->channel] = true;
    snprintf(name, sizeof name, "%s to %s", node_name(r->node, from), node_name(r->how, to));
    event_meta_begin(&p, PROCESS_CHANNELS, r->channel, "thread_name", name);
    put_event(t, &p, ",'from':%u,'to':%u}", r->node, r->how);
}

static void channel(struct trace *t, const struct trace_record *r)
{
    struct piece p;

    channel_named(t, r);
    if (!event_slice_begin(t, &p, PROCESS_CHANNELS, r->channel, r->since, r->cycles))
        return;
    piece_put(&p, ",'name':'%u: %lu','args':{'message':%lu", r->peer, r->bytes, r->number);
    if (r->asked < r->since) {
        piece_put(&p, ",'waited':");
        event_cycles(&p, r->since - r->asked);
    }
    put_event(t, &p, "}");
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
    put_event(t, &p, ",'name':'%s%s','args':{'%s':%s}", what, of, unit, value);
}

static const struct topo_drive *topo_drive_of(const struct trace *t, uint32_t drive)
{
    const struct topo_io_node *io = topo_io_node(t->options.topo, NODE_IO_BASE + drive / DRIVE_MAX);

    return &io->drive[drive % DRIVE_MAX];
}

static const char *volume_of(const struct trace *t, uint32_t drive)
{
    return topo_drive_of(t, drive)->volume;
}

static void queue(struct trace *t, const struct trace_record *r)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, r->bytes);
    put_counter(t, PROCESS_DRIVES, r->cycles, "queue of ", volume_of(t, drive_of(r)), "commands", number);
}

static void drive_named(struct trace *t, uint32_t d)
{
    struct chrome *c = t->own;
    const struct topo_drive *drive = topo_drive_of(t, d);
    struct piece p;

    if (c->drive_named[d])
        return;
    c->drive_named[d] = true;
    event_meta_begin(&p, PROCESS_DRIVES, d + 1, "thread_name", drive->volume);
    piece_put(&p, ",'node':%u", NODE_IO_BASE + d / DRIVE_MAX);
    if (drive->model)
        piece_put(&p, ",'model':'%s'", drive->model);
    put_event(t, &p, "}");
}

static void drive(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    uint32_t d = drive_of(r);
    struct piece p;

    drive_named(t, d);
    c->drive[d].bytes += r->bytes * SECTOR_BYTES;
    if (event_slice_begin(t, &p, PROCESS_DRIVES, d + 1, r->since, r->cycles))
        put_event(t, &p, ",'name':'%s','args':{'sector':%lu,'sectors':%lu}", r->write ? "write" : "read", r->sector,
                  r->bytes);
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

static void put_process(struct trace *t, enum process process, const char *name)
{
    struct piece p;

    event_meta_begin(&p, process, 0, "process_name", name);
    put_event(t, &p, "}");
}

/* Writes what stands before the events. It fits below any limit that ncube takes (tracing.c). */
static void put_head(struct trace *t)
{
    static char head[HEAD_BYTES];
    const char *about = t->options.about;
    int n = snprintf(head, sizeof head,
                     "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"ncube_trace\":%d%s%s},\"traceEvents\":[",
                     TRACE_VERSION, about ? "," : "", about ? about : "");

    assert((size_t)n < sizeof head);
    trace_put(t, head, (size_t)n);
}

static void begin(struct trace *t)
{
    struct chrome *c = memory_new(1, sizeof *c);

    t->own = c;
    c->node = memory_new(NODE_HOST + 1, sizeof *c->node);
    c->channel_named = memory_new(topo_channels(t->options.topo), sizeof(bool));
    c->drive_named = memory_new(DRIVES, sizeof(bool));
    c->drive = memory_new(DRIVES, sizeof(struct rate));
    trace_arrows_begin(&c->arrows, NODE_HOST + 1);
    t->reserve = sizeof END_AT_LIMIT - 1 + trace_says_reserve(t);
    put_head(t);
    put_process(t, PROCESS_NODES, "nodes");
    put_process(t, PROCESS_CHANNELS, "channels");
    put_process(t, PROCESS_DRIVES, "drives");
}

/* A mark across all tracks, or one on the front end's for each further line. Quotes and the like are '?'. */
static void says_end(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    struct piece p;

    event_begin(&p, 'i', PROCESS_NODES, NODE_HOST, r->cycles);
    piece_put(&p, ",'s':'%c','cat':'end %s','name':'", r->how == TRACE_END_MORE ? 't' : 'g', trace_end_words[r->how]);
    event_quoted(&p, r->text, PIECE_BYTES - p.n - sizeof "\"}");
    piece_put(&p, "'}");
    trace_put_says(t, p.text + !c->begun, p.n - !c->begun);
    c->begun = true;
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
    if (t->full_cycles == NEVER)
        trace_put_reserved(t, END, sizeof END - 1);
    else
        trace_put_reserved(t, END_AT_LIMIT, sizeof END_AT_LIMIT - 1);
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
    .says_end = says_end,
    .end = end,
};

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
#include "emu/trace/trace_chrome.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"

#define END          "\n]}\n"
#define END_AT_LIMIT "\n],\"limit\":1}\n"
#define HEAD_BYTES   (TRACE_ABOUT_BYTES + 256)
#define DRIVES       ((NODE_HOST - NODE_IO_BASE) * DRIVE_MAX)

static void record(struct trace *t, const struct trace_record *r)
{
    chrome_pass_intervals(t, r->cycles);
    switch (r->kind) {
    case TRACE_USER:
        return chrome_user(t, r);
    case TRACE_HANDLED:
        return chrome_handled(t, r);
    case TRACE_IDLE:
        return chrome_idle(t, r);
    case TRACE_SEND:
        return chrome_host_slice(t, r, "send");
    case TRACE_ARRIVAL:
        return chrome_arrival(t, r);
    case TRACE_RECEIVE:
        return chrome_receive(t, r);
    case TRACE_FAILED:
        return chrome_instant(t, r, "a message failed", "");
    case TRACE_DAMAGE:
        return chrome_instant(t, r, "a damaged message", "");
    case TRACE_LINK:
        return chrome_instant(t, r, "a link ", r->dies ? "dies" : "recovers");
    case TRACE_NODE:
        return chrome_instant(t, r, "the node ", r->dies ? "dies" : "recovers");
    case TRACE_MARK:
        return chrome_mark(t, r);
    case TRACE_CHANNEL:
        return chrome_channel(t, r);
    case TRACE_DRIVE:
        return chrome_drive(t, r);
    case TRACE_QUEUE:
        return chrome_queue(t, r);
    case TRACE_REQUEST:
        return chrome_request(t, r, 'b', TAG_FROM(r->tag));
    case TRACE_REPLY:
        return chrome_request(t, r, 'e', TAG_TO(r->tag));
    default:
        return;
    }
}

static void put_process(struct trace *t, enum process process, const char *name)
{
    struct piece p;

    event_meta_begin(&p, process, 0, "process_name", name);
    event_put(t, &p, "}");
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
            chrome_slice(t, i, c->node[i].kernel_since, now_cycles, trace_call_name(c->node[i].call));
            chrome_show_arrows(t, i, now_cycles);
        }
    chrome_show_arrows(t, NODE_HOST, 0);
    chrome_pass_intervals(t, now_cycles);
    for (uint32_t i = 0; i <= NODE_HOST; i++)
        chrome_end_phase(t, i, now_cycles < t->full_cycles ? now_cycles : t->full_cycles);
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

/*
 * The nodes' tracks in Chrome's trace event format: spells of user code and of the kernel, waits, phases, arrows from
 * send to receive, requests to file servers (trace_chrome.h).
 */
#include "emu/trace/trace_chrome.h"

#include <stdlib.h>

#include "emu/base/memory.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

#define PHASE_END_BYTES 96u
#define ARROW_END_BYTES 160u
#define CALL_TEXT_BYTES 160u
#define LINE_TEXT_BYTES 320u

/* ---- Nodes ---- */

static void name_node(struct trace *t, uint32_t node)
{
    const struct topo_io_node *io = t->options.topo ? topo_io_node(t->options.topo, node) : NULL;
    char name[NODE_NAME_BYTES];
    struct piece p;

    event_meta_begin(&p, PROCESS_NODES, node, "thread_name", node_name(node, name));
    if (io)
        event_wiring(&p, io);
    event_put(t, &p, "}");
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

void chrome_slice(struct trace *t, uint32_t node, uint64_t since, uint64_t until, const char *name)
{
    struct piece p;

    if (event_slice_begin(t, &p, PROCESS_NODES, node, since, until))
        event_put(t, &p, ",'name':'%s'", name);
}

static void put_user(struct trace *t, const struct trace_record *r)
{
    struct piece p;

    if (!r->text) {
        chrome_slice(t, r->node, r->since, r->cycles, "user");
    } else if (event_slice_begin(t, &p, PROCESS_NODES, r->node, r->since, r->cycles)) {
        piece_put(&p, ",'name':'user','args':{'line':'");
        event_quoted(&p, r->text, LINE_TEXT_BYTES);
        event_put(t, &p, "'}");
    }
}

/* A spell of user code ends the kernel's before it. */
void chrome_user(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    if (v->kernel_since != NEVER)
        chrome_slice(t, r->node, v->kernel_since, r->since, trace_call_name(v->call));
    put_user(t, r);
    v->kernel_since = r->how == TRACE_BY_INTERRUPT ? NEVER : r->cycles;
    v->call = r->how;
    chrome_show_arrows(t, r->node, r->cycles);
}

void chrome_handled(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    chrome_slice(t, r->node, r->since, r->cycles, "interrupt");
    v->kernel_since = r->dies ? r->cycles : NEVER;
    v->call = TRACE_BY_SWITCH;
    chrome_show_arrows(t, r->node, r->cycles);
}

/* Calls wait for messages, though some do so in poll. The program has given the communicator's name. */
static void put_call(struct trace *t, struct piece *p, const struct trace_call *call)
{
    piece_put(p, ",'cat':'%s','name':'waits ", trace_wait_word(NCU_WAIT_MESSAGE));
    event_quoted(p, call->wait, CALL_TEXT_BYTES);
    piece_put(p, "','args':{'call':'");
    event_quoted(p, call->name, CALL_TEXT_BYTES);
    piece_put(p, "','communicator':'");
    event_quoted(p, call->communicator, CALL_TEXT_BYTES);
    event_put(t, p, "'}");
}

void chrome_idle(struct trace *t, const struct trace_record *r)
{
    struct piece p;

    view_of(t, r->node);
    if (!event_slice_begin(t, &p, PROCESS_NODES, r->node, r->since, r->cycles))
        return;
    if (r->call)
        put_call(t, &p, r->call);
    else
        event_put(t, &p, ",'cat':'%s','name':'%s'", trace_wait_word(r->how), r->text);
}

void chrome_instant(struct trace *t, const struct trace_record *r, const char *name, const char *more)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, 'i', PROCESS_NODES, r->node, r->cycles);
    event_put(t, &p, ",'name':'%s%s','s':'t'", name, more);
}

/* ---- Phases ---- */

static bool put_phase(struct trace *t, uint32_t node, char phase, uint64_t cycles, const char *name)
{
    struct piece p;

    event_begin(&p, phase, PROCESS_NODES, node, cycles);
    piece_put(&p, ",'cat':'phase','id':'p%u','name':'", node);
    event_quoted(&p, name, ABI_MARK_BYTES);
    if (phase == 'b')
        return event_put(t, &p, "'");
    piece_put(&p, "'}");
    trace_put_reserved(t, p.text, p.n);
    return true;
}

void chrome_end_phase(struct trace *t, uint32_t node, uint64_t cycles)
{
    struct node_view *v = &((struct chrome *)t->own)->node[node];

    if (!v->phase)
        return;
    put_phase(t, node, 'e', cycles, v->phase);
    free(v->phase);
    v->phase = NULL;
    t->reserve -= PHASE_END_BYTES + ABI_MARK_BYTES;
}

void chrome_mark(struct trace *t, const struct trace_record *r)
{
    struct node_view *v = view_of(t, r->node);

    chrome_end_phase(t, r->node, r->cycles);
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
        event_put(t, &p, ",'bp':'e'");
        return;
    }
    piece_put(&p, ",'args':{'to':%u,'bytes':%lu,'type':%u", a->to, a->bytes, a->type);
    if (a->context > 0)
        piece_put(&p, ",'context':%u", a->context);
    event_put(t, &p, "}");
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

void chrome_show_arrows(struct trace *t, uint32_t node, uint64_t until)
{
    trace_arrows_show(&((struct chrome *)t->own)->arrows, node, until, put_arrow, t);
}

/* An arrow, if both its ends are wanted. A broadcast is one message with several: each receiver's arrow has a number of
 * its own. */
void chrome_receive(struct trace *t, const struct trace_record *r)
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
void chrome_host_slice(struct trace *t, const struct trace_record *r, const char *name)
{
    if (r->node == NODE_HOST) {
        view_of(t, NODE_HOST);
        chrome_slice(t, NODE_HOST, r->cycles, r->cycles + 1, name);
        chrome_show_arrows(t, NODE_HOST, r->cycles + 1);
    }
}

void chrome_arrival(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;

    c->net.bytes += r->bytes;
    chrome_host_slice(t, r, "receive");
    if (r->node == NODE_HOST)
        chrome_receive(t, r);
}

void chrome_request(struct trace *t, const struct trace_record *r, char phase, uint32_t procid)
{
    struct piece p;

    view_of(t, r->node);
    event_begin(&p, phase, PROCESS_NODES, r->node, r->cycles);
    piece_put(&p, ",'cat':'file','id':'r%u.%u.%u.%lu','name':'%s'", r->node, procid, r->peer, r->number,
              event_op_name(r->tag & ~(uint64_t)N_REPLY(0)));
    if (r->text)
        piece_put(&p, ",'args':{'volume':'%s','bytes':%lu}", r->text, r->bytes);
    event_put(t, &p, "%s", "");
}

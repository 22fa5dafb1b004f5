/*
 * Texts for the user about waiting nodes and about faults.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/plural.h"
#include "emu/model/fault_plan.h"
#include "emu/model/ncu_state.h"
#include "emu/trace/trace.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

/* Returns "any", or the number as text in the caller's buffer. */
static const char *name_number(uint64_t number, char *text, size_t bytes)
{
    if (number == NCU_WAIT_ANY)
        return "any";
    snprintf(text, bytes, "%" PRIu64, number);
    return text;
}

/* Writes "node 5" or "any node". */
static const char *name_node(uint64_t node, char *text, size_t bytes)
{
    if (node == NCU_WAIT_ANY)
        return "any node";
    snprintf(text, bytes, "node %" PRIu64, node);
    return text;
}

/* Returns "any", or the message type as the program knows it. */
static const char *name_type(uint64_t type, char *text, size_t bytes)
{
    return name_number(type == NCU_WAIT_ANY ? type : TAG_NUMBER(type), text, bytes);
}

static bool serves_files(const struct ncu_node *node)
{
    return NODE_IS_IO(node->address) && node->wait[0] == NCU_WAIT_MESSAGE && node->wait[1] == NCU_WAIT_ANY &&
           node->wait[2] == NCU_WAIT_ANY;
}

#define CALL_NAME(name) #name,
static const char *const group_calls[] = {GROUP_CALLS(CALL_NAME)};
static const char *const global_calls[] = {GLOBAL_CALLS(CALL_NAME)};
static const char *const group_operations[] = {GROUP_OPERATIONS(CALL_NAME)};
#undef CALL_NAME
static const char *const pipe_waits[PIPE_KINDS] = {[PIPE_MAP] = "the mapping of the other end of",
                                                   [PIPE_DATA] = "data from",
                                                   [PIPE_ROOM] = "readers of",
                                                   [PIPE_MESSAGE] = "a message from the other end of",
                                                   [PIPE_PEER] = "a program at the other end of"};

/* Describes a wait in a call of CONTEXT_GROUP; `where` follows the call's name. Returns 0 if there is no such call. */
static size_t describe_call(uint32_t call, const char *where, const char *from, char *text, size_t bytes)
{
    if (call < GROUP_CALL_COUNT)
        return (size_t)snprintf(text, bytes, "waits in %s%s for %s", group_calls[call], where, from);
    if (call < GLOBAL_CALL_END)
        return (size_t)snprintf(text, bytes, "waits in global %s%s for %s", global_calls[call - GROUP_CALL_COUNT],
                                where, from);
    return 0;
}

/* The same in the context of a domain, which has nsync, too. */
static size_t describe_domain(uint32_t context, uint32_t type, const char *from, char *text, size_t bytes)
{
    char where[24];

    snprintf(where, sizeof where, " of context %u", context);
    if (type >= (uint32_t)TYPE_OF_DOMAIN(TYPE_OF_SYNC(0)))
        return (size_t)snprintf(text, bytes, "waits in nsync%s for %s", where, from);
    if (type >= (uint32_t)TYPE_OF_DOMAIN(0))
        return describe_call(type - (uint32_t)TYPE_OF_DOMAIN(0), where, from, text, bytes);
    return 0;
}

/* Describes a wait in a call that all nodes of a group make. */
static size_t describe_group(const struct ncu_node *node, char *text, size_t bytes)
{
    uint32_t context = TAG_CONTEXT((uint32_t)node->wait[2]), type = TAG_NUMBER((uint32_t)node->wait[2]);
    char number[32];
    const char *from = name_node(node->wait[1], number, sizeof number);

    if (context == CONTEXT_SYNC)
        return (size_t)snprintf(text, bytes, "waits in nsync of type %u for %s", type, from);
    if (context == CONTEXT_PIPE)
        return (size_t)snprintf(text, bytes, "waits for %s pipe %u", pipe_waits[type % PIPE_KINDS], type / PIPE_KINDS);
    size_t done = context == CONTEXT_GROUP ? describe_call(type, "", from, text, bytes)
                                           : describe_domain(context, type, from, text, bytes);
    if (done > 0)
        return done;
    if (type >= TYPE_COLLECTIVE && type < TYPE_COLLECTIVE + GROUP_OPERATION_COUNT)
        return (size_t)snprintf(text, bytes, "waits in %s of context %u for %s",
                                group_operations[type - TYPE_COLLECTIVE], context, from);
    if (node->wait[2] & NCU_WAIT_ANY_TYPE)
        return (size_t)snprintf(text, bytes, "waits for a message of any type in context %u from %s", context, from);
    return (size_t)snprintf(text, bytes, "waits for a message of type %u in context %u from %s", type, context, from);
}

/* What a node has written to the front end, and the network has not brought there: the first line of it. Messages that
 * wait for memory elsewhere may hold its way for ever, and the line is often why the program was to end. */
static const char *unsent_line(const struct ncu_node *node, char *line, size_t bytes)
{
    const struct transfer *t;
    size_t n = 0, there;

    line[0] = '\0';
    LIST_FOREACH(t, &node->port.sent, sending)
        if (n == 0 && t->sent.node == NODE_HOST && TAG_TYPE(t->sent.tag) == N_FWRITE &&
            t->sent.bytes > sizeof(struct file_request)) {
            there = t->sent.bytes - sizeof(struct file_request);
            there = there < bytes - 1 ? there : bytes - 1;
            ncu_memory_read(node, t->held_at + sizeof(struct file_request), line, there);
            while (n < there && isprint((unsigned char)line[n]))
                n++;
            line[n] = '\0';
        }
    return n > 0 ? line : NULL;
}

static size_t describe_front_end(const struct ncu_node *node, char *text, size_t bytes)
{
    char room[200];
    const char *line = unsent_line(node, room, sizeof room);

    return (size_t)snprintf(text, bytes, "waits for the front end%s%s",
                            line ? "; a full channel keeps its line from there: " : "", line ? line : "");
}

/* A process that has begun a request waits for the message with the reply (readend, libpio). */
uint64_t ncu_idle_kind(const struct ncu_node *node)
{
    const uint64_t *wait = node->wait;
    bool one_type = wait[0] == NCU_WAIT_MESSAGE && wait[2] < NCU_WAIT_ANY_TYPE;

    return one_type && TAG_CONTEXT(wait[2]) == 0 && N_IS_FILE_REPLY(TAG_NUMBER(wait[2])) ? NCU_WAIT_REPLY : wait[0];
}

size_t ncu_describe_idle(const struct ncu_node *node, char *text, size_t bytes)
{
    char from[32], type[24];

    switch (ncu_idle_kind(node)) {
    case NCU_WAIT_PROCESS:
        return (size_t)snprintf(text, bytes, "has no program");
    case NCU_WAIT_MESSAGE:
        if (node->wait[2] != NCU_WAIT_ANY && TAG_CONTEXT(node->wait[2]) >= CONTEXT_SYNC)
            return describe_group(node, text, bytes);
        return (size_t)snprintf(text, bytes, "waits in nread for a message of type %s from %s",
                                name_type(node->wait[2], type, sizeof type),
                                name_node(node->wait[1], from, sizeof from));
    case NCU_WAIT_REPLY:
        if (node->wait[1] == NODE_HOST)
            return describe_front_end(node, text, bytes);
        return (size_t)snprintf(text, bytes, "waits for the file server on node %s",
                                name_number(node->wait[1], from, sizeof from));
    case NCU_WAIT_MEMORY:
        return (size_t)snprintf(text, bytes, "waits for memory until one of its messages has been received");
    case NCU_WAIT_DISK:
        return (size_t)snprintf(text, bytes, "waits for drive %s", name_number(node->wait[1], from, sizeof from));
    case NCU_WAIT_TIME:
        return (size_t)snprintf(text, bytes, "waits for a signal");
    case NCU_WAIT_CHILD:
        return (size_t)snprintf(text, bytes, "waits in wait for the end of a child process");
    case NCU_WAIT_PIPE:
        return (size_t)snprintf(text, bytes, "waits for %s a pipe", node->wait[1] ? "room in" : "bytes from");
    case NCU_WAIT_POLL:
        return (size_t)snprintf(text, bytes, "waits in poll or select");
    default:
        return (size_t)snprintf(text, bytes, "waits for an unknown reason (%" PRIu64 ")", node->wait[0]);
    }
}

const char *ncu_wait_word(const struct ncu *n, uint32_t index)
{
    const struct ncu_node *node = &n->node[index];

    return node->idle ? trace_wait_word(ncu_idle_kind(node)) : NULL;
}

static void describe_header(const struct net_message *m, uint32_t channel, char *text, size_t bytes)
{
    snprintf(text, bytes, "; a message of %" PRIu64 " byte%s from node %u waits at channel %u for memory", m->bytes,
             plural(m->bytes), m->from, channel);
}

bool ncu_describe_wait(const struct ncu *n, uint32_t index, char *text, size_t bytes)
{
    const struct ncu_node *node = &n->node[index];
    bool tells = node->wait[0] != NCU_WAIT_PROCESS && !serves_files(node);
    size_t used = ncu_describe_idle(node, text, bytes);

    for (uint32_t c = 0; c < CHANNELS && used < bytes; c++) {
        const struct transfer *waiting = TAILQ_FIRST(&node->receive[c].waiting);

        if (!waiting)
            continue;
        describe_header(waiting->message, c, text + used, bytes - used);
        return true;
    }
    return tells;
}

bool ncu_waits_for_message(const struct ncu *n, uint32_t index)
{
    return n->node[index].idle && ncu_idle_kind(&n->node[index]) == NCU_WAIT_MESSAGE;
}

bool ncu_may_wait_in(const struct ncu *n, uint32_t index, uint32_t context)
{
    const struct ncu_node *node = &n->node[index];

    if (!node->idle || node->wait[0] == NCU_WAIT_POLL)
        return node->idle;
    if (context == CONTEXT_PROGRAM && ncu_idle_kind(node) == NCU_WAIT_REPLY)
        return true;
    return ncu_waits_for_message(n, index) && node->wait[2] != NCU_WAIT_ANY &&
           TAG_CONTEXT((uint32_t)node->wait[2]) == context;
}

bool ncu_waits_for_pipe(const struct ncu *n, uint32_t index, uint32_t *pipe, uint32_t *kind)
{
    const uint64_t *wait = n->node[index].wait;
    uint32_t type = TAG_NUMBER((uint32_t)wait[2]);

    *pipe = type / PIPE_KINDS;
    *kind = type % PIPE_KINDS;
    return wait[0] == NCU_WAIT_MESSAGE && wait[2] != NCU_WAIT_ANY && TAG_CONTEXT((uint32_t)wait[2]) == CONTEXT_PIPE;
}

/* ---- Faults ---- */

static void describe_noise(const struct ncu *n, const struct fault_noise *noise, char *text, size_t bytes)
{
    char name[NODE_NAME_BYTES];
    char end_name[NODE_NAME_BYTES];
    uint32_t node, end, channel;

    topo_channel_start(n->topo, noise->channel, &node, &channel);
    topo_channel_end(n->topo, noise->channel, &end, &channel);
    snprintf(text, bytes, "the noisiest channel, from %s to %s, has damaged %" PRIu64 " of %" PRIu64 " message%s",
             node_name(node, name), node_name(end, end_name), noise->damaged, noise->passed, plural(noise->passed));
}

void ncu_describe_noise(const struct ncu *n, void (*say)(void *ctx, const char *line), void *ctx)
{
    struct fault_noise noise;
    char text[160];

    if (!fault_plan_noisiest(n->plan, &noise))
        return;
    describe_noise(n, &noise, text, sizeof text);
    say(ctx, text);
}

void ncu_describe_faults(const struct ncu *n, uint64_t now_cycles, void (*say)(void *ctx, const char *line), void *ctx)
{
    char text[160];
    uint32_t begun = 0;

    for (uint32_t i = 0; i < n->faults; i++) {
        const struct fault *f = &n->fault[i];

        if (f->kind == FAULT_PARITY || f->from_cycles > now_cycles || begun++ >= NCU_FAULT_LINES)
            continue;
        fault_describe(f, n->topo, now_cycles, text, sizeof text);
        say(ctx, text);
    }
    if (begun > NCU_FAULT_LINES) {
        snprintf(text, sizeof text, "and %u more of the machine file's faults have begun", begun - NCU_FAULT_LINES);
        say(ctx, text);
    }
    ncu_describe_noise(n, say, ctx);
}

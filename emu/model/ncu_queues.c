/*
 * Texts for the user about what is under way: messages in the network, and commands for drives.
 */
#include <inttypes.h>
#include <stdio.h>

#include "emu/base/plural.h"
#include "emu/model/ncu_state.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

#define LINES_MOST 64u /* of messages; the last line says how many more there are */

struct queue_lines {
    void (*say)(void *ctx, const char *line);
    void *ctx;
    uint32_t messages;
};

/* Writes "of type 7", as the program knows it; the system's own messages have types of their own. */
static void describe_type(uint64_t tag, char *text, size_t bytes)
{
    if (TAG_IS_PROGRAM(tag))
        snprintf(text, bytes, "of type %u", (unsigned)TAG_NUMBER(tag));
    else
        snprintf(text, bytes, "of the system (type 0x%x)", (unsigned)TAG_NUMBER(tag));
}

static void say_message(struct queue_lines *l, const struct transfer *t)
{
    const struct net_message *m = t->message;
    char from[NODE_NAME_BYTES], to[NODE_NAME_BYTES], type[48], line[256];

    if (!m || l->messages++ >= LINES_MOST)
        return;
    describe_type(m->tag, type, sizeof type);
    snprintf(line, sizeof line, "%" PRIu64 " byte%s %s from %s to %s, sent at %.6f s: %s", m->bytes, plural(m->bytes),
             type, node_name(m->from, from), node_name(m->to, to), (double)m->start_cycles / CLOCK_HZ,
             m->header_cycles == 0 ? "on its way"
             : t->landing != 0     ? "arriving"
                                   : "waits for a receive");
    l->say(l->ctx, line);
}

static void say_port(struct queue_lines *l, const struct port *p)
{
    const struct transfer *t;

    LIST_FOREACH(t, &p->sent, sending)
        say_message(l, t);
}

static void say_drives(struct queue_lines *l, const struct ncu_node *node)
{
    char line[128];

    for (uint32_t d = 0; d < node->drives; d++) {
        if (node->drive[d].queued == 0)
            continue;
        snprintf(line, sizeof line, "volume %s: %u command%s wait%s or %s executed", node->mailbox->drive_volume[d],
                 node->drive[d].queued, plural(node->drive[d].queued), node->drive[d].queued == 1 ? "s" : "",
                 node->drive[d].queued == 1 ? "is" : "are");
        l->say(l->ctx, line);
    }
}

void ncu_describe_queues(const struct ncu *n, void (*say)(void *ctx, const char *line), void *ctx)
{
    struct queue_lines l = {.say = say, .ctx = ctx};
    char line[64];

    say_port(&l, &n->host);
    for (uint32_t i = 0; i < n->count; i++)
        say_port(&l, &n->node[i].port);
    snprintf(line, sizeof line, "%u message%s under way", l.messages, plural(l.messages));
    if (l.messages == 0 || l.messages > LINES_MOST)
        say(ctx, line);
    for (uint32_t i = 0; i < n->count; i++)
        say_drives(&l, &n->node[i]);
}

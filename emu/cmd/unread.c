/* Vertex keeps a process's messages in a list in the node's memory; ncube reads it here (vertex/contract/system.h). */
#include "emu/cmd/unread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

struct unread {
    uint32_t count;
    uint32_t tag, node; /* of the oldest */
};

/* Vertex's address of the running process's pointer, 0 if it cannot be found. */
static uint64_t find_running(struct machine *m)
{
    if (m->running_va == 0 && !machine_find_symbol(m, "proc_running", &m->running_va))
        m->running_va = 0;
    return m->running_va;
}

/* Reads from Vertex's memory on a node. False: there is none at that address. */
static bool read_at(const struct machine *m, uint32_t index, uint64_t va, void *to, size_t bytes)
{
    const struct cabinet *c = &m->cabinet[machine_cabinet_of(m, index)];
    uint64_t at = va - VERTEX_WINDOW_VA;

    if (va < VERTEX_WINDOW_VA || at > m->config.topo.ram_bytes - bytes)
        return false;
    memcpy(to, cabinet_window(c, machine_hart_of(m, index)) + at, bytes);
    return true;
}

/* Counts the program's messages in the list of `left`, from `message` on. */
static void count(const struct machine *m, uint32_t index, uint64_t message, uint32_t left, struct unread *u)
{
    uint32_t tag;
    int32_t next;

    for (; left > 0 && read_at(m, index, message + MESSAGE_TAG_OFFSET, &tag, sizeof tag); left--) {
        if (TAG_IS_PROGRAM(tag) && u->count++ == 0) {
            u->tag = tag;
            read_at(m, index, message + MESSAGE_NODE_OFFSET, &u->node, sizeof u->node);
        }
        if (!read_at(m, index, message, &next, sizeof next) || next == 0)
            return;
        message += (uint64_t)(int64_t)next;
    }
}

void unread_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes)
{
    uint64_t process, first;
    uint32_t messages, number;
    struct unread u = {0};
    size_t used = strlen(text);
    char from[32] = "the host";

    if (!job_awaits_node(j, ncu_address(m->ncu, index)) ||
        !read_at(m, index, find_running(m), &process, sizeof process) ||
        !read_at(m, index, process + PROC_INBOX_OFFSET, &first, sizeof first) ||
        !read_at(m, index, process + PROC_INBOX_COUNT_OFFSET, &messages, sizeof messages))
        return;
    count(m, index, first, messages, &u);
    if (u.count == 0)
        return;
    if (job_has_node(j, u.node))
        snprintf(from, sizeof from, "node %" PRIu32, job_program_at(j, u.node, &number) ? number : u.node - j->base);
    if (u.count == 1)
        snprintf(text + used, bytes - used, "; a message of type %" PRIu32 " from %s is unread", TAG_NUMBER(u.tag),
                 from);
    else
        snprintf(text + used, bytes - used, "; %" PRIu32 " messages are unread, the first of type %" PRIu32 " from %s",
                 u.count, TAG_NUMBER(u.tag), from);
}

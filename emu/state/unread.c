/* Vertex keeps a process's messages in a list in the node's memory; ncube reads it here (vertex/contract/system.h). */
#include "emu/state/unread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

/* Vertex's address of the running process's pointer, 0 if it cannot be found. */
static uint64_t find_running(struct machine *m)
{
    if (m->running_va == 0 && !machine_find_symbol(m, "proc_running", &m->running_va))
        m->running_va = 0;
    return m->running_va;
}

bool unread_read(const struct machine *m, uint32_t index, uint64_t va, void *to, size_t bytes)
{
    uint64_t at = va - VERTEX_WINDOW_VA;

    if (va < VERTEX_WINDOW_VA || at > m->config.topo.ram_bytes - bytes)
        return false;
    machine_read_memory(m, index, at, to, bytes);
    return true;
}

uint64_t unread_process(struct machine *m, uint32_t index)
{
    uint64_t process;

    return unread_read(m, index, find_running(m), &process, sizeof process) ? process : 0;
}

/* Adds a message to its kind. */
static uint32_t add(struct unread_kind *kind, uint32_t n, uint32_t most, const struct unread_kind *new)
{
    for (uint32_t i = 0; i < n; i++)
        if (kind[i].type == new->type && kind[i].node == new->node) {
            kind[i].messages++;
            return n;
        }
    if (n == most)
        return n;
    kind[n] = *new;
    return n + 1;
}

uint32_t unread_list(struct machine *m, const struct job *j, uint32_t index, uint64_t process, struct unread_kind *kind,
                     uint32_t most)
{
    uint64_t message;
    uint32_t left, tag, n = 0;
    int32_t next;

    if (!job_awaits_node(j, ncu_address(m->ncu, index)) ||
        (process == 0 && !unread_read(m, index, find_running(m), &process, sizeof process)) ||
        !unread_read(m, index, process + PROC_INBOX_OFFSET, &message, sizeof message) ||
        !unread_read(m, index, process + PROC_INBOX_COUNT_OFFSET, &left, sizeof left))
        return 0;
    for (; left > 0 && unread_read(m, index, message + MESSAGE_TAG_OFFSET, &tag, sizeof tag); left--) {
        struct unread_kind new = {.type = TAG_NUMBER(tag), .messages = 1};

        if (TAG_IS_PROGRAM(tag) && unread_read(m, index, message + MESSAGE_NODE_OFFSET, &new.node, sizeof new.node) &&
            unread_read(m, index, message + MESSAGE_BYTES_OFFSET, &new.bytes, sizeof new.bytes))
            n = add(kind, n, most, &new);
        if (!unread_read(m, index, message, &next, sizeof next) || next == 0)
            break;
        message += (uint64_t)(int64_t)next;
    }
    return n;
}

void unread_sender(const struct job *j, uint32_t address, char *text, size_t bytes)
{
    uint32_t number;

    snprintf(text, bytes, "the host");
    if (job_has_node(j, address))
        snprintf(text, bytes, "node %" PRIu32, job_program_at(j, address, &number) ? number : address - j->base);
}

#define KINDS_TOLD 256u

void unread_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes)
{
    struct unread_kind kind[KINDS_TOLD];
    uint32_t n = unread_list(m, j, index, 0, kind, KINDS_TOLD), messages = 0;
    size_t used = strlen(text);
    char from[32];

    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        messages += kind[i].messages;
    unread_sender(j, kind[0].node, from, sizeof from);
    if (messages == 1)
        snprintf(text + used, bytes - used, "; a message of type %" PRIu32 " from %s is unread", kind[0].type, from);
    else
        snprintf(text + used, bytes - used, "; %" PRIu32 " messages are unread, the first of type %" PRIu32 " from %s",
                 messages, kind[0].type, from);
}

/* The last arrivals of each node (origin.h). */
#include "emu/state/origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/state/unread.h"
#include "vertex/contract/system.h"

#define ARRIVALS 256u /* that are kept of each node: what it has read last has arrived among them */

struct arrival {
    uint32_t from, tag;
    uint64_t sent_cycles;
};

struct origins {
    uint32_t *arrivals; /* by node */
    struct arrival *arrival;
};

void origin_open(struct machine *m)
{
    if (!m->options->gdb_goes_back)
        return;
    m->origins = memory_new(1, sizeof *m->origins);
    m->origins->arrivals = memory_new(m->nodes, sizeof *m->origins->arrivals);
    m->origins->arrival = memory_new((size_t)m->nodes * ARRIVALS, sizeof *m->origins->arrival);
}

void origin_close(struct machine *m)
{
    if (!m->origins)
        return;
    free(m->origins->arrivals);
    free(m->origins->arrival);
    free(m->origins);
    m->origins = NULL;
}

void origin_note(struct machine *m, uint32_t node, const struct ncu_cause *c)
{
    uint32_t n;

    if (!m->origins || node >= 1u << m->config.topo.dim)
        return;
    n = m->origins->arrivals[node]++;
    m->origins->arrival[node * (size_t)ARRIVALS + n % ARRIVALS] =
        (struct arrival){.from = c->node, .tag = (uint32_t)c->tag, .sent_cycles = c->start_cycles};
}

static const struct arrival *find(const struct machine *m, uint32_t node, uint64_t sent_cycles)
{
    const struct arrival *all = &m->origins->arrival[node * (size_t)ARRIVALS];

    for (uint32_t i = 0; i < ARRIVALS; i++)
        if (all[i].sent_cycles == sent_cycles && sent_cycles > 0)
            return &all[i];
    return NULL;
}

bool origin_find(void *machine, uint32_t node, uint32_t *sender, uint64_t *cycles,
                 void (*say)(void *to, const char *line), void *to)
{
    struct machine *m = machine;
    const struct job *j = front_find_job(m->front, m->debugged_job);
    uint64_t process = unread_process(m, j->base + node), sent_cycles = 0;
    char line[160], from[32];

    if (process == 0 ||
        !unread_read(m, j->base + node, process + PROC_READ_SENT_OFFSET, &sent_cycles, sizeof sent_cycles) ||
        sent_cycles == 0) {
        say(to, "this node has read no message yet");
        return false;
    }
    const struct arrival *a = find(m, j->base + node, sent_cycles);
    unread_sender(j, a ? a->from : UINT32_MAX, from, sizeof from);
    if (!a || !job_has_node(j, a->from)) {
        say(to, a ? "what this node has read last was not sent by a node of the program"
                  : "what this node has read last is not known any more");
        return false;
    }
    snprintf(line, sizeof line, "what this node has read last, type %" PRIu32 ", was sent by %s at %.6f s",
             TAG_NUMBER(a->tag), from, (double)sent_cycles / CLOCK_HZ);
    say(to, line);
    *sender = a->from - j->base;
    *cycles = sent_cycles;
    return true;
}

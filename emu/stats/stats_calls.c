/* Waits in calls of a library. A program makes few different ones, so each node has a list. */
#include "emu/stats/stats_calls.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/json_text.h"
#include "emu/base/memory.h"
#include "emu/stats/stats_table.h"

#define CALL_BYTES         32u /* abi.h */
#define COMMUNICATOR_BYTES 64u

struct call {
    char name[CALL_BYTES], communicator[COMMUNICATOR_BYTES];
    uint64_t waits, cycles;
};

struct calls {
    struct call *call;
    size_t count, room;
    bool is_manager;
    struct manager_counts counts;
};

struct stats_calls {
    uint32_t nodes;
    struct calls node[];
};

struct stats_calls *stats_calls_new(uint32_t nodes)
{
    struct stats_calls *c = memory_new(1, sizeof *c + nodes * sizeof *c->node);

    c->nodes = nodes;
    return c;
}

void stats_calls_free(struct stats_calls *c)
{
    for (uint32_t i = 0; c && i < c->nodes; i++)
        free(c->node[i].call);
    free(c);
}

static struct call *find(const struct calls *n, const char *name, const char *communicator)
{
    for (size_t k = 0; k < n->count; k++)
        if (strcmp(n->call[k].name, name) == 0 && strcmp(n->call[k].communicator, communicator) == 0)
            return &n->call[k];
    return NULL;
}

void stats_calls_count(struct stats_calls *c, uint32_t index, const char *call, const char *communicator,
                       uint64_t cycles)
{
    struct calls *n = &c->node[index];
    struct call *found = find(n, call, communicator);

    if (!found) {
        n->call = memory_grow(n->call, &n->room, n->count + 1, sizeof *n->call);
        found = &n->call[n->count++];
        *found = (struct call){.waits = 0};
        strncpy(found->name, call, sizeof found->name - 1);
        strncpy(found->communicator, communicator, sizeof found->communicator - 1);
    }
    found->waits++;
    found->cycles += cycles;
}

void stats_calls_keep(struct stats_calls *c, uint32_t index, const struct manager_counts *counts)
{
    c->node[index].is_manager = true;
    c->node[index].counts = *counts;
}

const struct manager_counts *stats_calls_manager(const struct stats_calls *c, uint32_t index)
{
    return c->node[index].is_manager ? &c->node[index].counts : NULL;
}

bool stats_calls_waited(const struct stats_calls *c, uint32_t index)
{
    return c->node[index].count > 0;
}

json_t *stats_calls_json(const struct stats_calls *c, uint32_t index)
{
    const struct calls *n = &c->node[index];
    json_t *list = json_array();

    for (size_t k = 0; k < n->count; k++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:I, s:I}", "call", n->call[k].name, "communicator",
                                              json_text(n->call[k].communicator), "waits", (json_int_t)n->call[k].waits,
                                              "wait_cycles", (json_int_t)n->call[k].cycles));
    return list;
}

/* ---- The summary ---- */

/* All calls of all nodes, each once, by communicator and name. */
static int compare(const void *a, const void *b)
{
    const struct call *p = a, *q = b;
    int order = strcmp(p->communicator, q->communicator);

    return order != 0 ? order : strcmp(p->name, q->name);
}

static struct calls list_all(const struct stats_calls *c)
{
    struct calls all = {.count = 0};

    for (uint32_t i = 0; i < c->nodes; i++)
        for (size_t k = 0; k < c->node[i].count; k++) {
            const struct call *call = &c->node[i].call[k];

            if (find(&all, call->name, call->communicator))
                continue;
            all.call = memory_grow(all.call, &all.room, all.count + 1, sizeof *all.call);
            all.call[all.count++] = *call;
        }
    if (all.count > 0)
        qsort(all.call, all.count, sizeof *all.call, compare);
    return all;
}

/* The row of one call: how long each node that has waited in any has waited in it. */
static void print_call(FILE *to, const struct stats_source *s, const struct call *call)
{
    const struct column column[] = {{"wait_cycles", call->name, true}, {NULL, NULL, false}};
    struct row *row;
    struct part p = stats_part_new(column, &row, s->nodes);

    for (uint32_t i = 0; i < s->nodes; i++) {
        const struct call *of = find(&s->calls->node[i], call->name, call->communicator);

        if (!stats_calls_waited(s->calls, i))
            continue;
        row[p.count].value[0] = of ? of->cycles : 0;
        snprintf(p.name[p.count++], sizeof *p.name, "%u", ncu_address(s->ncu, i));
    }
    stats_print_column(to, s, &p, 0);
    stats_part_free(&p, row);
}

void stats_calls_print(FILE *to, const struct stats_source *s)
{
    struct calls all = list_all(s->calls);

    for (size_t k = 0; k < all.count; k++) {
        const struct call *call = &all.call[k];

        if (k == 0 || strcmp(call->communicator, all.call[k - 1].communicator) != 0) {
            char heading[COMMUNICATOR_BYTES + 16];

            snprintf(heading, sizeof heading, "%s%s", call->communicator[0] ? "waits, " : "waits", call->communicator);
            stats_print_heading(to, heading);
        }
        print_call(to, s, call);
    }
    free(all.call);
}

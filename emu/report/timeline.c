/* Timelines (timeline.h). */
#include "emu/report/timeline.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"

#define ADDRESSES (NODE_HOST + 1u)
#define DEPTH_MAX 8

const char *const state_names[STATES] = {[STATE_USER] = "user code",
                                         [STATE_KERNEL] = "kernel",
                                         [STATE_MESSAGE] = "waits for a message",
                                         [STATE_REPLY] = "waits for a file server",
                                         [STATE_DRIVE] = "waits for a drive",
                                         [STATE_MEMORY] = "waits for memory",
                                         [STATE_OTHER] = "waits for something else",
                                         [STATE_FREE] = "no program"};

struct name_entry {
    char *text;
    uint32_t number;
};

void timeline_begin(struct timeline *t)
{
    *t = (struct timeline){.index_of = memory_new(ADDRESSES, sizeof *t->index_of)};
    for (uint32_t i = 0; i < ADDRESSES; i++)
        t->index_of[i] = -1;
}

void timeline_free(struct timeline *t)
{
    json_decref(t->about);
    tdestroy(t->name_tree, free);
    for (size_t i = 0; i < t->names; i++)
        free(t->name[i]);
    free(t->name);
    free(t->index_of);
    free(t->node);
    free(t->channel);
    free(t->drive);
    free(t->spell);
    free(t->place);
    free(t->letter);
    free(t->hold);
    free(t->command);
    free(t->queue);
    free(t->phase);
    free(t->waiting);
    free(t->request);
    free(t->ending);
}

/* ---- Names, nodes, drives ---- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct name_entry *)a)->text, ((const struct name_entry *)b)->text);
}

uint32_t timeline_name(struct timeline *t, const char *text)
{
    struct name_entry wanted = {(char *)text, 0}, **found = tfind(&wanted, &t->name_tree, compare_entries);

    if (found)
        return (*found)->number;
    struct name_entry *e = memory_new(1, sizeof *e);
    *e = (struct name_entry){memory_copy_text(text, SIZE_MAX), (uint32_t)t->names};
    *timeline_add(t, name) = e->text;
    if (!tsearch(e, &t->name_tree, compare_entries))
        abort(); /* no memory, as memory.h says */
    return e->number;
}

uint32_t timeline_node(struct timeline *t, uint32_t address)
{
    if (t->index_of[address] < 0) {
        t->index_of[address] = (int32_t)t->nodes;
        timeline_add(t, node)->address = address;
    }
    return (uint32_t)t->index_of[address];
}

uint32_t timeline_drive(struct timeline *t, const char *volume)
{
    uint32_t name = timeline_name(t, volume);

    for (size_t i = 0; i < t->drives; i++)
        if (t->drive[i].volume == name)
            return (uint32_t)i;
    *timeline_add(t, drive) = (struct timeline_drive){.volume = name, .model = timeline_name(t, ""), .node = -1};
    return (uint32_t)t->drives - 1;
}

/* ---- Order ---- */

static int by_address(const void *a, const void *b)
{
    return order(((const struct timeline_node *)a)->address, ((const struct timeline_node *)b)->address);
}

/* By node, then begin; of two with the same begin, the longer one contains the other. */
static int by_begin(const void *va, const void *vb)
{
    const struct spell *a = va, *b = vb;

    return order(a->node, b->node) ?: order(a->from, b->from) ?: order(b->to, a->to);
}

static int by_time(const void *va, const void *vb)
{
    const struct place *a = va, *b = vb;

    return order(a->node, b->node) ?: order(a->at, b->at);
}

static int by_receiver(const void *va, const void *vb)
{
    const struct letter *a = va, *b = vb;

    return order(a->to, b->to) ?: order(a->received, b->received) ?: order(a->number, b->number);
}

static int by_channel(const void *va, const void *vb)
{
    const struct hold *a = va, *b = vb;

    return order(a->channel, b->channel) ?: order(a->from, b->from);
}

static int by_drive(const void *va, const void *vb)
{
    const struct command *a = va, *b = vb;

    return order(a->drive, b->drive) ?: order(a->from, b->from);
}

/* Renumbers the nodes in the order of their addresses. */
static void sort_nodes(struct timeline *t)
{
    uint32_t *new_index = memory_new(t->nodes + 1, sizeof *new_index);

    for (size_t i = 0; i < t->nodes; i++)
        t->node[i].first = i; /* its old index */
    order_sort(t->node, t->nodes, sizeof *t->node, by_address);
    for (size_t i = 0; i < t->nodes; i++) {
        new_index[t->node[i].first] = (uint32_t)i;
        t->index_of[t->node[i].address] = (int32_t)i;
    }
    for (size_t i = 0; i < t->spells; i++)
        t->spell[i].node = new_index[t->spell[i].node];
    for (size_t i = 0; i < t->places; i++)
        t->place[i].node = new_index[t->place[i].node];
    for (size_t i = 0; i < t->letters; i++) {
        t->letter[i].from = new_index[t->letter[i].from];
        t->letter[i].to = new_index[t->letter[i].to];
    }
    for (size_t i = 0; i < t->phases; i++)
        t->phase[i].node = new_index[t->phase[i].node];
    for (size_t i = 0; i < t->requests; i++)
        t->request[i].node = new_index[t->request[i].node];
    for (size_t i = 0; i < t->waitings; i++)
        t->waiting[i].node = new_index[t->waiting[i].node];
    free(new_index);
}

static void add_piece(struct timeline *t, const struct spell *s, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    struct spell *piece = timeline_add(t, spell);
    *piece = *s;
    piece->from = from;
    piece->to = to;
}

/* Cuts spells that contain others: what lies inside is the inner one's. `done`: up to where the node has pieces. The
 * spells of a real trace are two deep. */
static void cut_spell(struct timeline *t, const struct spell *old, size_t *i, size_t n, uint64_t *done, int depth)
{
    const struct spell *outer = &old[(*i)++];

    if (*done < outer->from)
        *done = outer->from;
    while (*i < n && old[*i].node == outer->node && old[*i].from < outer->to) {
        add_piece(t, outer, *done, old[*i].from);
        if (depth < DEPTH_MAX)
            cut_spell(t, old, i, n, done, depth + 1);
        else
            (*i)++;
    }
    add_piece(t, outer, *done, outer->to);
    if (*done < outer->to)
        *done = outer->to;
}

static void flatten(struct timeline *t)
{
    struct spell *old = t->spell;
    size_t n = t->spells;

    t->spell = NULL;
    t->spells = t->spell_room = 0;
    for (size_t i = 0; i < t->nodes; i++)
        t->node[i].first = t->node[i].n = 0;
    for (size_t i = 0; i < n;) {
        uint32_t node = old[i].node;
        uint64_t done = 0;

        t->node[node].first = t->spells;
        while (i < n && old[i].node == node)
            cut_spell(t, old, &i, n, &done, 0);
        t->node[node].n = t->spells - t->node[node].first;
    }
    free(old);
}

void timeline_sort(struct timeline *t)
{
    sort_nodes(t);
    order_sort(t->spell, t->spells, sizeof *t->spell, by_begin);
    flatten(t);
    order_sort(t->place, t->places, sizeof *t->place, by_time);
    order_sort(t->letter, t->letters, sizeof *t->letter, by_receiver);
    order_sort(t->hold, t->holds, sizeof *t->hold, by_channel);
    order_sort(t->command, t->commands, sizeof *t->command, by_drive);
}

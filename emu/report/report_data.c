/* The data of the pictures (report_data.h). */
#include "emu/report/report_data.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/json_text.h"
#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/report/cells.h"
#include "vertex/shared/node_name.h"

#define CELLS_MOST        120000u /* of the timeline: about 2 MB */
#define CHANNEL_ROWS      8u
#define HOLDS_MOST        60000u /* of the channels that have no row: about 600 kB */
#define PLACES_MOST       40000u /* where nodes are in their programs: about 400 kB */
#define PATH_STEPS_MOST   5000u
#define MATRIX_NODES_MOST 128u /* more are shown in groups */

static void append(json_t *array, json_t *value)
{
    json_array_append_new(array, value);
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* ---- Nodes ---- */

/* Nodes that are shown: not those of the cube that have no program. */
static bool is_shown(const struct timeline *t, const struct facts *facts, size_t node)
{
    return t->node[node].n > 0 && (facts->ran[node] || !timeline_computes(t, (uint32_t)node));
}

/* [name, first node, nodes]; the one program of a run has all nodes with user code, and `nodes` is 0. */
static json_t *programs_of(const struct timeline *t)
{
    const json_t *programs = json_object_get(t->about, "programs"), *p;
    const char *command = json_string_value(json_object_get(t->about, "program"));
    json_t *list = json_array();
    size_t i;

    json_array_foreach((json_t *)programs, i, p)
    {
        const char *name = json_string_value(json_array_get(p, 0));

        append(list, json_pack("[o, O?, O?]", json_text(name ? name : ""), json_array_get(p, 1), json_array_get(p, 2)));
    }
    if (json_array_size(list) == 0)
        append(list, json_pack("[o, i, i]", json_text(command ? command : "the program"), 0, 0));
    return list;
}

static void put_nodes(json_t *data, const struct timeline *t, const struct facts *facts)
{
    json_t *nodes = json_array(), *times = json_array();

    for (size_t i = 0; i < t->nodes; i++) {
        if (!is_shown(t, facts, i))
            continue;
        json_t *time = json_array();
        for (int s = 0; s < STATES; s++)
            append(time, number(facts->time[i][s]));
        append(nodes, number(t->node[i].address));
        append(times, time);
    }
    json_object_set_new(data, "nodes", nodes);
    json_object_set_new(data, "time", times);
}

static json_t *io_node_of(const struct timeline *t, const struct timeline_node *n)
{
    json_t *si = json_array(), *volumes = json_array();

    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        append(si, json_integer(n->si[k]));
    for (size_t d = 0; d < t->drives; d++)
        if (t->drive[d].node == (int32_t)n->address)
            append(volumes, json_text(t->name[t->drive[d].volume]));
    return json_pack("{s:i, s:o, s:o}", "address", (int)n->address, "si", si, "volumes", volumes);
}

static json_t *wiring_of(const struct timeline *t)
{
    json_t *io = json_array();

    for (size_t i = 0; i < t->nodes; i++)
        if (t->node[i].wired)
            append(io, io_node_of(t, &t->node[i]));
    return io;
}

static json_t *channels_of(const struct timeline *t, const struct facts *facts)
{
    json_t *channels = json_array();

    for (size_t i = 0; i < t->channels; i++) {
        const struct channel_use *u = &facts->channel[i];
        const struct timeline_channel *c = &t->channel[u->channel];

        if (u->messages > 0)
            append(channels,
                   json_pack("[i, i, f, I, I, I, i]", (int)c->from, (int)c->to, facts_part(facts, u->busy),
                             (json_int_t)u->waited, (json_int_t)u->messages, (json_int_t)u->bytes, (int)u->queue_max));
    }
    return channels;
}

/* ---- The timeline ---- */

/* Returns the number of a name, which is counted from the first one that a cell has. */
static uint32_t name_number(json_t *names, const struct timeline *t, uint32_t name, uint32_t *shown)
{
    if (shown[name] == UINT32_MAX) {
        shown[name] = (uint32_t)json_array_size(names);
        append(names, json_text(t->name[name]));
    }
    return shown[name];
}

/* A cell is its distance from the one before, its length, state and name. */
static json_t *row_of(json_t *names, const struct timeline *t, const struct cell_row *r, uint32_t *shown)
{
    json_t *cells = json_array();
    uint64_t at = 0;

    for (size_t i = 0; i < r->cells; i++) {
        const struct cell *c = &r->cell[i];

        append(cells, number(c->from - at));
        append(cells, number(c->to - c->from));
        append(cells, number(c->state));
        append(cells, number(name_number(names, t, c->name, shown)));
        at = c->to;
    }
    return json_pack("{s:o, s:I, s:o}", "label", json_text(t->name[r->label]), "node",
                     r->address == UINT32_MAX ? (json_int_t)-1 : (json_int_t)r->address, "cells", cells);
}

/* Returns how many channels have a row: the first ones of facts->channel. */
static size_t channels_with_row(const struct timeline *t, const struct facts *facts)
{
    size_t n = 0;

    while (n < CHANNEL_ROWS && n < t->channels && facts->channel[n].messages > 0)
        n++;
    return n;
}

static void put_rows(json_t *data, struct timeline *t, const struct facts *facts)
{
    uint32_t channel[CHANNEL_ROWS];
    size_t channels = channels_with_row(t, facts);
    struct cell_rows c;
    json_t *rows = json_array(), *names = json_array();

    for (size_t i = 0; i < channels; i++)
        channel[i] = facts->channel[i].channel;
    cells_make(&c, t, facts->ran, channel, channels, CELLS_MOST);
    uint32_t *shown = memory_new(t->names + 1, sizeof *shown);
    memset(shown, 0xff, t->names * sizeof *shown);
    for (size_t i = 0; i < c.rows; i++)
        append(rows, row_of(names, t, &c.row[i], shown));
    json_object_set_new(data, "names", names);
    json_object_set_new(data, "step", number(c.step));
    json_object_set_new(data, "rows", rows);
    free(shown);
    cells_free(&c);
}

/* The times when a channel is held, each as its distance from the one before and its length. */
static json_t *hold_of(const struct timeline_channel *channel, const struct cell_row *r)
{
    json_t *times = json_array();
    uint64_t at = 0;

    for (size_t i = 0; i < r->cells; i++) {
        append(times, number(r->cell[i].from - at));
        append(times, number(r->cell[i].to - r->cell[i].from));
        at = r->cell[i].to;
    }
    return json_pack("[i, i, o]", (int)channel->from, (int)channel->to, times);
}

/* When the channels without a row are held. */
static void put_holds(json_t *data, struct timeline *t, const struct facts *facts)
{
    size_t first = channels_with_row(t, facts), n = t->channels - first;
    uint32_t *channel = memory_new(n + 1, sizeof *channel);
    json_t *holds = json_array();
    struct cell_rows c;

    for (size_t i = 0; i < n; i++)
        channel[i] = facts->channel[first + i].channel;
    cells_make_channels(&c, t, channel, n, HOLDS_MOST);
    for (size_t i = 0; i < n; i++)
        if (c.row[i].cells > 0)
            append(holds, hold_of(&t->channel[channel[i]], &c.row[i]));
    json_object_set_new(data, "hold_rows", number(first));
    json_object_set_new(data, "hold_step", number(c.step));
    json_object_set_new(data, "holds", holds);
    free(channel);
    cells_free(&c);
}

/* ---- Lines of the programs ---- */

/* Per node: its address; then each line, as its distance from the one before and its number. */
static void put_places(json_t *data, struct timeline *t)
{
    json_t *lines = json_array(), *places = json_array();
    struct cell_rows c;

    cells_make_places(&c, t, PLACES_MOST);
    uint32_t *shown = memory_new(t->names + 1, sizeof *shown);
    memset(shown, 0xff, t->names * sizeof *shown);
    for (size_t i = 0; i < c.rows; i++) {
        json_t *times = json_array();
        uint64_t at = 0;

        for (size_t k = 0; k < c.row[i].cells; k++) {
            const struct cell *cell = &c.row[i].cell[k];

            append(times, number(cell->from - at));
            append(times, number(name_number(lines, t, cell->name, shown)));
            at = cell->from;
        }
        append(places, json_pack("[i, o]", (int)c.row[i].address, times));
    }
    json_object_set_new(data, "lines", lines);
    json_object_set_new(data, "line_step", number(c.step));
    json_object_set_new(data, "places", places);
    free(shown);
    cells_free(&c);
}

/* ---- The critical path ---- */

static int by_length(const void *va, const void *vb)
{
    const struct step *a = va, *b = vb;

    return order(b->to - b->from, a->to - a->from) ?: order(a->from, b->from);
}

/* Joins steps of one node, which user code and calls alternate in, and keeps the longest. */
static size_t shorten_path(const struct critical *path, struct step *out)
{
    size_t n = 0;

    for (size_t i = 0; i < path->steps; i++) {
        const struct step *s = &path->step[i];

        if (n > 0 && s->node == s->peer && out[n - 1].node == out[n - 1].peer && out[n - 1].node == s->node)
            out[n - 1].from = s->from;
        else
            out[n++] = *s;
    }
    qsort(out, n, sizeof *out, by_length);
    return n < PATH_STEPS_MOST ? n : PATH_STEPS_MOST;
}

static json_t *path_of(const struct timeline *t, const struct critical *path)
{
    struct step *step = memory_new(path->steps + 1, sizeof *step);
    size_t n = shorten_path(path, step);
    json_t *steps = json_array();

    for (size_t i = 0; i < n; i++)
        append(steps, json_pack("[i, I, I, i]", (int)t->node[step[i].node].address, (json_int_t)step[i].from,
                                (json_int_t)step[i].to, (int)t->node[step[i].peer].address));
    free(step);
    return steps;
}

/* ---- Who sent to whom ---- */

struct matrix {
    uint32_t groups, shift; /* 2^shift compute nodes are one group */
    uint32_t *group_of;     /* by node */
    struct pair {
        uint64_t bytes, messages;
    } * pair;        /* [groups][groups] */
    uint32_t *first; /* by group: its first node */
};

static void choose_groups(struct matrix *m, const struct timeline *t, uint32_t dimension)
{
    while ((1u << dimension) >> m->shift > MATRIX_NODES_MOST)
        m->shift++;
    for (uint32_t i = 0; i < t->nodes; i++) {
        uint32_t address = t->node[i].address;
        bool joins = m->groups > 0 && NODE_IS_COMPUTE(address) &&
                     address >> m->shift == t->node[m->first[m->groups - 1]].address >> m->shift;
        bool board = m->groups > 0 && m->shift > 0 && NODE_IS_IO(address) &&
                     address / 16 == t->node[m->first[m->groups - 1]].address / 16;

        if (!joins && !board)
            m->first[m->groups++] = i;
        m->group_of[i] = m->groups - 1;
    }
}

static void count_pairs(struct matrix *m, const struct timeline *t, const struct facts *facts)
{
    m->pair = memory_new((size_t)m->groups * m->groups + 1, sizeof *m->pair);
    for (size_t i = 0; i < t->letters; i++) {
        const struct letter *l = &t->letter[i];
        struct pair *p = &m->pair[(size_t)m->group_of[l->from] * m->groups + m->group_of[l->to]];
        bool counts = l->sent >= facts->begin && l->sent <= facts->end;

        p->bytes += counts ? l->bytes : 0;
        p->messages += counts;
    }
}

static json_t *matrix_of(const struct timeline *t, const struct facts *facts, uint32_t dimension)
{
    struct matrix m = {.group_of = memory_new(t->nodes + 1, sizeof(uint32_t)),
                       .first = memory_new(t->nodes + 1, sizeof(uint32_t))};
    json_t *labels = json_array(), *cells = json_array();
    char name[NODE_SHORT_NAME_BYTES];

    choose_groups(&m, t, dimension);
    count_pairs(&m, t, facts);
    for (uint32_t i = 0; i < m.groups; i++) {
        append(labels, json_string(node_short_name(t->node[m.first[i]].address, name)));
        for (uint32_t j = 0; j < m.groups; j++) {
            const struct pair *p = &m.pair[(size_t)i * m.groups + j];

            if (p->messages > 0)
                append(cells, json_pack("[i, i, I, I]", (int)i, (int)j, (json_int_t)p->bytes, (json_int_t)p->messages));
        }
    }
    free(m.pair);
    free(m.first);
    free(m.group_of);
    return json_pack("{s:o, s:o}", "labels", labels, "cells", cells);
}

/* ---- All ---- */

/* Only strings have a '<'; nothing in them ends the element. */
static int put_in_element(const char *bytes, size_t n, void *file)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", file);
        else
            fputc(bytes[i], file);
    return 0;
}

void report_data_write(FILE *f, struct timeline *t, const struct facts *facts, const struct critical *path)
{
    uint32_t dimension = (uint32_t)json_integer_value(json_object_get(t->about, "dimension"));
    json_t *states = json_array();

    for (int s = 0; s < STATES; s++)
        append(states, json_string(state_names[s]));
    json_t *data =
        json_pack("{s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "dimension", (int)dimension, "begin",
                  (json_int_t)facts->begin, "end", (json_int_t)facts->end, "total", (json_int_t)t->end, "states",
                  states, "programs", programs_of(t), "io", wiring_of(t), "channels", channels_of(t, facts));
    put_nodes(data, t, facts);
    put_rows(data, t, facts);
    put_holds(data, t, facts);
    put_places(data, t);
    json_object_set_new(data, "path", path_of(t, path));
    json_object_set_new(data, "matrix", matrix_of(t, facts, dimension));
    json_dump_callback(data, put_in_element, f, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(4));
    fputc('\n', f);
    json_decref(data);
}

/* The data of the pictures (report_data.h). */
#include "emu/report/report_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/report/cells.h"

#define CELLS_MOST        120000u /* of the timeline: about 2 MB */
#define CHANNEL_ROWS      8u
#define PATH_STEPS_MOST   5000u
#define MATRIX_NODES_MOST 128u /* more are shown in groups */

/* Writes a string, in which nothing ends the element. */
static void put_string(FILE *f, const char *text)
{
    json_t *string = json_string(text);
    char *quoted = json_dumps(string ? string : json_string_nocheck("?"), JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    for (const char *c = quoted; c && *c; c++)
        if (*c == '<')
            fputs("\\u003c", f);
        else
            fputc(*c, f);
    free(quoted);
    json_decref(string);
}

/* ---- Nodes ---- */

/* Nodes that are shown: not those of the cube that have no program. */
static bool is_shown(const struct timeline *t, const struct facts *facts, size_t node)
{
    return t->node[node].n > 0 && (facts->ran[node] || !timeline_computes(t, (uint32_t)node));
}

static void put_program(FILE *f, const char *name, int first, int nodes)
{
    fputs("[", f);
    put_string(f, name);
    fprintf(f, ",%d,%d]", first, nodes);
}

/* [name, first node, nodes]; the one program of a run has all nodes with user code, and `nodes` is 0. */
static void put_programs(FILE *f, const struct timeline *t)
{
    const json_t *programs = json_object_get(t->about, "programs"), *v;
    const char *command = json_string_value(json_object_get(t->about, "program"));
    size_t i;

    fputs("\"programs\":[", f);
    json_array_foreach((json_t *)programs, i, v)
    {
        const char *name = json_string_value(json_array_get(v, 0));

        fputs(i > 0 ? "," : "", f);
        put_program(f, name ? name : "", (int)json_integer_value(json_array_get(v, 1)),
                    (int)json_integer_value(json_array_get(v, 2)));
    }
    if (json_array_size(programs) == 0)
        put_program(f, command ? command : "the program", 0, 0);
    fputs("],\n", f);
}

static void put_nodes(FILE *f, const struct timeline *t, const struct facts *facts)
{
    const char *comma = "";

    fputs("\"nodes\":[", f);
    for (size_t i = 0; i < t->nodes; i++)
        if (is_shown(t, facts, i)) {
            fprintf(f, "%s%" PRIu32, comma, t->node[i].address);
            comma = ",";
        }
    fputs("],\n\"time\":[[", f);
    comma = "";
    for (size_t i = 0; i < t->nodes; i++) {
        if (!is_shown(t, facts, i))
            continue;
        for (int s = 0; s < STATES; s++)
            fprintf(f, "%s%" PRIu64, s > 0 ? "," : comma, facts->time[i][s]);
        comma = "],[";
    }
    fputs("]],\n", f);
}

static void put_io_node(FILE *f, const struct timeline *t, const struct timeline_node *n)
{
    const char *comma = "";

    fprintf(f, "{\"address\":%" PRIu32 ",\"si\":[", n->address);
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        fprintf(f, "%s%" PRId32, k > 0 ? "," : "", n->si[k]);
    fputs("],\"volumes\":[", f);
    for (size_t d = 0; d < t->drives; d++)
        if (t->drive[d].node == (int32_t)n->address) {
            fputs(comma, f);
            put_string(f, t->name[t->drive[d].volume]);
            comma = ",";
        }
    fputs("]}", f);
}

static void put_wiring(FILE *f, const struct timeline *t)
{
    const char *comma = "";

    fputs("\"io\":[", f);
    for (size_t i = 0; i < t->nodes; i++)
        if (t->node[i].wired) {
            fputs(comma, f);
            put_io_node(f, t, &t->node[i]);
            comma = ",\n";
        }
    fputs("],\n", f);
}

static void put_channels(FILE *f, const struct timeline *t, const struct facts *facts)
{
    const char *comma = "";

    fputs("\"channels\":[", f);
    for (size_t i = 0; i < t->channels; i++) {
        const struct channel_use *u = &facts->channel[i];
        const struct timeline_channel *c = &t->channel[u->channel];

        if (u->messages == 0)
            continue;
        fprintf(f, "%s[%" PRIu32 ",%" PRIu32 ",%.4g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]", comma, c->from,
                c->to, facts_part(facts, u->busy), u->waited, u->messages, u->bytes, u->queue_max);
        comma = ",";
    }
    fputs("],\n", f);
}

/* ---- The timeline ---- */

static void put_row(FILE *f, const struct timeline *t, const struct cell_row *r, uint32_t *shown)
{
    uint64_t at = 0;

    fputs("{\"label\":", f);
    put_string(f, t->name[r->label]);
    fprintf(f, ",\"node\":%" PRId64 ",\"cells\":[", r->address == UINT32_MAX ? -1 : (int64_t)r->address);
    for (size_t i = 0; i < r->cells; i++) {
        const struct cell *c = &r->cell[i];

        fprintf(f, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32, i > 0 ? "," : "", c->from - at, c->to - c->from,
                c->state, shown[c->name]);
        at = c->to;
    }
    fputs("]}", f);
}

/* Numbers the names that cells have, and writes them. */
static void put_names(FILE *f, const struct timeline *t, const struct cell_rows *c, uint32_t *shown)
{
    uint32_t n = 0;

    memset(shown, 0xff, t->names * sizeof *shown);
    fputs("\"names\":[", f);
    for (size_t i = 0; i < c->rows; i++)
        for (size_t k = 0; k < c->row[i].cells; k++) {
            uint32_t name = c->row[i].cell[k].name;

            if (shown[name] != UINT32_MAX)
                continue;
            shown[name] = n++;
            fputs(n > 1 ? "," : "", f);
            put_string(f, t->name[name]);
        }
    fputs("],\n", f);
}

static void put_rows(FILE *f, struct timeline *t, const struct facts *facts)
{
    uint32_t channel[CHANNEL_ROWS];
    size_t channels = 0;
    struct cell_rows c;

    while (channels < CHANNEL_ROWS && channels < t->channels && facts->channel[channels].messages > 0) {
        channel[channels] = facts->channel[channels].channel;
        channels++;
    }
    cells_make(&c, t, facts->ran, channel, channels, CELLS_MOST);
    uint32_t *shown = memory_new(t->names + 1, sizeof *shown);
    put_names(f, t, &c, shown);
    fprintf(f, "\"step\":%" PRIu64 ",\n\"rows\":[", c.step);
    for (size_t i = 0; i < c.rows; i++) {
        fputs(i > 0 ? ",\n" : "", f);
        put_row(f, t, &c.row[i], shown);
    }
    fputs("],\n", f);
    free(shown);
    cells_free(&c);
}

/* ---- The critical path ---- */

static int by_length(const void *va, const void *vb)
{
    const struct step *a = va, *b = vb;
    uint64_t x = a->to - a->from, y = b->to - b->from;

    if (x != y)
        return x < y ? 1 : -1;
    return (a->from > b->from) - (a->from < b->from);
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

static void put_path(FILE *f, const struct timeline *t, const struct critical *path)
{
    struct step *step = memory_new(path->steps + 1, sizeof *step);
    size_t n = shorten_path(path, step);

    fputs("\"path\":[", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]", i > 0 ? "," : "",
                t->node[step[i].node].address, step[i].from, step[i].to, t->node[step[i].peer].address);
    fputs("],\n", f);
    free(step);
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

static void put_label(FILE *f, uint32_t address)
{
    if (address == NODE_HOST)
        fputs("\"host\"", f);
    else if (NODE_IS_IO(address))
        fprintf(f, "\"%u.%u\"", (address - NODE_IO_BASE) / 16, (address - NODE_IO_BASE) % 16);
    else
        fprintf(f, "\"%u\"", address);
}

static void put_pairs(FILE *f, const struct matrix *m)
{
    const char *comma = "";

    for (uint32_t i = 0; i < m->groups; i++)
        for (uint32_t j = 0; j < m->groups; j++) {
            const struct pair *p = &m->pair[(size_t)i * m->groups + j];

            if (p->messages == 0)
                continue;
            fprintf(f, "%s[%u,%u,%" PRIu64 ",%" PRIu64 "]", comma, i, j, p->bytes, p->messages);
            comma = ",";
        }
}

static void put_matrix(FILE *f, const struct timeline *t, const struct facts *facts, uint32_t dimension)
{
    struct matrix m = {.group_of = memory_new(t->nodes + 1, sizeof(uint32_t)),
                       .first = memory_new(t->nodes + 1, sizeof(uint32_t))};

    choose_groups(&m, t, dimension);
    m.pair = memory_new((size_t)m.groups * m.groups + 1, sizeof *m.pair);
    for (size_t i = 0; i < t->letters; i++) {
        const struct letter *l = &t->letter[i];

        if (l->sent < facts->begin || l->sent > facts->end)
            continue;
        struct pair *p = &m.pair[(size_t)m.group_of[l->from] * m.groups + m.group_of[l->to]];
        p->bytes += l->bytes;
        p->messages++;
    }
    fputs("\"matrix\":{\"labels\":[", f);
    for (uint32_t i = 0; i < m.groups; i++) {
        fputs(i > 0 ? "," : "", f);
        put_label(f, t->node[m.first[i]].address);
    }
    fputs("],\"cells\":[", f);
    put_pairs(f, &m);
    fputs("]}", f);
    free(m.pair);
    free(m.first);
    free(m.group_of);
}

void report_data_write(FILE *f, struct timeline *t, const struct facts *facts, const struct critical *path)
{
    uint32_t dimension = (uint32_t)json_integer_value(json_object_get(t->about, "dimension"));

    fprintf(f,
            "{\"dimension\":%" PRIu32 ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",\"total\":%" PRIu64 ",\n\"states\":[",
            dimension, facts->begin, facts->end, t->end);
    for (int s = 0; s < STATES; s++)
        fprintf(f, "%s\"%s\"", s > 0 ? "," : "", state_names[s]);
    fputs("],\n", f);
    put_programs(f, t);
    put_nodes(f, t, facts);
    put_wiring(f, t);
    put_channels(f, t, facts);
    put_rows(f, t, facts);
    put_path(f, t, path);
    put_matrix(f, t, facts, dimension);
    fputs("}\n", f);
}

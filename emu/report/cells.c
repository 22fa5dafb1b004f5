/* Rows of cells (cells.h). */
#include "emu/report/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/report/findings.h"
#include "vertex/shared/node_name.h"

#define LABEL_BYTES 96

static struct cell_row *add_row(struct cell_rows *c, struct timeline *t, uint32_t address, const char *label)
{
    c->row = memory_grow(c->row, &c->row_room, c->rows + 1, sizeof *c->row);
    c->row[c->rows] = (struct cell_row){.address = address, .label = timeline_name(t, label)};
    return &c->row[c->rows++];
}

static void add_cell(struct cell_row *r, const struct cell *cell)
{
    r->cell = memory_grow(r->cell, &r->cell_room, r->cells + 1, sizeof *r->cell);
    r->cell[r->cells++] = *cell;
}

/* ---- All spells ---- */

static void add_nodes(struct cell_rows *c, struct timeline *t, const bool *ran)
{
    char label[PLACE_BYTES];
    bool any = false;

    for (size_t i = 0; i < t->nodes; i++)
        any = any || ran[i];
    for (size_t i = 0; i < t->nodes; i++) {
        const struct timeline_node *n = &t->node[i];

        if (any && !ran[i] && NODE_IS_COMPUTE(n->address))
            continue;
        place_name(n->address, label);
        struct cell_row *r = add_row(c, t, n->address, label + (n->address == NODE_HOST ? strlen("the ") : 0));
        for (size_t k = n->first; k < n->first + n->n; k++)
            add_cell(r, &(struct cell){t->spell[k].from, t->spell[k].to, t->spell[k].name, t->spell[k].state});
    }
}

static void add_drives(struct cell_rows *c, struct timeline *t)
{
    char label[LABEL_BYTES];

    for (size_t i = 0, next; i < t->commands; i = next) {
        uint32_t drive = t->command[i].drive;
        struct cell_row *r = add_row(c, t, UINT32_MAX, t->name[t->drive[drive].volume]);

        for (next = i; next < t->commands && t->command[next].drive == drive; next++) {
            const struct command *k = &t->command[next];

            snprintf(label, sizeof label, "%s %" PRIu64 " sectors", k->write ? "writes" : "reads", k->sectors);
            add_cell(r, &(struct cell){k->from, k->to, timeline_name(t, label), k->write ? CELL_WRITE : CELL_READ});
        }
    }
}

/* Returns where the holds of a channel begin, which are sorted by channel. */
static size_t first_hold(const struct timeline *t, uint32_t channel)
{
    size_t low = 0, high = t->holds;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->hold[middle].channel < channel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `named`: each cell says which message it was; if not, nor has the row a label. */
static void add_channel(struct cell_rows *c, struct timeline *t, uint32_t channel, bool named)
{
    char from[PLACE_BYTES], to[NODE_SHORT_NAME_BYTES], label[LABEL_BYTES] = "";

    if (named)
        snprintf(label, sizeof label, "%s \342\206\222 %s", node_short_name(t->channel[channel].from, from),
                 node_short_name(t->channel[channel].to, to));
    struct cell_row *r = add_row(c, t, UINT32_MAX, label);
    uint32_t name = r->label;
    for (size_t i = first_hold(t, channel); i < t->holds && t->hold[i].channel == channel; i++) {
        const struct hold *h = &t->hold[i];

        if (named) {
            snprintf(label, sizeof label, "a message of %" PRIu64 " bytes from %s", h->bytes,
                     place_name(h->sender, from));
            name = timeline_name(t, label);
        }
        add_cell(r, &(struct cell){h->from, h->to, name, CELL_HELD});
    }
}

/* ---- Joining ---- */

struct run { /* of short cells */
    uint64_t from, to, longest;
    uint64_t time[CELL_STATES];
    uint32_t name[CELL_STATES];
    uint64_t named[CELL_STATES]; /* the length of the spell that gave the name */
    size_t n;
};

static void add_to_run(struct run *r, const struct cell *cell)
{
    uint64_t length = cell->to - cell->from;

    if (r->n++ == 0)
        r->from = cell->from;
    r->to = cell->to;
    r->time[cell->state] += length;
    if (length < r->named[cell->state])
        return;
    r->named[cell->state] = length;
    r->name[cell->state] = cell->name;
}

static size_t end_run(struct run *r, struct cell *out)
{
    uint32_t most = 0;

    if (r->n == 0)
        return 0;
    for (uint32_t s = 1; s < CELL_STATES; s++)
        if (r->time[s] > r->time[most])
            most = s;
    *out = (struct cell){r->from, r->to, r->name[most], most};
    *r = (struct run){0};
    return 1;
}

/* Joins the cells of a row that are shorter than `step` in runs of at most about that length, and ends a run at a gap
 * as long. Writes to `out`, which has room for all cells and may be the row's own. Returns how many there are. */
static size_t join(const struct cell_row *row, uint64_t step, struct cell *out)
{
    struct run run = {0};
    size_t n = 0;

    for (size_t i = 0; i < row->cells; i++) {
        const struct cell cell = row->cell[i];

        if (run.n > 0 && (cell.to - run.from > step || cell.from - run.to > step))
            n += end_run(&run, &out[n]);
        if (cell.to - cell.from >= step) {
            n += end_run(&run, &out[n]);
            out[n++] = cell;
        } else {
            add_to_run(&run, &cell);
        }
    }
    return n + end_run(&run, &out[n]);
}

static size_t count_cells(const struct cell_rows *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->rows; i++)
        n += c->row[i].cells;
    return n;
}

/* Joins with longer and longer steps, up to the whole time, until there are at most `most` cells. */
static void join_rows(struct cell_rows *c, size_t most, uint64_t whole)
{
    for (uint64_t step = 16; count_cells(c) > most && step <= whole; step *= 2) {
        for (size_t i = 0; i < c->rows; i++)
            c->row[i].cells = join(&c->row[i], step, c->row[i].cell);
        c->step = step;
    }
}

void cells_make(struct cell_rows *c, struct timeline *t, const bool *ran, const uint32_t *channel, size_t channels,
                size_t most)
{
    *c = (struct cell_rows){0};
    add_nodes(c, t, ran);
    add_drives(c, t);
    for (size_t i = 0; i < channels; i++)
        add_channel(c, t, channel[i], true);
    join_rows(c, most, t->end);
}

void cells_make_channels(struct cell_rows *c, struct timeline *t, const uint32_t *channel, size_t channels, size_t most)
{
    *c = (struct cell_rows){0};
    for (size_t i = 0; i < channels; i++)
        add_channel(c, t, channel[i], false);
    join_rows(c, most, t->end);
}

/* Each line lasts until the next one. The places are sorted by node. */
void cells_make_places(struct cell_rows *c, struct timeline *t, size_t most)
{
    struct cell_row *r = NULL;

    *c = (struct cell_rows){0};
    for (size_t i = 0; i < t->places; i++) {
        const struct place *p = &t->place[i];
        bool new = i == 0 || p->node != p[-1].node;

        if (new)
            r = add_row(c, t, t->node[p->node].address, "");
        else if (p->line == p[-1].line)
            continue;
        if (!new)
            r->cell[r->cells - 1].to = p->at;
        add_cell(r, &(struct cell){.from = p->at, .to = t->end, .name = p->line});
    }
    join_rows(c, most, t->end);
}

void cells_free(struct cell_rows *c)
{
    for (size_t i = 0; i < c->rows; i++)
        free(c->row[i].cell);
    free(c->row);
}

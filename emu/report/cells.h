/*
 * Rows of a timeline that fit on a page: where there are too many short spells, each run of them becomes one cell that
 * shows what took most of its time. Spells of at least the chosen step stay as they are.
 */
#pragma once

#include "emu/report/timeline.h"

enum { CELL_READ = STATES, CELL_WRITE, CELL_HELD, CELL_STATES }; /* states of rows of drives and channels */

struct cell {
    uint64_t from, to;
    uint32_t name; /* of the timeline, of its longest spell */
    uint32_t state;
};

struct cell_row {
    uint32_t address; /* of a node; UINT32_MAX: a drive or channel */
    uint32_t label;   /* a name of the timeline */
    struct cell *cell;
    size_t cells, cell_room;
};

struct cell_rows {
    struct cell_row *row;
    size_t rows, row_room;
    uint64_t step; /* cycles: spells that are shorter may have been joined; 0: none have */
};

/* Makes the rows: each compute node for which `ran` is true, if any, and each other node, then each drive with
 * commands, then the channels named by their indices. They have at most about `most` cells in all. */
void cells_make(struct cell_rows *c, struct timeline *t, const bool *ran, const uint32_t *channel, size_t channels,
                size_t most);

/* Makes a row for each of the channels named by their indices, without labels and names. */
void cells_make_channels(struct cell_rows *c, struct timeline *t, const uint32_t *channel, size_t channels,
                         size_t most);

/* Makes a row for each node with places: its cells are the lines of the program, one after the other. */
void cells_make_places(struct cell_rows *c, struct timeline *t, size_t most);
void cells_free(struct cell_rows *c);

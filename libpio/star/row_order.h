/*
 * In which order VPs have their blocks in a row of the NB and CB segments: the distribution that .meta tells [P4 5, 6].
 * Pure arithmetic.
 *
 *   row           by their numbers: what this library writes
 *   column        column-major: the first coordinate fastest, as Fortran lays out arrays
 *   grid g0 g1    cells of ceil(e / g) in each dimension, one after the other in row-major order; in each cell its VPs
 *                 in row-major order
 */
#pragma once

#include "libpio/star/shape.h"

enum star_order { STAR_ROW, STAR_COLUMN, STAR_GRID };

struct star_row_order {
    enum star_order order; /* as .meta has it */
    bool is_by_number;     /* each VP's place is its number, whatever the order is called */
    int rank;
    long extent[CS_RANK_MAX], cell[CS_RANK_MAX]; /* cell: of a grid */
    int grid[CS_RANK_MAX];
};

/* The shape's extents are right (star_shape_make); grid: of STAR_GRID, numbers of at least 1. */
struct star_row_order star_row_order_make(int rank, const long *extent, enum star_order order, const int *grid);

/* Which block of a row is a VP's; and whose a block is. */
long star_row_order_place(const struct star_row_order *o, long vp);
long star_row_order_vp(const struct star_row_order *o, long place);

/* The same where most files have rows by numbers. */
static inline long star_place(const struct star_row_order *o, long vp)
{
    return o->is_by_number ? vp : star_row_order_place(o, vp);
}

/* Whether the blocks of each node's VPs follow each other in the file, by their local numbers. */
bool star_row_order_fits(const struct star_row_order *o, const struct cs_shape *s);

/* The view of this node: in rows of blocks of `block` bytes from file byte `displacement` on, the blocks of its VPs.
 * They ascend in the file, so their local numbers need not. 0, or a negative errno of <pattern.h>. */
int star_row_order_view(const struct star_row_order *o, const struct cs_shape *s, long block, int64_t displacement,
                        struct pattern **p);

/* The local numbers of this node's VPs as their blocks follow each other in that view: local[s->local]. */
void star_row_order_list(const struct star_row_order *o, const struct cs_shape *s, const struct pattern *view,
                         uint32_t *local);

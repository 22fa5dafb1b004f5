/*
 * Shapes: which virtual processor is where [P4 3.1, 3.2]. Pure arithmetic.
 *
 * VP i is the row-major rank of its coordinates. Without a grid node p has the VPs p * ceil(N / P) on; with one, a cell
 * of ceil(e / g) of each dimension, whose VPs have local numbers in row-major order.
 */
#pragma once

#include <stdint.h>

#include "libpio/map/pattern.h"
#include "libpio/star/cstar.h"

#define STAR_VPS_MAX 4294967295L

struct cs_shape {
    int rank, nodes, node;
    bool has_grid;
    bool is_one_run;        /* every node's VPs follow each other */
    long vps, local, first; /* N; of this node, the first of these if is_one_run */
    long most;              /* VPs of the node that has the most */
    long extent[CS_RANK_MAX];
    int grid[CS_RANK_MAX];
    long from[CS_RANK_MAX], cell[CS_RANK_MAX]; /* of this node's cell: first coordinate, extent */
};

/* grid NULL: there is none. 0, -EINVAL or -ENOMEM. */
int star_shape_make(int rank, const long *extent, const int *grid, int nodes, int node, struct cs_shape **s);

/* The local number of a VP; -1: it is another node's. */
long star_shape_local(const struct cs_shape *s, long number);

/* How many VPs of this node, from local number i on, have numbers that follow each other. */
long star_shape_run(const struct cs_shape *s, long i);

/* Whether both have the same extents. */
bool star_shape_same(const struct cs_shape *a, const struct cs_shape *b);

/* The pattern of a row of blocks of `block` bytes from file byte `displacement` on: its element p has the blocks of
 * node p's VPs. 0, or a negative errno of <pattern.h>. */
int star_shape_pattern(const struct cs_shape *s, long block, int64_t displacement, struct pattern **p);

/*
 * Where virtual processors are, and the calls of <cstar.h> that ask it.
 */
#include "libpio/star/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static long ceiling(long a, long b)
{
    return (a + b - 1) / b;
}

static long least(long a, long b)
{
    return a < b ? a : b;
}

/* The coordinate of a node's cell in the grid, one dimension at a time from the last. */
static void place_cell(struct cs_shape *s)
{
    int node = s->node;

    s->local = s->most = 1;
    for (int axis = s->rank - 1; axis >= 0; axis--) {
        long size = ceiling(s->extent[axis], s->grid[axis]), at = node % s->grid[axis];

        node /= s->grid[axis];
        s->from[axis] = least(at * size, s->extent[axis]);
        s->cell[axis] = least(size, s->extent[axis] - s->from[axis]);
        s->local *= s->cell[axis];
        s->most *= size;
    }
}

static void place_run(struct cs_shape *s)
{
    s->most = ceiling(s->vps, s->nodes);
    s->first = least(s->node * s->most, s->vps);
    s->local = least(s->most, s->vps - s->first);
}

static bool has_nodes(const struct cs_shape *s)
{
    long nodes = 1;

    for (int axis = 0; axis < s->rank; axis++) {
        if (s->grid[axis] < 1 || s->grid[axis] > s->nodes)
            return false;
        nodes *= s->grid[axis];
        if (nodes > s->nodes)
            return false;
    }
    return nodes == s->nodes;
}

int star_shape_make(int rank, const long *extent, const int *grid, int nodes, int node, struct cs_shape **shape)
{
    long vps = 1;

    if (rank < 1 || rank > CS_RANK_MAX || !extent)
        return -EINVAL;
    for (int axis = 0; axis < rank; axis++) {
        if (extent[axis] < 1 || extent[axis] > STAR_VPS_MAX / vps)
            return -EINVAL;
        vps *= extent[axis];
    }
    struct cs_shape *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct cs_shape){.rank = rank, .nodes = nodes, .node = node, .vps = vps, .has_grid = grid != NULL};
    memcpy(s->extent, extent, (size_t)rank * sizeof *extent);
    if (grid)
        memcpy(s->grid, grid, (size_t)rank * sizeof *grid);
    if (grid && !has_nodes(s)) {
        free(s);
        return -EINVAL;
    }
    if (grid)
        place_cell(s);
    else
        place_run(s);
    s->is_one_run = !grid;
    *shape = s;
    return 0;
}

long star_shape_local(const struct cs_shape *s, long number)
{
    long local = 0, step = 1;

    if (!s->has_grid)
        return number >= s->first && number < s->first + s->local ? number - s->first : -1;
    if (number >= s->vps)
        return -1;
    for (int axis = s->rank - 1; axis >= 0; axis--) {
        long within = number % s->extent[axis] - s->from[axis];

        if (within < 0 || within >= s->cell[axis])
            return -1;
        local += within * step;
        number /= s->extent[axis];
        step *= s->cell[axis];
    }
    return local;
}

long star_shape_run(const struct cs_shape *s, long i)
{
    long n = s->is_one_run ? s->local - i : 1;

    while (i + n < s->local && cs_number(s, i + n) == cs_number(s, i) + n)
        n++;
    return n;
}

bool star_shape_same(const struct cs_shape *a, const struct cs_shape *b)
{
    return a->rank == b->rank && memcmp(a->extent, b->extent, (size_t)a->rank * sizeof *a->extent) == 0;
}

int star_shape_pattern(const struct cs_shape *s, long block, int64_t displacement, struct pattern **p)
{
    struct pattern_dimension dimension[CS_RANK_MAX];

    /* pattern_array has PATTERN_DEPTH_MAX dimensions: those that are not distributed are put together. */
    int dims = 0;
    for (int axis = 0; axis < s->rank && s->has_grid; axis++) {
        bool joins = dims > 0 && s->grid[axis] == 1 && dimension[dims - 1].kind == '*';

        if (joins)
            dimension[dims - 1].size *= s->extent[axis];
        else
            dimension[dims++] = (struct pattern_dimension){
                .size = s->extent[axis], .kind = s->grid[axis] == 1 ? '*' : 'b', .procs = s->grid[axis]};
    }
    if (!s->has_grid)
        dimension[dims++] = (struct pattern_dimension){.size = s->vps, .kind = 'b', .procs = s->nodes};
    int error = pattern_array(dims, dimension, block, p);
    if (error == 0)
        (*p)->displacement = displacement;
    return error;
}

/* ---- What programs ask ---- */

void cs_shape_free(struct cs_shape *s)
{
    free(s);
}

long cs_positionsof(const struct cs_shape *s)
{
    return s->vps;
}

int cs_rankof(const struct cs_shape *s)
{
    return s->rank;
}

long cs_dimof(const struct cs_shape *s, int axis)
{
    return axis < 0 || axis >= s->rank ? -1 : s->extent[axis];
}

long cs_local(const struct cs_shape *s)
{
    return s->local;
}

long cs_number(const struct cs_shape *s, long local)
{
    long number = 0, step = 1;

    if (!s->has_grid)
        return s->first + local;
    for (int axis = s->rank - 1; axis >= 0; axis--) {
        number += (s->from[axis] + local % s->cell[axis]) * step;
        local /= s->cell[axis];
        step *= s->extent[axis];
    }
    return number;
}

long cs_pcoord(const struct cs_shape *s, long local, int axis)
{
    long number = cs_number(s, local);

    if (axis < 0 || axis >= s->rank)
        return -1;
    for (int last = s->rank - 1; last > axis; last--)
        number /= s->extent[last];
    return number % s->extent[axis];
}

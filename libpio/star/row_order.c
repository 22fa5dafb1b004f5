/*
 * Orders of blocks in rows (row_order.h).
 *
 * A node's blocks are cut out one dimension after the other, the slowest of the file first. What a node has is a box of
 * coordinates (shapes over a grid of nodes), or the VPs from one number to another. In the second case a dimension is
 * cut where what is left of the numbers changes: into at most three ranges of its coordinate.
 */
#include "libpio/star/row_order.h"

#include <errno.h>

#include "libpio/map/falls.h"

static long least(long a, long b)
{
    return a < b ? a : b;
}

static long most(long a, long b)
{
    return a > b ? a : b;
}

/* ---- One VP ---- */

static bool is_by_number(const struct star_row_order *o)
{
    int dimensions = 0;      /* of several coordinates */
    bool has_one_row = true; /* so far each cell has one coordinate in each */

    for (int axis = 0; axis < o->rank; axis++) {
        if (o->order == STAR_GRID && o->cell[axis] < o->extent[axis] && !has_one_row)
            return false;
        has_one_row = has_one_row && o->cell[axis] == 1;
        dimensions += o->extent[axis] > 1;
    }
    return o->order != STAR_COLUMN || dimensions <= 1;
}

struct star_row_order star_row_order_make(int rank, const long *extent, enum star_order order, const int *grid)
{
    struct star_row_order o = {.order = order, .rank = rank};

    for (int axis = 0; axis < rank; axis++) {
        o.extent[axis] = extent[axis];
        o.grid[axis] = order == STAR_GRID ? grid[axis] : 1;
        o.cell[axis] = (extent[axis] - 1) / o.grid[axis] + 1;
    }
    o.is_by_number = is_by_number(&o);
    return o;
}

/* Row-major coordinates. */
static void split(const struct star_row_order *o, long vp, long *at)
{
    for (int axis = o->rank - 1; axis >= 0; axis--) {
        at[axis] = vp % o->extent[axis];
        vp /= o->extent[axis];
    }
}

static long place_in_column(const struct star_row_order *o, const long *at)
{
    long place = 0;

    for (int axis = o->rank - 1; axis >= 0; axis--)
        place = place * o->extent[axis] + at[axis];
    return place;
}

/* VPs of all cells before a VP's, and of its own cell before it. before: VPs of a cell's first dimensions. */
static long place_in_grid(const struct star_row_order *o, const long *at)
{
    long place = 0, within = 0, behind = 1, before = 1;

    for (int axis = 0; axis < o->rank; axis++)
        behind *= o->extent[axis];
    for (int axis = 0; axis < o->rank; axis++) {
        long from = at[axis] / o->cell[axis] * o->cell[axis], size = least(o->cell[axis], o->extent[axis] - from);

        behind /= o->extent[axis];
        place += before * from * behind;
        before *= size;
        within = within * size + at[axis] - from;
    }
    return place + within;
}

long star_row_order_place(const struct star_row_order *o, long vp)
{
    long at[CS_RANK_MAX];

    if (o->is_by_number)
        return vp;
    split(o, vp, at);
    return o->order == STAR_COLUMN ? place_in_column(o, at) : place_in_grid(o, at);
}

static long vp_in_column(const struct star_row_order *o, long place)
{
    long vp = 0, step = 1;

    for (int axis = 1; axis < o->rank; axis++)
        step *= o->extent[axis];
    for (int axis = 0; axis < o->rank; axis++) {
        vp += place % o->extent[axis] * step;
        place /= o->extent[axis];
        step /= axis + 1 < o->rank ? o->extent[axis + 1] : 1;
    }
    return vp;
}

/* Finds the cell, one dimension after the other, then the VP within it. */
static long vp_in_grid(const struct star_row_order *o, long place)
{
    long from[CS_RANK_MAX], size[CS_RANK_MAX], behind = 1, before = 1, vp = 0, step = 1;

    for (int axis = 0; axis < o->rank; axis++)
        behind *= o->extent[axis];
    for (int axis = 0; axis < o->rank; axis++) {
        behind /= o->extent[axis];
        long row = before * behind; /* VPs of one coordinate of these cells */

        from[axis] = place / row / o->cell[axis] * o->cell[axis];
        size[axis] = least(o->cell[axis], o->extent[axis] - from[axis]);
        place -= from[axis] * row;
        before *= size[axis];
    }
    for (int axis = o->rank - 1; axis >= 0; axis--) {
        vp += (from[axis] + place % size[axis]) * step;
        place /= size[axis];
        step *= o->extent[axis];
    }
    return vp;
}

long star_row_order_vp(const struct star_row_order *o, long place)
{
    return o->is_by_number ? place : o->order == STAR_COLUMN ? vp_in_column(o, place) : vp_in_grid(o, place);
}

/* ---- The view of a node ---- */

/* What is being cut: a box of the shape's coordinates, and of that the VPs from one number to another. */
struct cut {
    const struct star_row_order *o;
    int64_t block;
    bool is_box;                                       /* it has all numbers of the box */
    long from[CS_RANK_MAX], to[CS_RANK_MAX];           /* the node's box: coordinates from .. to - 1 */
    long first[CS_RANK_MAX], last[CS_RANK_MAX];        /* coordinates of the first and the last VP */
    long cell_from[CS_RANK_MAX], cell_to[CS_RANK_MAX]; /* of the file's cell */
    struct falls_build b;
};

/* Coordinates from .. to - 1 of a dimension, cut at a and b: three ranges, of which some are empty. */
struct ranges {
    long at[4];
};

static struct ranges cut_at(long from, long to, long a, long b)
{
    a = most(from, least(a, to));
    b = most(from, least(b, to));
    return (struct ranges){{from, least(a, b), most(a, b), to}};
}

static void push_block(struct cut *c, int64_t left, int32_t mark)
{
    struct falls block = {.left = left, .length = c->block, .stride = c->block, .count = 1};

    falls_lies_as_in_file(&block);
    falls_push(&c->b, mark, &block);
}

/* Wraps what was pushed for one coordinate, `step` bytes from one to the next. */
static void wrap_range(struct cut *c, int64_t left, int64_t step, long count, int32_t mark, int32_t inner)
{
    struct falls range = {.left = left, .length = step, .stride = step, .count = count};

    falls_lies_as_in_file(&range);
    falls_wrap(&c->b, mark, inner, &range);
}

/* Column-major: dimensions 0 .. axis, of which VPs with the numbers low .. high in them belong to the node. step: bytes
 * of a coordinate of the last of these. */
static void push_columns(struct cut *c, int axis, long low, long high, int64_t step, int32_t mark)
{
    if (axis < 0) {
        push_block(c, 0, mark);
        return;
    }
    long extent = c->o->extent[axis], first = low % extent, last = high % extent;
    struct ranges r = cut_at(c->from[axis], c->to[axis], first, last + 1);

    for (int k = 0; k < 3 && !c->b.error; k++) {
        long x = r.at[k], count = r.at[k + 1] - x, from = low / extent + (x < first), to = high / extent - (x > last);
        int32_t inner = c->b.listed;

        if (count < 1 || from > to)
            continue;
        push_columns(c, axis - 1, from, to, axis > 0 ? step / c->o->extent[axis - 1] : step, inner);
        wrap_range(c, x * step, step, count, mark, inner);
    }
}

/* Row-major within a cell. is_first: the coordinates before are those of the node's first VP; is_last: of its last. */
static void push_rows(struct cut *c, int axis, bool is_first, bool is_last, int32_t mark)
{
    if (axis == c->o->rank) {
        push_block(c, 0, mark);
        return;
    }
    long from = most(c->cell_from[axis], c->from[axis]), to = least(c->cell_to[axis], c->to[axis]);
    int64_t step = c->block;

    for (int inner = axis + 1; inner < c->o->rank; inner++)
        step *= c->cell_to[inner] - c->cell_from[inner];
    from = is_first ? most(from, c->first[axis]) : from;
    to = is_last ? least(to, c->last[axis] + 1) : to;
    if (from >= to)
        return;
    struct ranges r = cut_at(from, to, is_first ? c->first[axis] + 1 : from, is_last ? c->last[axis] : to);
    for (int k = 0; k < 3 && !c->b.error; k++) {
        long x = r.at[k], count = r.at[k + 1] - x;
        int32_t inner = c->b.listed;

        if (count < 1)
            continue;
        push_rows(c, axis + 1, is_first && x == c->first[axis], is_last && x == c->last[axis], inner);
        wrap_range(c, (x - c->cell_from[axis]) * step, step, count, mark, inner);
    }
}

/* The cells with the node's coordinates, in row-major order. place: of the first VP of the cells so far; before: VPs of
 * a cell in the dimensions before. */
static void push_cells(struct cut *c, int axis, long place, long before, long behind)
{
    const struct star_row_order *o = c->o;

    if (axis == o->rank) {
        int32_t inner = c->b.listed;

        push_rows(c, 0, !c->is_box, !c->is_box, inner);
        wrap_range(c, place * c->block, before * c->block, 1, 0, inner);
        return;
    }
    long low = c->from[axis], high = c->to[axis] - 1;
    if (axis == 0) {
        low = most(low, c->first[0]);
        high = least(high, c->last[0]);
    }
    behind /= o->extent[axis];
    for (long from = low / o->cell[axis] * o->cell[axis]; from <= high && !c->b.error; from += o->cell[axis]) {
        c->cell_from[axis] = from;
        c->cell_to[axis] = least(from + o->cell[axis], o->extent[axis]);
        push_cells(c, axis + 1, place + before * from * behind, before * (c->cell_to[axis] - from), behind);
    }
}

static void push_view(struct cut *c, const struct cs_shape *s)
{
    long low = s->has_grid ? 0 : cs_number(s, 0), high = s->has_grid ? s->vps - 1 : cs_number(s, s->local - 1);

    c->is_box = s->has_grid;
    split(c->o, low, c->first);
    split(c->o, high, c->last);
    for (int axis = 0; axis < s->rank; axis++) {
        c->from[axis] = s->has_grid ? s->from[axis] : 0;
        c->to[axis] = s->has_grid ? s->from[axis] + s->cell[axis] : s->extent[axis];
    }
    if (c->o->order == STAR_COLUMN)
        push_columns(c, s->rank - 1, low, high, s->vps / s->extent[s->rank - 1] * c->block, 0);
    else
        push_cells(c, 0, 0, 1, s->vps);
}

int star_row_order_view(const struct star_row_order *o, const struct cs_shape *s, long block, int64_t displacement,
                        struct pattern **p)
{
    struct cut c = {.o = o, .block = block};
    struct pattern *view = pattern_new(displacement, s->vps * block, 1);

    if (!view)
        return -ENOMEM;
    if (s->local > 0)
        push_view(&c, s);
    return pattern_finish_view(&c.b, c.b.error, view, p);
}

void star_row_order_list(const struct star_row_order *o, const struct cs_shape *s, const struct pattern *view,
                         uint32_t *local)
{
    const struct falls_set *set = &view->element[0];
    int64_t block = view->period / s->vps;
    long n = 0;

    for (int64_t at = falls_next(set, 0); n < s->local; at = falls_next(set, at)) {
        int64_t end = falls_run_end(set, at);

        for (; at < end; at += block)
            local[n++] = (uint32_t)star_shape_local(s, star_row_order_vp(o, at / block));
    }
}

bool star_row_order_fits(const struct star_row_order *o, const struct cs_shape *s)
{
    bool fits = o->order == STAR_GRID && s->has_grid;

    if (o->is_by_number)
        return s->is_one_run || s->nodes == 1;
    for (int axis = 0; axis < s->rank && fits; axis++)
        fits = o->grid[axis] == s->grid[axis];
    return fits;
}

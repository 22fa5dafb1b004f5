/*
 * Moving rows: which bytes each node moves follows from two patterns, the row's blocks over the nodes, and the striping
 * units over the nodes.
 */
#include "libpio/star/row_move.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/pattern.h"
#include "libpio/star/star_nodes.h"

static int move_run(struct cs_file *f, bool writes, int64_t at, char *buf, int64_t bytes)
{
    int64_t moved = bytes == 0 ? 0
                    : writes   ? f->store->write(f->handle, buf, bytes, at)
                               : f->store->read(f->handle, buf, bytes, at);

    f->counts.requests[writes] += bytes > 0;
    if (moved >= 0 && moved < bytes)
        memset(buf + moved, 0, (size_t)(bytes - moved));
    return moved < 0 ? (int)moved : 0;
}

/* ---- Two phases ---- */

/* Where this node is, of one end: its own VPs' blocks, or the striping units that it moves. */
struct end {
    const struct pattern *own, *other;
    struct plan **plan; /* [nodes]: what it has in common with each node's other end */
    int *bytes;         /* [nodes] */
    char *packed;
};

struct exchange {
    int64_t from, to; /* of the file: the row */
    struct pattern *blocks, *units;
    struct end vps, file;
};

static int plan_end(struct exchange *x, struct end *e)
{
    int64_t sum = 0;
    size_t n = (size_t)star_group.size;

    e->plan = calloc(n, sizeof *e->plan);
    e->bytes = calloc(n, sizeof *e->bytes);
    if (!e->plan || !e->bytes)
        return -ENOMEM;
    for (int k = 0; k < star_group.size; k++) {
        int error = plan_make_within(e->own, star_group.rank, e->other, k, x->from, x->to, &e->plan[k]);
        if (error < 0)
            return error;
        int64_t bytes = plan_bytes(e->plan[k], x->to) - plan_bytes(e->plan[k], x->from);
        if ((sum += bytes) > INT_MAX)
            return -EOVERFLOW;
        e->bytes[k] = (int)bytes;
    }
    e->packed = malloc((size_t)sum + 1);
    return e->packed ? 0 : -ENOMEM;
}

static void free_end(struct end *e)
{
    for (int k = 0; e->plan && k < star_group.size; k++)
        plan_free(e->plan[k]);
    free(e->plan);
    free(e->bytes);
    free(e->packed);
}

static int prepare(struct cs_file *f, struct exchange *x, int64_t block)
{
    int error = star_shape_pattern(f->shape, block, x->from, &x->blocks);

    if (!error)
        error = pattern_stripe(f->unit, star_group.size, &x->units);
    if (error)
        return error;
    x->vps = (struct end){.own = x->blocks, .other = x->units};
    x->file = (struct end){.own = x->units, .other = x->blocks};
    error = plan_end(x, &x->vps);
    return error ? error : plan_end(x, &x->file);
}

/* Between packed parts, node after node, and this node's space: from `base` of its element on at `space`. */
static void pack(const struct exchange *x, struct end *e, bool packs, char *space, int64_t base)
{
    char *at = e->packed;

    for (int k = 0; k < star_group.size; at += e->bytes[k++])
        if (packs)
            plan_gather(e->plan[k], x->from, x->to, at, space, base);
        else
            plan_scatter(e->plan[k], x->from, x->to, space, base, at);
}

/* The units of this node within the row lie in its element from falls_rank of the row's beginning on. */
static int move_units(struct cs_file *f, const struct exchange *x, bool writes, char *space)
{
    int64_t unit = f->unit, nodes = star_group.size, at = x->from;
    int error = 0;

    while (at < x->to) {
        int64_t end = (at / unit + 1) * unit < x->to ? (at / unit + 1) * unit : x->to;

        if (at / unit % nodes == star_group.rank) {
            int result = move_run(f, writes, at, space, end - at);
            error = error ? error : result;
            space += end - at;
        }
        at = end;
    }
    return error;
}

/* How many bytes of the file below x are in this node's units. */
static int64_t units_below(const struct cs_file *f, int64_t x)
{
    int64_t round = f->unit * star_group.size, left = x % round - f->unit * star_group.rank;

    return x / round * f->unit + (left < 0 ? 0 : left < f->unit ? left : f->unit);
}

static int exchange(struct end *from, struct end *to)
{
    int result = group_exchange(&star_group, from->packed, from->bytes, to->packed, to->bytes);

    return result < 0 ? result : 0;
}

static int move_in_two_phases(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    struct exchange x = {.from = at, .to = at + block * f->shape->vps};
    int64_t base = units_below(f, x.from);
    int error = prepare(f, &x, block);
    char *space = error ? NULL : malloc((size_t)(units_below(f, x.to) - base) + 1);

    int prepared = star_agree_on(error ? error : space ? 0 : -ENOMEM);
    f->counts.reductions++;
    error = prepared;
    if (!error && writes) {
        pack(&x, &x.vps, true, part, 0);
        error = exchange(&x.vps, &x.file);
        if (!error)
            pack(&x, &x.file, false, space, base);
        error = error ? error : move_units(f, &x, true, space);
    } else if (!error) {
        int failed = move_units(f, &x, false, space);

        pack(&x, &x.file, true, space, base);
        error = exchange(&x.file, &x.vps);
        if (!error)
            pack(&x, &x.vps, false, part, 0);
        error = error ? error : failed;
    }
    /* Which VPs an error hits only the patterns know: it hits all. */
    if (!prepared) {
        error = star_agree_on(error);
        f->counts.reductions++;
        f->counts.exchanged_rows++;
    }
    free(space);
    free_end(&x.vps);
    free_end(&x.file);
    pattern_free(x.blocks);
    pattern_free(x.units);
    return error;
}

bool star_moves_directly(const struct cs_file *f, int64_t block)
{
    return star_group.size == 1 || (f->shape->is_one_run && f->shape->most * block >= f->unit);
}

int star_move_row(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    const struct cs_shape *s = f->shape;

    f->counts.rows[writes]++;
    if (!star_moves_directly(f, block))
        return move_in_two_phases(f, writes, at, block, part);
    return move_run(f, writes, at + s->first * block, part, s->local * block);
}

/*
 * Moving rows: directly, or by the engine of two-phase I/O [P4 5.2, ref. 6], whose members' views are the blocks of
 * their VPs in all rows of a segment, and whose holders have the striping units in turn. Both are patterns that all
 * nodes know, so the engine plans once for a segment.
 */
#include "libpio/star/row_move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/two_phase.h"
#include "libpio/map/pattern.h"
#include "libpio/star/star_nodes.h"

#define WINDOW_UNITS 4 /* of a node's striping units in memory at a time */

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

struct star_exchange {
    struct two_phase engine;
    struct pattern *blocks, *units;
    int *holder;                 /* [nodes]: each is one */
    int64_t block, displacement; /* of the rows for which it is: b, and where one begins, modulo its length */
    struct cs_file *f;
    int error; /* of this node's requests */
};

static int64_t move_of_unit(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at)
{
    struct star_exchange *x = ctx;
    struct cs_file *f = x->f;
    int64_t moved = writes ? f->store->write(f->handle, buf, bytes, at) : f->store->read(f->handle, buf, bytes, at);

    f->counts.requests[writes]++;
    if (moved < 0 && !x->error)
        x->error = (int)moved;
    return moved;
}

void star_exchange_free(struct cs_file *f)
{
    struct star_exchange *x = f->exchange;

    if (!x)
        return;
    two_phase_end(&x->engine);
    pattern_free(x->blocks);
    pattern_free(x->units);
    free(x->holder);
    free(x);
    f->exchange = NULL;
}

static int make_exchange(struct cs_file *f, int64_t block, int64_t displacement)
{
    struct star_exchange *x = calloc(1, sizeof *x);

    f->exchange = x;
    if (!x || !(x->holder = malloc((size_t)star_group.size * sizeof *x->holder)))
        return -ENOMEM;
    for (int k = 0; k < star_group.size; k++)
        x->holder[k] = k;
    x->f = f;
    x->block = block;
    x->displacement = displacement;
    int error = star_shape_pattern(f->shape, block, displacement, &x->blocks);
    if (!error)
        error = pattern_stripe(f->unit, star_group.size, &x->units);
    x->engine = (struct two_phase){.g = &star_group,
                                   .parts = x->units,
                                   .holder = x->holder,
                                   .store = {.move = move_of_unit, .ctx = x, .by_file = true},
                                   .window_bytes = WINDOW_UNITS * f->unit};
    return error ? error : two_phase_know(&x->engine, x->blocks);
}

/* The exchange for such rows; made anew where the segment is another than that of the last row. */
static int prepare(struct cs_file *f, int64_t block, int64_t displacement)
{
    if (f->exchange && f->exchange->block == block && f->exchange->displacement == displacement)
        return 0;
    star_exchange_free(f);
    int error = star_agree_on(make_exchange(f, block, displacement));
    f->counts.reductions++;
    if (error)
        star_exchange_free(f);
    return error;
}

/* Which VPs an error hits only the patterns know: it hits all. */
static int move_in_two_phases(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    int64_t row = block * f->shape->vps, bytes = block * f->shape->local;
    int error = prepare(f, block, at % row);

    if (error)
        return error;
    f->exchange->error = 0;
    int64_t moved = two_phase_move(&f->exchange->engine, writes, part, bytes, at / row * bytes);
    f->counts.reductions++;
    f->counts.exchanged_rows++;
    return star_agree_on(f->exchange->error ? f->exchange->error : moved < 0 ? (int)moved : 0);
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

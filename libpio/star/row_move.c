/*
 * Moving rows: directly, through a view of the file, or by the engine of two-phase I/O [P4 5.2, ref. 6], whose members'
 * views are the blocks of their VPs in all rows of a segment, and whose holders have the striping units in turn. These
 * are patterns that all nodes know, so views are set and the engine plans once for a segment.
 */
#include "libpio/star/row_move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/two_phase.h"
#include "libpio/map/pattern.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_parts.h"

#define WINDOW_UNITS 4 /* of a node's striping units in memory at a time */

static int move_run(struct cs_file *f, int handle, bool writes, int64_t at, char *buf, int64_t bytes)
{
    int64_t moved = bytes == 0 ? 0
                    : writes   ? f->store->write(handle, buf, bytes, at)
                               : f->store->read(handle, buf, bytes, at);

    f->counts.requests[writes] += bytes > 0;
    if (moved >= 0 && moved < bytes)
        memset(buf + moved, 0, (size_t)(bytes - moved));
    return moved < 0 ? (int)moved : 0;
}

int star_move_own(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    const struct cs_shape *s = f->shape;
    int error = 0;

    for (long i = 0, n; i < s->local; i += n) {
        n = star_shape_run(s, i);
        int failed = move_run(f, f->handle, writes, at + cs_number(s, i) * block, part + i * block, n * block);
        error = error ? error : failed;
    }
    return error;
}

/* ---- Views, and two phases ---- */

struct star_exchange {
    int view; /* a handle that has this node's blocks only; -1: rows go in two phases */
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
    if (x->view >= 0)
        f->store->close(x->view);
    two_phase_end(&x->engine);
    pattern_free(x->blocks);
    pattern_free(x->units);
    free(x->holder);
    free(x);
    f->exchange = NULL;
}

static int make_engine(struct star_exchange *x)
{
    struct cs_file *f = x->f;

    if (!(x->holder = malloc((size_t)star_group.size * sizeof *x->holder)))
        return -ENOMEM;
    for (int k = 0; k < star_group.size; k++)
        x->holder[k] = k;
    int error = pattern_stripe(f->unit, star_group.size, &x->units);
    x->engine = (struct two_phase){.g = &star_group,
                                   .parts = x->units,
                                   .holder = x->holder,
                                   .store = {.move = move_of_unit, .ctx = x, .by_file = true},
                                   .window_bytes = WINDOW_UNITS * f->unit};
    return error ? error : two_phase_know(&x->engine, x->blocks);
}

static int make_view(struct star_exchange *x)
{
    const struct cs_file *f = x->f;

    if (!f->store->set_view)
        return -ENOTSUP;
    x->view = f->store->open(f->name, f->writes ? O_RDWR : O_RDONLY, star_layout_of(f));
    return x->view < 0 ? x->view : f->shape->local == 0 ? 0 : f->store->set_view(x->view, x->blocks, star_group.rank);
}

/* Where one node can have no view, say for lack of a descriptor, all go in two phases. */
static int make_exchange(struct cs_file *f, int64_t block, int64_t displacement)
{
    struct star_exchange *x = calloc(1, sizeof *x);
    int error = x ? star_shape_pattern(f->shape, block, displacement, &x->blocks) : -ENOMEM;

    f->exchange = x;
    if (x) {
        x->view = -1;
        x->f = f;
        x->block = block;
        x->displacement = displacement;
    }
    if (star_way_of(f) == CS_VIEWED) {
        int failed = star_agree_on(error ? error : make_view(x));

        f->counts.reductions++;
        if (!failed)
            return 0;
        if (x && x->view >= 0)
            f->store->close(x->view), x->view = -1;
    }
    return error ? error : make_engine(x);
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
static int move_in_two_phases(struct cs_file *f, bool writes, int64_t at, char *part, int64_t bytes)
{
    f->exchange->error = 0;
    int64_t moved = two_phase_move(&f->exchange->engine, writes, part, bytes, at);
    f->counts.reductions++;
    f->counts.exchanged_rows++;
    return star_agree_on(f->exchange->error ? f->exchange->error : moved < 0 ? (int)moved : 0);
}

enum cs_way star_way_of(const struct cs_file *f)
{
    if (star_group.size == 1)
        return CS_DIRECTLY;
    if (f->way > CS_WAY_CHOSEN)
        return f->way;
    return f->shape->is_one_run ? CS_DIRECTLY : CS_TWO_PHASES;
}

int star_move_row(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    int64_t row = block * f->shape->vps, bytes = block * f->shape->local;

    f->counts.rows[writes]++;
    if (star_way_of(f) == CS_DIRECTLY)
        return star_move_own(f, writes, at, block, part);
    int error = prepare(f, block, at % row);
    if (error)
        return error;
    if (f->exchange->view < 0)
        return move_in_two_phases(f, writes, at / row * bytes, part, bytes);
    f->counts.viewed_rows++;
    return move_run(f, f->exchange->view, writes, at / row * bytes, part, bytes);
}

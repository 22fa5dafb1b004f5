/*
 * Moving rows: directly, through a view of the file, or by the engine of two-phase I/O [P4 5.2, ref. 6], whose members'
 * views are the blocks of their VPs in all rows of a segment, and whose holders have the striping units in turn. These
 * are patterns that all nodes know, so views are set and the engine plans once for a segment. Where blocks lie in
 * another order than that of the VPs' numbers, each node makes its view and tells the others; views ascend in the file,
 * so the node's blocks are sorted in its memory.
 */
#include "libpio/star/row_move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/two_phase.h"
#include "libpio/map/pattern.h"
#include "libpio/star/star_copy.h"
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

static long place_of(const struct cs_file *f, long i)
{
    return star_place(&f->order, cs_number(f->shape, i));
}

/* How many blocks of this node, from local number i on, follow each other. */
static long run_of(const struct cs_file *f, long i)
{
    const struct cs_shape *s = f->shape;
    long n = 1;

    if (f->order.is_by_number || f->is_one_run)
        return f->is_one_run ? s->local - i : star_shape_run(s, i);
    while (i + n < s->local && place_of(f, i + n) == place_of(f, i) + n)
        n++;
    return n;
}

int star_move_own(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    int error = 0;

    for (long i = 0, n; i < f->shape->local; i += n) {
        n = run_of(f, i);
        int failed = move_run(f, f->handle, writes, at + place_of(f, i) * block, part + i * block, n * block);
        error = error ? error : failed;
    }
    return error;
}

/* ---- Views, and two phases ---- */

struct star_exchange {
    int view; /* a handle that has this node's blocks only; -1: rows go in two phases */
    struct two_phase engine;
    struct pattern *blocks, *units;
    int element; /* of `blocks`: this node's */
    int *holder; /* [nodes]: each is one */
    /* Where blocks are not in the order of numbers, or NULL: the node's blocks as they lie in the file, and whose they
     * are. */
    char *sorted;
    uint32_t *local;
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

static void close_view(struct star_exchange *x)
{
    if (x->view >= 0)
        x->f->store->close(x->view);
    x->view = -1;
}

void star_exchange_free(struct cs_file *f)
{
    struct star_exchange *x = f->exchange;

    if (!x)
        return;
    close_view(x);
    two_phase_end(&x->engine);
    pattern_free(x->blocks);
    pattern_free(x->units);
    free(x->holder);
    free(x->sorted);
    free(x->local);
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
    if (error || x->local)
        return error;
    error = two_phase_know(&x->engine, x->blocks);
    return error ? error : two_phase_reserve(&x->engine, x->block * f->shape->local);
}

static int make_view(struct star_exchange *x)
{
    const struct cs_file *f = x->f;

    if (!f->store->set_view)
        return -ENOTSUP;
    x->view = f->store->open(f->name, f->writes ? O_RDWR : O_RDONLY, star_layout_of(f));
    return x->view < 0 ? x->view : f->shape->local == 0 ? 0 : f->store->set_view(x->view, x->blocks, x->element);
}

/* The node's blocks in the file, and their order. */
static int make_blocks(struct star_exchange *x)
{
    const struct cs_file *f = x->f;
    const struct cs_shape *s = f->shape;

    x->element = f->order.is_by_number ? star_group.rank : 0;
    if (f->order.is_by_number)
        return star_shape_pattern(s, x->block, x->displacement, &x->blocks);
    x->sorted = malloc((size_t)(x->block * s->local) + 1);
    x->local = malloc((size_t)(s->local + 1) * sizeof *x->local);
    int error = x->sorted && x->local ? 0 : -ENOMEM;
    error = error ? error : star_row_order_view(&f->order, s, x->block, x->displacement, &x->blocks);
    if (!error)
        star_row_order_list(&f->order, s, x->blocks, x->local);
    return error;
}

static int new_exchange(struct cs_file *f, int64_t block, int64_t displacement)
{
    if (!(f->exchange = malloc(sizeof *f->exchange)))
        return -ENOMEM;
    *f->exchange = (struct star_exchange){.view = -1, .f = f, .block = block, .displacement = displacement};
    return make_blocks(f->exchange);
}

/* Collective. Where one node can have no view, say for lack of a descriptor, all go in two phases. */
static int make_exchange(struct cs_file *f, int64_t block, int64_t displacement)
{
    int error = new_exchange(f, block, displacement);
    struct star_exchange *x = f->exchange;

    if (star_way_of(f) == CS_VIEWED) {
        int failed = star_agree_on(error ? error : make_view(x));

        f->counts.reductions++;
        if (!failed)
            return 0;
        if (x)
            close_view(x);
    }
    error = star_agree_on(error ? error : make_engine(x));
    f->counts.reductions++;
    if (error || !x->local)
        return error;
    error = two_phase_learn(&x->engine, x->blocks);
    f->counts.reductions++;
    return star_agree_on(error ? error : two_phase_reserve(&x->engine, block * f->shape->local));
}

/* The exchange for such rows; made anew where the segment is another than that of the last row. */
static int prepare(struct cs_file *f, int64_t block, int64_t displacement)
{
    if (f->exchange && f->exchange->block == block && f->exchange->displacement == displacement)
        return 0;
    star_exchange_free(f);
    int error = make_exchange(f, block, displacement);
    if (error)
        star_exchange_free(f);
    return error;
}

/* Between the node's blocks in the order of local numbers, and as they lie in the file. */
static void sort_blocks(const struct star_exchange *x, bool writes, char *part)
{
    int64_t block = x->block;
    char *sorted = x->sorted;

    for (long k = 0; k < x->f->shape->local; k++, sorted += block) {
        char *own = part + x->local[k] * block;

        star_copy(writes ? sorted : own, writes ? own : sorted, block);
    }
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
    if (star_group.size == 1 && f->is_one_run)
        return CS_DIRECTLY;
    if (f->way > CS_WAY_CHOSEN)
        return f->way;
    return f->is_one_run ? CS_DIRECTLY : CS_TWO_PHASES;
}

int star_prepare_row(struct cs_file *f, int64_t at, int64_t block)
{
    int error = star_way_of(f) == CS_DIRECTLY ? 0 : prepare(f, block, at % (block * f->shape->vps));

    if (error == -E2BIG) /* the blocks of a node are in too many pieces for a view: one after the other */
        f->way = CS_DIRECTLY;
    return error == -E2BIG ? 0 : error;
}

int star_move_row(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part)
{
    int64_t row = block * f->shape->vps, bytes = block * f->shape->local;

    f->counts.rows[writes]++;
    int error = star_prepare_row(f, at, block);
    if (error)
        return error;
    if (star_way_of(f) == CS_DIRECTLY)
        return star_move_own(f, writes, at, block, part);
    struct star_exchange *x = f->exchange;
    char *blocks = x->sorted ? x->sorted : part;
    if (x->sorted && writes)
        sort_blocks(x, true, part);
    if (x->view < 0)
        error = move_in_two_phases(f, writes, at / row * bytes, blocks, bytes);
    else
        error = move_run(f, x->view, writes, at / row * bytes, blocks, bytes);
    f->counts.viewed_rows += x->view >= 0;
    if (x->sorted && !writes)
        sort_blocks(x, false, part);
    return error;
}

/*
 * Collective accesses [13.4.2] by two phases (libpio/group/two_phase.h): members exchange their bytes, so that holders
 * read and write blocks of the file, whatever pieces of them each member's view has. The first access since the view
 * was set agrees on whether that is needed: where no view has gaps, or the servers know the views, each process moves
 * its own bytes, and nobody waits for another.
 */
#include <errno.h>
#include <stdlib.h>

#include "libpio/group/two_phase.h"
#include "libpio/mpi/files/io_file.h"
#include "libpio/mpi/types/datatype.h"
#include "vertex/contract/errors.h"

enum { BLOCK = 1 << 15, HOLDERS = 4 };

struct io_collective {
    bool is_used; /* else each process for itself */
    struct two_phase engine;
    struct pattern *parts; /* blocks of the file, in turn */
    int *holder;
};

void io_collective_drop(struct mpi_file *f)
{
    struct io_collective *c = f->collective;

    if (!c)
        return;
    if (c->is_used)
        two_phase_end(&c->engine);
    if (c->parts)
        pattern_free(c->parts);
    free(c->holder);
    free(c);
    f->collective = NULL;
}

/* ---- Agreeing ---- */

static int64_t move_block(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at)
{
    struct mpi_file *f = ctx;
    ssize_t n = writes ? f->store->write(f->fd, buf, (size_t)bytes, at) : f->store->read(f->fd, buf, (size_t)bytes, at);

    return n < 0 ? -errno : n;
}

/* All members' greatest; negative: an error of a message. */
static int greatest(struct mpi_file *f, int own, int *error)
{
    int room;
    const struct collect_reduction x = {&own, &room, 1, sizeof own, collect_greatest_ints};
    struct group *g = engine_group(f->comm);

    *error =
        collective_error(f->comm, collect_all_reduce(g, &x, COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_ALLREDUCE)));
    return own;
}

/* Makes parts and holders; false: no memory. */
static bool make_parts(struct mpi_file *f, struct io_collective *c)
{
    const struct group *g = &f->comm->group;
    int wanted = f->holders > 0 ? f->holders : HOLDERS, n = wanted < g->size ? wanted : g->size;

    c->holder = malloc((size_t)n * sizeof *c->holder);
    if (!c->holder || pattern_stripe(BLOCK, n, &c->parts) < 0)
        return false;
    for (int h = 0; h < n; h++)
        c->holder[h] = two_phase_holder(g, n, h);
    return true;
}

/* Tells the views; without memory for them, all are for themselves. */
static int learn(struct mpi_file *f, struct io_collective *c)
{
    struct pattern *view = f->view.pattern ? f->view.pattern : io_dense_pattern(f->view.displacement);
    int error, lacks = greatest(f, !view || !make_parts(f, c), &error), result = 0;

    if (error == MPI_SUCCESS && !lacks) {
        c->engine = (struct two_phase){.g = engine_group(f->comm),
                                       .parts = c->parts,
                                       .holder = c->holder,
                                       .store = {move_block, f, true},
                                       .window_bytes = BLOCK};
        result = two_phase_learn(&c->engine, view);
        c->is_used = result >= 0;
        if (result < 0)
            two_phase_end(&c->engine);
    }
    if (view && view != f->view.pattern)
        pattern_free(view);
    return result < 0 && result != -N_ENOMEM && result != -N_E2BIG ? collective_error(f->comm, result) : error;
}

/* What is to be done for this view. A class, and nothing is agreed on. */
static int agree(struct mpi_file *f)
{
    bool wants = f->holders > 0 || (f->view.plan && !f->view.by_server);
    struct io_collective *c = calloc(1, sizeof *c);
    int error, all = greatest(f, c ? wants : INT32_MAX, &error);

    if (error == MPI_SUCCESS && all == INT32_MAX)
        error = mpi_error(MPI_ERR_NO_MEM, "no memory for a collective access", 0, 0);
    if (error != MPI_SUCCESS) {
        free(c);
        return error;
    }
    f->collective = c;
    if (all)
        error = learn(f, c);
    if (error != MPI_SUCCESS)
        io_collective_drop(f);
    return error;
}

/* ---- An access ---- */

/* The bytes of the view's file that the members' memory has packed, or is to get. */
static int64_t move_packed(struct mpi_file *f, MPI_Offset at, char *data, int64_t n, bool writes)
{
    if (f->store->move_together) {
        ssize_t moved = f->store->move_together(f->fd, writes, data, (size_t)n, at);

        return moved < 0 ? -errno : moved;
    }
    struct two_phase *t = &f->collective->engine;

    t->g = engine_group(f->comm);
    return two_phase_move(t, writes, data, n, at);
}

static int move_together(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes,
                         long *moved)
{
    long bytes = f->view.filetype_bytes > 0 ? t->size * count : 0;
    char *data = t->is_dense ? buf : malloc((size_t)bytes + 1);

    if (bytes > 0 && !t->is_dense && data && writes)
        mpi_pack(t, count, buf, 0, bytes, data);
    int64_t n = move_packed(f, at, data, data ? bytes : 0, writes);
    if (n > 0 && !t->is_dense && !writes)
        mpi_unpack(t, count, buf, 0, n, data);
    if (!t->is_dense)
        free(data);
    if (bytes > 0 && !data && !t->is_dense)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld packed bytes", bytes, 0);
    *moved = n > 0 ? (long)n : 0;
    if (n < 0 || (writes && n < bytes)) {
        errno = n < 0 ? (int)-n : ENOSPC;
        return io_error(f->store, f->name);
    }
    return writes && t->size * count > 0 && f->view.filetype_bytes == 0
               ? mpi_error(MPI_ERR_IO, "the filetype has no bytes", 0, 0)
               : MPI_SUCCESS;
}

int io_move_all(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes,
                long *moved)
{
    int error = f->store->move_together ? io_meet(f) : f->collective ? MPI_SUCCESS : agree(f);

    *moved = 0;
    if (error != MPI_SUCCESS)
        return error;
    return f->store->move_together || f->collective->is_used ? move_together(f, at, buf, count, t, writes, moved)
                                                             : io_move(f, at, buf, count, t, writes, moved);
}

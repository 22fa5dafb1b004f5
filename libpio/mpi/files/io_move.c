/*
 * Data between the program's memory and a file's view (io_file.h). Memory that is not dense is packed piece by piece.
 * Where the servers do not know the view, runs are written one by one, as others write between them; they are read by
 * pieces of the file with what lies between [Thakur, Gropp, Lusk: Data sieving and collective I/O in ROMIO, Frontiers
 * 1999].
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/types/datatype.h"
#include "libpio/mpi/files/io_file.h"

enum { PIECE = 1 << 16, SIEVE = 1 << 16 };

/* ---- Runs ---- */

struct writing {
    struct mpi_file *f;
    const char *data;
    MPI_Offset at; /* of the view, where data begins */
    long done;     /* bytes, without a gap; -1: the first write has failed */
};

static bool write_run(void *ctx, const struct plan_run *run)
{
    struct writing *w = ctx;
    ssize_t n = w->f->store->write(w->f->fd, w->data + (run->in[PLAN_B] - w->at), (size_t)run->bytes, run->file);

    if (n > 0)
        w->done += n;
    else if (w->done == 0)
        w->done = -1;
    return n == run->bytes;
}

static long write_runs(struct mpi_file *f, const char *data, long n, MPI_Offset at)
{
    const struct plan *p = f->view.plan;
    struct writing w = {f, data, at, 0};

    plan_runs(p, plan_file(p, at), plan_file(p, at + n - 1) + 1, write_run, &w);
    return w.done;
}

/* Reads what lies between, too; what is behind the end of the file does not count. */
static long read_runs(struct mpi_file *f, char *data, long n, MPI_Offset at)
{
    const struct plan *p = f->view.plan;
    int64_t from = plan_file(p, at), end = plan_file(p, at + n - 1) + 1, moved = 0;
    char *window = malloc(SIEVE);

    if (!window) {
        errno = ENOMEM;
        return -1;
    }
    while (from < end) {
        int64_t to = end - from < SIEVE ? end : from + SIEVE;
        ssize_t got = f->store->read(f->fd, window, (size_t)(to - from), from);

        if (got < 0 && moved == 0)
            moved = -1;
        if (got <= 0)
            break;
        moved += plan_gather(p, from, from + got, data + moved, window, from);
        if (got < to - from)
            break;
        from = to;
    }
    free(window);
    return moved;
}

/* Dense data. Returns bytes, -1: errno says why there are none. */
static long move_dense(struct mpi_file *f, void *data, long n, MPI_Offset at, bool writes)
{
    const struct io_view *v = &f->view;
    off_t place = v->by_server ? at : v->displacement + at;

    if (v->plan && !v->by_server)
        return writes ? write_runs(f, data, n, at) : read_runs(f, data, n, at);
    return writes ? f->store->write(f->fd, data, (size_t)n, place) : f->store->read(f->fd, data, (size_t)n, place);
}

/* ---- Memory ---- */

static long move_in_pieces(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t,
                           bool writes)
{
    long bytes = t->size * count, moved = 0, n = 0;
    char *piece = malloc(PIECE);

    if (!piece) {
        errno = ENOMEM;
        return -1;
    }
    for (long end; moved < bytes; moved += n) {
        end = bytes - moved < PIECE ? bytes : moved + PIECE;
        if (writes)
            mpi_pack(t, count, buf, moved, end, piece);
        n = move_dense(f, piece, end - moved, at + moved, writes);
        if (n > 0 && !writes)
            mpi_unpack(t, count, buf, moved, moved + n, piece);
        if (n < end - moved) {
            moved = n > 0 ? moved + n : moved > 0 ? moved : n;
            break;
        }
    }
    free(piece);
    return moved;
}

int io_move(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes, long *moved)
{
    long bytes = t->size * count, n = 0;

    *moved = 0;
    if (bytes > 0 && f->view.filetype_bytes == 0)
        return writes ? mpi_error(MPI_ERR_IO, "the filetype has no bytes", 0, 0) : MPI_SUCCESS;
    if (bytes > 0)
        n = t->is_dense ? move_dense(f, buf, bytes, at, writes) : move_in_pieces(f, at, buf, count, t, writes);
    if (n < 0)
        return io_error(f->store, f->name);
    *moved = n;
    if (writes && n < bytes) {
        errno = ENOSPC;
        return io_error(f->store, f->name);
    }
    return MPI_SUCCESS;
}

/* ---- What views and collective accesses share ---- */

int io_meet(struct mpi_file *f)
{
    return collective_error(
        f->comm, collect_barrier(engine_group(f->comm), COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_BARRIER)));
}

struct pattern *io_dense_pattern(MPI_Offset displacement)
{
    struct pattern *p;

    if (pattern_stripe(1 << 15, 1, &p) < 0)
        return NULL;
    p->displacement = displacement;
    return p;
}

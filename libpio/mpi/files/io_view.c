/*
 * Views [13.3]: a filetype becomes a view of <pattern.h>, whose period is the filetype's extent. A PIO file's servers
 * get it; elsewhere this process finds the runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "libpio/map/falls.h"
#include "libpio/mpi/types/datatype.h"
#include "libpio/mpi/files/io_file.h"

/* ---- A type as a set ---- */

/* Where a layout's bytes begin, from its address on. */
static long start_of(const struct mpi_layout *l)
{
    long at = 0;

    while (l->count > 0 || l->parts > 0) {
        at += l->parts > 0 ? l->part[0].at : 0;
        l = l->parts > 0 ? l->part[0].of : l->of;
    }
    return at;
}

/* A layout at `at` of the parent's block, to the list that begins at `mark`. What does not ascend the builder finds. */
static void push(struct falls_build *b, int32_t mark, const struct mpi_layout *l, long at)
{
    if (l->bytes == 0)
        return;
    if (l->count == 0 && l->parts == 0) {
        struct falls f = {.left = at, .length = l->bytes, .stride = l->bytes, .count = 1};

        falls_lies_as_in_file(&f);
        falls_push(b, mark, &f);
    } else if (l->parts > 0) {
        for (int i = 0; i < l->parts; i++)
            push(b, mark, l->part[i].of, at + l->part[i].at);
    } else if (l->of->count == 0 && l->of->parts == 0) {
        struct falls f = {.left = at, .length = l->of->bytes, .stride = l->stride, .count = l->count};

        falls_lies_as_in_file(&f);
        falls_push(b, mark, &f);
    } else {
        int32_t inner = b->listed;
        long start = start_of(l->of);
        struct falls f = {.left = at + start, .stride = l->stride, .count = l->count};

        push(b, inner, l->of, -start);
        falls_lies_as_in_file(&f);
        falls_wrap(b, mark, inner, &f);
    }
}

/* The bytes of a layout ascend: the last byte seen is before the first of the next part. */
static bool ascends(const struct mpi_layout *l, long at, long *end)
{
    if (l->bytes == 0)
        return true;
    if (l->count == 0 && l->parts == 0) {
        bool ok = at >= *end;

        *end = at + l->bytes;
        return ok;
    }
    for (int i = 0; i < l->parts; i++)
        if (!ascends(l->part[i].of, at + l->part[i].at, end))
            return false;
    for (long i = 0; i < l->count && l->parts == 0; i++) { /* if two do, all do */
        if (i == 2)
            i = l->count - 1;
        if (!ascends(l->of, at + i * l->stride, end))
            return false;
    }
    return true;
}

static int make_pattern(const struct mpi_type *t, MPI_Offset displacement, struct pattern **made)
{
    struct falls_build b = {0};
    struct pattern *p = pattern_new(displacement + t->true_lb, t->extent, 1);

    if (!p)
        return -ENOMEM;
    push(&b, 0, t->layout, -t->true_lb);
    return pattern_finish_view(&b, b.error, p, made);
}

/* ---- The view ---- */

static int error_of(int result)
{
    return result == -ENOMEM ? mpi_error(MPI_ERR_NO_MEM, "no memory for a view", 0, 0)
                             : mpi_error(MPI_ERR_ARG, "the filetype cannot be a view (%ld)", -result, 0);
}

/* Data at even places, without a tile that is longer than what lies in it. */
static bool is_whole(const struct mpi_type *t)
{
    return t->is_dense;
}

static int check(const struct mpi_type *etype, const struct mpi_type *filetype, MPI_Offset displacement)
{
    long end = 0;

    if (!etype || !filetype || !etype->is_committed || !filetype->is_committed)
        return mpi_error(MPI_ERR_TYPE, "of etype and filetype, one is none or not committed", 0, 0);
    if (displacement < 0)
        return mpi_error(MPI_ERR_DISP, "displacement %ld", displacement, 0);
    if (etype->size < 1 || filetype->size % etype->size != 0)
        return mpi_error(MPI_ERR_ARG, "the filetype has %ld bytes, no multiple of the etype's %ld", filetype->size,
                         etype->size);
    if (filetype->true_lb < 0 || !ascends(filetype->layout, 0, &end))
        return mpi_error(MPI_ERR_ARG, "the filetype's displacements do not ascend from 0 on", 0, 0);
    if (filetype->size > 0 && filetype->true_extent > filetype->extent)
        return mpi_error(MPI_ERR_ARG, "the filetype's extent, %ld, is less than its data, %ld", filetype->extent,
                         filetype->true_extent);
    return MPI_SUCCESS;
}

/* Gives the view to the store, which may refuse it: this process finds the runs then. */
static bool give_to_store(const struct mpi_file *f, const struct pattern *p)
{
    int64_t n = f->store->set_view && p ? pattern_pack(p, 0, NULL, 0) : -1;
    void *packed = n > 0 ? malloc((size_t)n) : NULL;
    bool given =
        packed && pattern_pack(p, 0, packed, (size_t)n) == n && f->store->set_view(f->fd, packed, (size_t)n) == 0;

    free(packed);
    return given;
}

/* The same where all members set their views together. One that has none, or an error, sets one that is refused, so
 * that no other waits for it. A class; after an error the views are what they were. */
static int give_together(struct mpi_file *f, const struct pattern *p, MPI_Offset displacement, int error)
{
    const struct mpi_note own = mpi_noted(error);
    struct pattern *dense = !p && error == MPI_SUCCESS ? io_dense_pattern(displacement) : NULL;
    int met = io_meet(f), given;

    if (met != MPI_SUCCESS)
        given = met;
    else if (p || dense)
        given = give_to_store(f, p ? p : dense) ? MPI_SUCCESS : io_error(f->store, f->name);
    else
        given = f->store->set_view(f->fd, "", 1) == 0 ? MPI_SUCCESS : io_error(f->store, f->name);
    if (dense)
        pattern_free(dense);
    return error == MPI_SUCCESS ? given : mpi_error_again(&own, error);
}

void io_drop_view(struct mpi_file *f)
{
    if (io_collective_drop)
        io_collective_drop(f);
    if (f->view.by_server && !f->store->move_together)
        f->store->set_view(f->fd, NULL, 0);
    plan_free(f->view.plan);
    if (f->view.pattern)
        pattern_free(f->view.pattern);
    f->view.plan = NULL;
    f->view.pattern = NULL;
    f->view.by_server = false;
}

int io_set_view(struct mpi_file *f, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype)
{
    const struct mpi_type *e = mpi_find_type(etype), *t = mpi_find_type(filetype);
    struct pattern *p = NULL;
    struct plan *plan = NULL;
    int error = check(e, t, displacement), result = 0;

    if (error == MPI_SUCCESS && !is_whole(t) && t->size > 0) {
        result = make_pattern(t, displacement, &p);
        if (result == 0)
            result = plan_make_file(p, 0, &plan);
        error = result == 0 ? error : error_of(result);
    }
    if (f->store->move_together)
        error = give_together(f, p, displacement, error);
    if (error == MPI_SUCCESS) {
        io_drop_view(f);
        f->view =
            (struct io_view){.displacement = displacement,
                             .etype = etype,
                             .filetype = filetype,
                             .etype_bytes = e->size,
                             .filetype_bytes = t->size,
                             .filetype_extent = t->extent,
                             .pattern = p,
                             .plan = plan,
                             .by_server = f->store->move_together || (p && f->holders == 0 && give_to_store(f, p))};
        f->position = 0;
    } else if (p) {
        plan_free(plan);
        pattern_free(p);
    }
    return error;
}

MPI_Offset io_place(const struct io_view *v, MPI_Offset k)
{
    return v->plan ? plan_file(v->plan, k) : v->displacement + k;
}

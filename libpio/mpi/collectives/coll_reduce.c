/*
 * Reductions [5.9].
 *
 * What an operation that does not commute combines has to be in the order of ranks. collect.c combines by place; so
 * where places are ranks the result is made at place 0, elsewhere all elements are gathered at the root.
 */
#include <stdlib.h>
#include <string.h>

#define ICOLL_WEAK
#include "libpio/group/pacing.h"
#include "libpio/mpi/collectives/icoll.h"
#include "vertex/contract/errors.h"

/* ---- The order of ranks ---- */

static bool places_are_ranks(const struct group *g)
{
    for (int rank = 0; g->process && rank < g->size; rank++)
        if (g->place_of[rank] != rank)
            return false;
    return true;
}

/* To the member that has place 0, and from there to the root; all: it stays there. */
static int reduce_in_order(struct group *g, const struct reduction *r, int root, int type)
{
    const struct collect_reduction x = reduction_for_collect(r);
    int result = pace_reduce(g, &x, 0, type);

    if (result < 0 || root == 0)
        return result;
    if (g->rank == 0)
        result = collect_give(g, collect_place(g, root), r->elements, r->bytes, type);
    else if (g->rank == root)
        result = collect_take(g, collect_place(g, 0), r->elements, r->bytes, type);
    return result < 0 ? result : 0;
}

static int gather_and_combine(struct group *g, const struct reduction *r, int root, int type)
{
    int *bytes = malloc((size_t)g->size * sizeof *bytes), result;
    char *all = g->rank == root ? malloc((size_t)(g->size * r->bytes) + 1) : NULL;

    if (!bytes || (g->rank == root && !all)) {
        free(bytes);
        return -N_ENOMEM;
    }
    for (int i = 0; i < g->size; i++)
        bytes[i] = (int)r->bytes;
    result = pace_gather(g, r->elements, all, bytes, collect_place(g, root), type);
    if (result >= 0 && g->rank == root) {
        collect_operation *op = reduction_for_collect(r).operation;
        char *last = all + (g->size - 1) * r->bytes;

        for (int i = g->size - 2; i >= 0; i--) /* the last one has what comes behind */
            op(last, all + i * r->bytes, last, r->count);
        memcpy(r->elements, last, (size_t)r->bytes);
    }
    free(all);
    free(bytes);
    return result;
}

/* ---- Reductions ---- */

int reduction_reduce(struct mpi_comm *c, const struct reduction *r, int root)
{
    struct group *g = engine_group(c);
    const struct collect_reduction x = reduction_for_collect(r);
    int type = mpi_rooted_type(c, ROOTED_REDUCE);

    if (r->commutes)
        return collective_error(c, pace_reduce(g, &x, collect_place(g, root), type));
    return collective_error(c, places_are_ranks(g) ? reduce_in_order(g, r, root, type)
                                                   : gather_and_combine(g, r, root, type));
}

static int all_reduce(struct mpi_comm *c, const struct reduction *r)
{
    struct group *g = engine_group(c);
    const struct collect_reduction x = reduction_for_collect(r);
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_ALLREDUCE);

    if (r->commutes || places_are_ranks(g)) {
        if (mpi_under_way == 0)
            g->take = NULL; /* giving and taking in one trap */
        mpi_tell_wait();
        return engine_error(c, collect_all_reduce(g, &x, type), type);
    }
    int result = gather_and_combine(g, r, 0, type);
    if (result >= 0)
        result = collect_broadcast(g, r->elements, (int)r->bytes, collect_place(g, 0), type);
    return collective_error(c, result);
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    char few[REDUCTION_FEW_BYTES] __attribute__((aligned(16)));
    struct reduction r;

    MPI_ENTER("Reduce", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_reduce(c, sendbuf, recvbuf, count, datatype, op, root, &error));
    bool is_root = c->group.rank == root;
    r.few = few;
    int error = check_root(c, root);
    if (error == MPI_SUCCESS && sendbuf == MPI_IN_PLACE && !is_root)
        error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (error == MPI_SUCCESS)
        error = reduction_check(&r, sendbuf, recvbuf, count, datatype, op, is_root);
    if (error == MPI_SUCCESS)
        error = reduction_begin(&r, count);
    if (error != MPI_SUCCESS)
        return mpi_leave(c, error);
    reduction_read(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    error = reduction_reduce(c, &r, root);
    if (is_root && error == MPI_SUCCESS)
        reduction_write(&r, recvbuf, r.elements);
    free(r.memory);
    return mpi_leave(c, error);
}
MPI_NAME(Reduce);

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    char few[REDUCTION_FEW_BYTES] __attribute__((aligned(16)));
    struct reduction r;

    MPI_ENTER("Allreduce", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_all_reduce(c, sendbuf, recvbuf, count, datatype, op, &error));
    r.few = few;
    int error = reduction_check(&r, sendbuf, recvbuf, count, datatype, op, true);
    if (error == MPI_SUCCESS)
        error = reduction_begin(&r, count);
    if (error != MPI_SUCCESS)
        return mpi_leave(c, error);
    reduction_read(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    error = all_reduce(c, &r);
    if (error == MPI_SUCCESS)
        reduction_write(&r, recvbuf, r.elements);
    free(r.memory);
    return mpi_leave(c, error);
}
MPI_NAME(Allreduce);

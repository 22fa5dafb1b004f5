/*
 * Scans, and reductions whose results are shared out [5.9.1, 5.10, 5.11].
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ICOLL_WEAK
#include "libpio/group/pacing.h"
#include "libpio/mpi/collectives/icoll.h"

#define NO_COUNTS INT_MIN /* NULL for the counts */

/* ---- Scans ---- */

static int scan(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                bool is_exclusive)
{
    struct group *g = engine_group(c);
    struct reduction r = {0};
    char *before = NULL;

    int error = reduction_check(&r, sendbuf, recvbuf, count, datatype, op, true);
    if (error == MPI_SUCCESS)
        error = reduction_begin(&r, count);
    if (error == MPI_SUCCESS && is_exclusive) {
        before = malloc((size_t)r.bytes + 1);
        error = before ? error : mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", r.bytes, 0);
    }
    if (error == MPI_SUCCESS) {
        const struct collect_reduction x = reduction_for_collect(&r);

        reduction_read(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
        error = collective_error(
            c,
            pace_scan(g, &x, before, COLLECTIVE_TYPE(c->number, is_exclusive ? COLLECTIVE_EXSCAN : COLLECTIVE_SCAN)));
    }
    if (error == MPI_SUCCESS && !(is_exclusive && g->rank == 0)) /* rank 0 gets nothing [5.11.2] */
        reduction_write(&r, recvbuf, is_exclusive ? before : r.elements);
    free(before);
    free(r.memory);
    return error;
}

#define SCAN(name, is_exclusive)                                                                                    \
    int PMPI_##name(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) \
    {                                                                                                               \
        struct mpi_comm *c = mpi_find_comm(comm);                                                                   \
                                                                                                                    \
        MPI_ENTER(#name, c, MPI_NO_PEER, MPI_NO_PEER);                                                              \
        if (!c)                                                                                                     \
            return mpi_fail_comm(comm);                                                                             \
        if (c->local)                                                                                               \
            return mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0));                        \
        return mpi_leave(c, scan(c, sendbuf, recvbuf, count, datatype, op, is_exclusive));                          \
    }                                                                                                               \
    MPI_NAME(name);

SCAN(Scan, false)
SCAN(Exscan, true)

/* ---- Reductions whose results are shared out ---- */

/* counts[rank], or `count` each. */
static int reduce_and_scatter(struct mpi_comm *c, const void *sendbuf, void *recvbuf, const int counts[], int count,
                              MPI_Datatype datatype, MPI_Op op)
{
    struct group *g = engine_group(c);
    struct reduction r = {0}, own;
    long all = 0;
    int few[COLLECTIVE_FEW], *bytes = few;

    if (!counts && count == NO_COUNTS)
        return mpi_error(MPI_ERR_ARG, "NULL for the counts", 0, 0);
    for (int i = 0; i < g->size; i++) {
        int n = counts ? counts[i] : count;

        if (n < 0)
            return mpi_error(MPI_ERR_COUNT, "%ld for rank %ld", n, i);
        all += n;
    }
    if (all > INT_MAX)
        return mpi_error(MPI_ERR_COUNT, "%ld elements", all, 0);
    int own_count = counts ? counts[g->rank] : count;
    int error = reduction_check(&r, sendbuf, recvbuf, (int)all, datatype, op, false);
    if (error == MPI_SUCCESS)
        check_data(recvbuf, own_count, datatype, &error);
    if (error == MPI_SUCCESS)
        error = reduction_begin(&r, (int)all);
    if (error == MPI_SUCCESS) {
        bytes = g->size <= COLLECTIVE_FEW ? few : malloc((size_t)g->size * sizeof *bytes);
        error = bytes ? error : mpi_error(MPI_ERR_NO_MEM, "no memory for a list of %ld parts", g->size, 0);
    }
    if (error == MPI_SUCCESS) {
        for (int i = 0; i < g->size; i++)
            bytes[i] = (int)r.element_bytes * (counts ? counts[i] : count);
        reduction_read(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
        error = reduction_reduce(c, &r, 0);
    }
    if (error == MPI_SUCCESS)
        error = collective_error(c, pace_scatter(g, r.elements, r.room, bytes, collect_place(g, 0),
                                                 COLLECTIVE_TYPE(c->number, COLLECTIVE_REDUCE_SCATTER)));
    own = r;
    own.count = own_count;
    own.bytes = own.element_bytes * own.count;
    if (error == MPI_SUCCESS)
        reduction_write(&own, recvbuf, r.room);
    if (bytes != few)
        free(bytes);
    free(r.memory);
    return error;
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Reduce_scatter", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(
        c, icoll_reduce_scatter(c, sendbuf, recvbuf, recvcounts, recvcounts ? 0 : NO_COUNTS, datatype, op, &error));
    return mpi_leave(c, reduce_and_scatter(c, sendbuf, recvbuf, recvcounts, recvcounts ? 0 : NO_COUNTS, datatype, op));
}
MPI_NAME(Reduce_scatter);

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Reduce_scatter_block", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_reduce_scatter(c, sendbuf, recvbuf, NULL, recvcount, datatype, op, &error));
    return mpi_leave(c, reduce_and_scatter(c, sendbuf, recvbuf, NULL, recvcount, datatype, op));
}
MPI_NAME(Reduce_scatter_block);

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op)
{
    struct reduction r = {0};

    MPI_ENTER("Reduce_local", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = reduction_check(&r, inbuf, inoutbuf, count, datatype, op, true);
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    if (r.function)
        r.function((void *)inbuf, inoutbuf, &count, &datatype);
    else
        r.operation(inoutbuf, inbuf, inoutbuf, count);
    return MPI_SUCCESS;
}
MPI_NAME(Reduce_local);

/*
 * Barrier and broadcast [5.3, 5.4].
 */
#include <stdlib.h>

#define ICOLL_WEAK
#include "libpio/group/pacing.h"
#include "libpio/mpi/collectives/icoll.h"

int PMPI_Barrier(MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Barrier", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_barrier(c, &error));
    struct group *g = engine_group(c);
    if (mpi_under_way == 0)
        g->take = NULL; /* a barrier in one trap */
    mpi_tell_wait();
    pace_in_step(g);
    return mpi_leave(c, collective_error(c, collect_barrier(g, COLLECTIVE_TYPE(c->number, COLLECTIVE_BARRIER))));
}
MPI_NAME(Barrier);

/* All members send the same pieces, whatever their types, so data that is not dense is packed as a whole. */
static int broadcast(struct mpi_comm *c, void *buf, int count, const struct mpi_type *t, int root)
{
    struct group *g = engine_group(c);
    long bytes = t->size * count;
    void *data = t->is_dense ? buf : malloc((size_t)bytes + 1);

    if (!data && !t->is_dense)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", bytes, 0);
    if (!t->is_dense && g->rank == root)
        mpi_pack(t, count, buf, 0, bytes, data);
    int type = mpi_rooted_type(c, ROOTED_BCAST);
    int error = collective_error(c, pace_broadcast(g, data, (int)bytes, collect_place(g, root), type));
    if (!t->is_dense && g->rank != root && error == MPI_SUCCESS)
        mpi_unpack(t, count, buf, 0, bytes, data);
    if (!t->is_dense)
        free(data);
    return error;
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Bcast", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_broadcast(c, buffer, count, datatype, root, &error));
    const struct mpi_type *t = check_data(buffer, count, datatype, &error);
    if (error == MPI_SUCCESS)
        error = check_root(c, root);
    if (error == MPI_SUCCESS)
        error = broadcast(c, buffer, count, t, root);
    return mpi_leave(c, error);
}
MPI_NAME(Bcast);

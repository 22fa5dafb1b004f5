/*
 * What is not supported (mpi_unsupported.h).
 */
#include "libpio/mpi/base/inside.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int refuse(MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    mpi_must_run();
    return c ? mpi_fail(c, mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "this library does not have it", 0, 0))
             : mpi_fail_comm(comm);
}

#define UNSUPPORTED(name, comm, arguments)                               \
    int PMPI_##name arguments                                            \
    {                                                                    \
        MPI_ENTER(#name, mpi_find_comm(comm), MPI_NO_PEER, MPI_NO_PEER); \
        return refuse(comm);                                             \
    }                                                                    \
    MPI_NAME(name);

MPI_UNSUPPORTED_(UNSUPPORTED)

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    MPI_ENTER("Comm_get_parent", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_get_parent);

/* All requests of the communicator have ended [10.5.4]. */
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return PMPI_Comm_free(comm);
}
MPI_NAME(Comm_disconnect);

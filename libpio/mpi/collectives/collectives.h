/* What collective calls share (coll_*.c). */
#pragma once

#include "libpio/mpi/messages/request.h"

#define COLLECTIVE_FEW 64 /* ranks: a list of their lengths is no memory to ask for */

/* What a result of collect.h is as a class. */
static inline int collective_error(struct mpi_comm *c, int result)
{
    return result < 0 ? mpi_error_of_message(c, result, c->group.failed) : MPI_SUCCESS;
}

/* In an intercommunicator [5.2.3], of the other group; or MPI_ROOT, and MPI_PROC_NULL beside it. */
static inline int check_root(const struct mpi_comm *c, int root)
{
    return (root >= 0 && root < c->group.size) || (c->local && (root == MPI_ROOT || root == MPI_PROC_NULL))
               ? MPI_SUCCESS
               : mpi_error(MPI_ERR_ROOT, "%ld is none of 0 to %ld", root, c->group.size - 1);
}

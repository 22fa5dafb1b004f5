/* Finds operations (reduction.h). */
#include "libpio/mpi/reduction.h"

#include <stddef.h>

int reduction_find(struct reduction *r, MPI_Op op)
{
    r->operation = mpi_predefined_operation(op, r->type->basic);
    r->commutes = true;
    if (r->operation)
        return MPI_SUCCESS;
    if (mpi_find_made_operation && mpi_find_made_operation(op, r))
        return MPI_SUCCESS;
    return mpi_error(MPI_ERR_OP, "0x%lx is none for the type 0x%lx", (long)op, (long)r->datatype);
}

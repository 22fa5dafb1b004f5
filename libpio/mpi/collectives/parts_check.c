/* The arguments that calls with a part for each rank share (coll_parts.h). */
#include <limits.h>

#include "libpio/mpi/collectives/coll_parts.h"

/* All parts together are less than 2 GB, as collect.h wants them. */
int parts_check(struct parts *p, int size, MPI_Datatype datatype)
{
    int error = MPI_SUCCESS;
    long bytes = 0;

    if (p->kind != PARTS_EQUAL && (!p->counts || !p->displs || (p->kind == PARTS_W && !p->types)))
        return mpi_error(MPI_ERR_ARG, "NULL for the counts, displacements or types", 0, 0);
    for (int i = 0; i < (p->counts ? size : 1) && error == MPI_SUCCESS; i++) {
        p->type = check_data(p->buf, parts_count(p, i), p->types ? p->types[i] : datatype, &error);
        if (error == MPI_SUCCESS)
            bytes += p->type->size * parts_count(p, i);
    }
    if (error == MPI_SUCCESS && bytes * (p->counts ? 1 : size) > INT_MAX)
        error = mpi_error(MPI_ERR_COUNT, "all parts are 2 GB or more", 0, 0);
    return error;
}

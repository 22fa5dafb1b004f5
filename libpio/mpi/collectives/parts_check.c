/* The arguments that calls with a part for each rank share (coll_parts.h). */
#include <limits.h>

#include "libpio/mpi/collectives/coll_parts.h"

/* All parts together are less than 2 GB, as collect.h wants them. */
int parts_check(struct parts *p, int size)
{
    int error = MPI_SUCCESS;
    long bytes = 0;

    if (p->kind != PARTS_EQUAL && size > 0 &&
        (!p->counts || (!p->displs && !p->places) || (p->kind == PARTS_W && !p->types)))
        return mpi_error(MPI_ERR_ARG, "NULL for the counts, displacements or types", 0, 0);
    for (int i = 0; i < (p->counts ? size : 1) && error == MPI_SUCCESS; i++) {
        p->type = check_data(p->buf, parts_count(p, i), p->types ? p->types[i] : p->datatype, &error);
        if (error == MPI_SUCCESS)
            bytes += p->type->size * parts_count(p, i);
    }
    if (error == MPI_SUCCESS && bytes * (p->counts ? 1 : size) > INT_MAX)
        error = mpi_error(MPI_ERR_COUNT, "all parts are 2 GB or more", 0, 0);
    return error;
}

int parts_check_both(const struct mpi_comm *c, struct parts *own, struct parts *all, int root)
{
    bool is_root = parts_at_root(c, root), in_place = own->buf == MPI_IN_PLACE;
    int error = root == MPI_NO_PEER ? MPI_SUCCESS : check_root(c, root);

    if (error == MPI_SUCCESS && in_place && parts_has_own(c, root) && (!is_root || c->local))
        error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (error == MPI_SUCCESS && is_root)
        error = parts_check(all, c->group.size);
    if (error == MPI_SUCCESS && parts_has_own(c, root) && !in_place)
        own->type = check_data(own->buf, own->count, own->datatype, &error);
    return error;
}

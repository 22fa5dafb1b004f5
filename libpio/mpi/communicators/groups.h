/* Groups of the program [6.3]: lists of ranks in MPI_COMM_WORLD. */
#pragma once

#include "libpio/mpi/base/inside.h"

struct mpi_group {
    int size;
    int world_rank[]; /* of each rank */
};

/* NULL: no such group. */
const struct mpi_group *groups_find(MPI_Group handle);

/* Makes one of these members, for the program; the way out of a call. */
int groups_of(const struct group *members, MPI_Group *group);

/* The rank of a process of MPI_COMM_WORLD; MPI_UNDEFINED. */
int groups_rank_of(const struct mpi_group *g, int world_rank);

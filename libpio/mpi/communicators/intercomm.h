/* Making intercommunicators (intercomm.c, intercomm_create.c) [6.6.2]. */
#pragma once

#include "libpio/mpi/communicators/comms.h"

/* The two groups, as ranks in MPI_COMM_WORLD. */
struct intercomm_lists {
    const int *own;
    int owns;
    const int *other;
    int others;
};

/* Makes this process's part of one, of two numbers on which both groups have agreed. A class. */
int intercomm_make(struct mpi_comm *parent, const int number[2], const struct intercomm_lists *l,
                   struct mpi_comm **made);

/*
 * Operations of reductions [5.9.2, 5.9.4, 5.9.5].
 */
#pragma once

#include "libpio/mpi/types/datatype.h"

/* A predefined operation on elements of that kind, which lie an extent apart; NULL: there is none. */
collect_operation *mpi_predefined_operation(MPI_Op op, enum mpi_basic kind);

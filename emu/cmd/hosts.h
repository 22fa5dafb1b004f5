/*
 * Whether this ncube has other hosts for its nodes: ncube has none (hosts_one.c), ncube-mpi those of MPI's other ranks
 * (hosts_mpi.c).
 */
#pragma once

#include "emu/state/machine_data.h"

/* In the environment of what ncube-mpi starts: those are commands of rank 0, and have no other hosts. */
#define HOSTS_WITHIN "NCUBE_MPI_WITHIN"

/* Called first by main. Returns what the other hosts do for a machine; NULL: there are none. Does not return in a
 * process that is one of them. */
const struct machine_far *hosts_begin(int *argc, char ***argv);

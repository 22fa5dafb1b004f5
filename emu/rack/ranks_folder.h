/*
 * Open MPI's session folder, which would be left if mpirun were killed; 4.1 has 8 MB there.
 */
#pragma once

/* Removes what is in the folder that mpirun has made for this run on this host, and the folder: all that is needed of
 * it is mapped or open. To be called by all processes, when MPI has begun in all of them. The first one of each host
 * does it. */
void ranks_folder_remove(void);

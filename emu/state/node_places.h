/* Where in their programs nodes are: what reads programs' memory and registers for user_calls.h, without a debugger. */
#pragma once

#include "emu/state/machine_data.h"
#include "emu/state/user_calls.h"

/* The programs of a job, which outlives them; NULL: there is no job, or it has none. The caller frees them. */
struct user_calls *node_places_open(struct machine *m, const struct job *j);

/* The number of a node's program in its job; UINT32_MAX: none of the job's own. `file` receives its file, which stays
 * the job's; -1: it is not open. */
uint32_t node_places_program(const struct job *j, uint32_t address, int *file);

/* The line of the program, or the call in it, at which a node has just entered the kernel, if the plugin looks there
 * (SLOT_TRAPS_WHERE): "main (x.c:20)", "MPI_Send, called in main (x.c:20)". NULL: it is not known. Not for a machine
 * that is kept up. The text lives as long as the machine. */
const char *node_places_at_trap(struct machine *m, uint32_t index);

/*
 * The drives of an I/O node, for its built-in program: one command at a time, in the order of the calls [P0 section 3].
 */
#ifndef VERTEX_DRIVE_TRAPS_H
#define VERTEX_DRIVE_TRAPS_H

#include "vertex/contract/machine.h"

#define DISK_IO_MAX_SECTORS 2048u /* 1 MB */

/* Handles CAUSE_DISK_DONE; called by event.c. */
void disk_done(const struct ncu_cause *cause);

#endif

/*
 * Drives, for the built-in program of an I/O node. One command at a time, in the order asked [P0 section 3].
 */
#ifndef VERTEX_DRIVE_TRAPS_H
#define VERTEX_DRIVE_TRAPS_H

#include "vertex/contract/machine.h"

#define DISK_IO_MAX_SECTORS 2048u /* 1 MB */

/* A command's end, from event.c. */
void disk_done(const struct ncu_cause *cause);

#endif

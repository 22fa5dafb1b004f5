/*
 * The start of a machine's cabinets. A function that returns -1 has printed one line on standard error.
 */
#pragma once

#include <limits.h>

#include "emu/state/machine_data.h"

#define PART_PATH_BYTES (PATH_MAX + 64) /* the host refuses longer paths */

/* Writes the path of a part of ncube, and notes that the machine reads it. */
void machine_find_part(struct machine *m, const char *name, char path[PART_PATH_BYTES]);

/* Lets signals.h judge by the work of the machine's QEMUs whether an orderly end is stuck. */
void machine_watch_work(struct machine *m);

/* Makes the control segment and the tables of harts and cabinets, none of which runs. Signals are caught from here on.
 * Returns 0 or -1. */
int machine_make_harts(struct machine *m);

/* Starts the cabinets from first_cabinet to before end_cabinet, and waits for their harts. Returns 0 or -1. */
int machine_start_cabinets(struct machine *m);

/* Both, with what watches the machine, and the costs of instructions; the nodes may be on other hosts. Returns 0 or
 * -1. */
int machine_start_harts(struct machine *m);

/*
 * The begin and the end of the racks.
 */
#pragma once

#include "emu/state/machine_data.h"

/* Asks all hosts whether they can have the machine's nodes, and starts the cabinets there (machine_far.start). */
int racks_start(struct machine *m);
/* Ends the machine in all racks, and forgets it (machine_far.stop). */
void racks_stop(struct machine *m);

/* Lets all racks end, at the end of rank 0, and waits until nothing is left of them. Does not return if a rack is
 * lost. */
void racks_end(void);

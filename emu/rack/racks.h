/*
 * The racks as rank 0 sees them: what a machine asks of them (machine_far in emu/state/machine_data.h).
 *
 * Rank 0 has the front end, the models and the scheduler, and orders everything. It has a copy of the control segment,
 * which grants and reports keep up to date, and of the nodes' mailboxes; other memory of nodes only the racks have.
 */
#pragma once

#include "emu/state/machine_data.h"

/* Returns what the ranks from 1 on do for a machine. Static. */
const struct machine_far *racks_far(void);

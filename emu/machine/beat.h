/*
 * How far a run has come: the heartbeat's line (docs/running.md), or on a terminal the line of progress that is drawn
 * over and over.
 */
#pragma once

#include <stdbool.h>

#include "emu/state/machine_data.h"

/* Prints the line if it is due. `streams`: ncube waits for a stream of the program. */
void machine_beat(struct machine *m, bool streams);

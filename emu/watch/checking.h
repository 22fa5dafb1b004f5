/*
 * `ncube run --check`: what a program did wrong in silence. Harts stop where the library learns that a call of the
 * kernel has failed (trap_failed), where Vertex opens a file or takes a message, and where it ends a process, whose
 * open files and unread messages are still there. Virtual time does not see the stops (debug_area.h).
 *
 *   checking_open -> (harts) checking_stands ... -> checking_tell
 */
#pragma once

#include "emu/state/machine_data.h"

/* Sets the places, if the options want it; the job has been begun, and the cabinets have not started. Returns 0, or -1
 * after one line. */
int checking_open(struct machine *m);
/* The job's nodes can stop from now on. */
void checking_begin(struct machine *m, uint32_t job);
/* For sched_ops: notes why harts have stopped, and lets them go on. */
bool checking_stands(void *machine, uint32_t running);
/* A message has come to a node of the machine. */
void checking_note_arrival(struct machine *m, uint32_t address, uint32_t tag);
/* At the end: prints what has been found, also of the nodes that have not ended. */
void checking_tell(struct machine *m);
void checking_close(struct machine *m);

/*
 * Checkpoints of a run in which gdb goes back. Each is a copy of the process in which ncube and its only cabinet are
 * (emu/qemu/inside.h), made while all harts stand, which waits. When gdb goes back, the machine need not execute the
 * run from its beginning, but from the latest checkpoint that is before all that is sought.
 *
 *     process that runs the machine       the checkpoint                    another copy
 *     --------------------------------    ------------------------------    -----------------------------
 *     checkpoints_make: copies itself --> takes memory and images of its
 *                                <------- own, answers, and waits
 *     goes on
 *     checkpoints_wake               -->  copies itself: answers, waits
 *     may it begin?                  ------------------------------------>  takes memory and images of its own
 *                                <----------------------------------------  answers
 *     what the debugger knows, and gdb's connection  -------------------->  is the guard's from now on
 *     ends                       <----------------------------------------  answers; goes on, from that time
 *
 * If a process fails or is killed before the last answer, the one that runs the machine notices, and still does.
 *
 * In a run that is kept as it goes on (recording.h), the process that has come furthest with the host is the present
 * one: it does not end, but waits. The others are behind, and only repeat; where they would go further, the present one
 * goes on.
 *
 * All are children of the process that guards this one (guard.h), and end with it. The first checkpoint is the machine
 * at its start. Others are made in intervals of the processor time that the run takes; when there are too many, or too
 * much memory is taken, those are given up that are closest to their neighbours, compared with how far back they are.
 * So a step back from the present place takes an interval, and one from a place far back not much longer than it would
 * from there. When they are made depends on the host, but the run is the same from each of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/state/machine_data.h"

/* Makes the first checkpoint of a machine that has started, and of which nothing has run. Does nothing if there can be
 * none. Returns when the machine is to begin: a further time in each process that goes on from there. */
void checkpoints_begin(struct machine *m);
void checkpoints_end(struct machine *m);

/* Returns the latest virtual time at which checkpoints_look is to be called, while all harts stand; UINT64_MAX:
 * never. It may become earlier while the machine runs. */
uint64_t checkpoints_limit(const struct machine *m);
/* Makes a checkpoint if it is time for one. Returns, too, in each process that goes on from there; then the debugger
 * seeks something else. In a process that is behind, ends it where another one goes on: there, or if the nodes are
 * `stuck`. */
void checkpoints_look(struct machine *m, bool stuck);
/* The run is to end in order, for a signal, or because gdb `kills` it. In a process that is behind, that is another
 * one's task: this one ends. */
void checkpoints_stop(struct machine *m, bool kills);

/* The debugger wants another machine: lets one go on from a checkpoint. This process ends; or, if it is the one that
 * has come furthest with the host, waits, and returns true when the machine is to run on here. Returns false if there
 * is no checkpoint for what the debugger seeks. */
bool checkpoints_wake(struct machine *m);

/*
 * What a machine tells its user: why it does not go on, and its statistics.
 */
#ifndef NCUBE_EXPLAIN_H
#define NCUBE_EXPLAIN_H

#include <stdbool.h>

#include "emu/cmd/machine_data.h"

/* After SCHED_DEADLOCK: says what nodes wait for, or how those of the job have ended, with nodes that are alike in one
 * line; then what is broken. `whole`: of the whole machine (j may be NULL then), else of the job's nodes, numbered
 * from 0. */
void machine_report_waits(struct machine *m, const struct job *j, bool whole, void (*say)(void *ctx, const char *line),
                          void *ctx);

/* Returns the fault of a node of the job that is dead and has not exited, or NULL. */
const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j);

/* After SCHED_STOPPED: prints which cabinet was lost; nothing if a signal stopped the machine. Returns -1. */
int machine_explain_stop(struct machine *m);

/* Returns the virtual time in seconds. */
double machine_seconds(const struct machine *m);

/* At the end: prints the statistics or writes them to their file, if the user has asked for them. Returns 0, or -1 if
 * they could not be written. */
int machine_tell_statistics(struct machine *m);

#endif

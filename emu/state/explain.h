/*
 * The machine's reports to its user: deadlocks, lost cabinets, and statistics.
 */
#pragma once

#include <stdbool.h>

#include "emu/state/machine_data.h"

enum waits_options {
    WAITS_MACHINE = 1, /* of the whole machine, and the job may be NULL; else of the job's nodes, numbered from 0 */
    WAITS_PLACES = 2,  /* with the places where nodes compute, to which their code may have run ahead: not the same in
                        * every run */
    WAITS_IN_PLACE = 4 /* at a limit: with those that are */
};

/* Reports what each node waits for, or that it computes, or how it has ended, with nodes that are alike in one line;
 * then the faults. For deadlocks, limits and signals. */
void machine_report_waits(struct machine *m, const struct job *j, unsigned options,
                          void (*say)(void *ctx, const char *line), void *ctx);

/* Returns the fault of a node of the job that is dead and has not exited, or NULL. */
const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j);

/* To be called when no hart has reported for HARTS_SILENCE_MS, with the machine. Returns true if its QEMUs no longer go
 * on: they have done nothing for three such times, and no signal has suspended any of them. */
bool machine_is_lost(void *machine);

/* After SCHED_STOPPED: prints which cabinet was lost; nothing if a signal stopped the machine. Returns -1. */
int machine_explain_stop(struct machine *m);

/* Say that the QEMU of a cabinet hangs, or has not come up; return -1. */
int machine_explain_silence(struct machine *m, uint32_t cabinet);
int machine_explain_late(struct machine *m, uint32_t cabinet);

/* Returns the virtual time in seconds. */
double machine_seconds(const struct machine *m);

/* At the end: prints the statistics or writes them to their file, if the user has asked for them. Returns 0, or -1 if
 * they could not be written. */
int machine_tell_statistics(struct machine *m);

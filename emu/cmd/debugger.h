/*
 * gdb on a machine: connects the stub (emu/debug/stub.h) with the machine's nodes and its one debugged program, and
 * answers what gdb's user asks about the machine. Nothing here does anything if the machine has no stub.
 */
#ifndef NCUBE_DEBUGGER_H
#define NCUBE_DEBUGGER_H

#include "emu/cmd/machine_data.h"

/* If the options ask for gdb: listens, before anything is built. Returns 0, or -1. */
int debugger_open(struct machine *m);
/* Makes the cabinets' harts stoppable; before they start. */
void debugger_prepare(struct machine *m);
/* Connects the stub with the machine, whose models exist. */
void debugger_attach(struct machine *m);

/* Gives gdb up, and frees the stub. */
void debugger_close(struct machine *m);

/* The program of job `id` is the one to debug; it is about to be loaded. Returns 0, or -1. */
int debugger_begin(struct machine *m, uint32_t id);
/* Job `id` has ended. */
void debugger_end(struct machine *m, uint32_t id);
/* Takes gdb's request to kill the program; true once after one. */
bool debugger_kills(struct machine *m);

/* struct sched_ops: stands. */
bool debugger_stands(void *machine, uint32_t running);

#endif

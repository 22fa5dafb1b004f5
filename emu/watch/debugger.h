/*
 * gdb on a machine: connects the stub (emu/debug/stub.h) with the machine's nodes and its one debugged program, and
 * answers what gdb's user asks about the machine. Nothing here does anything if the machine has no stub.
 */
#pragma once

#include <poll.h>

#include "emu/state/machine_data.h"

/* If the options ask for gdb: listens, before anything is built. Returns 0, or -1. */
int debugger_open(struct machine *m);
/* Makes the cabinets' harts stoppable; before they start. Returns 0, or -1. */
int debugger_prepare(struct machine *m);
/* Returns up to where the machine is to run as without gdb (emu/debug/stub.h: stub_forward), 0: nowhere. After
 * SCHED_LIMIT at that time, debugger_look begins to look at the nodes. */
uint64_t debugger_forward(const struct machine *m);
void debugger_look(struct machine *m);
/* Connects the stub with the machine, whose models exist. */
void debugger_attach(struct machine *m);

/* Gives gdb up, and frees the stub; but for one that travels, which is kept for the next machine. */
void debugger_close(struct machine *m);

/* Returns true if gdb goes back in the run: this machine is to be ended, and another one takes its place. */
bool debugger_travels(const struct machine *m);

/* The program of job `id` is the one to debug; it is about to be loaded. Returns 0, or -1. */
int debugger_begin(struct machine *m, uint32_t id);
/* In a copy of this process (emu/machine/checkpoints.h), which has taken what the debugger seeks; `latest_cycles` was
 * the latest clock of a hart when it was made. Does nothing if the program was not about to be loaded then. */
void debugger_resume(struct machine *m, uint64_t latest_cycles);
/* Job `id` begins on a machine that is kept up: it is the one to debug if that was offered (debugger_offer),
 * unless a host program will load its programs. */
void debugger_begun(struct machine *m, uint32_t id);
/* Offers gdb a job that runs, or, if id is 0, the next one, which then waits for gdb at its entry. Writes how gdb is
 * called; returns false, with one line, if that is not possible. */
bool debugger_offer(struct machine *m, uint32_t id, char *text, size_t bytes);
/* Fills p, of STUB_POLLS entries, with what to wait for (stub.h). Returns how many. */
size_t debugger_poll(const struct machine *m, struct pollfd *p);
/* Job `id` has ended. */
void debugger_end(struct machine *m, uint32_t id);
/* Takes gdb's request to kill the program; true once after one. */
bool debugger_kills(struct machine *m);

/* Job `id` is to be killed, for another reason than that gdb's user wants it: lets gdb go, and the program on. */
void debugger_drop(struct machine *m, uint32_t id);
/* Nothing more can happen, and job `id` has not ended. Returns true if gdb is told, so that the machine is to be run
 * again; false if nobody wants to know, or gdb knows it already. */
bool debugger_stuck(struct machine *m, uint32_t id);

/* struct sched_ops: stands. */
bool debugger_stands(void *machine, uint32_t running);

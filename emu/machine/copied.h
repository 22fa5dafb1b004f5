/*
 * What a copy of the process that runs a machine is given (checkpoints.h): memory and images of its own, and what other
 * processes have learned since it was made.
 */
#pragma once

#include "emu/base/memory_file.h"
#include "emu/state/machine_data.h"

struct copied_memory { /* what a copy would share */
    struct memory_file ram, control;
    off_t traced; /* bytes of the trace's file; -1: there is none */
};

/* Returns false if a copy cannot leave alone what the run writes as it goes on. */
bool copied_is_possible(const struct machine *m);
/* Finds where all that is; before the copy is made. Returns 0 or an errno. */
int copied_find(const struct machine *m, struct copied_memory *memory);
/* In the copy: makes them its own, and the drives' images. The original must not run meanwhile. Returns 0 or an
 * errno. */
int copied_own(struct machine *m, const struct copied_memory *memory);
/* In a copy that goes on: lets the trace go on from where it was; but if another process has come further, it is that
 * one's, and not written here. Returns 0 or an errno. */
int copied_trace(const struct machine *m, const struct copied_memory *memory);
/* Returns a descriptor of the trace's file, or -1; the caller gives it to copied_end_trace, when the trace is complete:
 * cuts off what another process has written behind it. */
int copied_hold_trace(const struct machine *m);
void copied_end_trace(const struct machine *m, int held);
/* Before a copy is made of the process that has come furthest. */
void copied_mark(struct machine *m);
/* How much memory it takes. */
uint64_t copied_bytes(const struct machine *m);

struct copied_link { /* a pair of sockets, which all copies have */
    int near, far;   /* ends of the process that runs the machine, and of the others */
};

bool copied_open(struct copied_link *c);
void copied_close(const struct copied_link *c);

/* Answers the process that runs the machine. If that fails, this one ends. */
void copied_answer(const struct copied_link *c, int32_t what);
/* Waits for what that process answers. -1: it has ended, or this one is to end at once. */
int32_t copied_await_answer(const struct copied_link *c, pid_t pid);
/* Forgets what a process that has failed has not read, or has answered. */
void copied_clear(const struct copied_link *c);
/* Hands the machine over to a process that is in copied_await_go, with what the debugger knows, gdb's connection, and
 * what is known of the run, unless that is the one that has come furthest, and knows more. That answers 0 when it is
 * ready, receives all that, and says when it runs the machine: then its answer has been read, so it may ask in turn.
 * Return false if the other process fails, or sends nothing. */
bool copied_hand_over(const struct machine *m, const struct copied_link *c, pid_t pid, bool to_present);
bool copied_await_go(const struct copied_link *c);
bool copied_receive(struct machine *m, const struct copied_link *c, bool is_present);
void copied_say_gone_on(const struct copied_link *c);

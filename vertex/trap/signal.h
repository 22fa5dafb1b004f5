/*
 * Signals between the processes of a program, and to a process from its own faults and from arriving messages.
 *
 * For each signal a program selects the default effect (the job ends, or nothing happens), ignores it, or has the
 * library's dispatcher called, as signal() and sigaction() do. The kernel delivers a signal when it returns to the
 * program, on the program's own stack; the signal and its mask are blocked until sigreturn. A blocked signal stays
 * pending, and takes effect when it is unblocked. A signal that arrives again while it is pending counts once. A
 * handler interrupts a wait in nread, nreadp or sleep; after it nread and nreadp wait again, and sleep returns. File
 * calls finish first.
 *
 *   arrives -> blocked: pending -> unblocked -> the dispatcher, or the end of the job
 *           -> caught: pending, delivered when the process next runs
 *           -> otherwise the end of the job, at once; or nothing
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/process/proc.h"

enum signal { /* newlib's numbers */
              SIGNAL_ILL = 4,
              SIGNAL_TRAP = 5,
              SIGNAL_KILL = 9,
              SIGNAL_BUS = 10,
              SIGNAL_SEGV = 11,
              SIGNAL_PIPE = 13,
              SIGNAL_ALRM = 14,
              SIGNAL_URG = 16,
              SIGNAL_STOP = 17,
              SIGNAL_TSTP = 18,
              SIGNAL_CONT = 19,
              SIGNAL_CHLD = 20,
              SIGNAL_TTIN = 21,
              SIGNAL_TTOU = 22,
              SIGNAL_IO = 23, /* a message has arrived that no nread waits for */
              SIGNAL_WINCH = 28,
              SIGNALS = 32,
};

#define SIGNAL_STATUS 128 /* added to the number of the signal that ended a process, as shells do */

/* Raises SIGNAL_IO in p if m, just queued for it, calls for that. */
void signal_arrival(struct proc *p, const struct message *m);
/* The running process signals itself: the signal is delivered before its call returns. */
void signal_own(struct proc *p, uint32_t signal);
/* Raises SIGNAL_PIPE in the running process, whose write gets EPIPE because its stream has no reader. */
void signal_broken_pipe(struct proc *p);
/* Raises SIGNAL_ALRM: the process's alarm is due. */
void signal_alarm(struct proc *p);
/* Raises SIGNAL_CHLD in a process whose child has ended, and wakes it. */
void signal_child(struct proc *parent);
uint32_t signal_of_fault(uint64_t scause);
/* Raises the signal of a fault in the running process. Returns true if its handler will be called. */
bool signal_fault(struct proc *p, uint64_t scause, uint64_t address);

static inline bool signal_is_ignored(const struct proc *p, uint32_t signal)
{
    return p->sig_ignored >> signal & 1;
}

/* Returns true if a pending signal is not blocked, so that signal_deliver has work. */
static inline bool signal_is_due(const struct proc *p)
{
    return p->sig_pending & ~p->sig_blocked;
}

/* Blocks exactly these signals. Drops the pending ones that are now neither blocked nor have an effect. */
void signal_set_blocked(struct proc *p, uint32_t signals);
/* A signal has ended a wait with other signals blocked: its handler's return blocks these again. */
void signal_suspended(struct proc *p, uint32_t before);

void signal_deliver(struct proc *p); /* delivers the lowest such signal, as the process returns to user mode */

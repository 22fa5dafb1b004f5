/*
 * Signals between the processes of a program, and to a process from its own faults and from messages that arrive.
 *
 * A program says of each signal whether it has the default effect (the job ends, or nothing happens), is ignored, or
 * calls the library's dispatcher (signal() and sigaction() do). A signal is delivered on the way back to the program,
 * on the program's own stack; it and its mask are blocked until sigreturn. One that is blocked stays pending, whatever
 * its effect; that shows when it is let through. A signal that comes again while it is pending is one. A wait in nread,
 * nreadp or sleep is interrupted by a handler, and made again (nread, nreadp) or given up (sleep); file calls are
 * finished first.
 *
 *   come -> blocked: pending -> let through -> dispatcher, or the end
 *        -> caught: pending, and delivered as soon as the process goes on
 *        -> else the end, at once; or nothing
 */
#ifndef VERTEX_SIGNAL_H
#define VERTEX_SIGNAL_H

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
              SIGNAL_IO = 23, /* a message has arrived that nread does not wait for */
              SIGNAL_WINCH = 28,
              SIGNALS = 32,
};

/* N_SIGNAL. Takes the message over. */
void signal_message(struct message *m);
/* A message was queued for p. */
void signal_arrival(struct proc *p, const struct message *m);
/* The process that runs signals itself: it comes before its call returns. */
void signal_own(struct proc *p, uint32_t signal);
/* The process that runs gets EPIPE: what it wrote nobody reads any more. */
void signal_broken_pipe(struct proc *p);
/* The process's alarm rings. */
void signal_alarm(struct proc *p);
/* The process that runs has faulted. True: its handler will be called. */
bool signal_fault(struct proc *p, uint64_t scause, uint64_t address);

/* A handler is to be called, or the process is to end; */
static inline bool signal_is_due(const struct proc *p)
{
    return p->sig_pending & ~p->sig_blocked;
}

void signal_deliver(struct proc *p); /* it is, when the process goes on: the lowest */

#endif

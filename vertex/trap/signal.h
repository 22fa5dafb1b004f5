/*
 * Signals between the processes of a program, and to a process from its own faults and from messages that arrive.
 *
 * A program names a dispatcher and the signals that it is to be called for (the library's signal() does). Others have
 * the default effect: the job ends. A signal is delivered on the way back to the program, on the program's own stack;
 * it is blocked until sigreturn. A signal that comes again while it is pending is one. A wait in nread, nreadp or
 * sleep is interrupted by it, and made again (nread, nreadp) or given up (sleep); file calls are finished first.
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
              SIGNAL_URG = 16,
              SIGNAL_STOP = 17,
              SIGNAL_CONT = 19,
              SIGNAL_CHLD = 20,
              SIGNAL_IO = 23, /* a message has arrived that nread does not wait for */
              SIGNAL_WINCH = 28,
              SIGNALS = 32,
};

/* N_SIGNAL. Takes the message over. */
void signal_message(struct message *m);
/* A message was queued for p. */
void signal_arrival(struct proc *p, const struct message *m);
/* The process that runs has faulted. True: its handler will be called. */
bool signal_fault(struct proc *p, uint64_t scause, uint64_t address);

/* A handler is to be called; */
static inline bool signal_is_due(const struct proc *p)
{
    return p->sig_pending & ~p->sig_blocked;
}

void signal_deliver(struct proc *p); /* it is, when the process goes on */

#endif

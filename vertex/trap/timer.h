/*
 * The node's timer, shared: each process may have a deadline and an alarm, the scheduler the end of a time slice, and report.c a
 * report to send again. The NCU's one timer is set to the earliest.
 */
#ifndef VERTEX_TIMER_H
#define VERTEX_TIMER_H

#include "vertex/process/proc.h"

/* The process is woken at that time, timed_out set, unless the deadline is cleared before. */
void timer_set(struct proc *p, uint64_t at_cycles);
void timer_clear(struct proc *p);

/* SIGALRM comes then. */
void timer_set_alarm(struct proc *p, const struct abi_itimer *alarm);

/* The slice of the process that runs ends then; NCU_TIMER_NONE: never. */
void timer_set_slice(uint64_t at_cycles);

extern bool timer_slice_over; /* it has ended */

/* report_again is called then. */
void timer_set_report(uint64_t at_cycles);

/* CAUSE_TIMER. */
void timer_due(uint64_t now_cycles);

#endif

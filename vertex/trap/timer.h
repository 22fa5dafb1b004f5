/*
 * Shares the NCU's only timer: each process may have a deadline and an alarm, the scheduler the end of a time slice,
 * process/report.c a report to send again, and message/pace.c the end of the channels' rest. The NCU's timer is set to
 * the earliest of them.
 */
#pragma once

#include "vertex/process/proc.h"

/* timer_set wakes the process at that time with timed_out set, unless timer_clear comes first. */
void timer_set(struct proc *p, uint64_t at_cycles);
void timer_clear(struct proc *p);

/* Sets the process's alarm, which raises SIGALRM. */
void timer_set_alarm(struct proc *p, const struct abi_itimer *alarm);

/* Sets the end of the running process's time slice; NCU_TIMER_NONE: no end. */
void timer_set_slice(uint64_t at_cycles);

extern bool timer_slice_over; /* the slice has ended */

/* Set the times at which report_again and pace_end_rest are called. */
void timer_set_report(uint64_t at_cycles);
void timer_set_rest(uint64_t at_cycles);

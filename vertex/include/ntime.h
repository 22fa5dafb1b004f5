/*
 * Virtual time: one clock for all nodes, 0 when the machine starts.
 */
#ifndef _NTIME_H
#define _NTIME_H

#define NTIME_TICK_US 128 /* a tick of ntime */

/* Virtual time 0 as a date, for time(), gettimeofday() and the times of files: 1996-01-01 00:00:00 UTC.
 * A constant, so that two runs write the same bytes. */
#define NTIME_EPOCH_S 820454400L

/* Returns the virtual time in microseconds, exact to the cycle (0.05 µs). */
double amicclk(void);

/* Returns the virtual time in whole seconds; *us gets the remaining microseconds. us may be NULL. */
long n_time(int *us);

/* Returns the virtual time in ticks of 128 µs. */
long ntime(void);

#endif

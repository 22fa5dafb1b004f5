/*
 * Virtual time, the same on every node; 0 when the machine starts.
 */
#ifndef _NTIME_H
#define _NTIME_H

#define NTIME_TICK_US 128 /* of ntime */

/* The calendar's time at virtual time 0, for time(), gettimeofday() and files' times: 1996-01-01 00:00:00 UTC.
 * A constant, so that two runs write the same bytes. */
#define NTIME_EPOCH_S 820454400L

/* Microseconds, to the cycle (0.05 µs). */
double amicclk(void);

/* Seconds; *us gets the microseconds beyond them. us may be NULL. */
long n_time(int *us);

/* Ticks of 128 µs. */
long ntime(void);

#endif

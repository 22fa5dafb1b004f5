#include "emu/machine/heartbeat.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "vertex/contract/machine.h"

#define LEAST_US 1000 /* between two lines */

static double seconds_since(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + (double)(now->tv_nsec - then->tv_nsec) * 1e-9;
}

static timer_t timer;
static bool timer_exists;

/* If the host has no timer left, only SIGUSR1 from outside gives a line. */
static void set_timer(double interval_s)
{
    long us = (long)(interval_s * 1e6);

    if (us < LEAST_US)
        us = LEAST_US;
    struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct timespec interval = {us / 1000000, us % 1000000 * 1000};
    timer_exists = timer_create(CLOCK_MONOTONIC, &by_signal, &timer) == 0;
    if (timer_exists)
        timer_settime(timer, 0, &(struct itimerspec){interval, interval}, NULL);
}

void heartbeat_begin(struct heartbeat *h, double interval_s)
{
    *h = (struct heartbeat){0};
    clock_gettime(CLOCK_MONOTONIC, &h->begun);
    h->last = h->begun;
    if (interval_s > 0)
        set_timer(interval_s);
}

void heartbeat_end(void)
{
    if (timer_exists)
        timer_delete(timer);
    timer_exists = false;
}

double heartbeat_ratio(struct heartbeat *h, uint64_t now_cycles)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    double host = seconds_since(&h->last, &now), virtual = (double)(now_cycles - h->last_cycles) / CLOCK_HZ;
    h->last = now;
    h->last_cycles = now_cycles;
    return host > 0 ? virtual / host : 0;
}

void heartbeat_print(struct heartbeat *h, uint64_t now_cycles, const char *waits_for)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    double host = seconds_since(&h->last, &now), virtual = (double)(now_cycles - h->last_cycles) / CLOCK_HZ;
    fprintf(stderr, "ncube: after %.1f s: virtual time %.6f s, +%.6f s in %.2f s (ratio %.3f); %s\n",
            seconds_since(&h->begun, &now), (double)now_cycles / CLOCK_HZ, virtual, host, host > 0 ? virtual / host : 0,
            waits_for);
    h->last = now;
    h->last_cycles = now_cycles;
}

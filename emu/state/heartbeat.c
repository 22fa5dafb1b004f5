#include "emu/state/heartbeat.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "emu/base/host.h"
#include "vertex/contract/machine.h"

#define LEAST_US 1000 /* between two lines */

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
    h->begun_ns = h->last_ns = host_ns(CLOCK_MONOTONIC);
    if (interval_s > 0)
        set_timer(interval_s);
}

void heartbeat_go_on(double interval_s)
{
    if (timer_exists)
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
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);
    double host = host_seconds(h->last_ns, now_ns), virtual = (double)(now_cycles - h->last_cycles) / CLOCK_HZ;

    h->last_ns = now_ns;
    h->last_cycles = now_cycles;
    return host > 0 ? virtual / host : 0;
}

void heartbeat_print(struct heartbeat *h, uint64_t now_cycles, const char *waits_for)
{
    const struct heartbeat last = *h;
    double ratio = heartbeat_ratio(h, now_cycles);

    fprintf(stderr, "ncube: after %.1f s: virtual time %.6f s, +%.6f s in %.2f s (ratio %.3f); %s\n",
            host_seconds(h->begun_ns, h->last_ns), (double)now_cycles / CLOCK_HZ,
            (double)(now_cycles - last.last_cycles) / CLOCK_HZ, host_seconds(last.last_ns, h->last_ns), ratio,
            waits_for);
}

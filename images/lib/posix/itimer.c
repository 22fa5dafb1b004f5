/*
 * Timers that raise SIGALRM at a virtual time, by the NCU's timer.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include "images/lib/posix/cycles.h"
#include "images/lib/traps/result.h"

#define US_PER_S 1000000l

static uint64_t to_cycles(const struct timeval *t)
{
    return (uint64_t)cycles_of(t->tv_sec, t->tv_usec * 1000l);
}

/* Rounds up, so that a timer that is set never shows 0. */
static struct timeval to_time(uint64_t cycles)
{
    uint64_t us = (cycles + CYCLES_PER_US - 1) / CYCLES_PER_US;

    return (struct timeval){(time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S)};
}

static int is_time(const struct timeval *t)
{
    return t->tv_sec >= 0 && t->tv_usec >= 0 && t->tv_usec < US_PER_S;
}

int setitimer(int which, const struct itimerval *value, struct itimerval *before)
{
    struct abi_itimer new = {.at_cycles = FOR_EVER}, old;

    if (which != ITIMER_REAL || (value && (!is_time(&value->it_value) || !is_time(&value->it_interval))))
        return (int)result_to_errno(-EINVAL);
    uint64_t now = (uint64_t)trap_cycles();
    if (value && to_cycles(&value->it_value) != 0)
        new = (struct abi_itimer){now + to_cycles(&value->it_value), to_cycles(&value->it_interval)};
    if (result_to_errno(trap_itimer(value ? &new : NULL, &old)) < 0)
        return -1;
    if (before) {
        uint64_t left = old.at_cycles == FOR_EVER ? 0 : old.at_cycles > now ? old.at_cycles - now : 1;

        *before = (struct itimerval){to_time(old.interval_cycles), to_time(left)};
    }
    return 0;
}

int getitimer(int which, struct itimerval *value)
{
    return setitimer(which, NULL, value);
}

unsigned alarm(unsigned seconds)
{
    const struct itimerval new = {.it_value = {.tv_sec = seconds}};
    struct itimerval old;

    setitimer(ITIMER_REAL, &new, &old);
    return (unsigned)(old.it_value.tv_sec + (old.it_value.tv_usec > 0));
}

useconds_t ualarm(useconds_t us, useconds_t interval)
{
    const struct itimerval new = {{interval / US_PER_S, interval % US_PER_S}, {us / US_PER_S, us % US_PER_S}};
    struct itimerval old;

    setitimer(ITIMER_REAL, &new, &old);
    return (useconds_t)(old.it_value.tv_sec * US_PER_S + old.it_value.tv_usec);
}

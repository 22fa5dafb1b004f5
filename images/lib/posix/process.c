/*
 * The process, memory and time, as newlib wants them: its names have an underscore. Signals are in signal.c.
 */
#include <errno.h>
#include <ntime.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/posix/cycles.h"
#include "images/lib/traps/result.h"

void _exit(int status)
{
    if (ndevice_end)
        ndevice_end();
    trap_exit(status);
}

void *_sbrk(ptrdiff_t increment)
{
    return (void *)result_to_errno(trap_sbrk(increment));
}

int _gettimeofday(struct timeval *now, void *zone)
{
    int us;

    now->tv_sec = NTIME_EPOCH_S + n_time(&us);
    now->tv_usec = us;
    if (zone)
        *(struct timezone *)zone = (struct timezone){0, 0};
    return 0;
}

/* Counts all of the virtual time, also the time in which other processes of the node ran. */
clock_t _times(struct tms *times)
{
    clock_t us = (clock_t)(trap_cycles() / CYCLES_PER_US);

    _Static_assert(CLOCKS_PER_SEC == 1000000, "clock_t counts microseconds");
    *times = (struct tms){.tms_utime = us};
    return us;
}

/* ---- Sleeping, in virtual time ---- */

/* Sleeps. Returns the cycles that were left when a signal handler ended the sleep, or 0. */
static int64_t sleep_cycles(int64_t cycles)
{
    int64_t until = trap_cycles() + cycles;

    if (trap_sleep((uint64_t)until) == 0)
        return 0;
    int64_t left = until - trap_cycles();
    return left > 0 ? left : 0;
}

static struct timespec to_timespec(int64_t cycles)
{
    return (struct timespec){cycles / CLOCK_HZ, cycles % CLOCK_HZ * NS_PER_CYCLE};
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!cycles_can_be(time))
        return (int)result_to_errno(-EINVAL);
    int64_t rest = sleep_cycles(cycles_of(time->tv_sec, time->tv_nsec));
    if (rest == 0)
        return 0;
    if (left)
        *left = to_timespec(rest);
    return (int)result_to_errno(-EINTR);
}

unsigned sleep(unsigned seconds)
{
    int64_t left = sleep_cycles((int64_t)seconds * CLOCK_HZ);

    return (unsigned)((left + CLOCK_HZ - 1) / CLOCK_HZ);
}

int usleep(useconds_t us)
{
    return sleep_cycles((int64_t)us * CYCLES_PER_US) == 0 ? 0 : (int)result_to_errno(-EINTR);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return (int)result_to_errno(-EINVAL);
    *now = to_timespec(trap_cycles());
    if (clock == CLOCK_REALTIME)
        now->tv_sec += NTIME_EPOCH_S;
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return (int)result_to_errno(-EINVAL);
    if (resolution)
        *resolution = (struct timespec){0, NS_PER_CYCLE};
    return 0;
}

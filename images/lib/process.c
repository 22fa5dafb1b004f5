/*
 * Processes, memory and time, as newlib wants them: its names have an underscore. Signals do not leave a process;
 * newlib's signal() and raise() keep the handlers.
 */
#include <errno.h>
#include <nself.h>
#include <ntime.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>

#include "emu/machine.h"
#include "images/lib/result.h"
#include "images/lib/trap.h"

#define STATUS_OF_SIGNAL 128 /* added to the number of the signal that ended a process, as shells do */

void *_sbrk(ptrdiff_t increment);
int _getpid(void);
int _kill(int pid, int signal_number);
int _gettimeofday(struct timeval *now, void *zone);
clock_t _times(struct tms *times);

void _exit(int status)
{
    trap_exit(status);
}

void *_sbrk(ptrdiff_t increment)
{
    return (void *)result_to_errno(trap_sbrk(increment));
}

int _getpid(void)
{
    return npid() + 1; /* POSIX wants them positive */
}

/* What newlib calls for a signal that nothing handles. */
int _kill(int pid, int signal_number)
{
    if (pid != _getpid())
        return (int)result_to_errno(-ESRCH);
    switch (signal_number) {
    case 0:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
        return 0;
    }
    trap_exit(STATUS_OF_SIGNAL + signal_number);
}

int kill(pid_t pid, int signal_number)
{
    if (pid != _getpid() && pid != 0)
        return (int)result_to_errno(-ESRCH);
    if (signal_number < 0 || signal_number >= NSIG)
        return (int)result_to_errno(-EINVAL);
    return signal_number == 0 ? 0 : raise(signal_number);
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

/* A node has one process, so that all of the time is its own. */
clock_t _times(struct tms *times)
{
    clock_t us = (clock_t)(trap_cycles() / CYCLES_PER_US);

    _Static_assert(CLOCKS_PER_SEC == 1000000, "clock_t counts microseconds");
    *times = (struct tms){.tms_utime = us};
    return us;
}

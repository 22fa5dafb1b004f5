/* Waits for signals. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/traps/result.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

#define NS_PER_CYCLE (1000 / CYCLES_PER_US)
#define FOR_EVER     UINT64_MAX

int pause(void)
{
    return (int)result_to_errno(trap_sleep(FOR_EVER));
}

int sigsuspend(const sigset_t *set)
{
    return (int)result_to_errno(trap_sigsuspend((uint32_t)*set));
}

int sigwait(const sigset_t *set, int *number)
{
    long taken = trap_sigwait((uint32_t)*set, FOR_EVER);

    if (taken < 0)
        return (int)-taken;
    *number = (int)taken;
    return 0;
}

static int wait_until(const sigset_t *set, siginfo_t *info, uint64_t until)
{
    long taken = trap_sigwait((uint32_t)*set, until);

    if (taken > 0 && info)
        *info = (siginfo_t){.si_signo = (int)taken, .si_code = SI_USER};
    return (int)result_to_errno(taken);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return wait_until(set, info, FOR_EVER);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    const int64_t most_s = INT64_MAX / CLOCK_HZ / 2; /* longer than any run */

    if (!time)
        return wait_until(set, info, FOR_EVER);
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
        return (int)result_to_errno(-EINVAL);
    int64_t s = time->tv_sec < most_s ? time->tv_sec : most_s;
    return wait_until(set, info, (uint64_t)(trap_cycles() + s * CLOCK_HZ + time->tv_nsec / NS_PER_CYCLE));
}

/* Waits for signals. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/posix/cycles.h"
#include "images/lib/traps/result.h"

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
    if (time && !cycles_can_be(time))
        return (int)result_to_errno(-EINVAL);
    return wait_until(set, info, time ? cycles_after(time) : FOR_EVER);
}

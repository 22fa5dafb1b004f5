/* Sets of signals, as functions, which check the number; newlib's macros of these names do not. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "images/lib/traps/result.h"

#define BIT(signal) (1u << (signal))

_Static_assert(NSIG == 32, "a set of signals has 32 bits for the kernel");

static int change_set(sigset_t *set, int number, uint32_t clear, uint32_t add)
{
    if (number <= 0 || number >= NSIG)
        return (int)result_to_errno(-EINVAL);
    *set = ((uint32_t)*set & ~clear) | add;
    return 0;
}

int(sigaddset)(sigset_t *set, const int number)
{
    return change_set(set, number, 0, BIT(number));
}

int(sigdelset)(sigset_t *set, const int number)
{
    return change_set(set, number, BIT(number), 0);
}

int(sigismember)(const sigset_t *set, int number)
{
    if (number <= 0 || number >= NSIG)
        return (int)result_to_errno(-EINVAL);
    return ((uint32_t)*set & BIT(number)) != 0;
}

int(sigemptyset)(sigset_t *set)
{
    *set = 0;
    return 0;
}

int(sigfillset)(sigset_t *set)
{
    *set = UINT32_MAX;
    return 0;
}

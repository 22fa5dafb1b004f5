/*
 * Signals. The kernel knows what each does (vertex/trap/signal.h) and calls sigentry.S for those that have a handler,
 * also for those that a process sends to itself. Handlers stay installed; the signal and its mask are blocked while its
 * handler runs. Sets are in sigset.c, waits for signals in sigwait.c.
 */
#include <errno.h>
#include <nself.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sysn.h>
#include <unistd.h>

#include "images/lib/traps/result.h"
#include "images/lib/traps/self.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

#define ALL_SIGNALS UINT32_MAX
#define THE_GROUP   1 /* getpgrp's: that of all processes of a program */

_Static_assert(TRAP_sigreturn == 41, "sigentry.S");
_Static_assert(SIGMSGS == SIGIO, "<sysn.h> names a signal of newlib's");
_Static_assert(NSIG == 32, "a set of signals has 32 bits for the kernel");

static struct sigaction action_of[NSIG]; /* sa_handler NULL is SIG_DFL */

void sigentry(void); /* sigentry.S */

static bool is_signal(int number)
{
    return number > 0 && number < NSIG;
}

static int fail(int error)
{
    return (int)result_to_errno(-error);
}

/* Called by sigentry. */
void signal_dispatch(int number)
{
    action_of[number].sa_handler(number);
}

/* ---- Actions ---- */

static enum abi_action kind_of(_sig_func_ptr function)
{
    if (function == SIG_DFL)
        return SIGNAL_DEFAULT;
    return function == SIG_IGN ? SIGNAL_IGNORE : SIGNAL_CATCH;
}

/* Stores the action before the trap, after which the kernel may call the handler; restores the old action if the trap
 * fails. A signal that the program before an exec has ignored is ignored, which only the kernel knows. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction old;
    long kind = SIGNAL_DEFAULT;

    if (!is_signal(number) || (action && action->sa_handler == SIG_ERR))
        return fail(EINVAL);
    old = action_of[number];
    if (action)
        action_of[number] = *action;
    if (action || before)
        kind = trap_sigaction(number, action ? kind_of(action->sa_handler) : SIGNAL_ASK,
                              action ? (uint32_t)action->sa_mask : 0, sigentry);
    if (kind < 0) {
        action_of[number] = old;
        return fail((int)-kind);
    }
    if (kind == SIGNAL_IGNORE)
        old.sa_handler = SIG_IGN;
    if (before)
        *before = old;
    return 0;
}

_sig_func_ptr signal(int number, _sig_func_ptr function)
{
    struct sigaction before;

    return sigaction(number, &(struct sigaction){.sa_handler = function}, &before) < 0 ? SIG_ERR : before.sa_handler;
}

/* ---- Blocked signals ---- */

static int change_blocked(int how, const sigset_t *set, sigset_t *before)
{
    uint32_t signals = set ? (uint32_t)*set : 0, block = 0, unblock = 0;

    if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    if (set && how != SIG_UNBLOCK)
        block = signals;
    if (set && how != SIG_BLOCK)
        unblock = how == SIG_UNBLOCK ? signals : ALL_SIGNALS;
    uint32_t now = (uint32_t)trap_sigblock(block, unblock);
    if (before)
        *before = now;
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    int error = change_blocked(how, set, before);

    return error ? fail(error) : 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return change_blocked(how, set, before);
}

int sigpending(sigset_t *set)
{
    *set = (uint32_t)trap_sigpending();
    return 0;
}

/* ---- Sending ---- */

int raise(int number)
{
    return (int)result_to_errno(trap_kill(self_process(), number));
}

/* Signals every process of the program, the caller last. Forked ones may have any procid. */
static int kill_all(int number)
{
    int self = self_process(), nodes = trap_self()->nodes;
    int before = trap_last_error;

    for (int procid = 0; procid < (int)PROCS_MAX; procid++)
        for (int node = 0; node < nodes; node++)
            if (N_PROCESS(node, procid) != self)
                trap_kill(N_PROCESS(node, procid), number);
    trap_last_error = before;
    return raise(number);
}

int kill(pid_t pid, int number)
{
    if (number < 0 || number >= NSIG)
        return fail(EINVAL);
    if (pid == -THE_GROUP) /* as -1: all that may be signalled */
        pid = 0;
    if (pid < 0)
        return fail(ESRCH);
    if (pid == 0 && number != 0)
        return kill_all(number);
    return pid == 0 ? 0 : (int)result_to_errno(trap_kill(pid - 1, number));
}

int killpg(pid_t group, int number)
{
    return group < 0 ? fail(EINVAL) : kill(-group, number);
}

int _getpid(void)
{
    return self_process() + 1; /* POSIX wants process ids to be positive */
}

int _kill(pid_t pid, int number) __attribute__((alias("kill")));

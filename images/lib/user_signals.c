/*
 * Signals. Handlers stay installed, and the signal is blocked while its handler runs. A process's own raise() calls the
 * handler like a function; those of others, faults and SIGMSGS come from the kernel by way of sigentry.S, which is
 * told of every signal that has a handler.
 */
#include <errno.h>
#include <nself.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "images/lib/result.h"
#include "vertex/contract/traps.h"

#define STATUS_OF_SIGNAL 128 /* added to the number of the signal that ended a process, as shells do */
#define BIT(signal)      (1u << (signal))
#define IGNORED          (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGIO) | BIT(SIGSTOP))

_Static_assert(TRAP_sigreturn == 41, "sigentry.S");
_Static_assert(SIGMSGS == SIGIO, "<sysn.h> names a signal of newlib's");

static _sig_func_ptr handler[NSIG];
static uint32_t caught; /* of which the kernel knows */

void sigentry(void);              /* sigentry.S */
void signal_dispatch(int signal); /* from there */
int _getpid(void);
int _kill(int pid, int number);

static bool is_signal(int number)
{
    return number > 0 && number < NSIG;
}

void signal_dispatch(int number)
{
    if (handler[number] != SIG_IGN && handler[number] != SIG_DFL)
        handler[number](number);
}

/* A signal that is ignored is taken, too, and dropped here: the kernel would end the program. */
static void tell_kernel(int number)
{
    uint32_t now = handler[number] == SIG_DFL ? caught & ~BIT(number) : caught | BIT(number);

    if (now != caught)
        trap_sigentry(sigentry, caught = now);
}

_sig_func_ptr signal(int number, _sig_func_ptr function)
{
    if (!is_signal(number) || number == SIGKILL || number == SIGSTOP || function == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    _sig_func_ptr before = handler[number];
    handler[number] = function;
    tell_kernel(number);
    return before;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    if (!is_signal(number)) {
        errno = EINVAL;
        return -1;
    }
    if (before)
        *before = (struct sigaction){.sa_handler = handler[number]};
    return action && signal(number, action->sa_handler) == SIG_ERR ? -1 : 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    uint32_t now = (uint32_t)trap_sigblock(0), wanted = now;

    if (set && how == SIG_BLOCK)
        wanted = now | (uint32_t)*set;
    else if (set && how == SIG_UNBLOCK)
        wanted = now & ~(uint32_t)*set;
    else if (set && how == SIG_SETMASK)
        wanted = (uint32_t)*set;
    trap_sigblock(wanted);
    if (before)
        *before = now;
    if (!set || how == SIG_BLOCK || how == SIG_UNBLOCK || how == SIG_SETMASK)
        return 0;
    errno = EINVAL;
    return -1;
}

static void end_by(int number)
{
    if (!(IGNORED & BIT(number)))
        trap_exit(STATUS_OF_SIGNAL + number);
}

int raise(int number)
{
    if (!is_signal(number)) {
        errno = EINVAL;
        return -1;
    }
    if (handler[number] == SIG_DFL)
        end_by(number);
    else
        signal_dispatch(number);
    return 0;
}

/* Every process of the program, this one last. */
static int kill_all(int number)
{
    int self = npid(), dim;

    whoami(NULL, NULL, NULL, &dim);
    for (int procid = 0; trap_kill(N_PROCESS(0, procid), 0) == 0; procid++)
        for (int node = 0; node < 1 << dim; node++)
            if (N_PROCESS(node, procid) != self)
                trap_kill(N_PROCESS(node, procid), number);
    return raise(number);
}

int kill(pid_t pid, int number)
{
    if (number < 0 || number >= NSIG || pid < 0)
        return (int)result_to_errno(number < 0 || number >= NSIG ? -EINVAL : -ESRCH);
    if (number == 0)
        return pid == 0 ? 0 : (int)result_to_errno(trap_kill(pid - 1, 0));
    if (pid == 0)
        return kill_all(number);
    return pid == _getpid() ? raise(number) : (int)result_to_errno(trap_kill(pid - 1, number));
}

int _getpid(void)
{
    return npid() + 1; /* POSIX wants them positive */
}

int _kill(int pid, int number)
{
    return kill(pid, number);
}

int pause(void)
{
    return (int)result_to_errno(trap_sleep(UINT64_MAX));
}

/*
 * fork, wait and their family [P1 section 1.1]. A process id is the name of the process in its program, as messages
 * have it, plus 1. In global mode, groups and pipelines the child is nobody: it has its own name for messages only.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "images/lib/traps/self.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

_Static_assert(TRAP_fork == 72, "forkentry.S");

long fork_process(void); /* forkentry.S */

static pid_t pid_of(long procid)
{
    return N_PROCESS(N_NODE_OF(self_process()), (int)procid) + 1;
}

/* What keeps state in the program's memory, as drivers do, learns that it is in the child. */
static void become_child(void)
{
    self_forget();
    ndevice_end = NULL;
    for (struct ndevice_slot *s = ndevice_table; s < ndevice_table + NDEVICE_DESCRIPTORS; s++)
        if (s->device && s->device->forked)
            s->device->forked(s->state);
}

pid_t _fork(void)
{
    long procid = fork_process();

    if (procid == 0)
        become_child();
    return procid > 0 ? pid_of(procid) : (pid_t)result_to_errno(trap_note((int)procid));
}

pid_t fork(void) __attribute__((alias("_fork")));
pid_t vfork(void) __attribute__((alias("_fork"))); /* the parent goes on at once, as POSIX allows */

pid_t waitpid(pid_t pid, int *status, int options)
{
    long procid = pid == 0 || pid == -1 ? -1 : N_PROCID_OF(pid - 1);

    if (options & ~(WNOHANG | WUNTRACED))
        return (pid_t)result_to_errno(-EINVAL);
    if (pid < -1 || (pid > 0 && pid_of(procid) != pid))
        return (pid_t)result_to_errno(-ECHILD);
    long result = trap_wait(procid, !(options & WNOHANG));
    if (result <= 0)
        return (pid_t)result_to_errno(result);
    if (status)
        *status = (int)(result >> 16);
    return pid_of(result & 0xffff);
}

/* As getrusage of children, says that they took no time. */
pid_t wait3(int *status, int options, struct rusage *usage)
{
    if (usage)
        getrusage(RUSAGE_CHILDREN, usage);
    return waitpid(-1, status, options);
}

pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

pid_t _wait(int *status) __attribute__((alias("wait")));

/* 1 stands for a parent that is none of this node's. */
pid_t getppid(void)
{
    long parent = trap_parent();

    return parent < 0 ? 1 : pid_of(parent);
}

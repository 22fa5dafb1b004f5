/*
 * The process's own numbers in its program. The kernel sets them when it makes the process (vertex/process/proc.c,
 * proc_new) and never changes them, so one trap is enough. A forked process has other ones, but its parent's memory:
 * fork forgets them there. A program that exec or rexec starts has memory of its own.
 */
#include "images/lib/traps/self.h"

static struct abi_whoami self; /* nodes = 0: not asked yet */

const struct abi_whoami *trap_self(void)
{
    if (self.nodes == 0)
        trap_whoami(&self);
    return &self;
}

void self_forget(void)
{
    self = (struct abi_whoami){0};
}

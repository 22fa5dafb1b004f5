/* The process's own numbers in its program, regardless of `nself`. Part of libvertex. */
#ifndef NCUBE_LIB_SELF_H
#define NCUBE_LIB_SELF_H

#include <sysn.h>

#include "vertex/contract/traps.h"

static inline int self_process(void)
{
    const struct abi_whoami *self = trap_self();

    return N_PROCESS(self->node, self->proc);
}

/* To be called in a forked process. */
void self_forget(void);

#endif

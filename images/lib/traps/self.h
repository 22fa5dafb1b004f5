/* The process's own numbers in its program, regardless of `nself`. Part of libvertex. */
#pragma once

#include <sysn.h>

#include "vertex/contract/traps.h"

static inline int self_process(void)
{
    const struct abi_whoami *self = trap_self();

    return N_PROCESS(self->node, self->proc);
}

/* To be called in a forked process. */
void self_forget(void);

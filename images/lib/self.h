/* The process's own numbers in its program, regardless of `nself`. Part of libvertex. */
#ifndef NCUBE_LIB_SELF_H
#define NCUBE_LIB_SELF_H

#include <sysn.h>

#include "vertex/contract/traps.h"

static inline int self_process(void)
{
    struct abi_whoami self = {0};

    trap_whoami(&self);
    return N_PROCESS(self.node, self.proc);
}

#endif

/* The client's transport on a node: traps. */
#include "libpio/cfs/cfs_transport.h"

#include "vertex/contract/traps.h"

const struct cfs_transport cfs_transport = {trap_striped, trap_requeststart, trap_requestend, trap_requesttest};

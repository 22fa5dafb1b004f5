/* The requests of families on a node: traps. */
#include "libpio/servers/server_calls.h"
#include "vertex/contract/traps.h"

const struct server_calls server_calls = {trap_striped, trap_requeststart, trap_requestend, trap_requesttest};

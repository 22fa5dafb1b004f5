/*
 * <nmon.h>: the NCU's time stamps, and marks for the trace.
 */
#include <nmon.h>
#include <string.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

_Static_assert(NMON_CYCLES_PER_US == CYCLES_PER_US, "<nmon.h> and vertex/contract/machine.h agree");
_Static_assert(NMARK_BYTES == ABI_MARK_BYTES, "<nmon.h> and vertex/contract/abi.h agree");

int nmonitor(struct nmonitor *monitor)
{
    return (int)trap_monitor(monitor);
}

int nmark(const char *name)
{
    return (int)trap_mark(name, name ? (long)strlen(name) : 0);
}

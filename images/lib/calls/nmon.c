/*
 * <nmon.h>: the NCU's time stamps, and marks for the trace.
 */
#include <nmon.h>
#include <stddef.h>
#include <string.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

_Static_assert(NMON_CYCLES_PER_US == CYCLES_PER_US, "<nmon.h> and vertex/contract/machine.h agree");
_Static_assert(sizeof(struct nmonitor) == sizeof(struct abi_monitor), "nmonitor is abi_monitor");
#define MONITOR_AGREES(field) \
    _Static_assert(offsetof(struct nmonitor, field) == offsetof(struct abi_monitor, field), "nmonitor is abi_monitor")
MONITOR_AGREES(sent_start_cycles);
MONITOR_AGREES(sent_done_cycles);
MONITOR_AGREES(recv_start_cycles);
MONITOR_AGREES(recv_done_cycles);
MONITOR_AGREES(sent_bytes);
MONITOR_AGREES(recv_bytes);
MONITOR_AGREES(landed);
MONITOR_AGREES(copied);
MONITOR_AGREES(mapped);
MONITOR_AGREES(resent);
MONITOR_AGREES(damaged);
MONITOR_AGREES(missed);
_Static_assert(NMARK_BYTES == ABI_MARK_BYTES, "<nmon.h> and vertex/contract/abi.h agree");

int nmonitor(struct nmonitor *monitor)
{
    return (int)trap_monitor((struct abi_monitor *)monitor);
}

int nmark(const char *name)
{
    return (int)trap_mark(name, name ? (long)strlen(name) : 0);
}

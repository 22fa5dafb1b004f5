/* The record of a collective call, for reports about nodes that wait (tell of vertex/contract/abi.h). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libpio/cfs/cfs_calls.h"
#include "libpio/servers/server_told.h"
#include "vertex/contract/system.h"

static struct abi_call *record; /* NULL: no call has told anything yet */

struct abi_call cfs_tell(const char *call, const char *name)
{
    if (!record)
        record = server_record();
    const struct abi_call before = *record;
    *record = (struct abi_call){
        .rank = ABI_CALL_NONE, .peer = ABI_CALL_NONE, .tag = ABI_CALL_NONE, .context = CONTEXT_GROUP, .is_file = 1};
    snprintf(record->call, sizeof record->call, "%s", call);
    snprintf(record->communicator, sizeof record->communicator, "%s%s", name ? "/cfs" : "", name ? name : "");
    return before;
}

void cfs_tell_context(int context)
{
    if (record)
        record->context = (uint32_t)context;
}

void cfs_tell_end(const struct abi_call *before)
{
    *record = *before;
}

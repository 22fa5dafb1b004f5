/* The library's record lies in the window, where Vertex has found it for the process (vertex/contract/system.h). */
#include "emu/state/told.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/stats/stats_calls.h"
#include "emu/state/unread.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

/* Reads the record of the process that ran last; *where: its place in the window. */
static bool read_record(struct machine *m, uint32_t index, uint32_t *where, struct abi_call *call)
{
    uint64_t process = unread_process(m, index);
    uint32_t at;
    uint8_t replaced;

    if (process == 0 || !unread_read(m, index, process + PROC_CALL_OFFSET, &at, sizeof at) ||
        !unread_read(m, index, process + PROC_REPLACED_OFFSET, &replaced, sizeof replaced) || at == 0 ||
        (at & 1) != replaced || !unread_read(m, index, VERTEX_WINDOW_VA + (at & ~1u), call, sizeof *call))
        return false;
    call->call[sizeof call->call - 1] = call->communicator[sizeof call->communicator - 1] = '\0';
    *where = at & ~1u;
    return true;
}

/* Keeps what a cache manager on the node, whose record lies there, has counted until it began to wait. */
static void keep_counts(struct machine *m, uint32_t index, uint32_t at, const struct abi_call *call)
{
    struct manager_counts counts;

    if (m->calls && call->counts == sizeof counts &&
        unread_read(m, index, VERTEX_WINDOW_VA + at + sizeof *call, &counts, sizeof counts))
        stats_calls_keep(m->calls, index, &counts);
}

static void add(char *text, size_t bytes, const char *format, const char *name, int32_t number)
{
    size_t used = strlen(text);
    char value[16] = "any";

    if (number >= 0)
        snprintf(value, sizeof value, "%" PRId32, number);
    if (number >= 0 || number == ABI_CALL_ANY)
        snprintf(text + used, bytes - used, format, name, value);
}

/* ", in group_make for node 0" */
static void add_wait(const struct machine *m, uint32_t index, char *text, size_t bytes)
{
    size_t used = strlen(text);
    char wait[160];

    if (ncu_describe_wait(m->ncu, index, wait, sizeof wait))
        snprintf(text + used, bytes - used, ", %s", wait + sizeof "waits " - 1);
}

/* What the node's wait is, of its record; false: none that is told of. */
static bool describe_wait(struct machine *m, uint32_t index, const struct abi_call *call, char *text, size_t bytes)
{
    if (call->call[0] == '\0' || !ncu_may_wait_in(m->ncu, index, call->context))
        return false;
    snprintf(text, bytes, "waits in %s", call->call);
    add(text, bytes, "%s%s", call->tag == ABI_CALL_NONE ? ", root " : call->sends ? " to " : " from ", call->peer);
    add(text, bytes, "%s%s", ", tag ", call->tag);
    if (call->communicator[0] != '\0') {
        size_t used = strlen(text);

        snprintf(text + used, bytes - used, ", %s '%s'", call->is_file ? "file" : "communicator", call->communicator);
    }
    return true;
}

bool told_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes)
{
    struct abi_call call;
    uint32_t at;

    if (!read_record(m, index, &at, &call) || !describe_wait(m, index, &call, text, bytes))
        return false;
    if (call.rank >= 0 && (uint32_t)call.rank != ncu_address(m->ncu, index) - j->base)
        add(text, bytes, "%s%s", ", as rank ", call.rank);
    if (call.is_file)
        add_wait(m, index, text, bytes);
    return true;
}

bool told_waited(void *machine, uint32_t index, uint64_t cycles, struct trace_call *call)
{
    static struct abi_call told;
    static char text[160];
    struct machine *m = machine;
    uint32_t at;

    if ((!m->calls && (cycles == 0 || !m->trace)) || !read_record(m, index, &at, &told))
        return false;
    keep_counts(m, index, at, &told);
    if (cycles == 0 || !describe_wait(m, index, &told, text, sizeof text))
        return false;
    *call = (struct trace_call){told.call, told.is_file ? "" : told.communicator, text + sizeof "waits " - 1};
    if (m->calls)
        stats_calls_count(m->calls, index, call->name, call->communicator, cycles);
    return true;
}

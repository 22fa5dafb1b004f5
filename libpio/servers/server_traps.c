/* The requests of families on a node: traps. */
#include "libpio/servers/server_calls.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

static long take(void *buf, long bytes, int process, int type, int context, uint64_t cycles)
{
    const uint64_t until = (uint64_t)trap_cycles() + cycles;
    struct abi_poll entry = {
        .kind = ABI_POLL_MESSAGE, .events = ABI_POLL_IN, .context = (uint16_t)context, .ufid = process, .type = type};
    long ready = 1;

    if (cycles != UINT64_MAX)
        do
            ready = trap_poll(&entry, 1, until, 0);
        while (ready == -N_EINTR);
    if (ready <= 0)
        return ready < 0 ? ready : -N_EAGAIN;
    return trap_read_context(buf, bytes, &process, &type, context);
}

static int nodes(void)
{
    return trap_self()->nodes;
}

static int node(void)
{
    return trap_self()->node;
}

static uint64_t cycles(void)
{
    return (uint64_t)trap_cycles();
}

const struct server_calls server_calls = {
    trap_striped, trap_requeststart, trap_requestend, trap_requesttest, take, trap_cwrite, nodes, cycles, node};

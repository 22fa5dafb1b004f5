/*
 * Broadcasts.
 *
 * A broadcast is a tree of hops, each a message to a neighbour. The node that starts it sends over all dimensions of
 * the subcube; a node that receives it over dimension k passes it on over the dimensions above k:
 *
 *     0 --0--> 1 --1--> 3 --2--> 7        A hop is passed on while it lands: its forks ask for channels as soon as
 *     |        +---2--> 5                 a receive has taken its header, and read the receiver's memory behind the
 *     +---1--> 2 --2--> 6                 bytes that arrive. The receiver gets the buffer when all have read it.
 *     +---2--> 4
 *
 * No hop has more than one channel, and a receive of dimension k waits only for hops of higher dimensions: no deadlock.
 * A hop takes the same channels, in the same order, as a message of its origin to that node: so the two keep their
 * order.
 */
#include <assert.h>

#include "emu/base/memory.h"
#include "emu/model/ncu_state.h"

static void fork_to(struct ncu *n, struct transfer *parent, uint32_t at, uint32_t d, uint64_t held_at)
{
    struct transfer *t = memory_new(1, sizeof *t);

    *t = (struct transfer){.ncu = n,
                           .parent = parent,
                           .subcube = parent->subcube,
                           .origin = parent->origin,
                           .holder = ncu_node_at(n, at),
                           .held_at = held_at,
                           .number = parent->number,
                           .sent = parent->sent};
    t->sent.node = at ^ 1u << d;
    parent->forks++;
    int status = net_send(n->net, n->now_cycles, at, t->sent.node, NCU_VIA_NEAREST, t->sent.bytes, t->sent.tag, 0, t);
    assert(status == NCU_OK);
    (void)status;
}

void ncu_fork_above(struct ncu *n, struct transfer *parent, uint32_t at, uint32_t lowest, uint64_t held_at)
{
    for (uint32_t d = lowest; d + 1 < parent->subcube; d++)
        fork_to(n, parent, at, d, held_at);
}

void ncu_pass_on(struct ncu *n, struct transfer *t, uint32_t at, uint32_t in_channel)
{
    ncu_fork_above(n, t, at, in_channel + 1, t->landing);
}

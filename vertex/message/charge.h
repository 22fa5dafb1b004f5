/*
 * The cost of a message beyond the kernel's own instructions, if the machine file sets one (struct software_cost in
 * vertex/contract/machine.h): charged before a process's message is sent, and when its receiver takes it. Messages for
 * Vertex itself are free. Where there is a cost after a reply, nsdisk waits until its reply to a family's request has
 * left the node, as a server of NX does in csend, and then pays for both (sys_pay): its client does not wait for that.
 * While there is such a cost, proc.long_way is set, and messages take no short path, which therefore need not ask.
 */
#pragma once

#include <stdbool.h>

#include "vertex/base/ncu_calls.h"

static inline bool charge_is_due(void)
{
    return MAILBOX->software.send_cycles || MAILBOX->software.receive_cycles || MAILBOX->software.kb_cycles;
}

static inline void charge_message(uint32_t cycles, uint64_t bytes)
{
    cycles += bytes * MAILBOX->software.kb_cycles / 1024;
    if (cycles)
        ncu_charge(cycles);
}

static inline void charge_send(uint64_t bytes)
{
    charge_message(MAILBOX->software.send_cycles, bytes);
}

static inline void charge_receive(uint64_t bytes)
{
    charge_message(MAILBOX->software.receive_cycles, bytes);
}

static inline void charge_after(uint64_t bytes)
{
    charge_message(MAILBOX->software.after_cycles, bytes);
}

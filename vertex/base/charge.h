/*
 * What a message costs beside the kernel's own instructions, where the machine file says so (vertex/contract/machine.h, struct
 * software_cost): charged before it is sent, and when it is taken by its process. Messages for Vertex itself cost
 * nothing more. Where there is such a cost the short ways of sys_nwrite and mail_take_short are closed, so that they
 * need not ask.
 */
#ifndef VERTEX_CHARGE_H
#define VERTEX_CHARGE_H

#include <stdbool.h>

#include "vertex/message/ncu_calls.h"

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

#endif

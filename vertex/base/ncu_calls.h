/*
 * The network communication unit and the other devices behind its instructions (vertex/contract/machine.h).
 *
 * An NCU instruction takes its arguments from the mailbox and leaves its answers there. The compiler is told
 * that it may read and change memory: DMA does.
 * Buffers are given as kernel pointers; the NCU gets node addresses.
 */
#ifndef VERTEX_NCU_CALLS_H
#define VERTEX_NCU_CALLS_H

#include <stdint.h>

#include "vertex/base/addr.h"
#include "vertex/contract/machine.h"

#ifdef __riscv
#define MAILBOX ((struct ncu_mailbox *)(VERTEX_WINDOW_VA + NCU_MAILBOX_PA))

/* `op` is a constant: the instruction's immediate. */
#define ncu_execute(op) asm volatile("slti x0, x0, %0" : : "i"(op) : "memory")
#else /* a host test's */
extern struct ncu_mailbox host_mailbox;
void host_ncu_execute(uint32_t op);
#define MAILBOX         (&host_mailbox)
#define ncu_execute(op) host_ncu_execute(op)
#endif

/* All three return the number of causes in MAILBOX->cause; NCU_CAUSES_MAX: there may be more. ncu_idle waits for some;
 * ncu_sent gives the SEND_DONE that are no causes. */
uint64_t ncu_idle(enum ncu_wait why, uint64_t node, uint64_t type);
uint64_t ncu_causes(void);
uint64_t ncu_sent(void);

/* SEND_DONE with this cookie gives the buffer back: by ncu_sent, or as a cause, if it has failed or ncu_reap wants it.
 * `via`: the I/O node's channel, or NCU_VIA_NEAREST. */
static inline void ncu_send(uint64_t node, const void *buffer, uint64_t bytes, uint64_t tag, uint64_t cookie,
                            uint32_t via)
{
    MAILBOX->arg[0] = node;
    MAILBOX->arg[1] = addr_to_node(buffer);
    MAILBOX->arg[2] = bytes;
    MAILBOX->arg[3] = tag;
    MAILBOX->arg[4] = cookie;
    MAILBOX->arg[5] = via;
    ncu_execute(NCU_SEND);
}

static inline void ncu_arm(uint32_t channel, const void *buffer, uint64_t bytes)
{
    MAILBOX->arg[0] = channel;
    MAILBOX->arg[1] = addr_to_node(buffer);
    MAILBOX->arg[2] = bytes;
    ncu_execute(NCU_ARM);
}

void ncu_disk(uint32_t drive, int write, uint64_t sector, uint64_t sectors, void *buffer, uint64_t cookie);

/* Whether the end of a send is a cause like any other. */
void ncu_reap(int wanted);
/* Pages that hold a program's text now: the machine address at which a hart is to execute them. */
uint64_t ncu_text(const void *pages, uint64_t bytes);

static inline void ncu_charge(uint64_t cycles)
{
    MAILBOX->arg[0] = cycles;
    ncu_execute(NCU_CHARGE);
}

uint64_t ncu_time(void);            /* cycles */
void ncu_timer(uint64_t at_cycles); /* NCU_TIMER_NONE: none */

/* Entry of a trap from U-mode (entry.S has it as well); true: what was due before it must be handled first. */
int ncu_enter(void);
void ncu_end(void);  /* what was due has been handled: posted, but the clock is set at once */
void ncu_drop(void); /* instead of it: the process does not go on */
_Noreturn void ncu_fault(const char *text, uint64_t bytes);

#endif

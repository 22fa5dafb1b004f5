/*
 * The NCU's instructions as functions (vertex/contract/machine.h): the network, the drives, the timer and the clock.
 *
 * An NCU instruction reads its arguments from the mailbox and leaves its answers there. Each is a compiler barrier,
 * because DMA reads and writes memory. Callers pass kernel pointers, which become node addresses here.
 */
#pragma once

#include <stdint.h>

#include "vertex/base/addr.h"
#include "vertex/contract/machine.h"

#ifdef __riscv
#define MAILBOX ((struct ncu_mailbox *)(VERTEX_WINDOW_VA + NCU_MAILBOX_PA))

/* Executes the NCU instruction `op`, a constant, as it is the immediate of the slti. */
#define ncu_execute(op) asm volatile("slti x0, x0, %0" : : "i"(op) : "memory")
#else /* host tests define these */
extern struct ncu_mailbox host_mailbox;
void host_ncu_execute(uint32_t op);
#define MAILBOX         (&host_mailbox)
#define ncu_execute(op) host_ncu_execute(op)
#endif

/* All three fill MAILBOX->cause and return the number of causes; after NCU_CAUSES_MAX, call again for more. ncu_idle
 * waits for a cause, and a deadlock report prints its arguments; ncu_causes takes those due now; ncu_sent takes the
 * SEND_DONEs that are not causes. */
uint64_t ncu_idle(enum ncu_wait why, uint64_t node, uint64_t type);
uint64_t ncu_causes(void);
uint64_t ncu_sent(void);

/* Starts a message of `bytes` bytes. The NCU uses the buffer until SEND_DONE with this cookie, which ncu_sent returns;
 * it is a cause if the send failed or after ncu_reap(1). `via` is the I/O node's channel to use, or NCU_VIA_NEAREST. */
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

/* Arms the channel's receive buffer. */
static inline void ncu_arm(uint32_t channel, const void *buffer, uint64_t bytes)
{
    MAILBOX->arg[0] = channel;
    MAILBOX->arg[1] = addr_to_node(buffer);
    MAILBOX->arg[2] = bytes;
    ncu_execute(NCU_ARM);
}

/* The same at that time. */
static inline void ncu_arm_later(uint32_t channel, const void *buffer, uint64_t bytes, uint64_t at_cycles)
{
    MAILBOX->arg[0] = NCU_ARM_LATER | channel;
    MAILBOX->arg[1] = addr_to_node(buffer);
    MAILBOX->arg[2] = bytes;
    MAILBOX->arg[3] = at_cycles;
    ncu_execute(NCU_ARM);
}

/* Starts a drive command on sectors of 512 bytes; CAUSE_DISK_DONE with this cookie ends it. */
void ncu_disk(uint32_t drive, int write, uint64_t sector, uint64_t sectors, void *buffer, uint64_t cookie);

/* Selects whether every SEND_DONE is a cause (1), or only that of a failed send (0). */
void ncu_reap(int wanted);
/* Returns the machine address at which the hart shall execute these pages, which hold a program's complete text. */
uint64_t ncu_text(const void *pages, uint64_t bytes);

/* Advances the node's clock. */
static inline void ncu_charge(uint64_t cycles)
{
    MAILBOX->arg[0] = cycles;
    ncu_execute(NCU_CHARGE);
}

/* Returns the time of the last ENTER. */
static inline uint64_t ncu_entered(void)
{
    ncu_execute(NCU_ENTERED);
    return MAILBOX->ans[0];
}

/* Lets the next SEND, DISK or LEAVE wait for the stated time; `row` counts what is later by more than `late_cycles`. */
static inline void ncu_stated(uint64_t row, uint64_t late_cycles)
{
    MAILBOX->arg[0] = row;
    MAILBOX->arg[1] = late_cycles;
    ncu_execute(NCU_STATED);
}

/* Gives the trace a text of ABI_MARK_BYTES, filled up with zeros. */
void ncu_mark(const uint64_t *text);

uint64_t ncu_time(void);            /* returns the cycles since the machine started */
void ncu_timer(uint64_t at_cycles); /* sets the only timer; NCU_TIMER_NONE turns it off */

/* Enters a trap from U-mode, as entry.S also does. Returns 1 if causes due before the trap must be handled first. */
int ncu_enter(void);
/* Ends a quantum after ncu_end. Returns 1 if causes due before must be handled first. */
int ncu_quantum(void);
void ncu_end(void);  /* ends the handling of causes; posted, but sets the clock at once */
void ncu_drop(void); /* instead of ncu_end when the process never resumes */
/* Stops the machine with this text. */
_Noreturn void ncu_fault(const char *text, uint64_t bytes);

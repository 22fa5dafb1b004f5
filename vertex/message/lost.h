/*
 * Messages that are given up, and how both ends learn of it.
 *
 *   sender                                              receiver
 *   SEND_DONE fails for good
 *     -> struct lost in the list of its process    .--> N_LOST (system.h) becomes a message without content, of the
 *     -> N_LOST to the receiver's kernel, in the   |    same source, type and process: nread, ntest and nreadp
 *        place of the message -------------------- '    that find it return EIO
 *   the process's next nwrite to that node returns
 *   the error, and sends nothing
 *
 * If the notice fails as well, the process owes it: Vertex sends it again before the process's next message to that
 * node, and once more when the process ends. Losses to one node with one tag share one record and one notice, which
 * counts them, so a process that keeps sending to a dead node does not fill the memory.
 *
 * A process also owes N_FEXIT to each server to which it has sent requests of a family (ask.h). It is paid at its end.
 *
 * Two kinds of message need no notice: the sender's own kernel answers a lost file request (request.h), and a load
 * fails as a whole (load.h). The notice of a lost file reply becomes the reply EIO.
 */
#pragma once

#include <stdbool.h>

#include "vertex/process/proc.h"

/* A length greater than any message's: marks a message in an inbox that stands for a lost one. */
#define LOST_BYTES UINT32_MAX

#define LOST_TO_ANY UINT32_MAX /* lost_tell: any node */

/* Records that a message of the process, or a notice sent for one, has failed. */
void lost_note(struct proc *p, const struct message *m, const struct ncu_cause *cause);

/* Returns the error of the first loss to that address that has not been reported to the process, or 0, and marks the
 * losses there reported. Sends the notices owed to that node. */
int lost_tell(struct proc *p, uint32_t node);

/* The process owes N_FEXIT to that server from now on. Returns a place for memory of kmem_alloc(MEM_PROCESS,
 * LOST_KEPT_BYTES) that requests to the server use again, which lost_end frees: NULL in it, none is there. NULL: no
 * memory. */
void **lost_owe_end(struct proc *p, uint32_t node);
#define LOST_KEPT_BYTES 48u

/* At the end of a process: lost_pay sends the notices that it owes once more, and tells the servers, whose answers it
 * waits for. When its sends are done, lost_end prints the losses that were never reported, if the program ended by
 * itself, and frees the records. */
void lost_pay(struct proc *p);
void lost_end(struct proc *p);

/* Returns true for a message in an inbox that stands for a lost one. */
static inline bool lost_is(const struct message *m)
{
    return m->bytes == LOST_BYTES;
}

/*
 * Messages that are given up, and how both ends hear of it.
 *
 *   sender                                              receiver
 *   SEND_DONE fails for good
 *     -> struct lost in the list of its process    .--> N_LOST (system.h) becomes a message without content, of the
 *     -> N_LOST to the receiver's kernel, in the   |    same source, type and process: nread, ntest and nreadp
 *        place of the message -------------------- '    that find it return EIO
 *   the process's next nwrite to that node returns
 *   the error, and sends nothing
 *
 * A notice that does not get through either is owed: it goes ahead of the process's next message to that node and,
 * once more, when the process ends. Losses to one node with one tag are one record and one notice, which counts them:
 * a process that goes on sending to a dead node does not fill the memory.
 *
 * What is told otherwise has no notice: a file request is answered by its own kernel (request.h), a load fails as a
 * whole (load.h). Of a file reply that is lost the notice makes an answer, EIO.
 */
#ifndef VERTEX_LOST_H
#define VERTEX_LOST_H

#include <stdbool.h>

#include "vertex/process/proc.h"

/* As the length of a message: it stands for one that is lost. No message is as long. */
#define LOST_BYTES UINT32_MAX

#define LOST_TO_ANY UINT32_MAX /* lost_tell: whatever node */

/* A message that the process sent has failed; or a notice that was sent for it. */
void lost_note(struct proc *p, const struct message *m, const struct ncu_cause *cause);

/* What the process has not heard of its messages to that address: the error of the first, or 0. Sends the notices that
 * are owed to it. */
int lost_tell(struct proc *p, uint32_t node);

/* The process ends. First: what is owed is sent once more; then, when its sends are done: what is not told is told to
 * the user, if the program has come to its own end. Frees all. */
void lost_pay(struct proc *p);
void lost_end(struct proc *p);

/* N_LOST has come. Takes the message over. */
void lost_arrived(struct message *m);

/* A message in an inbox that stands for one that is lost. */
static inline bool lost_is(const struct message *m)
{
    return m->bytes == LOST_BYTES;
}

#endif

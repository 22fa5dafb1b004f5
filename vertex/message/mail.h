/*
 * Messages and processes: who gets what arrives, and what becomes of what was sent.
 *
 * A message for a process goes the shortest way there is:
 *
 *   1. Header first (longer than MSG_ARMED_BYTES), and the process waits in nread for just this message with a buffer
 *      that is long enough, aligned to 8 and in one piece of physical memory: the NCU writes into that buffer.
 *   2. It is in a standard buffer, and the process waits for it: copied to the process from there, once.
 *   3. Else it is queued, and copied when it is read; nreadp hands its pages over without a copy.
 *
 * While a message lands in a process's memory (reader.landing), the process stays in nread, whatever else comes.
 */
#ifndef VERTEX_MAIL_H
#define VERTEX_MAIL_H

#include <stdbool.h>

#include "vertex/process/proc.h"

/* A message has arrived (RECV_DONE). True if it is in the standard buffer and a process waits for it: then it has been
 * copied to it from there, and the channel is armed again. A message of more than MSG_SMALL_BYTES has been queued
 * instead if the process's buffer is none. mail_take_short only tries a short one for the process that ran last. */
bool mail_take_short(const struct ncu_cause *cause);
bool mail_take(const struct ncu_cause *cause);
/* Any other that is not for the kernel itself. */
void mail_arrived(uint32_t channel, struct message *m);

/* The longest message that mail_take_short may copy to what p->reader wants; -1: none. */
int64_t mail_short_bytes(const struct proc *p);
/* p->reader waits no longer. */
void mail_close(struct proc *p);

/* The header of one waits: the memory in which it is to land, or NULL: a buffer of the kernel's. */
struct message *mail_landing(const struct ncu_cause *cause);
/* It has landed, or was damaged on its way. Takes it over. */
void mail_landed(struct message *m, bool damaged);

/* Headers that wait for memory are tried again, now that the process reads. */
void mail_offer_waiting(void);

/* To its process, if it wants it. Takes the message over. */
void mail_deliver(struct message *m);

/* What a program is told of a send with this status (NCU_E...). */
int32_t mail_error_of_status(int32_t status);

/* A send is done; m is still the caller's. mail_send_failed after that, if it has failed: whoever sent it is told. */
void mail_sent(const struct message *m, const struct ncu_cause *cause);
void mail_send_failed(const struct message *m, const struct ncu_cause *cause);

/* The process sends m, or takes m: for `monitor` to tell. */
static inline void mail_note_sent(struct proc *p, struct message *m)
{
    m->owner = p->procid;
    p->last_sent = m;
}

void mail_note_taken(struct proc *p, const struct message *m);

/* As p->monitor, and what p->last_sent adds. */
void mail_get_monitor(const struct proc *p, struct abi_monitor *monitor);

/* What is queued for the process is freed, */
void mail_drop_inbox(struct proc *p);
/* or, but for replies to it, left to the next process. */
void mail_leave_inbox(struct proc *p);
/* What came before there was a process: the first one's, */
void mail_give_early(struct proc *p);
void mail_drop_early(void); /* or nobody's */

#endif

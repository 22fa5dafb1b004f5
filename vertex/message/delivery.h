/*
 * Messages and processes: delivers arriving messages to processes, and reports the ends of sends to their senders.
 *
 * A message reaches its process by the shortest possible of three paths:
 *
 *   1. The message is longer than CHANNEL_ARMED_BYTES, so its header arrives first, and the process waits in nread for
 *      exactly this message with a buffer that is long enough, aligned to 8 and physically contiguous: the NCU writes
 *      into that buffer.
 *   2. The message is in a standard buffer, and the process waits for it: it is copied to the process, once.
 *   3. Otherwise it is queued, and copied when it is read; nreadp maps its pages without a copy.
 *
 * While a message lands in a process's memory (READER_LANDING), the process stays in nread, whatever else arrives. If
 * the message arrives damaged, the process takes the next one from its queue.
 */
#pragma once

#include <stdbool.h>

#include "vertex/process/proc.h"

/* Called at RECV_DONE. If the message is in the standard buffer and a process waits for it, copies it to the process,
 * arms the channel again and returns true; a message of more than MESSAGE_SMALL_BYTES whose process passed a bad buffer
 * is queued instead. delivery_take_short tries only a short message for the process that ran last, and
 * delivery_take_by_pages any. */
bool delivery_take_short(const struct ncu_cause *cause);
bool delivery_take_by_pages(const struct ncu_cause *cause);
/* Returns the longest message that delivery_take_short may copy for p->reader, which is open; -1: none. */
int64_t delivery_short_bytes(const struct proc *p);

/* Puts the reader into a state in which no short message is copied to it by delivery_take_short. */
static inline void delivery_set_reader(struct proc *p, enum reader_state state)
{
    p->reader.state = state;
    p->reader.short_bytes = -1;
}

/* Delivers or queues a received message that these did not take and that is not for the kernel itself. */
void delivery_arrived(uint32_t channel, struct message *m);
/* Ends p's nread, if p waits in one, with this result instead of a message's length. One whose message the NCU is
 * writing goes on. */
void delivery_interrupt(struct proc *p, int64_t result);

/* For a header that waits: returns a message over the process's memory in which it can land, or NULL if the kernel must
 * provide a buffer. */
struct message *delivery_landing(const struct ncu_cause *cause);
/* Ends a landing, by its arrival or its damage. Takes over the message. */
void delivery_landed(struct message *m, bool damaged);

/* Offers headers that wait for memory to the process, which has begun to read. */
void delivery_offer_waiting(void);

/* Gives the message to its process, or frees it if no process wants it. Takes over the message. */
void delivery_give(struct message *m);

/* Returns the n_error that a program gets for a send with this status (NCU_E...). */
int32_t delivery_error_of_status(int32_t status);

/* Record the end of a send for its sender; delivery_send_failed follows delivery_sent if the send failed. The caller
 * keeps its hold. */
void delivery_sent(const struct message *m, const struct ncu_cause *cause);
void delivery_send_failed(const struct message *m, const struct ncu_cause *cause);

/* Records that the process sends m, for the trap monitor. */
static inline void delivery_note_sent(struct proc *p, struct message *m)
{
    m->owner = p->procid;
    p->last_sent = m;
}

/* Takes m from the process's inbox: it has received it. */
void delivery_receive(struct proc *p, struct message *m);

/* Stores p->monitor with the times of p->last_sent. */
void delivery_get_monitor(const struct proc *p, struct nmonitor *monitor);

void delivery_drop_inbox(struct proc *p);  /* frees the messages queued for the process */
void delivery_leave_inbox(struct proc *p); /* leaves them, except file replies, to the process that succeeds it */
void delivery_give_early(struct proc *p);  /* queues for p the messages that arrived before there was a process */
void delivery_drop_early(void);            /* frees those messages */

/*
 * Messages between this node and the NCU's channels: buffers, sending, receiving.
 *
 * Receiving. Every connected channel has a standard buffer of MSG_ARMED_BYTES, or less in machines of more than 11
 * dimensions (msg_standard_bytes), and the loop-back channel by which a node sends to itself one of MSG_SMALL_BYTES;
 * it is armed whenever the channel is free. A longer message waits in the network with its header readable until the
 * kernel has seen it:
 *
 *     armed --RECV_DONE--> the message is in the standard buffer: a small one is copied out, a longer one takes the
 *                          buffer along and a new one is armed. What the process that runs waits for is copied to it
 *           --RECV_HEADER (longer)--> armed with what the caller gives: memory of the process that waits for
 *                                     just this message, or else a buffer of its size
 *
 * If there is no memory the channel stays unarmed and is tried again by msg_arm_waiting, which runs whenever the
 * kernel is about to leave: the message waits in the network, nothing is dropped.
 *
 * Sending. The NCU reads the payload after msg_send has returned; the message is held until SEND_DONE has been seen,
 * which may be long after the send has ended: that alone interrupts nobody (event_reap, msg_need_sends).
 *
 * A message is freed when its last hold is released. This module knows nothing of types or processes: event.c passes
 * what arrives on.
 */
#ifndef VERTEX_MSG_H
#define VERTEX_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/machine.h"
#include "vertex/memory/page.h"
#include "vertex/message/queue.h"

#define MSG_ARMED_BYTES 16384u
#define MSG_SMALL_BYTES 1024u       /* as much is copied out of a standard buffer; more takes the buffer along */
#define MSG_REAP_SENDS  8u          /* a process that sends sees to the ends of its sends after so many */
#define MSG_MAX_BYTES   (64u << 20) /* no node has more memory */

#define MSG_BUFFERS_BYTES (192u << 10) /* standard buffers of a node together: Vertex takes less than 256 KB */

/* The standard buffer where a node has so many channels to others: whole pages. */
static inline uint32_t msg_standard_bytes(uint32_t channels)
{
    uint32_t share = MSG_BUFFERS_BYTES / (channels ? channels : 1) / PAGE_BYTES * PAGE_BYTES;

    return share < MSG_ARMED_BYTES ? share : MSG_ARMED_BYTES;
}

void msg_init(void); /* arms all channels */

extern uint32_t msg_unarmed; /* bit c: channel c waits for memory */
void msg_arm_unarmed(void);

static inline void msg_arm_waiting(void)
{
    if (msg_unarmed)
        msg_arm_unarmed();
}

/* Short messages come and go: a few are kept for them. */
#define MSG_SPARE_BYTES 64u /* with the header, a cell of 144 bytes (kmem.c) */
extern struct msg_spares {
    struct message *first;
    uint32_t count;
} msg_spares;

struct message *msg_new_sized(uint64_t capacity);

/* A new message is blank but for its payload and `bytes`. */
static inline struct message *msg_make_blank(struct message *m)
{
    m->holds = 1;
    m->sequence = 0;
    m->via = MSG_VIA_NEAREST;
    m->owner = MSG_OF_KERNEL;
    return m;
}

/* m is the first spare. */
static inline struct message *msg_take_spare(struct message *m)
{
    msg_spares.first = m->next;
    msg_spares.count--;
    return msg_make_blank(m);
}

/* A message with room for `capacity` bytes, held once; NULL if there is no memory. */
static inline struct message *msg_new(uint64_t capacity)
{
    struct message *m = msg_spares.first;

    if (capacity > MSG_SPARE_BYTES || !m)
        return msg_new_sized(capacity);
    return msg_take_spare(m);
}

/* The same, its payload in pages of its own, of at least one byte. */
struct message *msg_new_pages(uint64_t capacity);
/* A message whose payload is not its own: memory of a process, which outlasts it. */
struct message *msg_new_landing(void *memory, uint64_t capacity);
void msg_free(struct message *m); /* the last hold is given up */

/* A message of that capacity is kept for who must not go without, until msg_unreserve. False: no memory. */
bool msg_reserve(uint64_t capacity);
void msg_unreserve(void);
/* It, as msg_new would give it; NULL: it is in use, or too small, or none is kept. */
struct message *msg_use_reserved(uint64_t capacity);

static inline void msg_release(struct message *m)
{
    if (m->holds > 1)
        m->holds--;
    else
        msg_free(m);
}

/* The payload of a message has been copied: counted for the machine's statistics. */
static inline void msg_note_copy(void)
{
    MAILBOX->copies++;
}

extern uint32_t msg_sends[MSG_OF_KERNEL + 1]; /* under way, by owner */

/* Sends m->bytes of the payload, and gives up the caller's hold, which is the NCU's until SEND_DONE. */
static inline void msg_post(struct message *m, uint64_t node, uint64_t tag)
{
    m->node = (uint32_t)node;
    m->tag = (uint32_t)tag;
    msg_sends[m->owner]++;
    ncu_send(node, m->payload, m->bytes, tag, (uint64_t)m, m->via);
}

/* The same, but the caller keeps its hold. */
void msg_send(struct message *m, uint32_t node, uint32_t tag);
/* Sends to all other nodes of a subcube of dimension dim > 0 that begins at `base`: in one piece if the NCU can. */
void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t tag);

bool msg_sends_under_way(void);
static inline uint32_t msg_owner_sends(uint32_t owner) /* so many */
{
    return msg_sends[owner];
}

/* RECV_DONE, before msg_received: the standard buffer, if it is in there, else NULL. Once the payload has been copied
 * the channel may be armed with the same again, as if nothing had come. */
const struct message *msg_in_standard(uint32_t channel);
static inline void msg_arm_standard(uint32_t channel, const struct message *standard)
{
    ncu_arm(channel, standard->payload, standard->capacity);
}

/* RECV_DONE. The message lies where it was received; msg_keep makes it the caller's own, or msg_drop ends it, and then
 * the channel is armed again by msg_rearm. */
struct message *msg_received(const struct ncu_cause *cause);
struct message *msg_keep(uint32_t channel, struct message *m);
void msg_drop(uint32_t channel, struct message *m);
void msg_rearm(uint32_t channel);

/* RECV_HEADER. True if the channel has no buffer for it: msg_land or msg_rearm will arm one. */
bool msg_header_waits(const struct ncu_cause *cause);
void msg_land(uint32_t channel, struct message *landing); /* takes the message over */
/* The header that waits at a channel without a buffer, or NULL. */
const struct ncu_cause *msg_waiting_header(uint32_t channel);

/* A send that ends is no cause: its memory is taken back now and then (event_reap), or at once while it is needed: as
 * long as a channel is unarmed, and between these two. */
void msg_need_sends(void);
void msg_need_sends_no_more(void);
bool msg_sends_are_needed(void);
/* To be asked after a send: true after every few. */
static inline bool msg_reap_is_due(uint32_t owner)
{
    return msg_owner_sends(owner) % MSG_REAP_SENDS == 0;
}

/* SEND_DONE. The message still has the send's hold, which the caller releases. */
struct message *msg_sent(const struct ncu_cause *cause);

/* Messages that exist beyond the channels' buffers. For the search for leaks. */
uint32_t msg_count(void);

#endif

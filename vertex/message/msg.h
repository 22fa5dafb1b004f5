/*
 * Messages between this node and the NCU's channels: buffers, sending, receiving.
 *
 * Receiving. Every connected channel has a standard buffer of MSG_ARMED_BYTES, or less in machines of more than 11
 * dimensions (msg_standard_bytes). The loop-back channel, by which a node sends to itself, has one of MSG_SMALL_BYTES.
 * A standard buffer is armed whenever its channel is free. A longer message waits in the network, and the kernel reads
 * its header first:
 *
 *     armed --RECV_DONE--> the message is in the standard buffer. A process that waits for it gets a copy;
 *                          else a small one is copied out, and a longer one keeps the buffer and a new one is armed
 *           --RECV_HEADER (longer)--> the kernel arms memory of the process that waits for exactly this message, or
 *                                     else a buffer of the message's size
 *
 * Without memory a channel stays unarmed and the message waits in the network: nothing is dropped. msg_arm_waiting,
 * which runs whenever the kernel is about to leave, tries again.
 *
 * Sending. The NCU reads the payload after msg_send has returned, so the send holds the message until the kernel sees
 * SEND_DONE. That may be long after the send has ended, as its end interrupts nothing (event_reap, msg_need_sends).
 *
 * A message is freed when its last hold is released. This module knows neither types nor processes: trap/event.c passes
 * on what arrives.
 */
#ifndef VERTEX_MSG_H
#define VERTEX_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/machine.h"
#include "vertex/memory/page.h"
#include "vertex/message/queue.h"

#define MSG_ARMED_BYTES 20480u      /* whole pages: a block of 16 KB with its request [P0 section 4] */
#define MSG_SMALL_BYTES 1024u       /* up to this, a queued message is copied out of the standard buffer */
#define MSG_REAP_SENDS  8u          /* a sending process handles the ends of its sends each time it has this many; */
#define MSG_REAP_SHORT  16u         /* after a short one, which takes little memory */
#define MSG_MAX_BYTES   (64u << 20) /* no node has more memory */

#define MSG_BUFFERS_BYTES (192u << 10) /* limit of all standard buffers of a node: Vertex takes less than 256 KB */

/* Returns the size of a standard buffer on a node with this many channels to other nodes: whole pages. */
static inline uint32_t msg_standard_bytes(uint32_t channels)
{
    uint32_t share = MSG_BUFFERS_BYTES / (channels ? channels : 1) / PAGE_BYTES * PAGE_BYTES;

    return share < MSG_ARMED_BYTES ? share : MSG_ARMED_BYTES;
}

void msg_init(void); /* arms all channels */

extern uint32_t msg_unarmed; /* bit c: channel c has no buffer: it rests, or there is no memory */
extern uint32_t msg_resting; /* bit c: it rests (pace.h) */
void msg_arm_unarmed(void);  /* those that do not rest */

static inline void msg_arm_waiting(void)
{
    if (msg_unarmed)
        msg_arm_unarmed();
}

/* Channel c gets no buffer, and no header that waits there gets one, until msg_end_rest. */
void msg_rest(uint32_t channel);
void msg_end_rest(void);
static inline bool msg_rests(uint32_t channel)
{
    return msg_resting >> channel & 1;
}
static inline bool msg_lacks_memory(void)
{
    return msg_unarmed & ~msg_resting;
}

/* A few freed short messages are kept for reuse. */
#define MSG_SPARE_BYTES 64u /* with the header, a cell of 144 bytes (kmem.c) */
extern struct msg_spares {
    struct message *first;
    uint32_t count;
} msg_spares;

struct message *msg_new_sized(uint64_t capacity);
void msg_fill_spares(void); /* as far as there is memory */

/* Sets the fields of a new message, except its payload and `bytes`. */
static inline struct message *msg_make_blank(struct message *m)
{
    m->holds = 1;
    m->sequence = 0;
    m->via = MSG_VIA_NEAREST;
    m->owner = MSG_OF_KERNEL;
    return m;
}

/* Takes m, the first spare. */
static inline struct message *msg_take_spare(struct message *m)
{
    msg_spares.first = m->next;
    msg_spares.count--;
    return msg_make_blank(m);
}

/* Returns a message with room for `capacity` bytes and one hold, the caller's; NULL if there is no memory. */
static inline struct message *msg_new(uint64_t capacity)
{
    struct message *m = msg_spares.first;

    if (capacity > MSG_SPARE_BYTES || !m)
        return msg_new_sized(capacity);
    return msg_take_spare(m);
}

/* As msg_new, with the payload in pages of its own; capacity is at least 1. */
struct message *msg_new_pages(uint64_t capacity);
/* As msg_new, with a process's memory as the payload, which must outlast the message. */
struct message *msg_new_landing(void *memory, uint64_t capacity);
void msg_free(struct message *m); /* frees m, whose last hold the caller has */

/* Reserves a message of that capacity for msg_use_reserved, until msg_unreserve. False: no memory. */
bool msg_reserve(uint64_t capacity);
void msg_unreserve(void);
/* Returns the reserved message as msg_new would; NULL if it is in use, too small, or not reserved. */
struct message *msg_use_reserved(uint64_t capacity);

static inline void msg_release(struct message *m)
{
    if (m->holds > 1)
        m->holds--;
    else
        msg_free(m);
}

void msg_release_all(struct msg_queue *q); /* empties the queue */

/* Counts a copied payload for the machine's statistics. */
static inline void msg_note_copy(void)
{
    MAILBOX->copies++;
}

extern uint32_t msg_sends[MSG_OF_KERNEL + 1]; /* sends under way, by owner */

/* Sends m->bytes of the payload. The caller's hold passes to the send, which releases it at SEND_DONE. */
static inline void msg_post(struct message *m, uint64_t node, uint64_t tag)
{
    m->node = (uint32_t)node;
    m->tag = (uint32_t)tag;
    msg_sends[m->owner]++;
    ncu_send(node, m->payload, m->bytes, tag, (uint64_t)m, m->via);
}

/* As msg_post, but the caller keeps its hold. */
void msg_send(struct message *m, uint32_t node, uint32_t tag);
/* Sends m to all others of the first `nodes` nodes of the subcube of dimension dim > 0 that begins at `base`, as one
 * broadcast if these are all and the NCU can; the caller keeps its hold. */
void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t nodes, uint32_t tag);

bool msg_sends_under_way(void);
static inline uint32_t msg_owner_sends(uint32_t owner) /* returns the number of its sends under way */
{
    return msg_sends[owner];
}

/* After RECV_DONE and before msg_received: returns the standard buffer if the message is in it, else NULL. After
 * copying the payload the caller may arm the channel with the same buffer again instead of calling msg_received. */
struct message *msg_in_standard(uint32_t channel);
static inline void msg_arm_standard(uint32_t channel, const struct message *standard)
{
    ncu_arm(channel, standard->payload, standard->capacity);
}

/* The same where channels are armed at a stated time: until the next call, all are armed at that time; 0: at once. */
void msg_rearm_standard(uint32_t channel);
void msg_arm_at(uint64_t cycles);

/* After RECV_DONE: msg_received returns the message in the buffer that received it. Then either msg_keep gives it to
 * the caller or msg_drop discards it, and msg_rearm arms the channel again. A small one that is kept is copied to a
 * buffer of `capacity` bytes, at least its own. */
struct message *msg_received(const struct ncu_cause *cause);
struct message *msg_keep(uint32_t channel, struct message *m, uint32_t capacity);
void msg_drop(uint32_t channel, struct message *m);
void msg_rearm(uint32_t channel);

/* After RECV_HEADER: returns true if the channel has no buffer for the message; msg_land or msg_rearm must then arm
 * one. */
bool msg_header_waits(const struct ncu_cause *cause);
void msg_land(uint32_t channel, struct message *landing); /* arms it with `landing`, and takes over the caller's hold */
/* Returns the header that waits at a channel without a buffer, or NULL. */
const struct ncu_cause *msg_waiting_header(uint32_t channel);

/* The end of a send is normally no cause, and its memory is freed now and then (event_reap). It is a cause, and its
 * memory is freed at once, while a channel is unarmed and between these two calls. */
void msg_need_sends(void);
void msg_need_sends_no_more(void);
bool msg_sends_are_needed(void);
/* Returns true after every MSG_REAP_SENDS-th send, or MSG_REAP_SHORT-th, by the length of the last one: the owner then
 * calls event_reap. */
static inline bool msg_reap_is_due(uint32_t owner, uint64_t bytes)
{
    return msg_owner_sends(owner) % (bytes <= MSG_SPARE_BYTES ? MSG_REAP_SHORT : MSG_REAP_SENDS) == 0;
}

/* After SEND_DONE: returns the message that was sent, with the send's hold, which the caller releases. */
struct message *msg_sent(const struct ncu_cause *cause);

/* Returns the number of messages beyond the channels' buffers, for leak checks. */
uint32_t msg_count(void);

#endif

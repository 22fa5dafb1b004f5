/*
 * Messages between this node and the NCU's channels: buffers, sending, receiving.
 *
 * Receiving. Every connected channel, and the loop-back channel by which a node sends to itself, has a standard
 * buffer of MSG_ARMED_BYTES, armed whenever the channel is free. A longer message waits in the network with its
 * header readable until the kernel has seen it:
 *
 *     armed --RECV_DONE--> the message is in the standard buffer: a small one is copied out, a longer one takes the
 *                          buffer along and a new one is armed
 *           --RECV_HEADER (longer)--> armed with what the caller gives: memory of the process that waits for
 *                                     just this message, or else a buffer of its size
 *
 * If there is no memory the channel stays unarmed and is tried again by msg_arm_waiting, which runs whenever the
 * kernel is about to leave: the message waits in the network, nothing is dropped.
 *
 * Sending. The NCU reads the payload after msg_send has returned; the message is held until SEND_DONE.
 *
 * A message is freed when its last hold is released. This module knows nothing of types or processes: event.c passes
 * what arrives on.
 */
#ifndef VERTEX_MSG_H
#define VERTEX_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/machine.h"
#include "vertex/queue.h"

#define MSG_ARMED_BYTES (16384u - 8u) /* a message of 16 KB on the wire, where the header is 8 bytes of it */
#define MSG_SMALL_BYTES 1024u           /* as much is copied out of a standard buffer; more takes the buffer along */
#define MSG_MAX_BYTES (64u << 20) /* no node has more memory */

void msg_init(void); /* arms all channels */

extern uint32_t msg_unarmed; /* bit c: channel c waits for memory */
void msg_arm_unarmed(void);

static inline void msg_arm_waiting(void)
{
    if (msg_unarmed)
        msg_arm_unarmed();
}

/* A message with room for `capacity` bytes, held once; NULL if there is no memory. */
struct message *msg_new(uint64_t capacity);
/* The same, its payload in pages of its own, of at least one byte. */
struct message *msg_new_pages(uint64_t capacity);
/* A message whose payload is not its own: memory of a process, which outlasts it. */
struct message *msg_new_landing(void *memory, uint64_t capacity);
void msg_release(struct message *m);

/* Sends m->bytes of the payload; the caller keeps its hold. */
void msg_send(struct message *m, uint32_t node, uint32_t tag);
/* Sends to all other nodes of a subcube of dimension dim > 0 that begins at `base`: in one piece if the NCU can. */
void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t tag);
/* Sends, and gives up the caller's hold. */
void msg_post(struct message *m, uint32_t node, uint32_t tag);
bool msg_sends_under_way(void);
bool msg_owner_sends(uint32_t owner);

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

/* SEND_DONE. The message still has the send's hold, which the caller releases. */
struct message *msg_sent(const struct ncu_cause *cause);

/* Messages that exist beyond the channels' buffers. For the search for leaks. */
uint32_t msg_count(void);

#endif

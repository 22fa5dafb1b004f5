/*
 * Messages between this node and the NCU's channels: buffers, sending, receiving.
 *
 * Receiving. Every connected channel, and the loop-back channel by which a node sends to itself, has a standard
 * buffer of MSG_ARMED_BYTES, armed whenever the channel is free:
 *
 *     armed --RECV_DONE, small message--> copied to a buffer of its size; armed again at once
 *           --RECV_DONE, else-----------> the buffer becomes the message; a new one is armed
 *           --RECV_HEADER (too big)-----> a buffer of exactly that size is armed instead
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

#define MSG_ARMED_BYTES (16384u + 512u) /* a 16 KB block with its file_request and more */
#define MSG_SMALL_BYTES 1024u
#define MSG_MAX_BYTES (64u << 20) /* no node has more memory */

void msg_init(void); /* arms all channels */
void msg_arm_waiting(void);

/* A message with room for `capacity` bytes, held once; NULL if there is no memory. */
struct message *msg_new(uint64_t capacity);
void msg_release(struct message *m);

/* Sends m->bytes of the payload; the caller keeps its hold. */
void msg_send(struct message *m, uint32_t node, uint32_t tag);
/* Sends to all other nodes of a subcube of dimension dim > 0 that begins at `base`: in one piece if the NCU can. */
void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t tag);
/* Sends, and gives up the caller's hold. */
void msg_post(struct message *m, uint32_t node, uint32_t tag);
bool msg_sends_under_way(void);

/* Causes. A received message is the caller's, NULL if the cause brought none. A sent one still has the send's
 * hold, which the caller releases. */
struct message *msg_received(const struct ncu_cause *cause);
void msg_header_waits(const struct ncu_cause *cause);
struct message *msg_sent(const struct ncu_cause *cause);

#endif

/*
 * The NCU's channels: what arrives is received into buffers that are armed.
 *
 * Every connected channel has a standard buffer of CHANNEL_ARMED_BYTES, or less in machines of more than 11 dimensions
 * (channel_standard_bytes). The loop-back channel, by which a node sends to itself, has one of MESSAGE_SMALL_BYTES. A
 * standard buffer is armed whenever its channel is free. A longer message waits in the network, and the kernel reads
 * its header first:
 *
 *     armed --RECV_DONE--> the message is in the standard buffer. A process that waits for it gets a copy;
 *                          else a small one is copied out, and a longer one keeps the buffer and a new one is armed
 *           --RECV_HEADER (longer)--> the kernel arms memory of the process that waits for exactly this message, or
 *                                     else a buffer of the message's size
 *
 * Without memory a channel stays unarmed and the message waits in the network: nothing is dropped.
 * channels_arm_waiting, which runs whenever the kernel is about to leave, tries again.
 *
 * This module knows neither types nor processes: trap/event.c passes on what arrives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/machine.h"
#include "vertex/memory/page.h"
#include "vertex/message/buffers.h"

#define CHANNEL_ARMED_BYTES   HELD_BUFFER_BYTES /* whole pages: a block of 16 KB with its request [P0 section 4] */
#define CHANNEL_BUFFERS_BYTES (192u << 10) /* limit of all standard buffers of a node: Vertex takes less than 256 KB */

/* Returns the size of a standard buffer on a node with this many channels to other nodes: whole pages. */
static inline uint32_t channel_standard_bytes(uint32_t channels)
{
    uint32_t share = CHANNEL_BUFFERS_BYTES / (channels ? channels : 1) / PAGE_BYTES * PAGE_BYTES;

    return share < CHANNEL_ARMED_BYTES ? share : CHANNEL_ARMED_BYTES;
}

void channels_init(void); /* arms all channels */

extern uint32_t channels_unarmed; /* bit c: channel c has no buffer: it rests, or there is no memory */
extern uint32_t channels_resting; /* bit c: it rests (pace.h) */
void channels_arm_unarmed(void);  /* those that do not rest */

static inline void channels_arm_waiting(void)
{
    if (channels_unarmed)
        channels_arm_unarmed();
}

/* Channel c gets no buffer, and no header that waits there gets one, until channels_end_rest. */
void channel_rest(uint32_t channel);
void channels_end_rest(void);
static inline bool channel_rests(uint32_t channel)
{
    return channels_resting >> channel & 1;
}
static inline bool channels_lack_memory(void)
{
    return channels_unarmed & ~channels_resting;
}

/* After RECV_DONE and before channel_received: returns the standard buffer if the message is in it, else NULL. After
 * copying the payload the caller may arm the channel with the same buffer again instead of calling channel_received. */
struct message *channel_in_standard(uint32_t channel);
static inline void channel_arm_standard(uint32_t channel, const struct message *standard)
{
    ncu_arm(channel, standard->payload, standard->capacity);
}

/* The same where channels are armed at a stated time: until the next call, all are armed at that time; 0: at once. */
void channel_rearm_standard(uint32_t channel);
void channels_arm_at(uint64_t cycles);

/* After RECV_DONE: channel_received returns the message in the buffer that received it. Then either channel_keep gives
 * it to the caller or channel_drop discards it, and channel_rearm arms the channel again. A small one that is kept is
 * copied to a buffer of `capacity` bytes, at least its own. */
struct message *channel_received(const struct ncu_cause *cause);
struct message *channel_keep(uint32_t channel, struct message *m, uint32_t capacity);
void channel_drop(uint32_t channel, struct message *m);
void channel_rearm(uint32_t channel);

/* After RECV_HEADER: returns true if the channel has no buffer for the message; channel_land or channel_rearm must then
 * arm one. */
bool channel_header_waits(const struct ncu_cause *cause);
/* Arms it with `landing`, and takes over the caller's hold. */
void channel_land(uint32_t channel, struct message *landing);
/* Returns the header that waits at a channel without a buffer, or NULL. */
const struct ncu_cause *channel_waiting_header(uint32_t channel);

/* The end of a send is normally no cause, and its memory is freed now and then (event_reap). It is a cause, and its
 * memory is freed at once, while a channel is unarmed and between these two calls. */
void channels_want_ends(void);
void channels_want_ends_no_more(void);
bool channels_ends_are_wanted(void);

/* Returns the number of messages that exist beyond the buffers of channels, for leak checks. */
uint32_t channels_other_messages(void);

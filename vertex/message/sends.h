/*
 * Sending. The NCU reads the payload after message_send has returned, so the send holds the message until the kernel
 * sees SEND_DONE. That may be long after the send has ended, as its end interrupts nothing (event_reap,
 * channels_want_ends).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/message/buffers.h"

#define SENDS_REAP_SENDS 8u /* a sending process handles the ends of its sends each time it has this many; */
#define SENDS_REAP_SHORT MESSAGE_SPARES /* after a short one: so many are kept */

extern uint32_t sends_by_owner[MESSAGE_OF_KERNEL + 1]; /* sends under way, by owner */

/* Sends m->bytes of the payload. The caller's hold passes to the send, which releases it at SEND_DONE. */
static inline void message_post(struct message *m, uint64_t node, uint64_t tag)
{
    m->node = (uint32_t)node;
    m->tag = (uint32_t)tag;
    sends_by_owner[m->owner]++;
    ncu_send(node, m->payload, m->bytes, tag, (uint64_t)m, m->via);
}

/* As message_post, but the caller keeps its hold. */
void message_send(struct message *m, uint32_t node, uint32_t tag);
/* Sends m to all others of the first `nodes` nodes of the subcube of dimension dim > 0 that begins at `base`, as one
 * broadcast if these are all and the NCU can; the caller keeps its hold. */
void message_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t nodes, uint32_t tag);

bool sends_under_way(void);
static inline uint32_t sends_of(uint32_t owner) /* returns the number of its sends under way */
{
    return sends_by_owner[owner];
}

/* Returns true after every SENDS_REAP_SENDS-th send, or SENDS_REAP_SHORT-th, by the length of the last one: the owner
 * then calls event_reap. */
static inline bool sends_reap_is_due(uint32_t owner, uint64_t bytes)
{
    return sends_of(owner) % (bytes <= MESSAGE_SPARE_BYTES ? SENDS_REAP_SHORT : SENDS_REAP_SENDS) == 0;
}

/* After SEND_DONE: returns the message that was sent, with the send's hold, which the caller releases. */
struct message *message_sent(const struct ncu_cause *cause);

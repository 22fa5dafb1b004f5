/*
 * Messages in memory: their buffers.
 *
 * A message is freed when its last hold is released: there is one for each owner, and one for each send under way, as
 * the NCU reads the payload after the send has begun (sends.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/held.h"
#include "vertex/contract/machine.h"
#include "vertex/message/queue.h"

#define MESSAGE_SMALL_BYTES HELD_SMALL_BYTES /* up to this, a queued message is copied out of the standard buffer */
#define MESSAGE_MAX_BYTES   (64u << 20)      /* no node has more memory */

/* A few freed short messages are kept for reuse. */
#define MESSAGE_SPARE_BYTES 64u /* with the header, a cell of 144 bytes (kmem.c) */
#define MESSAGE_SPARES      16u
extern struct message_spares {
    struct message *first;
    uint32_t count;
} message_spares;

struct message *message_new_sized(uint64_t capacity);
void message_fill_spares(void); /* as far as there is memory */

/* Sets the fields of a new message, except its payload and `bytes`. */
static inline struct message *message_make_blank(struct message *m)
{
    m->holds = 1;
    m->sequence = 0;
    m->via = MESSAGE_VIA_NEAREST;
    m->owner = MESSAGE_OF_KERNEL;
    return m;
}

/* Takes m, the first spare. */
static inline struct message *message_take_spare(struct message *m)
{
    message_spares.first = m->next;
    message_spares.count--;
    return message_make_blank(m);
}

/* Returns a message with room for `capacity` bytes and one hold, the caller's; NULL if there is no memory. */
static inline struct message *message_new(uint64_t capacity)
{
    struct message *m = message_spares.first;

    if (capacity > MESSAGE_SPARE_BYTES || !m)
        return message_new_sized(capacity);
    return message_take_spare(m);
}

/* As message_new, with the payload in pages of its own; capacity is at least 1. */
struct message *message_new_pages(uint64_t capacity);
/* As message_new, with a process's memory as the payload, which must outlast the message. */
struct message *message_new_landing(void *memory, uint64_t capacity);
void message_free(struct message *m); /* frees m, whose last hold the caller has */

/* Reserves a message of that capacity for message_use_reserved, until message_unreserve. False: no memory. */
bool message_reserve(uint64_t capacity);
void message_unreserve(void);
/* Returns the reserved message as message_new would; NULL if it is in use, too small, or not reserved. */
struct message *message_use_reserved(uint64_t capacity);

static inline void message_release(struct message *m)
{
    if (m->holds > 1)
        m->holds--;
    else
        message_free(m);
}

void message_release_all(struct message_queue *q); /* empties the queue */

/* Counts a copied payload for the machine's statistics. */
static inline void message_note_copy(void)
{
    MAILBOX->copies++;
}

/* Returns the number of messages that exist, but for spares and the reserved one. */
uint32_t message_count(void);

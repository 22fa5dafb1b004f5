/*
 * A message in memory, and queues of them in order of arrival. Pure: host tests link it.
 */
#ifndef VERTEX_QUEUE_H
#define VERTEX_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/system.h"

enum message_place {
    MSG_INLINE, /* the payload follows the header */
    MSG_PAGES,  /* the payload has pages of its own, so that a program can be given them */
    MSG_LANDED, /* the payload is memory of the process that waits for it in nread */
};

#define MSG_OF_KERNEL   8u /* owner of what Vertex itself sends; processes have lower numbers */
#define MSG_VIA_NEAREST ((uint32_t)NCU_VIA_NEAREST)

struct message {
    struct message *next; /* in its queue, or among the buffers that a process has */
    uint64_t *payload;
    uint32_t bytes;    /* of the payload */
    uint32_t capacity; /* bytes that the payload has room for */
    uint32_t holds;    /* one per owner, one per send under way; msg_release at 0 frees */
    uint32_t tag;      /* vertex/contract/system.h */
    uint32_t node;     /* sender's address; of a message being sent: the last destination's */
    uint32_t sequence; /* of a file request being sent */
    uint32_t via;      /* of a message being sent: the I/O node's channel to use, or MSG_VIA_NEAREST */
    uint8_t place;     /* enum message_place */
    uint8_t owner;     /* procid of the process that sends it, or MSG_OF_KERNEL */
    uint16_t pad;
    uint64_t start_cycles; /* the sender's SEND was executed */
    uint64_t done_cycles;  /* last byte delivered */
};
_Static_assert(sizeof(struct message) == 64, "payloads are aligned to 8 bytes");

struct msg_queue {
    struct message *first, *last;
};

#define MSG_ANY_NODE (~0u)

struct msg_pattern {
    uint32_t node;                /* sender, or MSG_ANY_NODE; */
    uint32_t procid;              /* then, which of its processes */
    uint32_t type_low, type_high; /* inclusive */
    bool by_sequence;             /* the payload starts with this sequence number (file replies) */
    uint32_t sequence;
};

void queue_add(struct msg_queue *q, struct message *m);
void queue_remove(struct msg_queue *q, struct message *m); /* m is in the queue */
struct message *queue_take_first(struct msg_queue *q);     /* NULL if empty */

/* Does a message of that sender and tag fit, whatever its sequence? */
static inline bool pattern_fits(const struct msg_pattern *p, uint32_t node, uint32_t tag)
{
    uint32_t type = TAG_TYPE(tag);

    return type >= p->type_low && type <= p->type_high &&
           (p->node == MSG_ANY_NODE || (p->node == node && p->procid == TAG_FROM(tag)));
}

bool msg_matches(const struct message *m, const struct msg_pattern *p);
/* The oldest message that matches, which stays in the queue, or NULL. */
struct message *queue_find(const struct msg_queue *q, const struct msg_pattern *p);

#endif

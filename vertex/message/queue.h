/*
 * A message in memory, and queues of them. Pure: host tests link it.
 *
 * A queue is a list in order of arrival. A short one has nothing else. When it gets longer it gets an index, two tables
 * of chains. All messages from one process are in one chain of the first table, all of one type in one chain of the
 * second, in order of arrival, together with others of the same hash.
 *
 *     arrival     A1 -> B7 -> A7 -> A9 -> B1        (letter: source; digit: type)
 *     by source   A: A1 -> A7 -> A9       B: B7 -> B1
 *     by type     1: A1 -> B1    7: B7 -> A7    9: A9
 *
 * A search follows the chain of the source or of the type; if both are given it follows both in turns, so that the
 * shorter one sets its cost. Only a search for any source and several types (nrange) may pass many messages that do not
 * match. The tables grow with the queue: a chain has 1 to 4 messages, a table 8 to 32 bytes for each message. They are
 * freed when the queue is empty. Without memory for a larger table chains get longer; without any table a search
 * follows the list of arrival.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/system.h"

enum message_place {
    MESSAGE_INLINE, /* the payload follows the header */
    MESSAGE_PAGES,  /* the payload has pages of its own, which can be mapped into a program */
    MESSAGE_LANDED, /* the payload is memory of the process that waits for the message in nread */
};

#define MESSAGE_OF_KERNEL   8u /* the owner of messages that Vertex itself sends; below it are procids */
#define MESSAGE_VIA_NEAREST ((uint32_t)NCU_VIA_NEAREST)

/* The neighbours in a list, as byte offsets from the message itself; 0: none. All messages lie within 2 GB, so a link
 * needs half the size of a pointer. */
struct queue_link {
    int32_t next, previous;
};

enum queue_list { QUEUE_ARRIVAL, QUEUE_SOURCE, QUEUE_TYPE, QUEUE_LISTS };

struct message {
    union {
        struct message *next;                /* in the list of spares, or of a process's buffers */
        struct queue_link link[QUEUE_LISTS]; /* in a queue; all but the first only while the queue has an index */
    };
    uint64_t *payload;
    uint32_t bytes;    /* of the payload */
    uint32_t capacity; /* bytes that the payload has room for */
    uint32_t holds;    /* one per owner, one per send under way; releasing the last one frees the message */
    uint32_t tag;      /* vertex/contract/system.h */
    uint32_t node;     /* sender's address; in a message being sent, the last destination's */
    uint32_t sequence; /* of a file request being sent */
    uint32_t via;      /* of a message being sent: the I/O node's channel to use, or MESSAGE_VIA_NEAREST */
    uint8_t place;     /* enum message_place */
    uint8_t owner;     /* procid of the process that sends it, or MESSAGE_OF_KERNEL */
    uint16_t pad;
    uint64_t start_cycles; /* the sender's SEND was executed */
    uint64_t done_cycles;  /* last byte delivered */
};
_Static_assert(sizeof(struct message) == 80, "payloads are aligned to 8 bytes");

/* Returns the sequence number with which the payload of a file request or reply starts; 0: it is shorter. */
static inline uint32_t message_sequence(const struct message *m)
{
    return m->bytes >= sizeof(uint32_t) ? *(const uint32_t *)m->payload : 0;
}

struct queue_chain {
    struct message *first, *last;
};

struct queue_index;

/* An empty queue is all zero. A queue may be moved in memory. */
struct message_queue {
    struct message *first, *last;
    struct queue_index *index; /* NULL: none */
    uint32_t count;
    uint32_t grow_at; /* the count at which the index grows; 0: no index before QUEUE_INDEX_FROM */
};

#define QUEUE_INDEX_FROM 16u

#define MESSAGE_ANY_NODE (~0u)

enum pattern_types {
    PATTERN_ONE,      /* type_low, which tag and mask contain */
    PATTERN_PROGRAMS, /* messages in the range that a program's nwrite has sent */
    PATTERN_ALL,      /* all messages in the range */
};

struct message_pattern {
    uint32_t node;      /* sender, or MESSAGE_ANY_NODE */
    uint32_t tag, mask; /* the message's tag equals `tag` in the bits of `mask`, which has all procid bits or none */
    enum pattern_types types;
    uint32_t type_low, type_high; /* inclusive; with their context (TAG_TYPE) if equal, else without */
    bool by_sequence;             /* the payload must start with `sequence` (file replies) */
    uint32_t sequence;
};

/* Matches one type, with its context, from one process or from any (MESSAGE_ANY_NODE). */
static inline struct message_pattern pattern_one(uint32_t node, uint32_t procid, uint32_t type)
{
    bool any = node == MESSAGE_ANY_NODE;

    return (struct message_pattern){.node = node,
                                    .tag = TAG(type, any ? 0 : procid, 0),
                                    .types = PATTERN_ONE,
                                    .mask = IN_CONTEXT(0x1f, 0xffff) | (any ? 0 : TAG_ALL_FROM),
                                    .type_low = type,
                                    .type_high = type};
}

/* Matches the reply of that type with this sequence number. */
static inline struct message_pattern pattern_reply(uint32_t node, uint32_t type, uint32_t sequence)
{
    struct message_pattern p = pattern_one(node, 0, type);

    p.by_sequence = true;
    p.sequence = sequence;
    return p;
}

/* These match a range of types: a program's nwrite messages, or all types of one context but a group's operations. */
static inline struct message_pattern pattern_of_program(uint32_t node, uint32_t procid, uint32_t low, uint32_t high)
{
    struct message_pattern p = pattern_one(node, procid, 0);

    p.mask = (p.mask & TAG_ALL_FROM) | TAG_NOT_PROGRAM;
    p.types = PATTERN_PROGRAMS;
    p.type_low = low;
    p.type_high = high;
    return p;
}

static inline struct message_pattern pattern_of_context(uint32_t node, uint32_t procid, enum context context)
{
    struct message_pattern p = pattern_one(node, procid, IN_CONTEXT(context, 0));

    p.mask = (p.mask & TAG_ALL_FROM) | TAG_ALL_CONTEXTS | (context >= CONTEXT_LIBRARIES ? TYPE_COLLECTIVE : 0);
    p.types = PATTERN_ALL;
    p.type_low = 0;
    p.type_high = 0xffff;
    return p;
}

void queue_add(struct message_queue *q, struct message *m);
void queue_remove(struct message_queue *q, struct message *m); /* m is in the queue */
struct message *queue_take_first(struct message_queue *q);     /* NULL if empty */

/* Returns true if a message of that sender and tag matches, apart from its sequence number. */
static inline bool pattern_fits(const struct message_pattern *p, uint32_t node, uint32_t tag)
{
    uint32_t number = TAG_NUMBER(tag);

    if (((tag ^ p->tag) & p->mask) != 0 || (p->node != node && p->node != MESSAGE_ANY_NODE))
        return false;
    return p->types == PATTERN_ONE ||
           (number >= p->type_low && number <= p->type_high && (p->types == PATTERN_ALL || TAG_IS_PROGRAM(tag)));
}

bool message_matches(const struct message *m, const struct message_pattern *p);
/* Returns the oldest message that matches, without removing it, or NULL. */
struct message *queue_find(const struct message_queue *q, const struct message_pattern *p);
/* Returns the next message after m, itself a match, that matches in order of arrival, or NULL. */
struct message *queue_find_next(const struct message_queue *q, const struct message_pattern *p,
                                const struct message *m);

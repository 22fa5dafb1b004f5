/*
 * A message in memory, and queues of them. Pure: host tests link it.
 *
 * A queue is a list in order of arrival. A short one has nothing else. When it gets longer it gets an index, two tables
 * of chains: what comes from one process is in one chain, what has one type is in one of the other table, each in order
 * of arrival, together with others whose hash is the same.
 *
 *     arrival     A1 -> B7 -> A7 -> A9 -> B1        (letter: source; digit: type)
 *     by source   A: A1 -> A7 -> A9       B: B7 -> B1
 *     by type     1: A1 -> B1    7: B7 -> A7    9: A9
 *
 * A message is looked for in the chain of its source or its type, or where both are given in both by turns, so that the
 * shorter one counts. Only what asks for any source and several types, by nrange, may have to pass by all that it does
 * not want. The tables grow with the queue: there are 1 to 4 messages to a chain, and a table has 8 to 32 bytes for
 * each. They go when the queue is empty. Without memory for a table chains get longer, or the list is all there is.
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

/* Where the neighbours in a list are: so many bytes from the message itself; 0: none. A node's memory, or a test's,
 * is less than 2 GB, and a link has half the size of a pointer. */
struct queue_link {
    int32_t next, previous;
};

enum queue_list { QUEUE_ARRIVAL, QUEUE_SOURCE, QUEUE_TYPE, QUEUE_LISTS };

struct message {
    union {
        struct message *next;                /* among the spares, or the buffers that a process has */
        struct queue_link link[QUEUE_LISTS]; /* in a queue; but for the first, as long as the queue has an index */
    };
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
_Static_assert(sizeof(struct message) == 80, "payloads are aligned to 8 bytes");

/* The payload starts with this sequence number, as those of file replies do. */
static inline bool message_sequence_is(const struct message *m, uint32_t sequence)
{
    return m->bytes >= sizeof sequence && *(const uint32_t *)m->payload == sequence;
}

struct queue_chain {
    struct message *first, *last;
};

struct queue_index;

/* All zero is an empty queue. May be moved. */
struct msg_queue {
    struct message *first, *last;
    struct queue_index *index; /* NULL: none */
    uint32_t count;
    uint32_t grow_at; /* so many messages get a larger index; 0: the first one is due at QUEUE_INDEX_FROM */
};

#define QUEUE_INDEX_FROM 16u

#define MSG_ANY_NODE (~0u)

enum pattern_types {
    PATTERN_ONE,      /* type_low, which mask and tag have */
    PATTERN_PROGRAMS, /* those in the range that a program has sent by nwrite */
    PATTERN_ALL,      /* all in the range */
};

struct msg_pattern {
    uint32_t node;      /* sender, or MSG_ANY_NODE */
    uint32_t tag, mask; /* the message's tag is the same in these bits; the sender's procid is in both, or in none */
    enum pattern_types types;
    uint32_t type_low, type_high; /* inclusive. Both with their context (TAG_TYPE) if equal, else without */
    bool by_sequence;             /* the payload starts with this sequence number (file replies) */
    uint32_t sequence;
};

/* Of one type, with its context, from a process or from any (MSG_ANY_NODE). */
static inline struct msg_pattern pattern_one(uint32_t node, uint32_t procid, uint32_t type)
{
    bool any = node == MSG_ANY_NODE;

    return (struct msg_pattern){.node = node,
                                .tag = TAG(type, any ? 0 : procid, 0),
                                .types = PATTERN_ONE,
                                .mask = IN_CONTEXT(0x1f, 0xffff) | (any ? 0 : TAG_ALL_FROM),
                                .type_low = type,
                                .type_high = type};
}

/* The same, the reply with a sequence number. */
static inline struct msg_pattern pattern_reply(uint32_t node, uint32_t type, uint32_t sequence)
{
    struct msg_pattern p = pattern_one(node, 0, type);

    p.by_sequence = true;
    p.sequence = sequence;
    return p;
}

/* Of several types: a program's own, by nwrite, or all of one context. */
static inline struct msg_pattern pattern_of_program(uint32_t node, uint32_t procid, uint32_t low, uint32_t high)
{
    struct msg_pattern p = pattern_one(node, procid, 0);

    p.mask = (p.mask & TAG_ALL_FROM) | TAG_NOT_PROGRAM;
    p.types = PATTERN_PROGRAMS;
    p.type_low = low;
    p.type_high = high;
    return p;
}

static inline struct msg_pattern pattern_of_context(uint32_t node, uint32_t procid, enum context context)
{
    struct msg_pattern p = pattern_one(node, procid, IN_CONTEXT(context, 0));

    p.mask = (p.mask & TAG_ALL_FROM) | TAG_ALL_CONTEXTS;
    p.types = PATTERN_ALL;
    p.type_low = 0;
    p.type_high = 0xffff;
    return p;
}

void queue_add(struct msg_queue *q, struct message *m);
void queue_remove(struct msg_queue *q, struct message *m); /* m is in the queue */
struct message *queue_take_first(struct msg_queue *q);     /* NULL if empty */

/* Does a message of that sender and tag fit, whatever its sequence? */
static inline bool pattern_fits(const struct msg_pattern *p, uint32_t node, uint32_t tag)
{
    uint32_t number = TAG_NUMBER(tag);

    if (((tag ^ p->tag) & p->mask) != 0 || (p->node != node && p->node != MSG_ANY_NODE))
        return false;
    return p->types == PATTERN_ONE ||
           (number >= p->type_low && number <= p->type_high && (p->types == PATTERN_ALL || TAG_IS_PROGRAM(tag)));
}

bool msg_matches(const struct message *m, const struct msg_pattern *p);
/* The oldest message that matches, which stays in the queue, or NULL. */
struct message *queue_find(const struct msg_queue *q, const struct msg_pattern *p);
/* The next one after m, which matches, in order of arrival, or NULL. */
struct message *queue_find_next(const struct msg_queue *q, const struct msg_pattern *p, const struct message *m);

#endif

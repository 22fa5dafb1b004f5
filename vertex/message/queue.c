/*
 * Queues of messages with an index by source and by type (queue.h).
 */
#include "vertex/message/queue.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/system.h"
#include "vertex/memory/kmem.h"

/* Each of the two tables has 1 << bits chains. */
struct queue_index {
    uint32_t bits;
    uint32_t pad;
    struct queue_chain chain[]; /* by source, then by type */
};

enum {
    BITS_FIRST = 4,
    BITS_STEP = 2,
    BITS_MOST = 20,     /* enough for more messages than a node has memory for */
    CHAIN_MESSAGES = 4, /* when a chain has more on average, the tables grow */
};

/* ---- Lists ---- */

static struct message *at(const struct message *m, int32_t distance)
{
    return distance ? (struct message *)((uintptr_t)m + (intptr_t)distance) : NULL;
}

static int32_t distance_to(const struct message *m, const struct message *other)
{
    return other ? (int32_t)((intptr_t)other - (intptr_t)m) : 0;
}

static INLINE struct message *next(const struct message *m, enum queue_list list)
{
    return at(m, m->link[list].next);
}

static INLINE void append(struct message **first, struct message **last, struct message *m, enum queue_list list)
{
    m->link[list] = (struct queue_link){0, distance_to(m, *last)};
    if (*last)
        (*last)->link[list].next = distance_to(*last, m);
    else
        *first = m;
    *last = m;
}

static INLINE void take_out(struct message **first, struct message **last, struct message *m, enum queue_list list)
{
    struct message *before = at(m, m->link[list].previous), *after = next(m, list);

    if (before)
        before->link[list].next = distance_to(before, after);
    else
        *first = after;
    if (after)
        after->link[list].previous = distance_to(after, before);
    else
        *last = before;
}

/* ---- The index ---- */

/* Sources and types are usually consecutive, or a power of 2 apart, so shifts spread them well enough. A multiplication
 * would take longer than the rest of a search. */
static uint32_t hash(uint32_t key, uint32_t bits)
{
    return (key ^ key >> bits ^ key >> 2 * bits) & ((1u << bits) - 1);
}

static struct queue_chain *source_chain(struct queue_index *x, uint32_t node, uint32_t procid)
{
    return &x->chain[hash(node ^ procid << 13, x->bits)];
}

static struct queue_chain *type_chain(struct queue_index *x, uint32_t type)
{
    return &x->chain[(1u << x->bits) + hash(type, x->bits)];
}

static void index_add(struct queue_index *x, struct message *m)
{
    struct queue_chain *source = source_chain(x, m->node, TAG_FROM(m->tag)), *type = type_chain(x, TAG_TYPE(m->tag));

    append(&source->first, &source->last, m, QUEUE_SOURCE);
    append(&type->first, &type->last, m, QUEUE_TYPE);
}

static void index_remove(struct queue_index *x, struct message *m)
{
    struct queue_chain *source = source_chain(x, m->node, TAG_FROM(m->tag)), *type = type_chain(x, TAG_TYPE(m->tag));

    take_out(&source->first, &source->last, m, QUEUE_SOURCE);
    take_out(&type->first, &type->last, m, QUEUE_TYPE);
}

static size_t index_bytes(uint32_t bits)
{
    return sizeof(struct queue_index) + (2 * sizeof(struct queue_chain) << bits);
}

static void index_free(struct message_queue *q)
{
    if (q->index)
        kmem_free(MEM_MESSAGE, q->index, index_bytes(q->index->bits));
    q->index = NULL;
    q->grow_at = 0;
}

/* Returns NULL without memory. */
static struct queue_index *index_new(uint32_t bits)
{
    struct queue_index *x = kmem_alloc(MEM_MESSAGE, index_bytes(bits));

    if (!x)
        return NULL;
    x->bits = bits;
    for (uint32_t c = 0; c < 2u << bits; c++)
        x->chain[c] = (struct queue_chain){0};
    return x;
}

/* Makes the first index, or a larger one. Without memory tries again when the queue is twice as long. */
static RARE void grow(struct message_queue *q)
{
    uint32_t bits = q->index ? q->index->bits + BITS_STEP : BITS_FIRST;
    struct queue_index *x = bits <= BITS_MOST ? index_new(bits) : NULL;

    if (x) {
        index_free(q);
        q->index = x;
        for (struct message *m = q->first; m; m = next(m, QUEUE_ARRIVAL))
            index_add(x, m);
    }
    q->grow_at = x ? (uint32_t)CHAIN_MESSAGES << bits : 2 * q->count;
}

/* The queue has more than QUEUE_INDEX_FROM messages, or had since it was last empty. */
static RARE void added_to_long(struct message_queue *q, struct message *m)
{
    if (q->index)
        index_add(q->index, m);
    if (q->count > q->grow_at && q->count > QUEUE_INDEX_FROM)
        grow(q);
}

/* ---- The queue ---- */

void queue_add(struct message_queue *q, struct message *m)
{
    append(&q->first, &q->last, m, QUEUE_ARRIVAL);
    q->count++;
    if (q->index || q->count > QUEUE_INDEX_FROM)
        added_to_long(q, m);
}

static RARE void remove_any(struct message_queue *q, struct message *m)
{
    take_out(&q->first, &q->last, m, QUEUE_ARRIVAL);
    if (q->index)
        index_remove(q->index, m);
    if (!q->first)
        index_free(q);
}

void queue_remove(struct message_queue *q, struct message *m)
{
    q->count--;
    if (q->last == m && q->first == m && !q->index)
        q->first = q->last = NULL;
    else
        remove_any(q, m);
}

struct message *queue_take_first(struct message_queue *q)
{
    struct message *m = q->first;

    if (m)
        queue_remove(q, m);
    return m;
}

bool message_matches(const struct message *m, const struct message_pattern *p)
{
    return pattern_fits(p, m->node, m->tag) && (!p->by_sequence || message_sequence(m) == p->sequence);
}

/* Returns the first match of the list from m on, m included. */
static struct message *find_from(struct message *m, const struct message_pattern *p, enum queue_list list)
{
    while (m && !message_matches(m, p))
        m = next(m, list);
    return m;
}

/* A message that matches is in both chains. The search ends when either finds it or ends. */
static struct message *find_in_both(struct queue_index *x, const struct message_pattern *p)
{
    struct message *of_source = source_chain(x, p->node, TAG_FROM(p->tag))->first;
    struct message *of_type = type_chain(x, p->type_low)->first;

    while (of_source && of_type && !message_matches(of_source, p)) {
        if (message_matches(of_type, p))
            return of_type;
        of_source = next(of_source, QUEUE_SOURCE);
        of_type = next(of_type, QUEUE_TYPE);
    }
    return of_source && of_type ? of_source : NULL;
}

static RARE struct message *find_by_index(const struct message_queue *q, const struct message_pattern *p)
{
    bool one_source = p->node != MESSAGE_ANY_NODE, one_type = p->types == PATTERN_ONE;

    if (one_source && one_type)
        return find_in_both(q->index, p);
    if (one_source)
        return find_from(source_chain(q->index, p->node, TAG_FROM(p->tag))->first, p, QUEUE_SOURCE);
    if (one_type)
        return find_from(type_chain(q->index, p->type_low)->first, p, QUEUE_TYPE);
    return find_from(q->first, p, QUEUE_ARRIVAL);
}

struct message *queue_find(const struct message_queue *q, const struct message_pattern *p)
{
    return q->index ? find_by_index(q, p) : find_from(q->first, p, QUEUE_ARRIVAL);
}

struct message *queue_find_next(const struct message_queue *q, const struct message_pattern *p, const struct message *m)
{
    enum queue_list list = QUEUE_ARRIVAL;

    if (q->index && p->types == PATTERN_ONE)
        list = QUEUE_TYPE;
    else if (q->index && p->node != MESSAGE_ANY_NODE)
        list = QUEUE_SOURCE;
    return find_from(next(m, list), p, list);
}

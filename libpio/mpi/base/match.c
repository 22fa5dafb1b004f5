/*
 * Matching (match.h). A chain of the index has the entries of one or several keys, in their order, so the first that
 * matches is the oldest.
 */
#include "libpio/mpi/base/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { INDEX_FROM = 16 }; /* entries: fewer are searched one by one */

static bool covers(int wanted, int value)
{
    return wanted == MATCH_ANY || wanted == value;
}

/* ---- Chains ---- */

static struct mpi_links *links_of(struct mpi_entry *e, size_t links)
{
    return (struct mpi_links *)((char *)e + links);
}

static void append(struct mpi_chain *c, struct mpi_entry *e, size_t links)
{
    *links_of(e, links) = (struct mpi_links){NULL, c->last};
    if (c->last)
        links_of(c->last, links)->next = e;
    else
        c->first = e;
    c->last = e;
}

static void take_out(struct mpi_chain *c, struct mpi_entry *e, size_t links)
{
    struct mpi_links *own = links_of(e, links);

    if (own->before)
        links_of(own->before, links)->next = own->next;
    else
        c->first = own->next;
    if (own->next)
        links_of(own->next, links)->before = own->before;
    else
        c->last = own->before;
}

/* ---- The index ---- */

#define CHAIN_LINKS(kind) (offsetof(struct mpi_entry, chain) + (size_t)(kind) * sizeof(struct mpi_links))
#define ALL_LINKS         offsetof(struct mpi_entry, all)

static struct mpi_chain *chain_of(const struct mpi_queue *q, enum match_chain kind, int source, int tag)
{
    uint32_t key = kind == MATCH_SOURCE ? (uint32_t)source
                   : kind == MATCH_TAG  ? (uint32_t)tag
                                        : (uint32_t)source * 40503u + (uint32_t)tag;

    return &q->index[((size_t)kind << q->bits) + (key * 2654435769u >> (32 - q->bits))]; /* Knuth's hashing */
}

static void enter(struct mpi_queue *q, struct mpi_entry *e)
{
    for (int kind = 0; kind < MATCH_CHAINS; kind++)
        append(chain_of(q, (enum match_chain)kind, e->source, e->tag), e, CHAIN_LINKS(kind));
}

/* Makes the index, or a larger one. Without memory everything stays as it is, only slower. */
static void build_index(struct mpi_queue *q)
{
    int bits = q->index ? q->bits + 2 : 6;
    struct mpi_chain *index = calloc((size_t)MATCH_CHAINS << bits, sizeof *index);

    if (!index)
        return;
    free(q->index);
    q->index = index;
    q->bits = bits;
    for (struct mpi_entry *e = q->all.first; e; e = e->all.next)
        enter(q, e);
}

static void drop_index(struct mpi_queue *q)
{
    free(q->index);
    q->index = NULL;
}

/* ---- Entries ---- */

void match_add(struct mpi_queue *q, struct mpi_entry *e)
{
    e->sequence = q->next_sequence++;
    append(&q->all, e, ALL_LINKS);
    q->count++;
    if (q->index && q->count <= 2u << q->bits)
        enter(q, e);
    else if (q->index || q->count > INDEX_FROM) {
        struct mpi_chain *before = q->index;

        build_index(q);
        if (before && q->index == before)
            enter(q, e);
    }
}

void match_remove(struct mpi_queue *q, struct mpi_entry *e)
{
    take_out(&q->all, e, ALL_LINKS);
    for (int kind = 0; q->index && kind < MATCH_CHAINS; kind++)
        take_out(chain_of(q, (enum match_chain)kind, e->source, e->tag), e, CHAIN_LINKS(kind));
    if (--q->count == 0) {
        q->next_sequence = 0;
        drop_index(q);
    }
}

/* ---- Searches ---- */

/* The oldest entry of a chain whose source and tag are these. */
static struct mpi_entry *find_equal(struct mpi_chain c, size_t links, int source, int tag)
{
    struct mpi_entry *e = c.first;

    while (e && !(covers(source, e->source) && covers(tag, e->tag)))
        e = links_of(e, links)->next;
    return e;
}

struct mpi_entry *match_find_message(const struct mpi_queue *q, int source, int tag)
{
    if (!q->index || (source == MATCH_ANY && tag == MATCH_ANY))
        return find_equal(q->all, ALL_LINKS, source, tag);
    enum match_chain kind = tag == MATCH_ANY ? MATCH_SOURCE : source == MATCH_ANY ? MATCH_TAG : MATCH_BOTH;
    return find_equal(*chain_of(q, kind, source, tag), CHAIN_LINKS(kind), source, tag);
}

/* The older of two, of which each may be NULL. */
static struct mpi_entry *older(struct mpi_entry *a, struct mpi_entry *b)
{
    return !a || (b && (int32_t)(b->sequence - a->sequence) < 0) ? b : a;
}

/* The oldest whose own source and tag, wildcards or not, are these. */
static struct mpi_entry *find_as_posted(const struct mpi_queue *q, int source, int tag)
{
    struct mpi_entry *e = chain_of(q, MATCH_BOTH, source, tag)->first;

    while (e && (e->source != source || e->tag != tag))
        e = e->chain[MATCH_BOTH].next;
    return e;
}

struct mpi_entry *match_find_receive(const struct mpi_queue *q, int source, int tag)
{
    struct mpi_entry *e = q->all.first;

    if (q->index)
        return older(older(find_as_posted(q, source, tag), find_as_posted(q, source, MATCH_ANY)),
                     older(find_as_posted(q, MATCH_ANY, tag), find_as_posted(q, MATCH_ANY, MATCH_ANY)));
    while (e && !(covers(e->source, source) && covers(e->tag, tag)))
        e = e->all.next;
    return e;
}

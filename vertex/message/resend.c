#include "vertex/message/resend.h"

#include <stddef.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/system.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/queue.h"

struct record {          /* of a message to one destination that has failed at least once */
    struct record *next; /* ordered by start_cycles */
    struct message *m;   /* held by its send */
    uint32_t node, tag;
    uint64_t start_cycles; /* of its first SEND */
    uint32_t tries;        /* as the first of those sent again */
    uint32_t left;         /* while it waits: sends to `node` under way, from the last cause */
    bool waits;            /* to be sent again; else it is under way again */
};

static struct record *records;
static uint64_t count, damaged;

uint64_t resend_count(void)
{
    return count;
}

uint64_t resend_damaged(void)
{
    return damaged;
}

void resend_note_damage(void)
{
    damaged++;
}

/* Returns the oldest record of this send that is under way again, or NULL. */
static struct record *find(const struct ncu_cause *cause)
{
    struct record *r = records;

    while (r && (r->waits || (uint64_t)r->m != cause->cookie || r->node != cause->node))
        r = r->next;
    return r;
}

static void forget(struct record *r)
{
    struct record **link = &records;

    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    kmem_free(MEM_MESSAGE, r, sizeof *r);
}

static struct record *remember(const struct ncu_cause *cause)
{
    struct record *r = kmem_alloc(MEM_MESSAGE, sizeof *r), **link = &records;
    struct message *m = (struct message *)cause->cookie;
    uint64_t start_cycles = TAG_TYPE(cause->tag) == N_LOST ? m->start_cycles : cause->start_cycles;

    if (!r)
        return NULL;
    while (*link && (*link)->start_cycles < start_cycles)
        link = &(*link)->next;
    *r = (struct record){.next = *link, .m = m, .node = cause->node, .tag = cause->tag, .start_cycles = start_cycles};
    *link = r;
    return r;
}

static void set_left(uint32_t node, uint32_t left)
{
    for (struct record *r = records; r; r = r->next)
        if (r->node == node)
            r->left = left;
}

/* It fails for good. The notice to the receiver takes its place in the order (lost.h). */
static void give_up(struct record *r, const struct ncu_cause *cause)
{
    ((struct message *)cause->cookie)->start_cycles = r ? r->start_cycles : cause->start_cycles;
    if (r)
        forget(r);
}

/* Without memory for a record the message fails for good at once. */
bool resend_takes(const struct ncu_cause *cause)
{
    if (!records && cause->status == NCU_OK)
        return false; /* the only case on a network without faults */
    struct record *r = records ? find(cause) : NULL;
    bool again = cause->status == NCU_EPARITY;

    if (again && !r)
        r = remember(cause);
    again = again && r && r->tries < RESEND_MAX;
    if (again)
        r->waits = true;
    else if (cause->status != NCU_OK)
        give_up(r, cause);
    else if (r)
        forget(r);
    set_left(cause->node, cause->channel); /* in every case: messages to this node may wait for the last send */
    return again;
}

/* Sends the waiting messages to r's destination again, r first. */
static void send_again(struct record *r)
{
    uint64_t mark = NCU_SEND_RESTART;
    uint32_t node = r->node;

    for (; r; r = r->next) {
        if (r->node != node || !r->waits)
            continue;
        r->waits = false;
        r->tries += mark != 0; /* the others fail only because of the first */
        count++;
        ncu_send(node | mark, r->m->payload, r->m->bytes, r->tag, (uint64_t)r->m, r->m->via);
        mark = 0;
    }
}

bool resend_is_due(void)
{
    const struct record *r = records;

    while (r && !r->waits)
        r = r->next;
    return r;
}

void resend_flush(void)
{
    for (struct record *r = records; r; r = r->next)
        if (r->waits && r->left == 0)
            send_again(r);
}

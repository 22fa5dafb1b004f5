/*
 * The event queue. An event has a slot until it runs or is cancelled; the heap contains slot numbers.
 *
 * An id is (generation of the slot << 32 | slot number + 1). The generation counts the uses of the slot, so that the id
 * of an event that has run does not cancel the next event in its slot.
 */
#include "emu/time/eventq.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/time/heap.h"

#define NO_SLOT     UINT32_MAX
#define FIRST_SLOTS 64u

struct event_slot {
    uint64_t at_cycles;
    uint64_t sequence;
    event_fn fn;
    void *arg;
    uint32_t order;
    uint32_t generation;
    uint32_t next_free; /* of a free slot: the next free one, or NO_SLOT */
    bool queued;
};

struct eventq {
    struct event_slot *slot; /* [slots] */
    struct heap heap;        /* numbers of the slots with queued events */
    size_t slots;
    uint32_t free_slot; /* head of the list of free slots, or NO_SLOT */
    uint64_t sequence;  /* of the next event */
    uint64_t now_cycles;
};

static void grow(struct eventq *q)
{
    size_t old = q->slots, room = old;

    q->slot = memory_grow(q->slot, &q->slots, old ? 2 * old : FIRST_SLOTS, sizeof *q->slot);
    q->heap.item = memory_grow(q->heap.item, &room, q->slots, sizeof *q->heap.item);
    room = old;
    q->heap.place = memory_grow(q->heap.place, &room, q->slots, sizeof *q->heap.place);
    for (size_t s = old; s < q->slots; s++)
        q->slot[s].next_free = s + 1 < q->slots ? (uint32_t)s + 1 : NO_SLOT;
    q->free_slot = (uint32_t)old;
}

struct eventq *eventq_new(void)
{
    struct eventq *q = memory_new(1, sizeof *q);

    q->free_slot = NO_SLOT;
    return q;
}

void eventq_free(struct eventq *q)
{
    if (!q)
        return;
    free(q->slot);
    free(q->heap.item);
    free(q->heap.place);
    free(q);
}

static bool runs_before(const void *slots, uint32_t x, uint32_t y)
{
    const struct event_slot *a = (const struct event_slot *)slots + x, *b = (const struct event_slot *)slots + y;

    if (a->at_cycles != b->at_cycles)
        return a->at_cycles < b->at_cycles;
    if (a->order != b->order)
        return a->order < b->order;
    return a->sequence < b->sequence;
}

/* Removes a slot from the heap and frees it. */
static void take_out(struct eventq *q, uint32_t slot)
{
    heap_remove(&q->heap, slot, runs_before, q->slot);
    q->slot[slot].queued = false;
    q->slot[slot].next_free = q->free_slot;
    q->free_slot = slot;
}

uint64_t eventq_add(struct eventq *q, uint64_t at_cycles, uint32_t order, event_fn fn, void *arg)
{
    assert(at_cycles >= q->now_cycles && at_cycles != EVENTQ_NEVER);
    if (q->free_slot == NO_SLOT)
        grow(q);
    uint32_t slot = q->free_slot;
    struct event_slot *e = &q->slot[slot];
    q->free_slot = e->next_free;
    *e = (struct event_slot){
        .at_cycles = at_cycles,
        .sequence = q->sequence++,
        .fn = fn,
        .arg = arg,
        .order = order,
        .generation = e->generation + 1,
        .queued = true,
    };
    heap_insert(&q->heap, slot, runs_before, q->slot);
    return (uint64_t)e->generation << 32 | (slot + 1);
}

bool eventq_cancel(struct eventq *q, uint64_t id)
{
    uint32_t slot = (uint32_t)id - 1;

    if (slot >= q->slots || !q->slot[slot].queued || q->slot[slot].generation != id >> 32)
        return false;
    take_out(q, slot);
    return true;
}

uint64_t eventq_next(const struct eventq *q)
{
    return q->heap.n > 0 ? q->slot[q->heap.item[0]].at_cycles : EVENTQ_NEVER;
}

uint32_t eventq_next_order(const struct eventq *q)
{
    assert(q->heap.n > 0);
    return q->slot[q->heap.item[0]].order;
}

void eventq_run_one(struct eventq *q)
{
    assert(q->heap.n > 0);
    uint32_t slot = q->heap.item[0];
    event_fn fn = q->slot[slot].fn;
    void *arg = q->slot[slot].arg;
    q->now_cycles = q->slot[slot].at_cycles;
    take_out(q, slot);
    fn(arg, q->now_cycles);
}

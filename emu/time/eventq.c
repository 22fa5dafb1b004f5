/*
 * Events in virtual time: a binary heap of callbacks.
 *
 * An event lives in a slot until it runs or is cancelled. The heap holds slot numbers, and each slot knows its place
 * in the heap, so that cancelling is O(log n) without a search:
 *
 *   heap:  [ 2 | 0 | 5 | ... ]      slot 2: at, order, sequence, fn, arg; place = 0
 *
 * An id is (generation of the slot << 32 | slot number + 1). The generation counts the slot's uses, so that the id of
 * an event that is gone does not cancel its successor in the slot.
 */
#include "emu/time/eventq.h"

#include <assert.h>
#include <err.h>
#include <stdlib.h>

#define NO_SLOT     UINT32_MAX
#define FIRST_SLOTS 64u

struct event_slot {
    uint64_t at_cycles;
    uint64_t sequence;
    event_fn fn;
    void *arg;
    uint32_t order;
    uint32_t generation;
    uint32_t place; /* in the heap; while free: the next free slot */
    bool queued;
};

struct eventq {
    struct event_slot *slot; /* [slots] */
    uint32_t *heap;          /* [queued] slot numbers; room for `slots` */
    uint32_t slots;
    uint32_t queued;
    uint32_t free_slot; /* head of the list of free slots */
    uint64_t sequence;  /* of the next event */
    uint64_t now_cycles;
};

static void *resize(void *memory, size_t count, size_t size)
{
    void *bigger = reallocarray(memory, count, size);

    if (!bigger)
        errx(1, "out of memory for %zu events", count);
    return bigger;
}

static void grow(struct eventq *q)
{
    uint32_t old = q->slots;

    q->slots = old ? 2 * old : FIRST_SLOTS;
    q->slot = resize(q->slot, q->slots, sizeof *q->slot);
    q->heap = resize(q->heap, q->slots, sizeof *q->heap);
    for (uint32_t s = old; s < q->slots; s++)
        q->slot[s] = (struct event_slot){.place = s + 1 < q->slots ? s + 1 : NO_SLOT};
    q->free_slot = old;
}

struct eventq *eventq_new(void)
{
    struct eventq *q = resize(NULL, 1, sizeof *q);

    *q = (struct eventq){.free_slot = NO_SLOT};
    return q;
}

void eventq_free(struct eventq *q)
{
    if (!q)
        return;
    free(q->slot);
    free(q->heap);
    free(q);
}

static bool runs_before(const struct event_slot *a, const struct event_slot *b)
{
    if (a->at_cycles != b->at_cycles)
        return a->at_cycles < b->at_cycles;
    if (a->order != b->order)
        return a->order < b->order;
    return a->sequence < b->sequence;
}

static void put(struct eventq *q, uint32_t place, uint32_t slot)
{
    q->heap[place] = slot;
    q->slot[slot].place = place;
}

static void sift_up(struct eventq *q, uint32_t place, uint32_t slot)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;

        if (!runs_before(&q->slot[slot], &q->slot[q->heap[parent]]))
            break;
        put(q, place, q->heap[parent]);
        place = parent;
    }
    put(q, place, slot);
}

static void sift_down(struct eventq *q, uint32_t place, uint32_t slot)
{
    for (uint32_t child; (child = 2 * place + 1) < q->queued; place = child) {
        if (child + 1 < q->queued && runs_before(&q->slot[q->heap[child + 1]], &q->slot[q->heap[child]]))
            child++;
        if (!runs_before(&q->slot[q->heap[child]], &q->slot[slot]))
            break;
        put(q, place, q->heap[child]);
    }
    put(q, place, slot);
}

/* Takes a slot out of the heap, fills the gap with the heap's last, and frees the slot. */
static void take_out(struct eventq *q, uint32_t slot)
{
    uint32_t place = q->slot[slot].place;
    uint32_t last = q->heap[--q->queued];

    if (place < q->queued) {
        sift_down(q, place, last);
        sift_up(q, q->slot[last].place, last);
    }
    q->slot[slot].queued = false;
    q->slot[slot].place = q->free_slot;
    q->free_slot = slot;
}

uint64_t eventq_add(struct eventq *q, uint64_t at_cycles, uint32_t order, event_fn fn, void *arg)
{
    assert(at_cycles >= q->now_cycles && at_cycles != EVENTQ_NEVER);
    if (q->free_slot == NO_SLOT)
        grow(q);
    uint32_t slot = q->free_slot;
    struct event_slot *e = &q->slot[slot];
    q->free_slot = e->place;
    *e = (struct event_slot){
        .at_cycles = at_cycles,
        .sequence = q->sequence++,
        .fn = fn,
        .arg = arg,
        .order = order,
        .generation = e->generation + 1,
        .queued = true,
    };
    sift_up(q, q->queued++, slot);
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
    return q->queued ? q->slot[q->heap[0]].at_cycles : EVENTQ_NEVER;
}

uint32_t eventq_next_order(const struct eventq *q)
{
    assert(q->queued > 0);
    return q->slot[q->heap[0]].order;
}

void eventq_run_one(struct eventq *q)
{
    assert(q->queued);
    uint32_t slot = q->heap[0];
    event_fn fn = q->slot[slot].fn;
    void *arg = q->slot[slot].arg;
    q->now_cycles = q->slot[slot].at_cycles;
    take_out(q, slot);
    fn(arg, q->now_cycles);
}

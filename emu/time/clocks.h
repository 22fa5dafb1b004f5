/*
 * The clocks of the harts that may still produce something ("live" ones), in a heap by (clock, hart).
 *
 * A clock here is a promise: nothing that the hart does comes before it. So one that has grown meanwhile is safe to
 * keep, and is looked at again when it is the first.
 *
 *              heap[0]           the first
 *             /       \
 *         heap[1]   heap[2]      one of them is the second
 */
#ifndef NCUBE_CLOCKS_H
#define NCUBE_CLOCKS_H

#include <stdint.h>

#define CLOCKS_NONE UINT32_MAX /* no hart */

struct clock {
    uint64_t cycles;
    uint32_t at; /* position in the heap, while the hart is live */
};

struct clocks {
    struct clock *clock; /* by hart */
    uint32_t *heap;      /* harts */
    uint32_t live;       /* how many are in it */
};

/* Of harts 0 .. harts-1, none of which is live. clocks_free is the caller's. */
void clocks_init(struct clocks *c, uint32_t harts);
void clocks_free(struct clocks *c);

/* A hart that is not live becomes so. */
void clocks_add(struct clocks *c, uint32_t hart, uint64_t cycles);
/* The clock of a live hart is another. */
void clocks_set(struct clocks *c, uint32_t hart, uint64_t cycles);
/* A live hart is so no more. */
void clocks_remove(struct clocks *c, uint32_t hart);

/* Of a live hart. */
static inline uint64_t clocks_of(const struct clocks *c, uint32_t hart)
{
    return c->clock[hart].cycles;
}

/* The live hart that comes first, or CLOCKS_NONE. */
static inline uint32_t clocks_first(const struct clocks *c)
{
    return c->live > 0 ? c->heap[0] : CLOCKS_NONE;
}

/* The lowest clock of the others; UINT64_MAX: there are none. */
uint64_t clocks_second_cycles(const struct clocks *c);

#endif

/*
 * The clocks of live harts, those that can still produce requests: the lowest clock first, and among equal clocks the
 * hart with the lowest number.
 *
 * A clock here is a lower bound: the hart does nothing before it. So a clock that has advanced since may stay in the
 * heap with its old value; the scheduler reads it again when it becomes the first.
 */
#pragma once

#include <stdint.h>

#include "emu/time/heap.h"

#define CLOCKS_NONE UINT32_MAX /* no hart */

struct clocks {
    uint64_t *cycles; /* by hart */
    struct heap live; /* of harts */
};

/* Makes the clocks of harts 0 .. harts-1, none of them live. The caller frees them with clocks_free. */
void clocks_init(struct clocks *c, uint32_t harts);
void clocks_free(struct clocks *c);

/* Adds a hart to the live ones. */
void clocks_add(struct clocks *c, uint32_t hart, uint64_t cycles);
/* Sets the clock of a live hart. */
void clocks_set(struct clocks *c, uint32_t hart, uint64_t cycles);
/* Removes a hart from the live ones. */
void clocks_remove(struct clocks *c, uint32_t hart);

/* The clock of a live hart. */
static inline uint64_t clocks_of(const struct clocks *c, uint32_t hart)
{
    return c->cycles[hart];
}

/* The live hart with the lowest clock, or CLOCKS_NONE. */
static inline uint32_t clocks_first(const struct clocks *c)
{
    return c->live.n > 0 ? c->live.item[0] : CLOCKS_NONE;
}

/* The lowest clock of the other live harts; UINT64_MAX if there are none. */
uint64_t clocks_second_cycles(const struct clocks *c);

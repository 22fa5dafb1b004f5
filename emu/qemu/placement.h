/*
 * On which of the host's processors harts run (harts.h). Only speed depends on it.
 *
 * While few harts run at a time, and for short times, one processor is faster than two: a hand-over by futex takes a
 * few microseconds on one processor and 25 to 50 across two. So ncube and its cabinets begin together on one, the home
 * processor, which few other runs use (processors.h). A hart is placed on another
 *
 *   - for a long run beside other harts;
 *   - where harts take turns, if it is found that spreading them makes the machine faster (width.h). Then each hart has
 *     a processor on which it mostly is, whose caches have its memory; ncube and the carriers wait for each other
 *     patiently (yields.h); and the machine has claimed those processors, where no other run was.
 *
 * docs/performance.md has the figures.
 */
#pragma once

#include "emu/qemu/harts.h"

/* Chooses the home processor, and up to `most` in all (0: as many as are allowed), and keeps this process at home. */
void placement_init(struct harts *h, uint32_t most);
/* Harts take turns: from now on they may be spread. */
void placement_take_turns(struct harts *h);
void placement_free(struct harts *h);

/* Chooses where a hart is to run that is granted. `spread`: for long, beside others that do. */
void placement_choose(struct harts *h, uint32_t index, bool spread);
/* The hart has stopped; nothing if another host has it. */
void placement_leave(struct harts *h, uint32_t index);
/* All that may run have been granted: looks whether another number of processors is to be used. */
void placement_look(struct harts *h);

static inline struct carrier *placement_carrier(const struct harts *h, uint32_t index)
{
    return slots_carrier(h->control, 0) + index;
}

/* Returns the first slot of the hart's cabinet. */
static inline uint32_t placement_cabinet(const struct harts *h, uint32_t index)
{
    return index - index % h->cabinet_slots;
}

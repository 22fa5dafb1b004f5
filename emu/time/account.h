/*
 * Where a hart's virtual time goes: user code, kernel, idle. Kept by the scheduler, from what it processes in order; so
 * the result depends neither on how far user code ran ahead nor on when a hart was found stopped.
 *
 *       LEAVE                 cause       END                    ENTER
 *   ------|======user=========|--handler--|=======user========|~~|----kernel----> virtual time
 *                                                            trap and way in, up to ENTER: kernel, too
 *
 * The way in is what the hart itself has counted (slots.h, entry_cycles). It is 0 where the plugin does not count, and
 * then belongs to the user code.
 */
#ifndef NCUBE_ACCOUNT_H
#define NCUBE_ACCOUNT_H

#include <stdint.h>

struct account {
    uint64_t user_cycles, idle_cycles; /* that have ended */
    uint64_t instructions;             /* of user code, up to the last trap that has taken effect */
    uint64_t discarded;                /* of those executed, that no trap has followed: their process was ended */
    uint64_t traps, interrupts;
    uint64_t idle_since;   /* EVENTQ_NEVER: not idle */
    uint64_t user_since;   /* after an interrupt; EVENTQ_NEVER: in the kernel, or not known to have left it */
    uint64_t kernel_since; /* the last time that it was certainly there */
};

void account_init(struct account *a);

/* The hart has nothing to do from now on, until account_wake. */
void account_idle(struct account *a, uint64_t now_cycles);
void account_wake(struct account *a, uint64_t now_cycles);

/* A trap takes effect. User code went on at user_since; `instructions` of it have been executed since the start, ahead or
 * not. */
void account_trap(struct account *a, uint64_t user_since, uint64_t now_cycles, uint64_t entry_cycles,
                  uint64_t instructions);

/* An interrupt has been handled from `start` on. Then user code goes on, or, if it is dropped, the kernel: what user code has
 * executed since its last trap counts for nothing then, since how much that is depends on how far it ran ahead. */
void account_handled(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles);
void account_dropped(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles,
                     uint64_t instructions);

struct account_totals {
    uint64_t user_cycles, kernel_cycles, idle_cycles; /* in all: the time since the start */
};
/* Up to now. left_cycles: of the last LEAVE that is known; handled_since: of the interrupt that is being handled, or
 * EVENTQ_NEVER. */
struct account_totals account_totals(const struct account *a, uint64_t now_cycles, uint64_t left_cycles,
                                     uint64_t handled_since);

#endif

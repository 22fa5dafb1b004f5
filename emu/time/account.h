/*
 * Where a hart's virtual time goes: user code, kernel, idle. The scheduler keeps the account, from the events and
 * requests that it processes in order. So the result depends neither on how far user code ran ahead nor on when ncube
 * noticed that a hart had stopped.
 *
 *       LEAVE                 cause       END                    ENTER
 *   ------|======user=========|--handler--|=======user========|~~|----kernel----> virtual time
 *                                                            the trap's way to ENTER counts as kernel
 *
 * The plugin counts the cycles of that way (slots.h, entry_cycles). Without --stats it does not count; then the way is
 * 0 cycles long, and its time is part of the user code's.
 */
#pragma once

#include <stdint.h>

struct account {
    uint64_t user_cycles, idle_cycles; /* of the spells that have ended */
    uint64_t instructions;             /* of user code, up to the last trap that has taken effect */
    uint64_t discarded; /* instructions executed without a trap after them, because their process was ended */
    uint64_t traps, interrupts;
    uint64_t idle_since;   /* EVENTQ_NEVER: not idle */
    uint64_t user_since;   /* end of the last interrupt of user code; EVENTQ_NEVER: in the kernel, or perhaps there */
    uint64_t kernel_since; /* last time at which the hart was known to be in the kernel */
};

/* Starts an account at time 0, in the kernel. */
void account_init(struct account *a);

/* Records that the hart is idle from now_cycles until account_wake. */
void account_idle(struct account *a, uint64_t now_cycles);
/* Records that the hart runs again. Does nothing for a hart that was not idle. */
void account_wake(struct account *a, uint64_t now_cycles);

/* Records a trap that takes effect at now_cycles. The user code before it had resumed at user_since; `instructions` of
 * user code have been executed since the start of the machine, ahead or not. */
void account_trap(struct account *a, uint64_t user_since, uint64_t now_cycles, uint64_t entry_cycles,
                  uint64_t instructions);

/* Records the traps of n more turns of a loop, each of which takes as long as the one before the last trap. */
struct account_turn {
    uint64_t cycles, user_cycles, instructions;
};
void account_turns(struct account *a, uint64_t n, const struct account_turn *turn);

/* Record an interrupt of user code, handled from `start` to now_cycles. After account_handled the user code resumes;
 * after account_dropped it is discarded, and the kernel goes on: what it has executed since
 * its last trap counts for nothing then, since how much that is depends on how far it ran ahead. */
void account_handled(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles);
void account_dropped(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles,
                     uint64_t instructions);

struct account_totals {
    uint64_t user_cycles, kernel_cycles, idle_cycles; /* their sum is the time since the start */
};
/* The totals up to now_cycles. left_cycles is the time of the last LEAVE that is known; handled_since the start of the
 * interrupt that is being handled, or EVENTQ_NEVER. */
struct account_totals account_totals(const struct account *a, uint64_t now_cycles, uint64_t left_cycles,
                                     uint64_t handled_since);

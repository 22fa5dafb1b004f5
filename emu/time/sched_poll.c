/*
 * The scheduler's part for loops that poll: programs that wait by looking again and again whether a message has come.
 *
 * Such a loop comes back to the same state at each of its traps. ncube proves that: it keeps the state of the node at
 * one ENTER, all memory and all registers, and compares it with that at the next. If they are equal, and the hart has
 * posted nothing between them, the hart does the same again, in the same time, until a cause comes:
 *
 *      ENTER          ENTER          ENTER
 *   -----|------P-------|------P-------|------P------- ...      cause
 *        state kept     state equal                         ------|----->
 *
 * From then on the hart stays stopped, and its clock and account advance by P in each turn of its ENTER, as if it had
 * run. It sends nothing before a cause, so it does not hold up others: it has no q(j). A cause finds it at ENTER, where
 * it is handled as usual.
 *
 *   POLL_NO --enough traps P apart--> POLL_WATCHED --ENTER: keep the state--> POLL_KEPT --ENTER: equal--> POLL_SAME
 *
 * A debugger may look at any turn, so with one all are executed.
 *
 * A hart whose kernel attends to causes at once is executed: a cause must find it in the user code of its time.
 *
 * Anything else that the hart does leads back to POLL_NO. A comparison that fails doubles the number of traps that are
 * enough. A loop that counts its turns is never the same; nor is one that looks at the clock. A loop with two calls
 * in a turn, a different time apart, is not found: gcc 14 makes that of `while (ntest(NULL, NULL) < 0);`.
 */
#include <assert.h>

#include "emu/time/sched_state.h"

enum { POLLS_LEAST = 8, POLLS_MOST = 1 << 14 };

/* How far the account of a polling hart advances at a time, beyond its turn, if nothing else happens before. A machine
 * in which all harts poll returns to its caller so often. */
#define POLL_AHEAD_CYCLES 20000u

void sched_poll_note(struct hart *h, const struct slot_trap *trap)
{
    uint64_t period = trap->cycles - h->last_trap.cycles;
    bool again = period == h->period_cycles && period < SCHED_COMPUTES_CYCLES &&
                 trap->user_since - h->last_trap.user_since == period;

    h->polls = again ? h->polls + 1 : 0;
    h->period_cycles = period;
    h->period_instructions = trap->instructions - h->last_trap.instructions;
    h->last_trap = *trap;
}

bool sched_poll_watches(const struct hart *h)
{
    return h->poll == POLL_WATCHED || h->poll == POLL_KEPT;
}

void sched_poll_end(struct sched *s, struct hart *h)
{
    if (h->poll == POLL_KEPT)
        s->ops->keep_state(s->ctx, h->index, false);
    if (h->poll == POLL_SAME)
        s->polling--;
    h->poll = POLL_NO;
    h->polls = 0;
}

/* The state at this ENTER is the same as at the last. */
static void begin_polling(struct sched *s, struct hart *h)
{
    h->poll = POLL_SAME;
    s->polling++;
    clocks_remove(&s->entered, h->index);
    clocks_set(&s->quiet, h->index, EVENTQ_NEVER);
}

static void compare(struct sched *s, struct hart *h)
{
    if (h->polls > 0 && s->ops->same_state(s->ctx, h->index)) {
        begin_polling(s, h);
        return;
    }
    sched_poll_end(s, h);
    h->polls_wanted = h->polls_wanted < POLLS_MOST ? 2 * h->polls_wanted : POLLS_MOST;
}

void sched_poll_stopped(struct sched *s, struct hart *h)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    bool at_trap = h->state == HART_AT_TRAP && h->handling == HANDLING_NONE && slot->posts == 0 &&
                   slot->exact != NCU_EXACT_AT_ONCE;

    if (!s->passes || !s->ops->keep_state || s->ops->stands)
        return;
    if (h->polls_wanted == 0)
        h->polls_wanted = POLLS_LEAST;
    if (!at_trap) {
        sched_poll_end(s, h);
    } else if (h->poll == POLL_KEPT) {
        compare(s, h);
    } else if (h->poll == POLL_WATCHED) {
        s->ops->keep_state(s->ctx, h->index, true);
        h->poll = POLL_KEPT;
    } else if (h->polls >= h->polls_wanted) {
        h->poll = POLL_WATCHED;
    }
}

/* Returns how many more times the hart enters the same trap before that time. */
static uint64_t turns_before(const struct sched *s, const struct hart *h, uint64_t enter_cycles, uint64_t end)
{
    end = earlier_of(earlier_of(end, enter_cycles + POLL_AHEAD_CYCLES), s->limit_cycles);
    return s->pauses || end <= enter_cycles ? 0 : (end - 1 - enter_cycles) / h->period_cycles;
}

void sched_poll_turn(struct sched *s, struct hart *h, struct slot_trap *trap, uint64_t quiet_until)
{
    struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    uint64_t turns = turns_before(s, h, trap->cycles, quiet_until);
    uint64_t cycles = (turns + 1) * h->period_cycles, instructions = (turns + 1) * h->period_instructions;

    account_turns(&h->account, turns,
                  &(struct account_turn){.cycles = h->period_cycles,
                                         .user_cycles = trap->cycles - trap->user_since - trap->entry_cycles,
                                         .instructions = h->period_instructions});
    s->statistics.requests += turns;
    s->statistics.polls_skipped += turns + 1;
    h->begun = trap->cycles + turns * h->period_cycles;
    trap->cycles += cycles;
    trap->user_since += cycles;
    trap->instructions += instructions;
    h->last_trap = *trap;
    h->clock += cycles;
    h->user_since += cycles;
    slot->user_since += cycles;
    h->more_instructions += instructions;
    assert(h->clock == trap->cycles);
}

/*
 * What the scheduler tells of itself: its time, its statistics, what a hart was in when the machine stood, and where it
 * stands (sched.h).
 */
#include "emu/time/sched_state.h"

uint64_t sched_now(const struct sched *s)
{
    return s->now_cycles;
}

const struct sched_statistics *sched_statistics(const struct sched *s)
{
    return &s->statistics;
}

/* Reports the handling that a hart is in, or its user code: what sched_hart_statistics counts of it. */
static void report_last_spell(struct sched *s, const struct hart *h)
{
    uint64_t left = __atomic_load_n(&harts_slot(s->harts, s->slot_of[h->index])->user_since, __ATOMIC_SEQ_CST);
    uint64_t since = h->account.user_since != EVENTQ_NEVER ? h->account.user_since : left;
    uint64_t until = s->now_cycles;

    if (h->handling != HANDLING_NONE) {
        since = h->held_since;
        until = earlier_of(h->start, until);
    } else if (h->account.user_since == EVENTQ_NEVER && left <= h->account.kernel_since) {
        return;
    }
    if (h->handling == HANDLING_CAUSES)
        sched_report_spell(s, h, SPELL_HANDLING, h->start, s->now_cycles);
    else if (since < until)
        sched_report_spell(s, h, SPELL_USER_TO_INTERRUPT, since, until);
}

void sched_end_spells(struct sched *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        report_last_spell(s, &s->hart[i]);
}

/* Returns the time of the LEAVE after the last trap in the account, or of one before. A running hart that has left the
 * kernel before now_cycles has published its clock, or now_cycles would not have been reached. So its slot has the time
 * of the last LEAVE, or of one before the kernel was entered; and it has the traps that have passed since the grant. */
static uint64_t left_cycles(const struct sched *s, const struct hart *h)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    uint64_t left = __atomic_load_n(&slot->user_since, __ATOMIC_SEQ_CST);

    if (h->traps > 0)
        return h->trap[h->first_trap].user_since;
    if (h->state == HART_RUNNING && __atomic_load_n(&slot->passed, __ATOMIC_SEQ_CST) > h->taken)
        return slot->passed_trap[h->taken].user_since;
    return left;
}

struct sched_hart_statistics sched_hart_statistics(const struct sched *s, uint32_t hart)
{
    const struct hart *h = &s->hart[hart];
    bool handles = h->handling != HANDLING_NONE && (h->traps == 0 || h->start < h->trap[h->first_trap].cycles);
    struct account_totals t = account_totals(&h->account, s->now_cycles, handles ? h->held_since : left_cycles(s, h),
                                             handles ? h->start : EVENTQ_NEVER);

    return (struct sched_hart_statistics){.user_cycles = t.user_cycles,
                                          .kernel_cycles = t.kernel_cycles,
                                          .idle_cycles = t.idle_cycles,
                                          .instructions = h->account.instructions,
                                          .traps = h->account.traps,
                                          .interrupts = h->account.interrupts};
}

bool sched_is_in_place(const struct sched *s, uint32_t hart)
{
    const struct hart *h = &s->hart[hart];
    uint64_t interrupted = h->account.user_since;
    uint64_t since = interrupted == EVENTQ_NEVER ? h->user_since : interrupted + SCHED_RUN_AHEAD_CYCLES;

    return h->in_user && !h->at_quantum_op && h->traps == 0 && h->handling == HANDLING_NONE &&
           since + SCHED_COMPUTES_CYCLES <= s->now_cycles;
}

struct sched_view sched_view(struct sched *s)
{
    uint32_t first = sched_live_first(s);
    struct sched_view v = {.running = s->clocks.live.n, .first = first, .first_cycles = EVENTQ_NEVER};

    for (uint32_t i = 0; i < s->count; i++)
        v.idle += s->hart[i].state == HART_IDLE;
    if (first != CLOCKS_NONE)
        v.first_cycles = clocks_of(&s->clocks, first);
    v.next_cycles = sched_next_cycles(s);
    return v;
}

/*
 * Which harts may run, and how far (sched.h).
 */
#include "emu/base/signals.h"
#include "emu/time/sched_state.h"

/* How far user code may run ahead of everything else: a second. An endless loop stops that often. A tenth of it cost
 * 3 % of the time of a node that only computes. */

/* At most so many of the other harts, which share a processor, run at once if each has a thread. More would gain
 * nothing, and would lose much when many reach code that QEMU has not translated yet: one translates, preempted now and
 * then, and the others spin. */
#define SHORT_RUNS_MOST 4u

/* How many runs a translation is remembered for: then they run one at a time. Likewise. */
#define TRANSLATION_MEMORY 64u

/* The bounds of every hart's W: the lowest and the second lowest q(j), the first event and the first request, but for
 * traps. */
struct bounds {
    uint64_t clock; /* the lowest t(j) */
    uint64_t lowest, second;
    uint32_t lowest_index;
    uint64_t event, request;
};

static struct bounds bounds_find(struct sched *s)
{
    uint32_t slowest = sched_live_first(s), first = sched_quiet_first(s);

    return (struct bounds){.clock = slowest == CLOCKS_NONE ? EVENTQ_NEVER : clocks_of(&s->clocks, slowest),
                           .lowest = first == CLOCKS_NONE ? EVENTQ_NEVER : clocks_of(&s->quiet, first),
                           .second = clocks_second_cycles(&s->quiet),
                           .lowest_index = first,
                           .event = eventq_next(s->events),
                           .request = eventq_next(s->requests)};
}

/* Returns the earliest time at which another hart may see an effect of a request at `cycles`. */
static uint64_t arrival(const struct sched *s, uint64_t cycles)
{
    return cycles == EVENTQ_NEVER ? EVENTQ_NEVER : cycles + s->lookahead_cycles;
}

/* Returns W of this hart. */
static uint64_t window_end(const struct sched *s, const struct bounds *b, const struct hart *h)
{
    uint64_t others = h->index == b->lowest_index ? b->second : b->lowest;

    return earlier_of(h->due, earlier_of(b->event, arrival(s, earlier_of(others, b->request))));
}

/* Returns the time up to which user code of this hart may run. */
static uint64_t horizon(const struct sched *s, const struct bounds *b, const struct hart *h)
{
    uint64_t end =
        earlier_of(earlier_of(b->clock, h->clock), earlier_of(b->event, b->request)) + SCHED_RUN_AHEAD_CYCLES;

    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    bool ends_quantum = sched_ends_quantum(s, h);

    if (s->strict || s->close || slot->exact == NCU_EXACT_AT_ONCE || ends_quantum)
        end = earlier_of(end, window_end(s, b, h));
    if (slot->exact == NCU_EXACT_IN_QUANTA && !ends_quantum && h->in_user)
        end = earlier_of(end, slot->quantum_end);
    return earlier_of(earlier_of(end, h->due), s->limit_cycles);
}

static bool hart_may_run(const struct hart *h, uint64_t end)
{
    return h->unprocessed == 0 && h->traps <= SLOT_PASSED &&
           (!h->in_user || h->handling != HANDLING_NONE || h->attention == NCU_ATTEND_ONLY || end > h->clock);
}

/* Tells the plugin the clocks to set at the next CAUSES and END. */
static void hand_over(struct sched *s, struct hart *h)
{
    struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    slot->handling = 1;
    slot->causes_cycles = h->clock;
    slot->shift_cycles = h->interrupted - h->start;
    h->hand_over = false;
}

/* Returns the time before which traps of a hart with this W may begin out of turn. */
static uint64_t pass_end(const struct sched *s, uint64_t window)
{
    if (!s->passes || s->close)
        return 0;
    return earlier_of(earlier_of(window, s->limit_cycles), s->pauses ? arrival(s, s->now_cycles) : EVENTQ_NEVER);
}

/* The same for a hart. If more causes wait than it was given at once, its next CAUSES finds them. */
static uint64_t pass_end_of(const struct sched *s, const struct hart *h, uint64_t window)
{
    bool gets_more = h->due == EVENTQ_NEVER && s->ops->cause_waits(s->ctx, h->index);

    return gets_more ? 0 : pass_end(s, window);
}

static uint64_t cycles_from(uint64_t clock, uint64_t end)
{
    return end > clock ? end - clock : 0;
}

/* Batched harts save wake-ups of ncube. But an orderly end is given up when it makes no progress (signals.h), and a
 * hart that a debugger has stopped does not end its batch. */
static void hart_grant(struct sched *s, struct hart *h, uint64_t window, uint64_t end, bool spread)
{
    if (h->hand_over)
        hand_over(s, h);
    h->granted_clock = h->clock;
    h->runs_short = !spread;
    s->n_short += h->runs_short;
    h->window = later_of(window, h->clock);
    h->pass = pass_end_of(s, h, window);
    h->may_run_ahead = end > window;
    sched_ready_remove(s, h, HART_RUNNING);
    s->n_running++;
    h->taken = 0;
    s->statistics.grants++;
    harts_slot(s->harts, s->slot_of[h->index])->arm_is_clear = s->ops->arm_is_clear(s->ctx, h->index);
    harts_grant(s->harts, s->slot_of[h->index],
                &(struct harts_grant){.base_cycles = h->clock,
                                      .budget_cycles = cycles_from(h->clock, end),
                                      .pass_cycles = cycles_from(h->clock, h->pass),
                                      .silent_cycles = cycles_from(h->clock, h->silent_until),
                                      .quiet_cycles = clocks_of(&s->quiet, h->index),
                                      .attention = h->attention,
                                      .watch = sched_poll_watches(h),
                                      .batched = s->n_long <= 1 && signals_asked() == 0 && !s->ops->stands,
                                      .spread = spread});
    h->attention = NCU_ATTEND_NOT;
}

bool sched_interrupts_raise(struct sched *s)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n_ready; k++) {
        struct hart *h = &s->hart[s->ready[k]];

        if (h->raise && h->unprocessed == 0) {
            h->raise = false;
            s->raise[n++] = h->index;
        }
    }
    return n == 0 || s->ops->interrupt(s->ctx, s->raise, n);
}

/* Returns true if the hart runs long while another one does: then each may have a processor. */
static bool hart_is_spread(const struct sched *s, const struct hart *h)
{
    return s->n_long > 1 && h->long_runs > 0;
}

/* Lets all traps begin before which no cause can come; the others begin in their turn. */
static void begin_traps(struct sched *s, const struct bounds *b)
{
    for (uint32_t first; (first = clocks_first(&s->entered)) != CLOCKS_NONE;) {
        struct hart *h = &s->hart[first];

        if (h->unprocessed > 0 || h->clock >= pass_end(s, window_end(s, b, h)))
            return;
        sched_trap_begin(s, h);
    }
}

/* Ends the quantum of a hart if no cause can come before that. Returns true if the hart is granted only after an
 * interrupt, because its kernel must attend. */
static bool quantum_end(struct sched *s, const struct bounds *b, struct hart *h)
{
    struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    if (h->unprocessed > 0 || h->attention == NCU_ATTEND_ONLY || !sched_ends_quantum(s, h) ||
        window_end(s, b, h) <= h->clock)
        return false;
    while (slot->quantum_end <= h->clock)
        slot->quantum_end += s->harts->control->quantum_cycles;
    if (h->at_quantum_op) {
        s->ops->answer(s->ctx, h->index, 0);
        h->at_quantum_op = h->in_user = false;
    } else if (slot->attend) {
        h->attention = NCU_ATTEND_ONLY;
        h->raise = true;
    }
    return h->raise;
}

/* Returns how many harts may share a processor now. */
static uint32_t short_runs_most(struct sched *s)
{
    if (s->harts->cabinet_slots > 0)
        return s->count;
    uint32_t translated = __atomic_load_n(&s->harts->control->translated, __ATOMIC_RELAXED);

    if (translated != s->translated)
        s->calm_at = s->statistics.grants + TRANSLATION_MEMORY;
    s->translated = translated;
    return s->statistics.grants < s->calm_at ? 1 : SHORT_RUNS_MOST;
}

bool sched_grant_all(struct sched *s)
{
    struct bounds b = bounds_find(s);
    uint64_t before = s->statistics.grants;
    bool raised = false;
    uint32_t most = short_runs_most(s);

    begin_traps(s, &b);
    for (uint32_t k = s->n_ready; k-- > 0;) { /* a grant moves the last one to its place */
        struct hart *h = &s->hart[s->ready[k]];
        bool spread = hart_is_spread(s, h);
        if (!spread && s->n_short >= most && !s->ops->stands)
            continue; /* a hart that a debugger has stopped keeps its place, but must not keep others from running */
        if (quantum_end(s, &b, h)) {
            raised = true;
            continue;
        }
        uint64_t end = horizon(s, &b, h);
        if (hart_may_run(h, end))
            hart_grant(s, h, window_end(s, &b, h), end, spread);
    }
    s->statistics.windows += s->statistics.grants != before;
    return raised || s->statistics.grants != before;
}

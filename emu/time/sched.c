/*
 * The scheduler: which harts may run and how far, and what they have done when they stop. sched.h has the rules;
 * sched_process.c processes what they ask for.
 */
#include "emu/time/sched.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/base/signals.h"
#include "emu/time/sched_state.h"

/* How far user code may run ahead of everything else: a second. An endless loop stops that often. A tenth of it cost
 * 3 % of the time of a node that only computes. */
#define RUN_AHEAD_CYCLES 20000000u

/* How far user code runs on after a post before its hart stops. The next trap often comes sooner, and hands over the
 * post as well: after a piece of a PIO transfer, some 3,500 cycles later. Meanwhile nobody learns of the post; on one
 * processor that only changes the order of the work, and on two it is less than a hand-over. */
#define RUN_ON_CYCLES 20000u

/* A grant of so many cycles was a long one, and its hart worth moving to another processor: it took some 300
 * microseconds of the host, more than a few hand-overs between processors take (docs/performance.md). */
#define LONG_RUN_CYCLES 1500000u
#define LONG_RUN_MEMORY 4u /* grants for which a long run is remembered: a send and a receive lie between two */

/* At most so many of the other harts, which share a processor, run at once if each has a thread. More would gain
 * nothing, and would lose much when many reach code that QEMU has not translated yet: one translates, preempted now and
 * then, and the others spin. */
#define SHORT_RUNS_MOST 4u

/* How many runs a translation is remembered for: then they run one at a time. Likewise. */
#define TRANSLATION_MEMORY 64u

struct sched *sched_new(struct eventq *queue, struct harts *harts, const uint32_t *slot_of, uint32_t count,
                        uint64_t lookahead_cycles, bool strict, const struct sched_ops *ops, void *ctx)
{
    struct sched *s = memory_new(1, sizeof *s);

    *s = (struct sched){.events = queue,
                        .requests = eventq_new(),
                        .silent = eventq_new(),
                        .harts = harts,
                        .slot_of = slot_of,
                        .count = count,
                        .lookahead_cycles = lookahead_cycles,
                        .strict = strict,
                        .ops = ops,
                        .ctx = ctx,
                        .hart = memory_new(count, sizeof(struct hart)),
                        .hart_of = memory_new(harts->count, sizeof(uint32_t)),
                        .ready = memory_new(count, sizeof(uint32_t)),
                        .raise = memory_new(count, sizeof(uint32_t))};
    clocks_init(&s->clocks, count);
    clocks_init(&s->entered, count);
    clocks_init(&s->quiet, count);
    harts->control->quantum_cycles = NCU_QUANTUM_CYCLES;
    harts->control->run_on_cycles = strict ? 0 : RUN_ON_CYCLES;
    for (uint32_t i = 0; i < count; i++)
        s->hart_of[slot_of[i]] = i;
    for (uint32_t i = 0; i < count; i++) {
        s->hart[i] = (struct hart){.sched = s, .state = HART_IDLE, .index = i, .due = EVENTQ_NEVER};
        account_init(&s->hart[i].account);
    }
    return s;
}

void sched_rely_on(struct sched *s, const struct sched_quiet *quiet)
{
    if (s->strict)
        return;
    s->harts->control->trap_quiet_cycles = quiet->trap_cycles;
    s->harts->control->user_quiet_cycles = quiet->user_cycles;
    s->harts->control->arrival_cycles = quiet->arrival_cycles;
    s->harts->control->answer_cycles = quiet->wake_cycles + quiet->arrival_cycles;
    s->harts->control->wake_quiet_cycles = s->wake_quiet_cycles = quiet->wake_cycles;
    s->passes = quiet->passes;
}

void sched_free(struct sched *s)
{
    eventq_free(s->requests);
    eventq_free(s->silent);
    free(s->hart);
    clocks_free(&s->clocks);
    clocks_free(&s->entered);
    clocks_free(&s->quiet);
    free(s->ready);
    free(s->hart_of);
    free(s->raise);
    free(s);
}

uint64_t sched_now(const struct sched *s)
{
    return s->now_cycles;
}

const struct sched_statistics *sched_statistics(const struct sched *s)
{
    return &s->statistics;
}

/* ---- Granting ---- */

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
    uint64_t end = earlier_of(b->clock, earlier_of(b->event, b->request)) + RUN_AHEAD_CYCLES;

    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    bool ends_quantum = sched_ends_quantum(s, h);

    if (s->strict || slot->exact == NCU_EXACT_AT_ONCE || ends_quantum)
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
    if (!s->passes)
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
                                      .quiet_cycles = clocks_of(&s->quiet, h->index),
                                      .attention = h->attention,
                                      .watch = sched_poll_watches(h),
                                      .batched = s->n_long <= 1 && signals_asked() == 0 && !s->ops->stands,
                                      .spread = spread});
    h->attention = NCU_ATTEND_NOT;
}

/* Raises the interrupts of harts that are stopped in user code. Returns false if the machine has failed. */
static bool interrupts_raise(struct sched *s)
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

/* Grants all harts that may run, but at most SHORT_RUNS_MOST of those that share a processor. */
static bool grant_all(struct sched *s)
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

/* ---- Collecting ---- */

static void wait_for_turn(struct sched *s, struct hart *h, uint64_t cycles, uint32_t op)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    if (op == NCU_ENTER) {
        sched_trap_add(s, h,
                       &(struct slot_trap){.cycles = cycles,
                                           .user_since = slot->user_since,
                                           .instructions = slot->instructions,
                                           .entry_cycles = slot->entry_cycles});
        sched_trap_wait(s, h);
    } else {
        sched_wait_at(s, h, op);
    }
}

static void remember_run(struct sched *s, struct hart *h, uint64_t cycles)
{
    uint32_t before = h->long_runs;

    if (cycles >= LONG_RUN_CYCLES)
        h->long_runs = LONG_RUN_MEMORY;
    else if (h->long_runs > 0)
        h->long_runs--;
    s->n_long += (h->long_runs > 0) - (before > 0);
}

static void count_ahead(struct sched *s, const struct hart *h, uint64_t cycles)
{
    if (!h->may_run_ahead || cycles <= h->window)
        return;
    s->statistics.ahead++;
    s->statistics.ahead_cycles += cycles - h->window;
}

/* Returns how long no SEND or ARM comes after this stop. At the end of a quantum the kernel may attend at once. */
static uint64_t quiet_after(const struct sched *s, const struct slot *slot)
{
    bool at_trap = slot->why == SLOT_OP && (slot->op == NCU_ENTER || slot->op == NCU_QUANTUM);

    if (slot->why == SLOT_BUDGET && slot->exact != NCU_EXACT_IN_QUANTA)
        return s->harts->control->user_quiet_cycles;
    return slot->why == SLOT_BUDGET || at_trap ? s->harts->control->trap_quiet_cycles : 0;
}

/* Other harts have been let run because this one would not send before that time. */
static void expect_quiet(struct sched *s, const struct hart *h, const struct slot_post *post)
{
    if ((post->op == NCU_SEND || post->op == NCU_ARM) && post->cycles < harts_quiet(s->harts, s->slot_of[h->index]))
        s->ops->broken(s->ctx, h->index, "its kernel sends sooner than the scheduler expects");
}

static void hart_collect(struct sched *s, struct hart *h)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    sched_ready_add(s, h);
    s->n_running--;
    s->n_short -= h->runs_short;
    h->runs_short = false;
    remember_run(s, h, slot->cycles - h->granted_clock);
    count_ahead(s, h, slot->cycles);
    for (uint32_t k = 0; k < slot->posts; k++) {
        expect_quiet(s, h, &slot->post[k]);
        sched_request_add(s, h, k, slot->post[k].cycles, slot->post[k].op, slot->post[k].arg);
    }
    sched_traps_passed(s, h);
    assert(!slot->handling); /* an interrupt is taken at once */
    h->user_since = slot->user_since;
    h->at_quantum_op = slot->why == SLOT_OP && slot->op == NCU_QUANTUM;
    h->in_user = slot->why == SLOT_BUDGET || h->at_quantum_op;
    h->clock = slot->cycles;
    sched_live_set(s, h, slot->cycles, slot->cycles + quiet_after(s, slot));
    if (slot->why == SLOT_OP && !h->at_quantum_op)
        wait_for_turn(s, h, slot->cycles, slot->op);
    sched_poll_stopped(s, h);
    sched_handle_due(s, h);
}

static bool collect_all(struct sched *s)
{
    bool any = false;

    for (int64_t slot; (slot = harts_take_stopped(s->harts)) >= 0; any = true)
        hart_collect(s, &s->hart[s->hart_of[slot]]);
    return any;
}

/* Returns why nothing more happens: the limit, or a deadlock. */
static enum sched_end stuck_end(struct sched *s)
{
    bool limited = s->clocks.live.n > 0 || sched_next_cycles(s) != EVENTQ_NEVER;

    assert(!limited || s->limit_cycles != EVENTQ_NEVER);
    if (limited)
        s->now_cycles = s->limit_cycles;
    return limited ? SCHED_LIMIT : SCHED_DEADLOCK;
}

static void start(struct sched *s)
{
    s->started = true;
    for (uint32_t i = 0; i < s->count; i++)
        sched_wake(s, i, 0);
}

/* Takes into the accounts what running harts have passed. */
static void take_passed(struct sched *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->hart[i].state == HART_RUNNING)
            sched_traps_passed(s, &s->hart[i]);
}

enum sched_end sched_run(struct sched *s, uint64_t limit_cycles)
{
    s->limit_cycles = limit_cycles;
    if (!s->started)
        start(s);
    for (;;) {
        uint32_t bell = harts_watch(s->harts, sched_next_cycles(s));
        bool busy = collect_all(s);

        if (!sched_process_all_safe(s, &busy)) {
            take_passed(s);
            return SCHED_FINISHED;
        }
        if (!interrupts_raise(s))
            return SCHED_STOPPED;
        busy |= grant_all(s);
        if (s->n_running == 0 && !harts_undisturbed())
            return SCHED_STOPPED;
        if (busy || (s->ops->stands && s->ops->stands(s->ctx, s->n_running)))
            continue;
        if (s->n_running == 0)
            return stuck_end(s);
        s->statistics.waits++;
        if (!harts_sleep(s->harts, bell))
            return SCHED_STOPPED;
    }
}

/* ---- Statistics and the heartbeat ---- */

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

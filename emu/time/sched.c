/*
 * The scheduler's loop, and what harts have done when they stop. sched.h has the rules; sched_grant.c says which harts
 * may run and how far, sched_process.c processes what they ask for.
 */
#include "emu/time/sched.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/base/signals.h"
#include "emu/time/sched_state.h"

/* How far user code runs on after a post before its hart stops. The next trap often comes sooner, and hands over the
 * post as well: after a piece of a PIO transfer, some 3,500 cycles later. Meanwhile nobody learns of the post; on one
 * processor that only changes the order of the work, and on two it is less than a hand-over. */
#define RUN_ON_CYCLES 20000u

/* A grant of so many cycles was a long one, and its hart worth moving to another processor: it took some 300
 * microseconds of the host, more than a few hand-overs between processors take (docs/performance.md). */
#define LONG_RUN_CYCLES 1500000u
#define LONG_RUN_MEMORY 4u /* grants for which a long run is remembered: a send and a receive lie between two */

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
    s->idle_silent_cycles = quiet->idle_cycles;
    s->causes_silent_cycles = quiet->causes_cycles;
    s->trap_silent_cycles = quiet->begun_cycles;
    s->passes = quiet->passes;
}

void sched_keep_close(struct sched *s, bool close)
{
    s->close = close;
    s->harts->control->run_on_cycles = close || s->strict ? 0 : RUN_ON_CYCLES;
}

uint64_t sched_latest_clock(const struct sched *s)
{
    uint64_t latest = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct hart *h = &s->hart[i];
        uint64_t clock = h->handling != HANDLING_NONE ? h->interrupted + (h->clock - h->start) : h->clock;

        latest = clock > latest ? clock : latest;
    }
    return latest;
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

/* Returns false if what the hart has done may belong before what has been processed. */
static bool was_silent(struct sched *s, const struct hart *h, const struct slot *slot)
{
    uint64_t first = slot->posts > 0 ? slot->post[0].cycles : slot->cycles;

    if (first >= h->silent_until)
        return true;
    s->ops->broken(s->ctx, h->index, "its kernel makes a request sooner than the scheduler expects");
    return false;
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
    if (!was_silent(s, h, slot))
        return;
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
        if (!sched_interrupts_raise(s))
            return SCHED_STOPPED;
        busy |= sched_grant_all(s);
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

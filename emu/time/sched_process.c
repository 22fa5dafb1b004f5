/*
 * The scheduler's part that works in virtual time: which harts are live, the queue of their requests, the handling of
 * causes, and the processing of events and requests in order. sched.h has the rules.
 */
#include <assert.h>

#include "emu/time/sched_state.h"

/* ---- Live harts: runnable or running, so that they can still produce requests ---- */

void sched_ready_add(struct sched *s, struct hart *h)
{
    h->state = HART_RUNNABLE;
    h->ready_at = s->n_ready;
    s->ready[s->n_ready++] = h->index;
}

void sched_ready_remove(struct sched *s, struct hart *h, enum hart_state state)
{
    uint32_t moved = s->ready[--s->n_ready];

    s->ready[h->ready_at] = moved;
    s->hart[moved].ready_at = h->ready_at;
    h->state = state;
}

static void live_add(struct sched *s, struct hart *h, uint64_t cycles)
{
    sched_ready_add(s, h);
    clocks_add(&s->clocks, h->index, cycles);
}

/* Removes a runnable hart from the live ones. */
void sched_live_remove(struct sched *s, struct hart *h, enum hart_state state)
{
    sched_ready_remove(s, h, state);
    clocks_remove(&s->clocks, h->index);
}

/* Returns t(i) of a running hart: the clock that it has published, or the start of the handling that is to come. */
static uint64_t running_time(const struct sched *s, const struct hart *h)
{
    uint64_t progress = harts_progress(s->harts, s->slot_of[h->index]);

    return earlier_of(progress, h->due);
}

/* Returns the live hart with the lowest clock, or CLOCKS_NONE; updates the clocks that running harts have published. */
uint32_t sched_live_first(struct sched *s)
{
    for (;;) {
        uint32_t first = clocks_first(&s->clocks);

        if (first == CLOCKS_NONE || s->hart[first].state != HART_RUNNING)
            return first;
        uint64_t cycles = running_time(s, &s->hart[first]);
        if (cycles == clocks_of(&s->clocks, first))
            return first;
        clocks_set(&s->clocks, first, cycles);
    }
}

/* Resumes a hart in the kernel. */
static void hart_resume(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    h->in_user = false;
    h->clock = now_cycles;
    live_add(s, h, now_cycles);
}

void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    struct hart *h = &s->hart[hart];

    assert(h->state == HART_IDLE);
    account_wake(&h->account, now_cycles);
    hart_resume(s, h, now_cycles);
}

/* ---- Requests ---- */

static void request_due(void *arg, uint64_t now_cycles);

uint64_t sched_request_add(struct sched *s, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op,
                           const uint64_t *arg)
{
    struct request *r = &h->request[k];

    *r = (struct request){.op = op, .hart = h};
    for (int i = 0; arg && i < 6; i++)
        r->arg[i] = arg[i];
    h->unprocessed++;
    return eventq_add(s->requests, cycles, h->index, request_due, r);
}

/* ---- Spells, for the trace ---- */

void sched_report_spell(struct sched *s, const struct hart *h, enum sched_spell_kind kind, uint64_t since,
                        uint64_t until)
{
    const struct sched_spell spell = {.kind = kind,
                                      .since_cycles = since,
                                      .until_cycles = until,
                                      .trap = harts_slot(s->harts, s->slot_of[h->index])->trap};

    if (s->ops->spell)
        s->ops->spell(s->ctx, h->index, &spell);
}

/* ---- Handling causes ---- */

bool sched_handling_may_begin(const struct hart *h)
{
    return h->state != HART_RUNNING && h->handling == HANDLING_NONE && (h->in_user || h->at_trap);
}

/* Lets a hart that is stopped in user code or at ENTER handle its causes from `start` on. Makes the request CAUSES for
 * it. */
void sched_handling_begin(struct sched *s, struct hart *h, uint64_t start)
{
    h->handling = HANDLING_BEGUN;
    h->start = start;
    h->held_since = h->user_since;
    h->interrupted = h->clock;
    if (h->in_user) {
        h->raise = true;
        sched_live_remove(s, h, HART_WAITING);
    } else {
        h->at_trap = false;
        eventq_cancel(s->requests, h->enter);
        h->unprocessed--;
    }
    sched_request_add(s, h, NCU_POSTED, start + NCU_INTERRUPT_CYCLES, NCU_CAUSES, NULL);
}

/* Notes a cause of a running hart. It is handled from `cycles` on, or from when the hart leaves the kernel; nothing
 * later is processed before that. */
void sched_cause_while_running(struct sched *s, struct hart *h, uint64_t cycles)
{
    h->due = cycles;
    clocks_set(&s->clocks, h->index, cycles);
    harts_call(s->harts, s->slot_of[h->index]);
}

void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    struct hart *h = &s->hart[hart];

    if (sched_handling_may_begin(h)) {
        sched_handling_begin(s, h, later_of(now_cycles, h->user_since));
    } else if (h->state == HART_RUNNING && h->due == EVENTQ_NEVER) {
        sched_cause_while_running(s, h, now_cycles);
    }
}

/* END: the interrupted code resumes, later by the cost (the plugin has set its clock), unless another cause is due. */
static void handling_end(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    account_handled(&h->account, h->held_since, h->start, now_cycles);
    sched_report_spell(s, h, SPELL_HANDLING, h->start, now_cycles);
    h->handling = HANDLING_NONE;
    if (sched_handling_may_begin(h) && s->ops->cause_waits(s->ctx, h->index))
        sched_handling_begin(s, h, now_cycles);
}

/* At DROP: the process that was interrupted has ended. */
static void handling_drop(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    account_dropped(&h->account, h->held_since, h->start, now_cycles,
                    harts_slot(s->harts, s->slot_of[h->index])->instructions);
    sched_report_spell(s, h, SPELL_HANDLING_DROPPED, h->start, now_cycles);
    h->handling = HANDLING_NONE;
    hart_resume(s, h, now_cycles);
}

/* ---- Processing events and requests in order ---- */

/* ENTER takes effect: the trap begins. */
static void trap_begin(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    account_trap(&h->account, h->user_since, now_cycles, slot->entry_cycles, slot->instructions);
    sched_report_spell(s, h, SPELL_USER_TO_TRAP, h->user_since, now_cycles);
    h->at_trap = false;
    s->ops->answer(s->ctx, h->index, 0);
    hart_resume(s, h, now_cycles);
}

/* The first CAUSES of a handling takes effect: the next grant hands the causes over. */
static void handling_take_causes(struct sched *s, struct hart *h)
{
    h->account.interrupts++;
    s->statistics.interrupts++;
    sched_report_spell(s, h, SPELL_USER_TO_INTERRUPT, h->held_since, h->start);
    s->ops->interrupted(s->ctx, h->index, h->start);
    h->handling = HANDLING_CAUSES;
    h->hand_over = true;
}

static void request_due(void *arg, uint64_t now_cycles)
{
    struct request *r = arg;
    struct hart *h = r->hart;
    struct sched *s = h->sched;

    h->unprocessed--;
    s->statistics.requests++;
    if (r->op == NCU_ENTER) {
        trap_begin(s, h, now_cycles);
    } else if (r->op == NCU_END) {
        handling_end(s, h, now_cycles);
    } else if (r->op == NCU_DROP) {
        handling_drop(s, h, now_cycles);
    } else if (slot_op_is_posted(r->op)) {
        s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles);
    } else {
        if (h->handling == HANDLING_BEGUN)
            handling_take_causes(s, h);
        h->state = HART_IDLE;
        account_idle(&h->account, now_cycles);
        if (s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles))
            sched_wake(s, h->index, now_cycles);
    }
}

uint64_t sched_next_cycles(const struct sched *s)
{
    return earlier_of(eventq_next(s->events), eventq_next(s->requests));
}

/* Return true if an event at that time, or the first request, may be processed: no live hart comes before it. */
static bool event_is_safe(struct sched *s, uint64_t cycles)
{
    uint32_t first = sched_live_first(s);

    return first == CLOCKS_NONE || cycles <= clocks_of(&s->clocks, first);
}

static bool request_is_safe(struct sched *s, uint64_t cycles)
{
    uint32_t first = sched_live_first(s);

    if (first == CLOCKS_NONE)
        return true;
    uint64_t others = clocks_of(&s->clocks, first);
    return cycles < others || (cycles == others && eventq_next_order(s->requests) <= first);
}

/* Processes the first event or request. Returns false if it is not safe yet, or lies beyond the limit. */
static bool process_one(struct sched *s)
{
    uint64_t event = eventq_next(s->events), request = eventq_next(s->requests);

    if (earlier_of(event, request) > s->limit_cycles)
        return false;
    if (event <= request) {
        if (event == EVENTQ_NEVER || !event_is_safe(s, event))
            return false;
        s->now_cycles = event;
        s->statistics.events++;
        eventq_run_one(s->events);
    } else {
        if (!request_is_safe(s, request))
            return false;
        s->now_cycles = request;
        eventq_run_one(s->requests);
    }
    return true;
}

/* Processes all events and requests that are safe; sets *busy if there was one. Returns false when the run is over. */
bool sched_process_all_safe(struct sched *s, bool *busy)
{
    while (!s->ops->finished(s->ctx)) {
        if (!process_one(s))
            return true;
        *busy = true;
    }
    return false;
}

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

static void live_add(struct sched *s, struct hart *h, uint64_t cycles, uint64_t quiet)
{
    sched_ready_add(s, h);
    clocks_add(&s->clocks, h->index, cycles);
    clocks_add(&s->quiet, h->index, quiet);
}

/* Removes a runnable hart from the live ones, which can still produce requests; `state`: what it becomes. */
static void live_remove(struct sched *s, struct hart *h, enum hart_state state)
{
    sched_ready_remove(s, h, state);
    clocks_remove(&s->clocks, h->index);
    clocks_remove(&s->quiet, h->index);
}

/* Returns the earliest start of the handling that is to come, or EVENTQ_NEVER. */
static uint64_t handling_start(const struct hart *h)
{
    if (h->due == EVENTQ_NEVER || h->handling != HANDLING_NONE)
        return EVENTQ_NEVER;
    return later_of(h->due, h->in_user ? h->user_since : h->clock);
}

/* A handler executes CAUSES first. */
static uint64_t handling_quiet(const struct sched *s, const struct hart *h)
{
    uint64_t start = handling_start(h);

    return start == EVENTQ_NEVER || s->strict ? start : start + NCU_INTERRUPT_CYCLES + s->wake_quiet_cycles;
}

void sched_live_set(struct sched *s, struct hart *h, uint64_t cycles, uint64_t quiet)
{
    clocks_set(&s->clocks, h->index, earlier_of(cycles, handling_start(h)));
    clocks_set(&s->quiet, h->index, earlier_of(quiet, handling_quiet(s, h)));
}

/* Returns the live hart with the lowest clock, or CLOCKS_NONE; updates the clocks that running harts have published. */
uint32_t sched_live_first(struct sched *s)
{
    for (;;) {
        uint32_t first = clocks_first(&s->clocks);

        if (first == CLOCKS_NONE || s->hart[first].state != HART_RUNNING)
            return first;
        uint64_t cycles = earlier_of(harts_progress(s->harts, s->slot_of[first]), handling_start(&s->hart[first]));
        if (cycles == clocks_of(&s->clocks, first))
            return first;
        clocks_set(&s->clocks, first, cycles);
    }
}

/* The same for q(i). */
uint32_t sched_quiet_first(struct sched *s)
{
    for (;;) {
        uint32_t first = clocks_first(&s->quiet);

        if (first == CLOCKS_NONE || s->hart[first].state != HART_RUNNING)
            return first;
        uint64_t cycles = earlier_of(harts_quiet(s->harts, s->slot_of[first]), handling_quiet(s, &s->hart[first]));
        if (cycles == clocks_of(&s->quiet, first))
            return first;
        clocks_set(&s->quiet, first, cycles);
    }
}

/* Resumes a hart in the kernel. */
static void hart_resume(struct sched *s, struct hart *h, uint64_t now_cycles, uint64_t quiet_cycles)
{
    h->in_user = h->at_quantum_op = false;
    h->clock = now_cycles;
    h->silent_until = now_cycles + h->silent_cycles;
    live_add(s, h, h->silent_until, now_cycles + quiet_cycles);
}

void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    struct hart *h = &s->hart[hart];

    assert(h->state == HART_IDLE);
    account_wake(&h->account, now_cycles);
    hart_resume(s, h, now_cycles, h->takes_causes ? s->wake_quiet_cycles : 0);
}

/* ---- Requests ---- */

static void request_due(void *arg, uint64_t now_cycles);

static void request_add(struct eventq *queue, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op,
                        const uint64_t *arg)
{
    struct request *r = &h->request[k];

    *r = (struct request){.op = op, .hart = h};
    for (int i = 0; arg && i < 6; i++)
        r->arg[i] = arg[i];
    h->unprocessed++;
    eventq_add(queue, cycles, h->index, request_due, r);
}

void sched_request_add(struct sched *s, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op, const uint64_t *arg)
{
    request_add(s->requests, h, k, cycles, op, arg);
}

/* Returns q(i) of a hart that waits at IDLE. Without a cause, only an event makes it go on. */
static uint64_t idle_quiet(const struct sched *s, const struct hart *h)
{
    return h->due == EVENTQ_NEVER ? EVENTQ_NEVER : h->clock + s->wake_quiet_cycles;
}

void sched_wait_at(struct sched *s, struct hart *h, uint32_t op)
{
    live_remove(s, h, HART_WAITING);
    h->at_idle = op == NCU_IDLE && !s->strict;
    if (h->at_idle)
        clocks_add(&s->quiet, h->index, idle_quiet(s, h));
    request_add(h->at_idle ? s->silent : s->requests, h, NCU_POSTED, h->clock, op, NULL);
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

/* ---- Traps ---- */

static void trap_due(void *arg, uint64_t now_cycles);

static void trap_queue_first(struct sched *s, struct hart *h)
{
    h->trap_event = eventq_add(s->silent, h->trap[h->first_trap].cycles, h->index, trap_due, h);
}

static void trap_account(struct sched *s, struct hart *h, const struct slot_trap *t)
{
    s->statistics.requests++;
    if (t->is_causes)
        return;
    account_trap(&h->account, t->user_since, t->cycles, t->entry_cycles, t->instructions);
    sched_report_spell(s, h, SPELL_USER_TO_TRAP, t->user_since, t->cycles);
}

/* The trap of a running hart may have passed before what has been processed in the meantime. */
static bool trap_is_past(const struct sched *s, const struct hart *h, uint64_t cycles)
{
    return h->traps == 0 && (cycles < s->now_cycles || (cycles == s->now_cycles && h->index < s->now_hart));
}

void sched_trap_add(struct sched *s, struct hart *h, const struct slot_trap *from_plugin)
{
    struct slot_trap trap = *from_plugin;

    trap.instructions += h->more_instructions;
    if (trap.is_causes)
        h->polls = 0;
    else
        sched_poll_note(h, &trap);
    if (trap_is_past(s, h, trap.cycles)) {
        trap_account(s, h, &trap);
        return;
    }
    assert(h->traps < TRAPS_KEPT);
    h->trap[(h->first_trap + h->traps++) % TRAPS_KEPT] = trap;
    if (h->traps == 1)
        trap_queue_first(s, h);
}

void sched_trap_wait(struct sched *s, struct hart *h)
{
    sched_ready_remove(s, h, HART_AT_TRAP);
    clocks_remove(&s->clocks, h->index);
    clocks_add(&s->entered, h->index, h->clock);
}

/* A trap begins, and a CAUSES finds none, only when no cause can come before it. */
static void expect_later(struct sched *s, const struct hart *h)
{
    if (h->begun > 0 && h->due <= h->begun)
        s->ops->broken(s->ctx, h->index, "a cause has come too late for a trap");
}

void sched_traps_passed(struct sched *s, struct hart *h)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    uint32_t passed = __atomic_load_n(&slot->passed, __ATOMIC_SEQ_CST);

    for (; h->taken < passed; h->taken++) {
        sched_trap_add(s, h, &slot->passed_trap[h->taken]);
        h->begun = slot->passed_trap[h->taken].cycles;
        expect_later(s, h);
    }
}

/* The other half of a trap, its place in the account, follows in its turn. */
void sched_trap_begin(struct sched *s, struct hart *h)
{
    clocks_remove(&s->entered, h->index);
    h->begun = h->clock;
    h->silent_until = h->clock + s->trap_silent_cycles;
    s->ops->answer(s->ctx, h->index, 0);
    sched_ready_add(s, h);
    clocks_add(&s->clocks, h->index, earlier_of(h->silent_until, handling_start(h)));
}

/* Takes the ENTER at which a hart is stopped back, as if it had not been executed. */
static void trap_take_back(struct sched *s, struct hart *h)
{
    if (h->poll != POLL_SAME)
        clocks_remove(&s->entered, h->index);
    clocks_remove(&s->quiet, h->index);
    sched_poll_end(s, h);
    if (--h->traps == 0)
        eventq_cancel(s->silent, h->trap_event);
}

/* Returns a time before which no cause comes to a hart that sends nothing itself: its W. */
static uint64_t quiet_until(struct sched *s)
{
    uint32_t first = sched_quiet_first(s);
    uint64_t sends = first == CLOCKS_NONE ? EVENTQ_NEVER : clocks_of(&s->quiet, first);

    sends = earlier_of(sends, eventq_next(s->requests));
    return earlier_of(eventq_next(s->events), sends == EVENTQ_NEVER ? sends : sends + s->lookahead_cycles);
}

/* A trap is due. */
static void trap_due(void *arg, uint64_t now_cycles)
{
    struct hart *h = arg;
    struct sched *s = h->sched;

    assert(h->trap[h->first_trap].cycles == now_cycles);
    trap_account(s, h, &h->trap[h->first_trap]);
    if (h->poll == POLL_SAME && h->traps == 1) {
        sched_poll_turn(s, h, &h->trap[h->first_trap], quiet_until(s));
        trap_queue_first(s, h);
        return;
    }
    h->first_trap = (h->first_trap + 1) % TRAPS_KEPT;
    if (--h->traps > 0)
        trap_queue_first(s, h);
    else if (h->state == HART_AT_TRAP)
        sched_trap_begin(s, h);
}

/* ---- Handling causes ---- */

bool sched_ends_quantum(const struct sched *s, const struct hart *h)
{
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);

    return h->in_user && h->handling == HANDLING_NONE &&
           (h->at_quantum_op || (slot->exact == NCU_EXACT_IN_QUANTA && h->clock >= slot->quantum_end));
}

/* Returns how the kernel shall attend after the handling. A trap attends anyway. */
static uint32_t attention_for(const struct sched *s, const struct hart *h)
{
    if (sched_ends_quantum(s, h))
        return NCU_ATTEND_QUANTUM;
    return h->in_user && harts_slot(s->harts, s->slot_of[h->index])->exact == NCU_EXACT_AT_ONCE ? NCU_ATTEND
                                                                                                : NCU_ATTEND_NOT;
}

/* Lets a hart that is stopped in user code or at ENTER handle its causes from `start` on. Makes the request CAUSES for
 * it. */
static void handling_begin(struct sched *s, struct hart *h, uint64_t start)
{
    h->attention = attention_for(s, h);
    h->handling = HANDLING_BEGUN;
    h->due = EVENTQ_NEVER;
    h->start = start;
    h->held_since = h->user_since;
    h->interrupted = h->clock;
    h->raise = h->in_user && !h->at_quantum_op;
    if (h->state == HART_AT_TRAP)
        trap_take_back(s, h);
    else
        live_remove(s, h, HART_WAITING);
    h->state = HART_WAITING;
    sched_request_add(s, h, NCU_POSTED, start + NCU_INTERRUPT_CYCLES, NCU_CAUSES, NULL);
}

/* A hart in user code or at ENTER handles a cause that comes before it. One that comes later finds it elsewhere: the
 * hart has been granted too little yet, or begins its trap first. */
void sched_handle_due(struct sched *s, struct hart *h)
{
    bool held = h->state == HART_AT_TRAP || (h->state == HART_RUNNABLE && h->in_user);

    if (held && h->handling == HANDLING_NONE && h->due <= h->clock)
        handling_begin(s, h, later_of(h->due, h->user_since));
}

/* Until the hart handles the cause, nothing later than that is processed. */
void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    struct hart *h = &s->hart[hart];

    if (h->handling == HANDLING_BEGUN || h->due != EVENTQ_NEVER)
        return;
    h->due = now_cycles;
    expect_later(s, h);
    sched_handle_due(s, h);
    if (h->state == HART_RUNNING)
        harts_call(s->harts, s->slot_of[hart]);
    if (h->at_idle)
        clocks_set(&s->quiet, hart, idle_quiet(s, h));
    if (h->state == HART_RUNNING || h->state == HART_RUNNABLE)
        sched_live_set(s, h, clocks_of(&s->clocks, hart), clocks_of(&s->quiet, hart));
}

/* END: the interrupted code resumes, later by the cost (the plugin has set its clock), unless another cause is due. */
static void handling_end(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    account_handled(&h->account, h->held_since, h->start, now_cycles);
    sched_report_spell(s, h, SPELL_HANDLING, h->start, now_cycles);
    h->handling = HANDLING_NONE;
    sched_handle_due(s, h);
}

/* At DROP: the process that was interrupted has ended. */
static void handling_drop(struct sched *s, struct hart *h, uint64_t now_cycles)
{
    account_dropped(&h->account, h->held_since, h->start, now_cycles,
                    harts_slot(s->harts, s->slot_of[h->index])->instructions + h->more_instructions);
    sched_report_spell(s, h, SPELL_HANDLING_DROPPED, h->start, now_cycles);
    h->handling = HANDLING_NONE;
    h->silent_cycles = 0;
    hart_resume(s, h, now_cycles, 0);
}

/* ---- Processing events and requests in order ---- */

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

/* Returns how long a hart makes no request after it has got what it waits for in this one. */
static uint64_t silent_after(const struct sched *s, uint32_t op)
{
    return op == NCU_IDLE ? s->idle_silent_cycles : op == NCU_CAUSES ? s->causes_silent_cycles : 0;
}

static void request_due(void *arg, uint64_t now_cycles)
{
    struct request *r = arg;
    struct hart *h = r->hart;
    struct sched *s = h->sched;

    h->unprocessed--;
    s->statistics.requests++;
    if (r->op == NCU_END) {
        handling_end(s, h, now_cycles);
    } else if (r->op == NCU_DROP) {
        handling_drop(s, h, now_cycles);
    } else if (slot_op_is_posted(r->op)) {
        s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles);
    } else {
        if (h->handling == HANDLING_BEGUN)
            handling_take_causes(s, h);
        if (h->at_idle)
            clocks_remove(&s->quiet, h->index);
        h->at_idle = false;
        h->state = HART_IDLE;
        h->takes_causes = r->op == NCU_IDLE || r->op == NCU_CAUSES;
        h->silent_cycles = silent_after(s, r->op);
        account_idle(&h->account, now_cycles);
        bool goes_on = s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles);
        if (!s->ops->cause_waits(s->ctx, h->index))
            h->due = EVENTQ_NEVER;
        if (goes_on)
            sched_wake(s, h->index, now_cycles);
    }
}

uint64_t sched_next_cycles(const struct sched *s)
{
    return earlier_of(eventq_next(s->events), earlier_of(eventq_next(s->requests), eventq_next(s->silent)));
}

/* Return true if an event at that time, or a request of that hart, may be processed: no live hart comes before it. */
static bool event_is_safe(struct sched *s, uint64_t cycles)
{
    uint32_t first = sched_live_first(s);

    return first == CLOCKS_NONE || cycles <= clocks_of(&s->clocks, first);
}

static bool request_is_safe(struct sched *s, uint64_t cycles, uint32_t hart)
{
    uint32_t first = sched_live_first(s);

    if (first == CLOCKS_NONE)
        return true;
    uint64_t others = clocks_of(&s->clocks, first);
    return cycles < others || (cycles == others && hart <= first);
}

/* Returns the queue of the first request or trap. A trap follows the requests of its hart. */
static struct eventq *first_requests(const struct sched *s)
{
    uint64_t request = eventq_next(s->requests), trap = eventq_next(s->silent);

    if (trap != request)
        return trap < request ? s->silent : s->requests;
    return trap != EVENTQ_NEVER && eventq_next_order(s->silent) < eventq_next_order(s->requests) ? s->silent
                                                                                                 : s->requests;
}

/* Processes the first event or request. Returns false if it is not safe yet, or lies beyond the limit. */
static bool process_one(struct sched *s)
{
    struct eventq *requests = first_requests(s);
    uint64_t event = eventq_next(s->events), request = eventq_next(requests);

    if (earlier_of(event, request) > s->limit_cycles)
        return false;
    if (event <= request) {
        if (event == EVENTQ_NEVER || !event_is_safe(s, event))
            return false;
        s->now_cycles = event;
        s->now_hart = 0;
        s->statistics.events++;
        eventq_run_one(s->events);
    } else {
        if (!request_is_safe(s, request, eventq_next_order(requests)))
            return false;
        s->now_cycles = request;
        s->now_hart = eventq_next_order(requests);
        eventq_run_one(requests);
    }
    return true;
}

/* Lets traps of a running hart from that time on begin in their turn only. Returns false if it cannot be told before it
 * stops, which it is asked to do. */
static bool end_pass(struct sched *s, struct hart *h, uint64_t cycles)
{
    uint32_t slot = s->slot_of[h->index];

    if (harts_shorten_pass(s->harts, slot, cycles > h->granted_clock ? cycles - h->granted_clock : 0)) {
        h->pass = cycles;
        sched_traps_passed(s, h);
        return h->begun < cycles;
    }
    harts_call(s->harts, slot);
    return false;
}

/* Returns true if a message that is sent now from outside the machine comes after all traps that have begun. */
static bool may_pause(struct sched *s)
{
    uint64_t arrival = s->now_cycles + s->lookahead_cycles;

    for (uint32_t i = 0; i < s->count; i++) {
        struct hart *h = &s->hart[i];

        if (h->begun >= arrival || (h->state == HART_RUNNING && h->pass > arrival && !end_pass(s, h, arrival)))
            return false;
    }
    return true;
}

/* A machine in which all harts poll has always something to do. */
#define TURNS_MOST 1000u

/* Processes all events and requests that are safe; sets *busy if there was one. Returns false when the run is over, or
 * pauses. */
bool sched_process_all_safe(struct sched *s, bool *busy)
{
    for (uint32_t turns = 0; !s->ops->finished(s->ctx); turns += s->polling > 0) {
        if (turns > TURNS_MOST)
            return true;
        s->pauses = s->ops->pauses(s->ctx);
        if (s->pauses && may_pause(s))
            return false;
        if (!process_one(s))
            return true;
        *busy = true;
    }
    return false;
}

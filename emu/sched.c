#include "emu/sched.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/machine.h"

/* How far user code may run ahead of everything else: a tenth of a second. An endless loop returns to us so often. */
#define RUN_AHEAD_CYCLES 2000000u

enum hart_state {
    HART_RUNNABLE, /* may be granted */
    HART_WAITING,  /* at an NCU instruction that is not processed yet */
    HART_IDLE,     /* waits for sched_wake */
};

struct request {
    uint32_t op;
    struct hart *hart;
    uint64_t arg[6];
};

enum handling { /* of causes, in an interrupt or before a trap */
    HANDLING_NONE,
    HANDLING_BEGUN, /* CAUSES is still to come */
    HANDLING_CAUSES, /* END is still to come */
};

struct hart {
    struct sched *sched;
    uint32_t index;
    enum hart_state state;
    uint32_t live_at;     /* position in sched.live, while runnable */
    uint32_t unprocessed; /* requests in the queue */
    uint64_t cycles;      /* t(i): no request of this hart comes before */
    uint64_t clock;       /* at the next grant */
    uint64_t user_since;  /* when the user code that runs or is stopped went on */
    bool in_user;         /* stopped in front of a block of user code, whose end is `clock` */
    bool at_trap;         /* waits at ENTER; its request is `enter` */
    uint64_t enter;
    /* While causes are handled: */
    enum handling handling;
    bool raise;           /* SSWI is to be written before the next grant */
    bool from_trap;       /* told by ENTER; when handled, ENTER comes again */
    bool settle;          /* on the way back to user code after END */
    uint64_t start;       /* of the handling */
    uint64_t interrupted; /* clock of the user code or ENTER that was held up; grows by the cost */
    struct request request[NCU_POSTED + 1];
};

struct sched {
    struct eventq *events;
    struct eventq *requests; /* order = hart index */
    struct harts *harts;
    const uint32_t *slot_of;
    uint32_t count;
    uint64_t lookahead_cycles;
    bool strict;
    const struct sched_ops *ops;
    void *ctx;
    uint64_t now_cycles;
    struct hart *hart;
    uint32_t *live; /* indices of runnable harts */
    uint32_t n_live;
    uint32_t *granted; /* indices, of the current round */
    uint32_t *raise;   /* scratch: harts to interrupt */
    uint64_t first_cycles; /* lower bound on (clock, index) of every runnable hart, */
    uint32_t first_index;  /* exact at the start of each processing phase */
    struct sched_statistics statistics;
};

static void *allocate(size_t n, size_t bytes) {
    void *p = calloc(n > 0 ? n : 1, bytes);
    if (p == NULL)
        abort();
    return p;
}

struct sched *sched_new(struct eventq *queue, struct harts *harts, const uint32_t *slot_of, uint32_t count,
                        uint64_t lookahead_cycles, bool strict, const struct sched_ops *ops, void *ctx) {
    struct sched *s = allocate(1, sizeof *s);
    *s = (struct sched){.events = queue,
                        .requests = eventq_new(),
                        .harts = harts,
                        .slot_of = slot_of,
                        .count = count,
                        .lookahead_cycles = lookahead_cycles,
                        .strict = strict,
                        .ops = ops,
                        .ctx = ctx,
                        .hart = allocate(count, sizeof(struct hart)),
                        .live = allocate(count, sizeof(uint32_t)),
                        .granted = allocate(count, sizeof(uint32_t)),
                        .raise = allocate(count, sizeof(uint32_t))};
    harts->control->strict = strict;
    for (uint32_t i = 0; i < count; i++)
        s->hart[i] = (struct hart){.sched = s, .state = HART_IDLE, .index = i};
    return s;
}

void sched_free(struct sched *s) {
    eventq_free(s->requests);
    free(s->hart);
    free(s->live);
    free(s->granted);
    free(s->raise);
    free(s);
}

uint64_t sched_now(const struct sched *s) {
    return s->now_cycles;
}

const struct sched_statistics *sched_statistics(const struct sched *s) {
    return &s->statistics;
}

/* ---- The set of runnable harts ---- */

/* A runnable hart's t(i) is `cycles` now. */
static void live_note(struct sched *s, struct hart *h, uint64_t cycles) {
    h->cycles = cycles;
    if (cycles < s->first_cycles || (cycles == s->first_cycles && h->index < s->first_index)) {
        s->first_cycles = cycles;
        s->first_index = h->index;
    }
}

static void live_add(struct sched *s, struct hart *h, uint64_t cycles) {
    h->state = HART_RUNNABLE;
    h->live_at = s->n_live;
    s->live[s->n_live++] = h->index;
    live_note(s, h, cycles);
}

static void live_remove(struct sched *s, struct hart *h, enum hart_state state) {
    uint32_t moved = s->live[--s->n_live];
    s->live[h->live_at] = moved;
    s->hart[moved].live_at = h->live_at;
    h->state = state;
}

static void live_find_first(struct sched *s) {
    s->first_cycles = EVENTQ_NEVER;
    s->first_index = UINT32_MAX;
    for (uint32_t k = 0; k < s->n_live; k++) {
        const struct hart *h = &s->hart[s->live[k]];
        if (h->cycles < s->first_cycles || (h->cycles == s->first_cycles && h->index < s->first_index)) {
            s->first_cycles = h->cycles;
            s->first_index = h->index;
        }
    }
}

/* The hart goes on in the kernel. */
static void hart_resume(struct sched *s, struct hart *h, uint64_t now_cycles) {
    h->in_user = false;
    h->clock = now_cycles;
    live_add(s, h, now_cycles);
}

void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles) {
    struct hart *h = &s->hart[hart];
    assert(h->state == HART_IDLE);
    hart_resume(s, h, now_cycles);
}

/* ---- Handling causes ---- */

static bool handling_may_begin(const struct hart *h) {
    return h->handling == HANDLING_NONE && (h->in_user || h->at_trap);
}

/* The hart, stopped in user code or at ENTER, handles its causes, from `start` on. */
static void handling_begin(struct sched *s, struct hart *h, uint64_t start) {
    h->handling = HANDLING_BEGUN;
    h->start = start;
    h->interrupted = h->clock;
    h->from_trap = h->at_trap;
    h->raise = h->in_user;
    h->clock = start;
    s->statistics.interrupts++;
    s->ops->interrupted(s->ctx, h->index, start);
    if (h->in_user) {
        live_note(s, h, start);
        return;
    }
    h->at_trap = false;
    eventq_cancel(s->requests, h->enter);
    h->unprocessed--;
    s->ops->answer(s->ctx, h->index, 1);
    hart_resume(s, h, start);
}

void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles) {
    struct hart *h = &s->hart[hart];
    if (handling_may_begin(h))
        handling_begin(s, h, now_cycles > h->user_since ? now_cycles : h->user_since);
}

/* At END: what was interrupted goes on, later by the cost. Until the hart has stopped again nothing later than now
 * may be processed: it is not yet where a cause can be handled. */
static void handling_end(struct sched *s, struct hart *h, uint64_t now_cycles) {
    h->handling = HANDLING_NONE;
    h->interrupted += now_cycles - h->start;
    h->user_since = now_cycles;
    harts_slot(s->harts, s->slot_of[h->index])->user_since = now_cycles;
    h->settle = !h->from_trap;
    hart_resume(s, h, now_cycles);
    h->clock = h->interrupted;
}

/* ---- Processing events and requests in order ---- */

static bool op_is_posted(uint32_t op) {
    return op == NCU_SEND || op == NCU_ARM || op == NCU_TIMER || op == NCU_DISK;
}

static void request_due(void *arg, uint64_t now_cycles) {
    struct request *r = arg;
    struct hart *h = r->hart;
    struct sched *s = h->sched;
    h->unprocessed--;
    s->statistics.requests++;
    if (r->op == NCU_ENTER) {
        h->at_trap = false;
        s->ops->answer(s->ctx, h->index, 0);
        hart_resume(s, h, now_cycles);
    } else if (r->op == NCU_END) {
        handling_end(s, h, now_cycles);
    } else if (op_is_posted(r->op)) {
        s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles);
    } else {
        h->state = HART_IDLE;
        if (s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles))
            sched_wake(s, h->index, now_cycles);
    }
}

static uint64_t request_add(struct sched *s, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op,
                            const uint64_t *arg) {
    struct request *r = &h->request[k];
    *r = (struct request){.op = op, .hart = h};
    for (int i = 0; i < 6; i++)
        r->arg[i] = arg[i];
    h->unprocessed++;
    return eventq_add(s->requests, cycles, h->index, request_due, r);
}

/* May the first request, due at `cycles`, be processed? No runnable hart may come before it. */
static bool request_is_safe(const struct sched *s, uint64_t cycles) {
    return cycles < s->first_cycles ||
           (cycles == s->first_cycles && eventq_next_order(s->requests) <= s->first_index);
}

static void process_all_safe(struct sched *s) {
    live_find_first(s);
    while (!s->ops->finished(s->ctx)) {
        uint64_t event = eventq_next(s->events), request = eventq_next(s->requests);
        if (event == EVENTQ_NEVER && request == EVENTQ_NEVER)
            return;
        if (event <= request) {
            if (event > s->first_cycles)
                return;
            s->now_cycles = event;
            s->statistics.events++;
            eventq_run_one(s->events);
        } else {
            if (!request_is_safe(s, request))
                return;
            s->now_cycles = request;
            eventq_run_one(s->requests);
        }
    }
}

/* ---- Granting ---- */

/* Lowest and second lowest clock among runnable harts, for W of every one of them. */
struct bounds {
    uint64_t lowest, second;
    uint32_t lowest_index;
    uint64_t event, request;
};

static struct bounds bounds_find(const struct sched *s) {
    struct bounds b = {.lowest = EVENTQ_NEVER,
                       .second = EVENTQ_NEVER,
                       .event = eventq_next(s->events),
                       .request = eventq_next(s->requests)};
    for (uint32_t k = 0; k < s->n_live; k++) {
        uint64_t cycles = s->hart[s->live[k]].cycles;
        if (cycles < b.lowest) {
            b.second = b.lowest;
            b.lowest = cycles;
            b.lowest_index = s->live[k];
        } else if (cycles < b.second) {
            b.second = cycles;
        }
    }
    return b;
}

static uint64_t later(uint64_t cycles, uint64_t by) {
    return cycles == EVENTQ_NEVER ? EVENTQ_NEVER : cycles + by;
}

static uint64_t window_end(const struct sched *s, const struct bounds *b, const struct hart *h) {
    uint64_t others = h->index == b->lowest_index ? b->second : b->lowest;
    uint64_t end = b->event;
    if (later(others, s->lookahead_cycles) < end)
        end = later(others, s->lookahead_cycles);
    if (later(b->request, s->lookahead_cycles) < end)
        end = later(b->request, s->lookahead_cycles);
    return end;
}

/* Up to where user code of this hart may run. */
static uint64_t horizon(const struct sched *s, const struct bounds *b, const struct hart *h) {
    uint64_t floor = b->lowest;
    if (b->event < floor)
        floor = b->event;
    if (b->request < floor)
        floor = b->request;
    uint64_t end = floor + RUN_AHEAD_CYCLES;
    if (s->strict && window_end(s, b, h) < end)
        end = window_end(s, b, h);
    return end;
}

static bool hart_grant(struct sched *s, const struct bounds *b, struct hart *h) {
    uint64_t end = horizon(s, b, h);
    if (h->unprocessed > 0 || (h->in_user && h->handling == HANDLING_NONE && end <= h->clock))
        return false;
    harts_slot(s->harts, s->slot_of[h->index])->settle = h->settle;
    h->settle = false;
    harts_grant(s->harts, s->slot_of[h->index], h->clock, end > h->clock ? end - h->clock : 0);
    s->statistics.grants++;
    return true;
}

/* Harts that are to be interrupted in user code. */
static bool interrupts_raise(struct sched *s) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_live; k++) {
        struct hart *h = &s->hart[s->live[k]];
        if (h->raise && h->unprocessed == 0) {
            h->raise = false;
            s->raise[n++] = h->index;
        }
    }
    return n == 0 || s->ops->interrupt(s->ctx, s->raise, n);
}

static uint32_t grant_all(struct sched *s) {
    struct bounds b = bounds_find(s);
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_live; k++) {
        struct hart *h = &s->hart[s->live[k]];
        if (hart_grant(s, &b, h))
            s->granted[n++] = h->index;
    }
    s->statistics.rounds++;
    return n;
}

/* ---- Collecting ---- */

static void wait_for_turn(struct sched *s, struct hart *h, uint64_t cycles, uint32_t op) {
    static const uint64_t none[6];
    live_remove(s, h, HART_WAITING);
    h->clock = cycles;
    h->at_trap = op == NCU_ENTER;
    uint64_t id = request_add(s, h, NCU_POSTED, cycles, op, none);
    if (h->at_trap)
        h->enter = id;
}

/* The time of an instruction by the clock that counts. */
static uint64_t settled_time(struct hart *h, uint64_t cycles, uint32_t op) {
    if (h->handling == HANDLING_BEGUN && op == NCU_CAUSES) {
        h->handling = HANDLING_CAUSES;
        return h->start + NCU_INTERRUPT_CYCLES;
    }
    if (h->handling == HANDLING_NONE && op == NCU_ENTER && h->from_trap) {
        h->from_trap = false;
        return h->interrupted; /* the same trap, again */
    }
    return cycles;
}

/* Interrupted in front of a block of user code that ends in a trap: the trap comes first, and ENTER tells it. */
static bool trap_overtakes_interrupt(struct sched *s, struct hart *h, uint64_t cycles, uint32_t op) {
    if (h->handling != HANDLING_BEGUN || op != NCU_ENTER)
        return false;
    h->from_trap = true;
    h->interrupted += cycles - h->start;
    h->in_user = false;
    s->ops->answer(s->ctx, h->index, 1);
    return true;
}

static void hart_collect(struct sched *s, struct hart *h) {
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    for (uint32_t k = 0; k < slot->posts; k++)
        request_add(s, h, k, slot->post[k].cycles, slot->post[k].op, slot->post[k].arg);
    if (slot->why == SLOT_OP && trap_overtakes_interrupt(s, h, slot->cycles, slot->op))
        return;
    h->user_since = slot->user_since;
    h->in_user = slot->why == SLOT_BUDGET;
    h->clock = h->cycles = slot->cycles;
    if (slot->why == SLOT_OP)
        wait_for_turn(s, h, settled_time(h, slot->cycles, slot->op), slot->op);
    if (handling_may_begin(h) && s->ops->cause_waits(s->ctx, h->index))
        handling_begin(s, h, h->user_since);
}

enum sched_end sched_run(struct sched *s, uint64_t limit_cycles) {
    s->first_cycles = EVENTQ_NEVER;
    s->first_index = UINT32_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        sched_wake(s, i, 0);
    for (;;) {
        process_all_safe(s);
        if (s->ops->finished(s->ctx))
            return SCHED_FINISHED;
        if (s->now_cycles > limit_cycles)
            return SCHED_LIMIT;
        if (!interrupts_raise(s))
            return SCHED_STOPPED;
        uint32_t n = grant_all(s);
        if (n == 0) {
            assert(s->n_live == 0);
            return SCHED_DEADLOCK;
        }
        if (!harts_wait(s->harts))
            return SCHED_STOPPED;
        for (uint32_t k = 0; k < n; k++)
            hart_collect(s, &s->hart[s->granted[k]]);
    }
}

#include "emu/sched.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/machine.h"

#define BUDGET_MAX_CYCLES 20000000u /* one second of virtual time: an endless loop returns to us for signals */

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

struct hart {
    struct sched *sched;
    enum hart_state state;
    bool in_user;           /* stopped in front of a block of user code */
    bool interrupted;       /* raised, and not yet answered by a request */
    uint32_t index;
    uint32_t live_at;       /* position in sched.live, while runnable */
    uint32_t unprocessed;   /* requests in the queue */
    uint64_t cycles;        /* clock: t(i) */
    struct request request[NCU_POSTED + 1];
};

struct sched {
    struct eventq *events;
    struct eventq *requests; /* order = hart index */
    struct harts *harts;
    const uint32_t *slot_of;
    uint32_t count;
    uint64_t lookahead_cycles;
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
                        uint64_t lookahead_cycles, const struct sched_ops *ops, void *ctx) {
    struct sched *s = allocate(1, sizeof *s);
    *s = (struct sched){.events = queue,
                        .requests = eventq_new(),
                        .harts = harts,
                        .slot_of = slot_of,
                        .count = count,
                        .lookahead_cycles = lookahead_cycles,
                        .ops = ops,
                        .ctx = ctx,
                        .hart = allocate(count, sizeof(struct hart)),
                        .live = allocate(count, sizeof(uint32_t)),
                        .granted = allocate(count, sizeof(uint32_t)),
                        .raise = allocate(count, sizeof(uint32_t))};
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

static void live_add(struct sched *s, struct hart *h, uint64_t cycles) {
    h->state = HART_RUNNABLE;
    h->cycles = cycles;
    h->live_at = s->n_live;
    s->live[s->n_live++] = h->index;
    if (cycles < s->first_cycles || (cycles == s->first_cycles && h->index < s->first_index)) {
        s->first_cycles = cycles;
        s->first_index = h->index;
    }
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

void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles) {
    struct hart *h = &s->hart[hart];
    assert(h->state == HART_IDLE);
    h->in_user = false;
    live_add(s, h, now_cycles);
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
    bool goes_on = s->ops->execute(s->ctx, h->index, r->op, r->arg, now_cycles);
    if (op_is_posted(r->op))
        return;
    h->interrupted = false;
    h->state = HART_IDLE;
    if (goes_on)
        sched_wake(s, h->index, now_cycles);
}

static void request_add(struct sched *s, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op, const uint64_t *arg) {
    struct request *r = &h->request[k];
    *r = (struct request){.op = op, .hart = h};
    for (int i = 0; i < 6; i++)
        r->arg[i] = arg[i];
    h->unprocessed++;
    eventq_add(s->requests, cycles, h->index, request_due, r);
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
    if (end > h->cycles + BUDGET_MAX_CYCLES)
        end = h->cycles + BUDGET_MAX_CYCLES;
    return end;
}

static bool hart_grant(struct sched *s, const struct bounds *b, struct hart *h) {
    uint64_t end = window_end(s, b, h);
    bool due = s->ops->cause_waits(s->ctx, h->index);
    if (h->unprocessed > 0 || (h->in_user && end <= h->cycles && !due))
        return false;
    if (due || end < h->cycles)
        end = h->cycles; /* stop again as soon as user code is reached */
    harts_grant(s->harts, s->slot_of[h->index], h->cycles, end - h->cycles);
    s->statistics.grants++;
    return true;
}

/* Harts that are about to go on with user code while a cause waits for them. */
static bool interrupts_raise(struct sched *s) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_live; k++) {
        struct hart *h = &s->hart[s->live[k]];
        if (h->in_user && !h->interrupted && h->unprocessed == 0 && s->ops->cause_waits(s->ctx, h->index)) {
            h->interrupted = true;
            s->raise[n++] = h->index;
        }
    }
    s->statistics.interrupts += n;
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

static void hart_collect(struct sched *s, struct hart *h) {
    const struct slot *slot = harts_slot(s->harts, s->slot_of[h->index]);
    static const uint64_t none[6];
    for (uint32_t k = 0; k < slot->posts; k++)
        request_add(s, h, k, slot->post[k].cycles, slot->post[k].op, slot->post[k].arg);
    h->cycles = slot->cycles;
    h->in_user = slot->why == SLOT_BUDGET;
    if (slot->why != SLOT_OP)
        return;
    live_remove(s, h, HART_WAITING);
    request_add(s, h, NCU_POSTED, slot->cycles, slot->op, none);
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

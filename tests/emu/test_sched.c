/*
 * The scheduler against harts that are threads playing random scripts: what the plugin does, without QEMU.
 *
 * The property that matters: the log of everything that took effect does not depend on how harts were granted. So
 * each script set is run with different lookaheads, and must give the same log; and the log is in order.
 */
#include "emu/sched.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emu/futex.h"
#include "emu/signals.h"

#define HARTS 6
#define STEPS 60
#define MESSAGE_CYCLES 117u /* shortest effect on another hart */

enum step_kind { STEP_USER, STEP_KERNEL, STEP_SEND, STEP_ASK, STEP_WAIT };

struct step {
    enum step_kind kind;
    uint32_t value; /* cycles, or a SEND's destination */
};

struct entry {
    uint64_t cycles;
    uint32_t hart, what;
};

struct play {
    struct harts harts;
    struct eventq *events;
    struct sched *sched;
    struct step script[HARTS][STEPS];
    uint32_t causes[HARTS]; /* arrived and not taken */
    bool idle[HARTS], interrupt[HARTS], ended[HARTS];
    struct entry log[HARTS * STEPS * 4];
    uint32_t logged;
};

struct player {
    struct play *play;
    uint32_t hart;
    uint64_t clock;
    pthread_t thread;
};

static void note(struct play *p, uint64_t cycles, uint32_t hart, uint32_t what) {
    p->log[p->logged++] = (struct entry){cycles, hart, what};
}

/* ---- A hart, as the plugin would report it ---- */

static void stop(struct player *a, enum slot_stop why, uint32_t op) {
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    struct control *c = a->play->harts.control;
    uint32_t last = __atomic_load_n(&s->go, __ATOMIC_SEQ_CST);
    s->cycles = a->clock;
    s->why = why;
    s->op = op;
    __atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
    if (__atomic_sub_fetch(&c->outstanding, 1, __ATOMIC_SEQ_CST) == 0) {
        __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
        futex_wake(&c->doorbell);
    }
    while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) == last)
        futex_wait(&s->go, last);
    s->posts = 0;
    a->clock = s->base_cycles;
}

static void post(struct player *a, uint32_t to) {
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    if (s->posts == NCU_POSTED)
        stop(a, SLOT_POSTS, 0);
    if (s->budget_cycles > a->clock - s->base_cycles)
        s->budget_cycles = a->clock - s->base_cycles;
    s->post[s->posts++] = (struct slot_post){.cycles = a->clock, .op = NCU_SEND, .arg = {to}};
}

static void user_block(struct player *a, uint32_t cycles) {
    const struct slot *s = harts_slot(&a->play->harts, a->hart);
    a->clock += cycles;
    if (a->clock - s->base_cycles >= s->budget_cycles)
        stop(a, SLOT_BUDGET, 0);
    if (a->play->interrupt[a->hart]) { /* taken at the block's end */
        a->play->interrupt[a->hart] = false;
        a->clock += 10;
        stop(a, SLOT_OP, NCU_CAUSES);
    }
}

static void *play_hart(void *arg) {
    struct player *a = arg;
    stop(a, SLOT_START, 0);
    for (int i = 0; i < STEPS; i++) {
        const struct step *step = &a->play->script[a->hart][i];
        switch (step->kind) {
        case STEP_USER:
            user_block(a, step->value);
            break;
        case STEP_KERNEL:
            a->clock += step->value;
            break;
        case STEP_SEND:
            post(a, step->value);
            break;
        case STEP_ASK:
            stop(a, SLOT_OP, NCU_CAUSES);
            break;
        case STEP_WAIT:
            stop(a, SLOT_OP, NCU_IDLE);
            break;
        }
    }
    a->clock += 1;
    stop(a, SLOT_OP, NCU_FAULT); /* the end; never granted again until the process ends */
    return NULL;
}

/* ---- A machine whose only device is a message that takes MESSAGE_CYCLES + 3 * sender ---- */

struct message {
    struct play *play;
    uint32_t to;
};

static void arrive(void *arg, uint64_t now_cycles) {
    struct message *m = arg;
    struct play *p = m->play;
    note(p, now_cycles, m->to, 1000);
    p->causes[m->to]++;
    if (p->idle[m->to]) {
        p->idle[m->to] = false;
        p->causes[m->to] = 0;
        sched_wake(p->sched, m->to, now_cycles);
    }
    free(m);
}

static bool execute(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles) {
    struct play *p = ctx;
    note(p, now_cycles, hart, op * 100 + (op == NCU_SEND ? (uint32_t)arg[0] : p->causes[hart]));
    if (op == NCU_SEND) {
        struct message *m = malloc(sizeof *m);
        *m = (struct message){p, (uint32_t)arg[0]};
        eventq_add(p->events, now_cycles + MESSAGE_CYCLES + 3 * hart, hart, arrive, m);
        return true;
    }
    if (op == NCU_FAULT) {
        p->ended[hart] = true;
        return false;
    }
    p->idle[hart] = op == NCU_IDLE && p->causes[hart] == 0;
    if (!p->idle[hart])
        p->causes[hart] = 0;
    return !p->idle[hart];
}

static bool cause_waits(void *ctx, uint32_t hart) {
    return ((struct play *)ctx)->causes[hart] > 0;
}

static bool interrupt(void *ctx, const uint32_t *harts, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        ((struct play *)ctx)->interrupt[harts[k]] = true;
    return true;
}

static bool finished(void *ctx) {
    (void)ctx;
    return false; /* runs until nothing is left: "deadlock" */
}

static const struct sched_ops ops = {execute, cause_waits, interrupt, finished};

static void write_scripts(struct play *p, unsigned seed) {
    srand(seed);
    for (int h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++) {
            enum step_kind kind = (enum step_kind)(rand() % (h == 0 ? STEP_WAIT : STEP_WAIT + 1));
            uint32_t value = kind == STEP_SEND ? (uint32_t)rand() % HARTS : 1u + (uint32_t)rand() % 300;
            p->script[h][i] = (struct step){kind, value};
        }
}

static struct play *play_once(unsigned seed, uint64_t lookahead_cycles) {
    struct play *p = calloc(1, sizeof *p);
    struct player player[HARTS];
    uint32_t slots[HARTS];
    cr_assert_eq(harts_init(&p->harts, HARTS, HARTS), 0);
    signals_install(&p->harts.control->doorbell);
    write_scripts(p, seed);
    for (uint32_t h = 0; h < HARTS; h++) {
        slots[h] = h;
        player[h] = (struct player){.play = p, .hart = h};
        pthread_create(&player[h].thread, NULL, play_hart, &player[h]);
    }
    cr_assert(harts_wait(&p->harts));
    p->events = eventq_new();
    p->sched = sched_new(p->events, &p->harts, slots, HARTS, lookahead_cycles, &ops, p);
    cr_assert_eq(sched_run(p->sched, UINT64_MAX), SCHED_DEADLOCK);
    return p;
}

Test(sched, effects_are_in_order_of_time) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct play *p = play_once(seed, MESSAGE_CYCLES);
        cr_assert_gt(p->logged, HARTS);
        for (uint32_t i = 1; i < p->logged; i++)
            cr_assert_leq(p->log[i - 1].cycles, p->log[i].cycles, "seed %u, entry %u", seed, i);
        cr_assert(p->ended[0], "seed %u: hart 0 waits for nobody and must have ended", seed);
    }
}

Test(sched, the_outcome_does_not_depend_on_the_windows) {
    static const uint64_t lookaheads[] = {1, 20, 64};
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct play *widest = play_once(seed, MESSAGE_CYCLES);
        for (size_t k = 0; k < sizeof lookaheads / sizeof *lookaheads; k++) {
            struct play *p = play_once(seed, lookaheads[k]);
            cr_assert_eq(p->logged, widest->logged, "seed %u, lookahead %zu: %u entries, not %u", seed, k, p->logged,
                         widest->logged);
            for (uint32_t i = 0; i < p->logged; i++)
                cr_assert(memcmp(&p->log[i], &widest->log[i], sizeof p->log[i]) == 0,
                          "seed %u, lookahead %zu, entry %u: %lu hart %u %u, not %lu hart %u %u", seed, k, i,
                          p->log[i].cycles, p->log[i].hart, p->log[i].what, widest->log[i].cycles,
                          widest->log[i].hart, widest->log[i].what);
        }
    }
}

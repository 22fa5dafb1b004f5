/*
 * The scheduler against harts that are threads playing random scripts: what plugin and kernel do, without QEMU.
 *
 * The property that matters: the log of everything that took effect does not depend on how far harts were let run.
 * So each set of scripts is run with user code running ahead, and in strict mode with several lookaheads; all must
 * give the same log, and the log is in order.
 */
#include "emu/time/sched.h"

#include <inttypes.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/signals.h"
#include "emu/qemu/futex.h"

#define HARTS          6
#define STEPS          60
#define MESSAGE_CYCLES 117u /* shortest effect on another hart */

#define ENTRY_CYCLES 15u
#define EXIT_CYCLES  18u

#define TRAP_CYCLES 50u /* at least so long the kernel takes from ENTER to a SEND, */
#define WAKE_CYCLES 20u /* and from CAUSES or IDLE */

#define TAKEN_MOST 2u /* causes by one CAUSES or IDLE; then the kernel asks for more */

/* A block of user code, and the trap that it ends in. */
enum trap { TRAP_NONE, TRAP_SEND, TRAP_ASK, TRAP_WORK, TRAP_WAIT };

struct step {
    enum trap trap;
    uint32_t user_cycles, kernel_cycles;
    uint32_t to;      /* a SEND's destination */
    unsigned host_us; /* that the block takes on the host, at least */
};

struct entry {
    uint64_t cycles;
    uint32_t hart, what; /* an instruction: 100 * op + its argument, or the causes that wait; or one of these: */
};

enum { ARRIVAL = 100000, INTERRUPT = 200000 };

struct play {
    struct harts harts;
    struct eventq *events;
    struct sched *sched;
    struct step script[HARTS][STEPS];
    uint32_t causes[HARTS]; /* arrived and not taken */
    bool idle[HARTS], interrupt[HARTS], ended[HARTS];
    uint64_t answer[HARTS];
    uint64_t kept[HARTS]; /* states: the causes that the hart had taken */
    uint32_t same;        /* that were found */
    struct entry log[HARTS * STEPS * 4];
    uint32_t logged;
    struct player *player;
};

struct player {
    struct play *play;
    uint32_t hart;
    bool polls;   /* instead of its script: sends for every cause, and traps for ever */
    bool endless; /* instead of its script: a loop that never traps */
    bool answers; /* sends whenever it handles causes */
    uint64_t clock;
    bool settle; /* END has set the clock, to */
    uint64_t settled;
    uint32_t attention;     /* of the last grant that had one */
    bool must_attend;       /* since an interrupt */
    uint64_t attended;      /* at the end of a quantum, */
    uint64_t withdrawn;     /* and in a trap that came first */
    uint64_t taken;         /* causes, in all */
    uint64_t instructions;  /* of user code: one takes one cycle */
    uint64_t longest;       /* budget */
    uint64_t passed;        /* traps that did not stop, */
    uint64_t passed_causes; /* and CAUSES */
    pthread_t thread;
};

/* After an interrupt, an exact hart must attend: it sends, and all see where its user code was. */
static enum ncu_exact exactness(uint32_t hart)
{
    return hart % 3 != 1 ? NCU_EXACT_NOT : hart < 3 ? NCU_EXACT_AT_ONCE : NCU_EXACT_IN_QUANTA;
}

#define QUANTUM_CYCLES 150u /* blocks take up to 300 */

/* Some are killed by the second cause that interrupts them. */
enum { KILLED_BY = 2 };

static bool is_mortal(uint32_t hart)
{
    return hart % 3 == 2;
}

static void note(struct play *p, uint64_t cycles, uint32_t hart, uint32_t what)
{
    p->log[p->logged++] = (struct entry){cycles, hart, what};
}

/* ---- A hart, as the plugin would report it ---- */

static void ring(struct control *c)
{
    __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
    futex_wake(&c->doorbell);
}

static void list_stopped(struct control *c, uint32_t hart)
{
    uint32_t head = __atomic_load_n(&c->stopped, __ATOMIC_SEQ_CST);

    do
        c->slot[hart].next_stopped = head;
    while (!__atomic_compare_exchange_n(&c->stopped, &head, hart + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void tell_progress(struct player *a, uint64_t quiet_cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    struct control *c = a->play->harts.control;

    __atomic_store_n(&s->quiet, a->clock + quiet_cycles, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->progress, a->clock, __ATOMIC_SEQ_CST);
    if (!s->batched && a->clock >= __atomic_load_n(&c->wanted, __ATOMIC_SEQ_CST))
        ring(c);
}

static void stop(struct player *a, enum slot_stop why, uint32_t op)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    struct control *c = a->play->harts.control;
    uint32_t last = __atomic_load_n(&s->go, __ATOMIC_SEQ_CST);

    s->cycles = a->clock;
    s->why = why;
    s->op = op;
    s->instructions = a->instructions;
    __atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
    list_stopped(c, a->hart);
    if (!s->batched || __atomic_sub_fetch(&c->batch, 1, __ATOMIC_SEQ_CST) == 0)
        ring(c);
    while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) == last)
        futex_wait(&s->go, last, FUTEX_FOREVER);
    a->clock = s->base_cycles;
    if (s->budget_cycles > a->longest)
        a->longest = s->budget_cycles;
    if (s->handling || s->attention == NCU_ATTEND_ONLY)
        a->attention = s->attention;
}

static uint64_t cycles_left_to_pass(const struct player *a)
{
    const struct slot *s = harts_slot(&a->play->harts, a->hart);
    uint64_t elapsed = a->clock - s->base_cycles;

    return s->pass_cycles > elapsed ? s->pass_cycles - elapsed : 0;
}

/* A message to itself comes sooner than an answer from another. */
static void limit_pass(struct player *a, uint32_t op, uint32_t to)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    const struct control *c = a->play->harts.control;
    uint64_t after = op != NCU_SEND ? 0 : c->arrival_cycles + (to == a->hart ? 0 : c->answer_cycles);

    if (cycles_left_to_pass(a) > after)
        s->pass_cycles = a->clock - s->base_cycles + after;
}

static void post_op(struct player *a, uint32_t op, uint32_t to)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->posts == NCU_POSTED)
        stop(a, SLOT_POSTS, 0);
    s->post[s->posts++] = (struct slot_post){.cycles = a->clock, .op = op, .arg = {to}};
    limit_pass(a, op, to);
}

static void post(struct player *a, uint32_t to)
{
    post_op(a, NCU_SEND, to);
}

static void limit_budget(struct player *a, uint64_t cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (a->clock - s->base_cycles + cycles < s->budget_cycles)
        s->budget_cycles = a->clock - s->base_cycles + cycles;
}

static void settle(struct player *a)
{
    if (a->settle)
        a->clock = a->settled;
    a->settle = false;
}

static void take_due(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->handling)
        a->clock = s->causes_cycles;
    else
        stop(a, SLOT_OP, NCU_CAUSES);
    s->handling = 0;
}

static void end(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    post_op(a, NCU_END, 0);
    s->user_since = a->clock;
    s->quantum_end += a->clock - (s->causes_cycles - NCU_INTERRUPT_CYCLES);
    a->clock = a->settled = a->clock + s->shift_cycles;
    a->settle = true;
}

/* Returns true if causes must be handled first. */
static bool quantum(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->attention == NCU_ATTEND_ONLY) {
        s->attention = NCU_ATTEND_NOT;
        a->settle = true;
        a->settled = s->base_cycles;
        return false;
    }
    a->clock = a->settled;
    stop(a, SLOT_OP, NCU_QUANTUM);
    return a->play->answer[a->hart] != 0;
}

_Noreturn static void play_end(struct player *a, uint32_t op)
{
    stop(a, SLOT_OP, op);
    a->clock += WAKE_CYCLES;
    post(a, 0);
    stop(a, SLOT_OP, NCU_FAULT); /* never granted again until the process ends */
    abort();
}

/* At ENTER or CAUSES; no SEND comes sooner after it than `quiet_cycles`. */
static bool pass(struct player *a, bool is_causes, uint64_t quiet_cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (cycles_left_to_pass(a) == 0 || s->passed == SLOT_PASSED || s->watch)
        return false;
    s->passed_trap[s->passed] = (struct slot_trap){.is_causes = is_causes,
                                                   .cycles = a->clock,
                                                   .user_since = s->user_since,
                                                   .instructions = a->instructions,
                                                   .entry_cycles = s->entry_cycles};
    __atomic_store_n(&s->passed, s->passed + 1, __ATOMIC_SEQ_CST);
    a->passed += !is_causes;
    a->passed_causes += is_causes;
    if (s->posts == 0)
        tell_progress(a, quiet_cycles);
    return true;
}

static void ask(struct player *a)
{
    if (pass(a, true, a->play->harts.control->wake_quiet_cycles))
        a->play->answer[a->hart] = 0;
    else
        stop(a, SLOT_OP, NCU_CAUSES);
}

/* Returns how many causes the kernel has got, with those for which it asks then. */
static uint64_t take_more(struct player *a)
{
    uint64_t taken = a->play->answer[a->hart];

    while (a->play->answer[a->hart] == TAKEN_MOST) {
        a->clock++;
        ask(a);
        taken += a->play->answer[a->hart];
    }
    return taken;
}

/* The kernel's handling of the causes that were due; sometimes it sends a message itself. */
static void handle_due(struct player *a)
{
    a->play->interrupt[a->hart] = false;
    take_due(a);
    uint64_t taken = take_more(a);
    a->clock += WAKE_CYCLES;
    a->taken += taken;
    if (taken % 3 == 2 || a->answers)
        post(a, (a->hart + 1) % HARTS);
    a->clock += 5 * taken;
    if (is_mortal(a->hart) && a->taken >= KILLED_BY)
        play_end(a, NCU_DROP);
    a->must_attend = exactness(a->hart) != NCU_EXACT_NOT;
    end(a);
}

static uint64_t user_quiet(const struct player *a)
{
    const struct control *c = a->play->harts.control;

    return exactness(a->hart) == NCU_EXACT_IN_QUANTA ? c->trap_quiet_cycles : c->user_quiet_cycles;
}

static void leave(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    a->clock += EXIT_CYCLES;
    s->entry_cycles = 0;
    if (a->settle)
        settle(a);
    else
        s->quantum_end = (s->user_since = a->clock) + a->play->harts.control->quantum_cycles;
    s->exact = exactness(a->hart);
    s->attend = a->must_attend;
    if (s->posts == 0)
        tell_progress(a, user_quiet(a));
    if (s->posts > 0)
        limit_budget(a, a->play->harts.control->run_on_cycles);
    if (s->exact == NCU_EXACT_AT_ONCE)
        limit_budget(a, cycles_left_to_pass(a));
    else if (s->exact == NCU_EXACT_IN_QUANTA)
        limit_budget(a, s->quantum_end > a->clock ? s->quantum_end - a->clock : 0);
}

static void withdraw(struct player *a)
{
    harts_slot(&a->play->harts, a->hart)->attention = NCU_ATTEND_NOT;
    a->play->interrupt[a->hart] = false;
    a->play->answer[a->hart] = 1;
    a->settle = true;
    a->settled = a->clock;
    a->withdrawn++;
}

static void enter(struct player *a)
{
    for (;;) {
        struct slot *s = harts_slot(&a->play->harts, a->hart);

        a->clock += ENTRY_CYCLES;
        if (!a->settle && s->entry_cycles == 0)
            s->entry_cycles = ENTRY_CYCLES;
        settle(a);
        if (s->handling)
            s->shift_cycles += a->clock - s->base_cycles;
        else if (s->attention == NCU_ATTEND_ONLY)
            withdraw(a);
        else if (pass(a, false, a->play->harts.control->trap_quiet_cycles))
            return;
        else
            stop(a, SLOT_OP, NCU_ENTER);
        if (a->play->answer[a->hart] == 0)
            return;
        if (a->attention == NCU_ATTEND_ONLY)
            a->attention = NCU_ATTEND_NOT;
        else
            handle_due(a);
    }
}

/* The rest of a trap that the kernel has entered. */
static void attend(struct player *a)
{
    if (!a->must_attend)
        return;
    a->must_attend = false;
    a->clock += TRAP_CYCLES;
    post(a, (a->hart + 2) % HARTS);
}

/* As trap_interrupt of vertex/trap/trap.c. */
static void take_interrupt(struct player *a)
{
    uint32_t attention = a->attention;

    a->clock += ENTRY_CYCLES;
    a->play->interrupt[a->hart] = false;
    if (attention != NCU_ATTEND_ONLY)
        handle_due(a);
    while (attention >= NCU_ATTEND_QUANTUM && quantum(a))
        handle_due(a);
    if (attention != NCU_ATTEND_NOT && a->must_attend) {
        a->attended += attention >= NCU_ATTEND_QUANTUM;
        enter(a);
        attend(a);
    }
    leave(a);
}

static void user_block(struct player *a, const struct step *step)
{
    const struct slot *s = harts_slot(&a->play->harts, a->hart);

    usleep(step->host_us);
    a->clock += step->user_cycles;
    a->instructions += step->user_cycles;
    if (a->clock - s->base_cycles >= s->budget_cycles || __atomic_load_n(&s->stop_soon, __ATOMIC_SEQ_CST))
        stop(a, SLOT_BUDGET, 0);
    else if (s->posts == 0)
        tell_progress(a, user_quiet(a));
    if (step->trap == TRAP_NONE && a->play->interrupt[a->hart]) /* taken at the block's end */
        take_interrupt(a);
}

/* Sometimes the kernel answers a cause at once. */
static void wait_for_causes(struct player *a, const struct step *step)
{
    if (step->trap == TRAP_ASK)
        ask(a);
    else
        stop(a, SLOT_OP, NCU_IDLE);
    uint64_t taken = take_more(a);
    a->clock += WAKE_CYCLES;
    if (taken % 2 == 1)
        post(a, step->to);
}

static void play_trap(struct player *a, const struct step *step)
{
    enter(a);
    a->clock += TRAP_CYCLES + step->kernel_cycles;
    if (step->trap == TRAP_SEND)
        post(a, step->to);
    else if (step->trap != TRAP_WORK)
        wait_for_causes(a, step);
    attend(a);
    leave(a);
}

/* The state of this loop is the number of causes it has taken and sent for. */
static void play_polls(struct player *a)
{
    static const struct step turn = {.trap = TRAP_WORK, .user_cycles = 30, .kernel_cycles = 40};
    uint64_t sent = 0;

    for (;;) {
        user_block(a, &turn);
        play_trap(a, &turn);
        if (sent == a->taken)
            continue;
        sent = a->taken;
        play_trap(a, &(struct step){.trap = TRAP_SEND, .to = (a->hart + 1) % HARTS});
    }
}

static void *play_hart(void *arg)
{
    struct player *a = arg;

    stop(a, SLOT_START, 0);
    leave(a);
    if (a->polls)
        play_polls(a);
    while (a->endless)
        user_block(a, &(struct step){.trap = TRAP_NONE, .user_cycles = 1000});
    for (int i = 0; i < STEPS; i++) {
        const struct step *step = &a->play->script[a->hart][i];

        user_block(a, step);
        if (step->trap != TRAP_NONE)
            play_trap(a, step);
    }
    enter(a);
    play_end(a, NCU_CAUSES);
}

/* ---- A machine whose only device is a message that takes MESSAGE_CYCLES + 3 * sender ---- */

struct message {
    struct play *play;
    uint32_t to;
};

static void take_causes(struct play *p, uint32_t hart)
{
    p->answer[hart] = p->causes[hart] < TAKEN_MOST ? p->causes[hart] : TAKEN_MOST;
    p->causes[hart] -= p->answer[hart];
}

static void arrive(void *arg, uint64_t now_cycles)
{
    struct message *m = arg;
    struct play *p = m->play;

    note(p, now_cycles, m->to, ARRIVAL);
    p->causes[m->to]++;
    if (p->idle[m->to]) {
        p->idle[m->to] = false;
        take_causes(p, m->to);
        sched_wake(p->sched, m->to, now_cycles);
    } else {
        sched_cause(p->sched, m->to, now_cycles);
    }
    free(m);
}

static bool execute(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles)
{
    struct play *p = ctx;

    if (op != NCU_CAUSES || p->causes[hart] > 0) /* one that finds none may pass */
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
        take_causes(p, hart);
    return !p->idle[hart];
}

static bool cause_waits(void *ctx, uint32_t hart)
{
    return ((struct play *)ctx)->causes[hart] > 0;
}

static void answer(void *ctx, uint32_t hart, uint64_t value)
{
    ((struct play *)ctx)->answer[hart] = value;
}

static void interrupted(void *ctx, uint32_t hart, uint64_t start_cycles)
{
    note(ctx, start_cycles, hart, INTERRUPT);
}

static bool interrupt(void *ctx, const uint32_t *harts, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        ((struct play *)ctx)->interrupt[harts[k]] = true;
    return true;
}

/* Runs until nothing is left, "deadlock", but for pauses at every so many questions (0: none). */
static unsigned pause_every;

static bool pauses(void *ctx)
{
    static unsigned asked;

    (void)ctx;
    return pause_every > 0 && ++asked % pause_every == 0;
}

static bool finished(void *ctx)
{
    (void)ctx;
    return false;
}

/* In a pause a message is sent from outside, as from a front end: it starts now. */
static bool disturb;

static void disturb_now(struct play *p)
{
    struct message *m = malloc(sizeof *m);

    *m = (struct message){p, (uint32_t)rand() % HARTS};
    eventq_add(p->events, sched_now(p->sched) + MESSAGE_CYCLES, HARTS, arrive, m);
}

static bool arm_is_clear(void *ctx, uint32_t hart)
{
    (void)ctx, (void)hart;
    return true;
}

static void keep_state(void *ctx, uint32_t hart, bool keep)
{
    struct play *p = ctx;

    p->kept[hart] = keep ? p->player[hart].taken : UINT64_MAX;
}

static bool same_state(void *ctx, uint32_t hart)
{
    struct play *p = ctx;
    bool same = p->player[hart].polls && p->kept[hart] == p->player[hart].taken; /* a script goes on */

    p->same += same;
    return same;
}

static void broken(void *ctx, uint32_t hart, const char *what)
{
    (void)ctx;
    cr_assert_fail("hart %u: %s", hart, what);
}

static const struct sched_ops ops = {.execute = execute,
                                     .cause_waits = cause_waits,
                                     .arm_is_clear = arm_is_clear,
                                     .answer = answer,
                                     .interrupted = interrupted,
                                     .interrupt = interrupt,
                                     .keep_state = keep_state,
                                     .same_state = same_state,
                                     .broken = broken,
                                     .finished = finished,
                                     .pauses = pauses};

static void write_scripts(struct play *p, unsigned seed)
{
    srand(seed);
    for (int h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++)
            p->script[h][i] = (struct step){.trap = (enum trap)(rand() % (h == 0 ? TRAP_WAIT : TRAP_WAIT + 1)),
                                            .user_cycles = 1u + (uint32_t)rand() % 300,
                                            .kernel_cycles = (uint32_t)rand() % 200,
                                            .to = (uint32_t)rand() % HARTS};
}

static const struct sched_quiet quiet = {.trap_cycles = TRAP_CYCLES,
                                         .user_cycles = ENTRY_CYCLES + TRAP_CYCLES,
                                         .wake_cycles = WAKE_CYCLES,
                                         .arrival_cycles = MESSAGE_CYCLES,
                                         .passes = true};

/* The first harts are `endless`. */
static bool some_poll;

static struct play *play_begin(unsigned seed, bool strict, uint64_t lookahead_cycles, uint32_t endless)
{
    struct play *p = calloc(1, sizeof *p);
    static uint32_t slots[HARTS];

    p->player = calloc(HARTS, sizeof *p->player);
    cr_assert_eq(harts_init(&p->harts, HARTS, 1), 0);
    signals_install(&p->harts.control->doorbell);
    write_scripts(p, seed);
    for (uint32_t h = 0; h < HARTS; h++) {
        slots[h] = h;
        p->player[h] = (struct player){.play = p, .hart = h, .endless = h < endless, .polls = some_poll && h % 2 == 1};
        pthread_create(&p->player[h].thread, NULL, play_hart, &p->player[h]);
    }
    cr_assert_eq(harts_wait(&p->harts, HARTS, 60000), 0);
    p->events = eventq_new();
    p->sched = sched_new(p->events, &p->harts, slots, HARTS, lookahead_cycles, strict, &ops, p);
    sched_rely_on(p->sched, &quiet);
    p->harts.control->quantum_cycles = QUANTUM_CYCLES;
    return p;
}

/* Of virtual time, to which scripts are played. */
static uint64_t limit_cycles = UINT64_MAX;

static struct play *play_once(unsigned seed, bool strict, uint64_t lookahead_cycles)
{
    struct play *p = play_begin(seed, strict, lookahead_cycles, 0);
    enum sched_end end;

    while ((end = sched_run(p->sched, limit_cycles)) == SCHED_FINISHED)
        if (disturb)
            disturb_now(p);
    cr_assert_eq(end, limit_cycles == UINT64_MAX ? SCHED_DEADLOCK : SCHED_LIMIT);
    return p;
}

/* An interruption is noted with its start, which is before the time at which its causes are taken. */
static bool in_order(const struct play *p)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < p->logged; i++)
        if (p->log[i].what != INTERRUPT) {
            if (p->log[i].cycles < last)
                return false;
            last = p->log[i].cycles;
        }
    return true;
}

/* Entries of one cycle: events first, then requests by hart. */
static bool ties_in_order(const struct play *p)
{
    const struct entry *last = NULL;

    for (uint32_t i = 0; i < p->logged; i++) {
        const struct entry *e = &p->log[i];

        if (e->what == INTERRUPT)
            continue;
        if (last && last->cycles == e->cycles && last->what != ARRIVAL && (e->what == ARRIVAL || e->hart < last->hart))
            return false;
        last = e;
    }
    return true;
}

/* A hart that is interrupted takes its causes so long after the start of the interrupt, and next. */
static bool interrupts_take_their_time(const struct play *p)
{
    for (uint32_t i = 0; i < p->logged; i++)
        if (p->log[i].what == INTERRUPT &&
            (i + 1 == p->logged || p->log[i + 1].hart != p->log[i].hart ||
             p->log[i + 1].cycles != p->log[i].cycles + NCU_INTERRUPT_CYCLES || p->log[i + 1].what / 100 != NCU_CAUSES))
            return false;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? -1 : 1;
    if (x->hart != y->hart)
        return x->hart < y->hart ? -1 : 1;
    return (x->what > y->what) - (x->what < y->what);
}

static void expect_equal(struct play *p, const struct play *reference, const char *what, unsigned seed)
{
    cr_assert_eq(p->logged, reference->logged, "%s, seed %u: %u entries, not %u", what, seed, p->logged,
                 reference->logged);
    for (uint32_t i = 0; i < p->logged; i++) {
        const struct entry *a = &p->log[i], *b = &reference->log[i];

        cr_assert(by_time(a, b) == 0, "%s, seed %u, entry %u: at %lu hart %u %u, not at %lu hart %u %u", what, seed, i,
                  a->cycles, a->hart, a->what, b->cycles, b->hart, b->what);
    }
}

/* Nothing is left to happen: every hart is in the kernel, idle for ever. */
static void expect_exact_accounts(const struct play *p, const char *what, unsigned seed)
{
    for (uint32_t h = 0; h < HARTS; h++) {
        const struct sched_hart_statistics a = sched_hart_statistics(p->sched, h);

        cr_assert_eq(a.user_cycles + a.kernel_cycles + a.idle_cycles, sched_now(p->sched), "%s, seed %u, hart %u", what,
                     seed, h);
        if (!is_mortal(h))
            cr_assert_eq(a.user_cycles, a.instructions, "%s, seed %u, hart %u: %lu cycles of user code, but %lu", what,
                         seed, h, a.instructions, a.user_cycles);
    }
}

static void expect_equal_accounts(const struct play *p, const struct play *reference, const char *what, unsigned seed)
{
    for (uint32_t h = 0; h < HARTS; h++) {
        const struct sched_hart_statistics a = sched_hart_statistics(p->sched, h),
                                           b = sched_hart_statistics(reference->sched, h);

        cr_assert(memcmp(&a, &b, sizeof a) == 0,
                  "%s, seed %u, hart %u: user %lu, kernel %lu, idle %lu, not %lu, %lu, %lu", what, seed, h,
                  a.user_cycles, a.kernel_cycles, a.idle_cycles, b.user_cycles, b.kernel_cycles, b.idle_cycles);
    }
}

Test(sched, effects_are_in_order_of_time)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct play *p = play_once(seed, false, MESSAGE_CYCLES);

        cr_assert_gt(p->logged, HARTS);
        cr_expect(in_order(p), "seed %u", seed);
        cr_expect(ties_in_order(p), "seed %u", seed);
        cr_expect(interrupts_take_their_time(p), "seed %u", seed);
        cr_assert(p->ended[0], "seed %u: hart 0 waits for nobody and must have ended", seed);
    }
}

Test(sched, the_outcome_does_not_depend_on_how_far_harts_may_run)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct play *ahead = play_once(seed, false, MESSAGE_CYCLES);

        qsort(ahead->log, ahead->logged, sizeof *ahead->log, by_time);
        static const uint64_t lookaheads[] = {1, 20, 64, MESSAGE_CYCLES};
        for (size_t k = 0; k < sizeof lookaheads / sizeof *lookaheads; k++) {
            struct play *strict = play_once(seed, true, lookaheads[k]);

            qsort(strict->log, strict->logged, sizeof *strict->log, by_time);
            expect_equal(strict, ahead, "strict against ahead", seed);
        }
    }
}

/* A hart that stops before a block has its cycles on the clock already, and kernel code runs to its next request: so in
 * strict mode, too, clocks are beyond W. No user code is. */
Test(sched, the_statistics_count_user_code_that_was_allowed_to_run_ahead)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        const struct sched_statistics *ahead = sched_statistics(play_once(seed, false, MESSAGE_CYCLES)->sched);
        const struct sched_statistics *strict = sched_statistics(play_once(seed, true, 64)->sched);

        cr_expect(ahead->ahead > 0 && ahead->ahead_cycles >= ahead->ahead, "seed %u", seed);
        cr_expect(strict->grants > 0 && strict->ahead == 0 && strict->ahead_cycles == 0, "seed %u: %" PRIu64 " grants",
                  seed, strict->ahead);
    }
}

Test(sched, every_cycle_belongs_to_user_code_kernel_or_idleness_however_far_harts_run)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct play *ahead = play_once(seed, false, MESSAGE_CYCLES), *strict = play_once(seed, true, 64);

        expect_exact_accounts(ahead, "ahead", seed);
        expect_exact_accounts(strict, "strict", seed);
        expect_equal_accounts(strict, ahead, "strict against ahead", seed);
    }
}

/* Harts are stopped wherever they are at the limit; events behind it are not counted. */
Test(sched, accounts_are_exact_at_a_limit_too)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (limit_cycles = 500; limit_cycles <= 8000; limit_cycles += 1500) {
            struct play *ahead = play_once(seed, false, MESSAGE_CYCLES), *strict = play_once(seed, true, 64);

            cr_assert_eq(sched_now(ahead->sched), limit_cycles);
            expect_equal_accounts(strict, ahead, "strict against ahead", seed);
        }
}

/* Harts 1, 3 and 5 poll; the others play their scripts. */
Test(sched, harts_that_poll_do_the_same_when_they_are_not_executed)
{
    uint32_t same = 0;

    some_poll = true;
    for (unsigned seed = 1; seed <= 40; seed++) {
        limit_cycles = 9000 + 777 * seed;
        struct play *ahead = play_once(seed, false, MESSAGE_CYCLES), *strict = play_once(seed, true, 64);

        cr_expect(in_order(ahead) && ties_in_order(ahead), "seed %u", seed);
        qsort(ahead->log, ahead->logged, sizeof *ahead->log, by_time);
        qsort(strict->log, strict->logged, sizeof *strict->log, by_time);
        expect_equal(strict, ahead, "strict against ahead", seed);
        expect_equal_accounts(strict, ahead, "strict against ahead", seed);
        cr_expect_eq(strict->same, 0);
        same += ahead->same;
    }
    cr_expect_gt(same, 100, "%u", same);
}

/* Up to a limit, that cycle included, a run has the same effects as a run without a limit. */
Test(sched, a_limit_cuts_the_rest_off_and_nothing_else)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        limit_cycles = UINT64_MAX;
        struct play *whole = play_once(seed, false, MESSAGE_CYCLES);
        uint32_t before = 0, within = 0;

        qsort(whole->log, whole->logged, sizeof *whole->log, by_time);
        limit_cycles = whole->log[whole->logged / 2].cycles;
        struct play *cut = play_once(seed, seed % 2, MESSAGE_CYCLES);
        for (uint32_t i = 0; i < whole->logged; i++)
            before += whole->log[i].what != INTERRUPT && whole->log[i].cycles <= limit_cycles;
        for (uint32_t i = 0; i < cut->logged; i++)
            within += cut->log[i].what != INTERRUPT;
        cr_expect_eq(within, before, "seed %u, limit %lu: %u entries, not %u", seed, limit_cycles, within, before);
    }
}

/* The second cause interrupts a hart that has run ahead of it and still runs when it is known. The hart sends to the
 * next one as soon as it may. That one enters a trap every few cycles; in some plays just after the message comes. */
enum { SENDER = 0, HANDLER = 2, TRAPPER = 3 };

#define STRIDE       4u
#define LONG_CYCLES  1600000u /* after two such runs no hart is batched: each wakes the scheduler */
#define APART_CYCLES 10000u   /* the causes */

static void write_handler_scripts(struct play *p, uint32_t first_cycles)
{
    for (uint32_t h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++)
            p->script[h][i] =
                (struct step){.trap = i > 0 ? TRAP_WAIT : TRAP_WORK, .user_cycles = i > 0 ? 10 : LONG_CYCLES};
    for (int i = 1; i < STEPS; i++) {
        p->script[HANDLER][i] = (struct step){.trap = TRAP_NONE, .user_cycles = 1000, .host_us = 1000};
        p->script[TRAPPER][i] = (struct step){.trap = TRAP_WORK, .user_cycles = 1};
    }
    p->script[SENDER][1] = (struct step){.trap = TRAP_SEND, .user_cycles = 10, .to = HANDLER, .host_us = 20000};
    p->script[SENDER][2] =
        (struct step){.trap = TRAP_SEND, .user_cycles = APART_CYCLES, .to = HANDLER, .host_us = 20000};
    p->script[TRAPPER][1].user_cycles = APART_CYCLES + first_cycles;
}

Test(sched, a_handler_sends_no_sooner_than_the_scheduler_expects)
{
    static const uint32_t turn_cycles = 1 + ENTRY_CYCLES + TRAP_CYCLES + EXIT_CYCLES;
    uint64_t interrupts = 0;

    for (uint32_t first = 1; first <= turn_cycles; first += STRIDE) {
        struct play *p = play_begin(1, false, MESSAGE_CYCLES, 0);

        write_handler_scripts(p, first);
        p->player[HANDLER].answers = true;
        cr_assert_eq(sched_run(p->sched, UINT64_MAX), SCHED_DEADLOCK);
        cr_expect(in_order(p));
        interrupts += sched_hart_statistics(p->sched, HANDLER).interrupts;
    }
    cr_expect_eq(interrupts, 2 * ((turn_cycles + STRIDE - 1) / STRIDE), "%lu", interrupts);
}

Test(sched, some_harts_are_interrupted_and_some_traps_wait_for_an_interrupt)
{
    uint64_t interrupts = 0;

    for (unsigned seed = 1; seed <= 10; seed++)
        interrupts += sched_statistics(play_once(seed, false, MESSAGE_CYCLES)->sched)->interrupts;
    cr_assert_gt(interrupts, 50, "the scripts must exercise what they are for: %lu", interrupts);
}

Test(sched, some_harts_attend_at_the_end_of_a_quantum_and_some_traps_come_first)
{
    uint64_t attended = 0, withdrawn = 0;

    for (unsigned seed = 1; seed <= 60; seed++)
        for (int strict = 0; strict < 2; strict++) {
            const struct play *p = play_once(seed, strict, MESSAGE_CYCLES);

            for (uint32_t h = 0; h < HARTS; h++) {
                attended += p->player[h].attended;
                withdrawn += p->player[h].withdrawn;
            }
        }
    cr_expect_gt(attended, 50, "%lu", attended);
    cr_expect_gt(withdrawn, 5, "%lu", withdrawn);
}

Test(sched, some_traps_pass_without_a_stop_but_none_in_strict_mode)
{
    uint64_t passed[2] = {0}, causes[2] = {0};

    for (unsigned seed = 1; seed <= 10; seed++)
        for (int strict = 0; strict < 2; strict++) {
            const struct play *p = play_once(seed, strict, MESSAGE_CYCLES);

            for (uint32_t h = 0; h < HARTS; h++)
                passed[strict] += p->player[h].passed, causes[strict] += p->player[h].passed_causes;
        }
    cr_expect_gt(passed[0], 100, "%lu", passed[0]);
    cr_expect_eq(passed[1], 0, "%lu", passed[1]);
    cr_expect_gt(causes[0], 20, "%lu", causes[0]);
    cr_expect_eq(causes[1], 0, "%lu", causes[1]);
}

Test(sched, a_pause_changes_nothing)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (int strict = 0; strict < 2; strict++) {
            pause_every = 0;
            struct play *whole = play_once(seed, strict, MESSAGE_CYCLES);
            pause_every = 2 + seed % 7;
            struct play *paused = play_once(seed, strict, MESSAGE_CYCLES);
            qsort(whole->log, whole->logged, sizeof *whole->log, by_time);
            qsort(paused->log, paused->logged, sizeof *paused->log, by_time);
            expect_equal(paused, whole, "paused against whole", seed);
        }
}

Test(sched, what_comes_in_a_pause_takes_effect_in_order)
{
    disturb = true;
    pause_every = 25;
    for (unsigned seed = 1; seed <= 20; seed++)
        for (int strict = 0; strict < 2; strict++) {
            struct play *p = play_once(seed, strict, MESSAGE_CYCLES);

            cr_expect(in_order(p), "seed %u, strict %d", seed, strict);
            cr_expect(p->ended[0], "seed %u, strict %d", seed, strict);
        }
}

/* A second of virtual time: RUN_AHEAD_CYCLES. */
#define MOST_AHEAD 20000000u

Test(sched, a_loop_without_end_comes_back_and_the_others_go_on)
{
    for (unsigned seed = 1; seed <= 2; seed++) {
        struct play *p = play_begin(seed, seed % 2, MESSAGE_CYCLES, 1);

        cr_assert_eq(sched_run(p->sched, MOST_AHEAD * 9 / 8), SCHED_LIMIT, "seed %u", seed);
        cr_expect_leq(p->player[0].longest, MOST_AHEAD, "seed %u: %lu", seed, p->player[0].longest);
        cr_expect(seed % 2 == 1 || p->player[0].longest > MOST_AHEAD / 2, "seed %u: %lu", seed, p->player[0].longest);
        cr_expect(in_order(p), "seed %u", seed);
        cr_expect_gt(p->player[1].clock, 1000, "seed %u", seed);
        cr_assert_eq(sched_run(p->sched, MOST_AHEAD * 5 / 4), SCHED_LIMIT, "seed %u, again", seed);
    }
}

/* The machine that harts of sched_player.c play on, and what a play must be like (sched_play.h). */
#include "tests/emu/sched_play.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/qemu/futex.h"

uint32_t play_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static void note(struct play *p, uint64_t cycles, uint32_t hart, uint32_t what)
{
    if (p->logged == p->log_most) {
        p->log_most = p->log_most > 0 ? 2 * p->log_most : 1024;
        p->log = memory_resize(p->log, p->log_most, sizeof *p->log);
    }
    p->log[p->logged++] = (struct entry){cycles, hart, what};
}

/* ---- The machine ---- */

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

    if (p->over) { /* the queue is being emptied */
        free(m);
        return;
    }
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

/* Lets a cause come to a hart; `order`: among those of one time. */
static void arrive_at(struct play *p, uint32_t to, uint64_t cycles, uint32_t order)
{
    struct message *m = memory_new(1, sizeof *m);

    *m = (struct message){p, to};
    eventq_add(p->events, cycles, order, arrive, m);
}

static bool execute(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles)
{
    struct play *p = ctx;

    if (op != NCU_CAUSES || p->causes[hart] > 0) /* one that finds none may pass */
        note(p, now_cycles, hart, op * 100 + (op == NCU_SEND ? (uint32_t)arg[0] : p->causes[hart]));
    if (op == NCU_SEND) {
        arrive_at(p, (uint32_t)arg[0], now_cycles + MESSAGE_CYCLES - p->cast->sooner_cycles + 3 * hart, hart);
        return true;
    }
    if (op == NCU_TIMER) {
        arrive_at(p, hart, arg[0], hart);
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

/* Once it is wanted, until it comes. */
static bool pauses(void *ctx)
{
    struct play *p = ctx;

    if (p->direction.pause_every > 0 && ++p->asked % p->direction.pause_every == 0)
        p->pause_wanted = true;
    return p->pause_wanted;
}

/* A broken promise ends the run. */
static bool finished(void *ctx)
{
    return ((struct play *)ctx)->broken != NULL;
}

/* A message is sent from outside: it starts now, and comes later than every trap that has passed. */
static void disturb(struct play *p)
{
    uint64_t arrival = sched_now(p->sched) + MESSAGE_CYCLES;

    for (uint32_t h = 0; h < HARTS; h++)
        cr_assert_lt(__atomic_load_n(&p->passed_cycles[h], __ATOMIC_SEQ_CST), arrival,
                     "seed %u: hart %u has passed a trap after what comes in a pause", p->cast->seed, h);
    arrive_at(p, play_draw(&p->drawn) % HARTS, arrival, HARTS);
}

static bool arm_is_clear(void *ctx, uint32_t hart)
{
    (void)ctx, (void)hart;
    return true;
}

static void keep_state(void *ctx, uint32_t hart, bool keep)
{
    struct play *p = ctx;

    cr_assert(!keep || !p->keeps[hart], "seed %u, hart %u: its last state is not forgotten", p->cast->seed, hart);
    p->keeps[hart] = keep;
    p->kept[hart][0] = keep ? p->player[hart].place : UINT64_MAX;
    p->kept[hart][1] = p->player[hart].taken;
}

static bool same_state(void *ctx, uint32_t hart)
{
    struct play *p = ctx;
    bool same = p->kept[hart][0] == p->player[hart].place && p->kept[hart][1] == p->player[hart].taken;

    p->keeps[hart] = false;
    p->counts.same += same;
    if (p->cast->ends_at_same > 0 && p->counts.same == p->cast->ends_at_same)
        raise(SIGTERM);
    return same;
}

static void broken(void *ctx, uint32_t hart, const char *what)
{
    struct play *p = ctx;

    if (p->broken == NULL)
        p->broken = what, p->broken_hart = hart;
}

static void spell(void *ctx, uint32_t hart, const struct sched_spell *spell)
{
    struct play *p = ctx;

    cr_expect_leq(spell->since_cycles, spell->until_cycles, "seed %u, hart %u", p->cast->seed, hart);
    p->spells[hart][spell->kind]++;
}

static const struct sched_ops ops = {.execute = execute,
                                     .cause_waits = cause_waits,
                                     .arm_is_clear = arm_is_clear,
                                     .answer = answer,
                                     .interrupted = interrupted,
                                     .spell = spell,
                                     .interrupt = interrupt,
                                     .keep_state = keep_state,
                                     .same_state = same_state,
                                     .broken = broken,
                                     .finished = finished,
                                     .pauses = pauses};

static const struct sched_quiet any_quiet = {.trap_cycles = TRAP_CYCLES,
                                             .user_cycles = ENTRY_CYCLES + TRAP_CYCLES,
                                             .wake_cycles = WAKE_CYCLES,
                                             .idle_cycles = SILENT_CYCLES,
                                             .causes_cycles = SILENT_CYCLES,
                                             .begun_cycles = BEGUN_CYCLES,
                                             .arrival_cycles = MESSAGE_CYCLES,
                                             .passes = true};

/* ---- Plays ---- */

void play_write_traps(struct step script[HARTS][STEPS], unsigned seed)
{
    uint64_t state = seed;

    for (int h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++)
            script[h][i] = (struct step){.trap = (enum trap)(play_draw(&state) % (h == 0 ? TRAP_WAIT : TRAP_WAIT + 1)),
                                         .user_cycles = 1u + play_draw(&state) % 300,
                                         .kernel_cycles = play_draw(&state) % 200,
                                         .to = play_draw(&state) % HARTS};
}

struct cast cast_usual(unsigned seed)
{
    struct cast c = {.seed = seed, .write = play_write_traps};

    for (uint32_t h = 0; h < HARTS; h++) {
        c.part[h].exact = h % 3 != 1 ? NCU_EXACT_NOT : h < 3 ? NCU_EXACT_AT_ONCE : NCU_EXACT_IN_QUANTA;
        c.part[h].mortal = h % 3 == 2;
    }
    return c;
}

struct play *play_begin(const struct cast *cast, struct direction direction)
{
    static const uint32_t slots[HARTS] = {0, 1, 2, 3, 4, 5};
    struct play *p = memory_new(1, sizeof *p);
    uint64_t lookahead = direction.lookahead_cycles > 0 ? direction.lookahead_cycles : MESSAGE_CYCLES;

    p->cast = cast;
    p->direction = direction;
    p->drawn = cast->seed;
    cr_assert_eq(harts_init(&p->harts, HARTS, 1), 0);
    signals_install(&p->harts.control->doorbell);
    cast->write(p->script, cast->seed);
    for (uint32_t h = 0; h < HARTS; h++) {
        p->player[h] = (struct player){.play = p, .hart = h, .part = cast->part[h]};
        player_start(&p->player[h]);
    }
    cr_assert_eq(harts_wait(&p->harts, HARTS, 60000), 0);
    p->events = eventq_new();
    p->sched = sched_new(p->events, &p->harts, slots, HARTS, lookahead, direction.strict, &ops, p);
    struct sched_quiet quiet = any_quiet;
    quiet.passes = !cast->spells;
    sched_rely_on(p->sched, &quiet);
    cr_assert_eq(p->harts.control->quantum_cycles, NCU_QUANTUM_CYCLES);
    p->harts.control->quantum_cycles = QUANTUM_CYCLES;
    return p;
}

/* Only a cast that breaks promises may end that way. */
static bool keeps_promises(const struct cast *c)
{
    bool keeps = c->sooner_cycles == 0;

    for (uint32_t h = 0; h < HARTS; h++)
        keeps = keeps && c->part[h].cheat == CHEAT_NOT;
    return keeps;
}

void play_run(struct play *p)
{
    uint64_t limit = p->cast->limit_cycles > 0 ? p->cast->limit_cycles : UINT64_MAX;

    while ((p->end = sched_run(p->sched, limit)) == SCHED_FINISHED && p->broken == NULL) {
        p->pause_wanted = false;
        p->counts.paused++;
        if (p->cast->disturb_every > 0 && ++p->pauses % p->cast->disturb_every == 0)
            disturb(p);
    }
    if (keeps_promises(p->cast))
        cr_assert_null(p->broken, "seed %u, hart %u: %s", p->cast->seed, p->broken_hart, p->broken);
    if (p->broken == NULL)
        cr_assert(p->end == SCHED_DEADLOCK || (p->end == SCHED_LIMIT && limit != UINT64_MAX), "seed %u: end %d",
                  p->cast->seed, p->end);
}

struct play *play_new(const struct cast *cast, struct direction direction)
{
    struct play *p = play_begin(cast, direction);

    play_run(p);
    return p;
}

static void end_thread(struct play *p, uint32_t hart)
{
    struct slot *s = harts_slot(&p->harts, hart);

    harts_call(&p->harts, hart);
    __atomic_add_fetch(&s->go, 1, __ATOMIC_SEQ_CST);
    futex_wake(&s->go);
    pthread_join(p->player[hart].thread, NULL);
}

void play_free(struct play *p)
{
    __atomic_store_n(&p->over, true, __ATOMIC_SEQ_CST);
    for (uint32_t h = 0; h < HARTS; h++)
        end_thread(p, h);
    while (eventq_next(p->events) != EVENTQ_NEVER)
        eventq_run_one(p->events);
    sched_free(p->sched);
    eventq_free(p->events);
    harts_free(&p->harts);
    free(p->log);
    free(p);
}

/* ---- What they must be like ---- */

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

void play_sort(struct play *p)
{
    if (p->logged > 0)
        qsort(p->log, p->logged, sizeof *p->log, by_time);
}

void play_expect_order(const struct play *p, const char *what)
{
    cr_expect(in_order(p), "%s, seed %u: effects are not in order", what, p->cast->seed);
    cr_expect(ties_in_order(p), "%s, seed %u: effects at one time are not in order", what, p->cast->seed);
}

void play_expect_interrupts(const struct play *p, const char *what)
{
    cr_expect(interrupts_take_their_time(p), "%s, seed %u: causes are not taken next, or in time", what, p->cast->seed);
}

void play_expect_equal(const struct play *p, const struct play *reference, const char *what)
{
    unsigned seed = p->cast->seed;
    uint32_t n = p->logged < reference->logged ? p->logged : reference->logged;

    for (uint32_t i = 0; i < n; i++) {
        const struct entry *a = &p->log[i], *b = &reference->log[i];

        cr_assert(by_time(a, b) == 0, "%s, seed %u, entry %u: at %lu hart %u %u, not at %lu hart %u %u", what, seed, i,
                  a->cycles, a->hart, a->what, b->cycles, b->hart, b->what);
    }
    cr_assert_eq(p->logged, reference->logged, "%s, seed %u: %u entries, not %u", what, seed, p->logged,
                 reference->logged);
}

void play_expect_equal_accounts(const struct play *p, const struct play *reference, const char *what)
{
    for (uint32_t h = 0; h < HARTS; h++) {
        const struct sched_hart_statistics a = sched_hart_statistics(p->sched, h),
                                           b = sched_hart_statistics(reference->sched, h);

        cr_assert(memcmp(&a, &b, sizeof a) == 0,
                  "%s, seed %u, hart %u: user %lu, kernel %lu, idle %lu, traps %lu, instructions %lu, not %lu, %lu, "
                  "%lu, %lu, %lu",
                  what, p->cast->seed, h, a.user_cycles, a.kernel_cycles, a.idle_cycles, a.traps, a.instructions,
                  b.user_cycles, b.kernel_cycles, b.idle_cycles, b.traps, b.instructions);
    }
}

/*
 * The scheduler in random plays (sched_play.h): casts of all kinds are played ahead, with pauses, and in strict mode,
 * and the effects and accounts must be the same. Each thing that the scheduler has a way for must have happened.
 *
 * PLAYS=n tries n seeds, from FIRST on, instead of 400 (make sched); a failure names its seed.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/emu/sched_play.h"

TestSuite(sched_random, .timeout = 36000);

/* ---- Casts ---- */

#define LONG_CYCLES 1600000u /* after two such runs no hart is batched: each wakes the scheduler */

/* Blocks of all lengths, traps that pass in a row, more posts than the list holds. */
static struct step draw_step(uint64_t *state, bool waits)
{
    struct step s = {.trap = (enum trap)(play_draw(state) % (waits ? TRAP_WAIT + 1 : TRAP_WAIT)),
                     .user_cycles = 1u + play_draw(state) % (play_draw(state) % 8 ? 300 : 5000),
                     .kernel_cycles = play_draw(state) % 200,
                     .to = play_draw(state) % HARTS};

    switch (play_draw(state) % 16) {
    case 0:
        s = (struct step){.trap = TRAP_WORK, .user_cycles = 1 + play_draw(state) % 9, .times = play_draw(state) % 60};
        break;
    case 1:
        s.trap = TRAP_SEND;
        s.sends = 1 + play_draw(state) % 40;
        break;
    case 2:
        s = (struct step){.trap = TRAP_NONE, .user_cycles = 1 + play_draw(state) % 400, .times = play_draw(state) % 20};
        break;
    }
    return s;
}

/* In some plays harts run while the scheduler works: it calls some of them. */
static bool is_slow(unsigned seed)
{
    return seed % 32 == 5;
}

static void write_all_kinds(struct step script[HARTS][STEPS], unsigned seed)
{
    uint64_t state = seed * 1000003ull;
    bool slow = is_slow(seed);

    for (int h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++) {
            script[h][i] = draw_step(&state, h > 0);
            if (slow && i % 20 < 2)
                script[h][i] = (struct step){.trap = TRAP_WORK, .user_cycles = LONG_CYCLES};
            else if (slow && i % 20 < 8)
                script[h][i].host_us = play_draw(&state) % 500;
        }
}

static enum life draw_life(uint64_t *state)
{
    static const enum life lives[] = {LIFE_POLLS, LIFE_POLLS, LIFE_POLLS_TWICE, LIFE_COUNTS, LIFE_ENDLESS};
    uint32_t n = play_draw(state) % 16;

    return n < sizeof lives / sizeof *lives ? lives[n] : LIFE_SCRIPT;
}

static struct cast draw_cast(unsigned seed)
{
    static const enum ncu_exact exact[] = {NCU_EXACT_NOT, NCU_EXACT_AT_ONCE, NCU_EXACT_IN_QUANTA};
    struct cast c = {.seed = seed, .write = write_all_kinds};
    uint64_t state = seed * 7919ull;
    bool ends = play_draw(&state) % 2;

    for (uint32_t h = 0; h < HARTS; h++) {
        c.part[h] = (struct part){.life = is_slow(seed) ? LIFE_SCRIPT : draw_life(&state),
                                  .exact = exact[play_draw(&state) % 3],
                                  .mortal = play_draw(&state) % 4 == 0,
                                  .answers = play_draw(&state) % 6 == 0};
        ends = ends && c.part[h].life == LIFE_SCRIPT;
    }
    if (!ends)
        c.limit_cycles = 1 + play_draw(&state) % (is_slow(seed) ? 3 * LONG_CYCLES : 30000);
    return c;
}

/* ---- Plays ---- */

static void add_counts(struct counts *sum, const struct counts *c)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)c;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static struct counts try_seed(unsigned seed)
{
    static const uint64_t lookaheads[] = {1, 20, 64, MESSAGE_CYCLES};
    struct cast c = draw_cast(seed);
    struct play *ahead = play_new(&c, (struct direction){.pause_every = seed % 3 ? 0 : 2 + seed % 7});
    struct play *strict = play_new(&c, (struct direction){.strict = true, .lookahead_cycles = lookaheads[seed % 4]});
    struct counts counts = ahead->counts;

    cr_assert_eq(ahead->end, strict->end, "seed %u: it ends with %d, not %d", seed, ahead->end, strict->end);
    play_expect_order(ahead, "ahead");
    play_expect_order(strict, "strict");
    play_expect_interrupts(ahead, "ahead");
    play_sort(ahead);
    play_sort(strict);
    play_expect_equal(ahead, strict, "ahead against strict");
    play_expect_equal_accounts(ahead, strict, "ahead against strict");
    cr_expect(strict->counts.passed == 0 && strict->counts.passed_causes == 0 && strict->counts.same == 0, "seed %u",
              seed);
    add_counts(&counts, &strict->counts);
    play_free(ahead);
    play_free(strict);
    return counts;
}

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text != NULL ? (unsigned)atoi(text) : otherwise;
}

Test(sched_random, plays_have_the_same_effects_however_far_harts_run)
{
    unsigned first = number_from("FIRST", 1), seeds = number_from("PLAYS", 400);
    struct counts sum = {0};

    for (unsigned seed = first; seed < first + seeds; seed++) {
        struct counts c = try_seed(seed);

        add_counts(&sum, &c);
    }
    const struct {
        const char *name;
        uint64_t times;
    } happened[] = {
        {"attended at the end of a quantum", sum.attended},
        {"attended in a trap that came before it", sum.withdrawn},
        {"attended at once", sum.at_once},
        {"passed a trap", sum.passed},
        {"passed a CAUSES", sum.passed_causes},
        {"passed as many traps as there is room for", sum.passed_full},
        {"filled the list of posts", sum.posts_full},
        {"was called", sum.called},
        {"was not executed, in a loop", sum.same},
        {"stood still in a pause", sum.paused},
    };
    for (size_t i = 0; i < sizeof happened / sizeof *happened; i++)
        cr_expect_geq(happened[i].times, seeds / 100, "a hart %s: only %lu times", happened[i].name, happened[i].times);
}

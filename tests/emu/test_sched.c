/*
 * The scheduler without QEMU: harts play scripts (sched_play.h), ahead and in strict mode. What is alike whatever they
 * play is in test_sched_random.c.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "tests/emu/sched_play.h"

/* A second of virtual time: SCHED_RUN_AHEAD_CYCLES. */
#define MOST_AHEAD 20000000u

static const struct direction ahead = {.strict = false}, strict = {.strict = true, .lookahead_cycles = 64};

/* The cast of one seed, ahead and in strict mode. */
struct pair {
    struct cast cast;
    struct play *ahead, *strict;
};

static void pair_begin(struct pair *p, const struct cast *cast)
{
    p->cast = *cast;
    p->ahead = play_new(&p->cast, ahead);
    p->strict = play_new(&p->cast, strict);
}

static void pair_end(struct pair *p)
{
    play_free(p->ahead);
    play_free(p->strict);
}

static void expect_alike(struct pair *p)
{
    play_sort(p->ahead);
    play_sort(p->strict);
    play_expect_equal(p->strict, p->ahead, "strict against ahead");
    play_expect_equal_accounts(p->strict, p->ahead, "strict against ahead");
}

Test(sched, effects_are_in_order_of_time)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed);
        struct play *p = play_new(&c, ahead);

        cr_assert_gt(p->logged, HARTS);
        play_expect_order(p, "ahead");
        play_expect_interrupts(p, "ahead");
        cr_expect_gt(p->counts.batched, 0, "seed %u: without a signal, harts of short runs are batched", seed);
        cr_assert(p->ended[0], "seed %u: hart 0 waits for nobody and must have ended", seed);
        play_free(p);
    }
}

Test(sched, the_outcome_does_not_depend_on_how_far_harts_may_run)
{
    static const uint64_t lookaheads[] = {1, 20, 64, MESSAGE_CYCLES};

    for (unsigned seed = 1; seed <= 60; seed++) {
        struct cast c = cast_usual(seed);
        struct play *p = play_new(&c, ahead);

        play_sort(p);
        for (size_t k = 0; k < sizeof lookaheads / sizeof *lookaheads; k++) {
            struct play *other = play_new(&c, (struct direction){.strict = true, .lookahead_cycles = lookaheads[k]});

            play_sort(other);
            play_expect_equal(other, p, "strict against ahead");
            play_free(other);
        }
        play_free(p);
    }
}

/* A hart that stops before a block has its cycles on the clock already, and kernel code runs to its next request: so in
 * strict mode, too, clocks are beyond W. No user code is. */
Test(sched, the_statistics_count_user_code_that_was_allowed_to_run_ahead)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed);
        struct pair p;

        pair_begin(&p, &c);
        const struct sched_statistics *a = sched_statistics(p.ahead->sched), *s = sched_statistics(p.strict->sched);
        cr_expect(a->ahead > 0 && a->ahead_cycles >= a->ahead, "seed %u", seed);
        cr_expect(s->grants > 0 && s->ahead == 0 && s->ahead_cycles == 0, "seed %u: %" PRIu64 " grants", seed,
                  s->ahead);
        pair_end(&p);
    }
}

/* Nothing is left to happen: every hart is in the kernel, idle for ever. */
static void expect_exact_accounts(const struct play *p, const char *what, unsigned seed)
{
    cr_expect_eq(sched_view(p->sched).idle, HARTS, "%s, seed %u", what, seed);
    for (uint32_t h = 0; h < HARTS; h++) {
        const struct sched_hart_statistics a = sched_hart_statistics(p->sched, h);

        cr_assert_eq(a.user_cycles + a.kernel_cycles + a.idle_cycles, sched_now(p->sched), "%s, seed %u, hart %u", what,
                     seed, h);
        if (!p->cast->part[h].mortal)
            cr_assert_eq(a.user_cycles, a.instructions, "%s, seed %u, hart %u: %lu cycles of user code, but %lu", what,
                         seed, h, a.instructions, a.user_cycles);
    }
}

Test(sched, every_cycle_belongs_to_user_code_kernel_or_idleness_however_far_harts_run)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed);
        struct pair p;

        pair_begin(&p, &c);
        expect_exact_accounts(p.ahead, "ahead", seed);
        expect_exact_accounts(p.strict, "strict", seed);
        play_expect_equal_accounts(p.strict, p.ahead, "strict against ahead");
        pair_end(&p);
    }
}

/* Harts are stopped wherever they are at the limit; events behind it are not counted. */
Test(sched, accounts_are_exact_at_a_limit_too)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (uint64_t limit = 500; limit <= 8000; limit += 1500) {
            struct cast c = cast_usual(seed);
            struct pair p;

            c.limit_cycles = limit;
            pair_begin(&p, &c);
            cr_assert_eq(sched_now(p.ahead->sched), limit);
            play_expect_equal_accounts(p.strict, p.ahead, "strict against ahead");
            pair_end(&p);
        }
}

#define LIMIT_STEP 20u

/* From one limit to the next a hart has had at most so much more of anything; less only of user code, whose way into
 * the kernel is the kernel's once it has got there. */
static void expect_growth(const struct sched_hart_statistics *a, const struct sched_hart_statistics *b, uint64_t limit,
                          uint32_t hart)
{
    cr_assert(b->user_cycles + ENTRY_CYCLES >= a->user_cycles && b->user_cycles <= a->user_cycles + LIMIT_STEP,
              "hart %u, limit %" PRIu64 ": %" PRIu64 " cycles of user code, before %" PRIu64, hart, limit,
              b->user_cycles, a->user_cycles);
    cr_assert(b->idle_cycles >= a->idle_cycles && b->idle_cycles <= a->idle_cycles + LIMIT_STEP,
              "hart %u, limit %" PRIu64 ": %" PRIu64 " idle cycles, before %" PRIu64, hart, limit, b->idle_cycles,
              a->idle_cycles);
}

Test(sched, accounts_only_grow_from_one_limit_to_the_next)
{
    struct sched_hart_statistics before[HARTS] = {0};
    struct cast c = cast_usual(1);

    for (c.limit_cycles = LIMIT_STEP; c.limit_cycles <= 4000; c.limit_cycles += LIMIT_STEP) {
        struct play *p = play_new(&c, ahead);

        for (uint32_t h = 0; h < HARTS; h++) {
            const struct sched_hart_statistics now = sched_hart_statistics(p->sched, h);

            expect_growth(&before[h], &now, c.limit_cycles, h);
            before[h] = now;
        }
        play_free(p);
    }
}

static uint64_t count_interrupts(const struct play *p, uint32_t hart)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < p->logged; i++)
        n += p->log[i].hart == hart && p->log[i].what == INTERRUPT;
    return n;
}

Test(sched, the_trace_has_a_spell_for_every_handling_of_causes)
{
    uint64_t dropped = 0;

    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed);

        c.spells = true;
        struct play *p = play_new(&c, ahead);
        for (uint32_t h = 0; h < HARTS; h++) {
            const uint64_t *spells = p->spells[h];

            cr_assert_eq(spells[SPELL_HANDLING] + spells[SPELL_HANDLING_DROPPED], count_interrupts(p, h),
                         "seed %u, hart %u", seed, h);
            cr_assert_leq(spells[SPELL_HANDLING_DROPPED], c.part[h].mortal, "seed %u, hart %u", seed, h);
            dropped += spells[SPELL_HANDLING_DROPPED];
        }
        play_free(p);
    }
    cr_expect_gt(dropped, 10);
}

/* Harts 1, 3 and 5 poll; the others play their scripts. */
Test(sched, harts_that_poll_do_the_same_when_they_are_not_executed)
{
    uint64_t same = 0;

    for (unsigned seed = 1; seed <= 40; seed++) {
        struct cast c = cast_usual(seed);
        struct pair p;

        c.limit_cycles = 9000 + 777 * seed;
        for (uint32_t h = 1; h < HARTS; h += 2)
            c.part[h].life = LIFE_POLLS;
        pair_begin(&p, &c);
        play_expect_order(p.ahead, "ahead");
        expect_alike(&p);
        cr_expect_eq(p.strict->counts.same, 0);
        cr_expect_eq(sched_statistics(p.ahead->sched)->requests, sched_statistics(p.strict->sched)->requests, "seed %u",
                     seed);
        same += p.ahead->counts.same;
        pair_end(&p);
    }
    cr_expect_gt(same, 100, "%lu", same);
}

/* Then no hart runs any more, and only virtual time goes on. */
Test(sched, a_signal_ends_a_machine_in_which_all_harts_poll)
{
    struct cast c = cast_usual(1);

    for (uint32_t h = 0; h < HARTS; h++)
        c.part[h] = (struct part){.life = LIFE_POLLS};
    c.ends_at_same = HARTS;
    struct play *p = play_begin(&c, ahead);
    cr_assert_eq(sched_run(p->sched, MOST_AHEAD), SCHED_STOPPED);
    cr_expect_eq(p->counts.same, HARTS);
    cr_expect_lt(sched_now(p->sched), MOST_AHEAD);
    play_free(p);
}

static uint32_t count_within(const struct play *p, uint64_t limit_cycles)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->logged; i++)
        n += p->log[i].what != INTERRUPT && p->log[i].cycles <= limit_cycles;
    return n;
}

/* Up to a limit, that cycle included, a run has the same effects as a run without a limit. */
Test(sched, a_limit_cuts_the_rest_off_and_nothing_else)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed), limited = c;
        struct play *whole = play_new(&c, ahead);

        play_sort(whole);
        limited.limit_cycles = whole->log[whole->logged / 2].cycles;
        struct play *cut = play_new(&limited, (struct direction){.strict = seed % 2});
        uint32_t before = count_within(whole, limited.limit_cycles), within = count_within(cut, UINT64_MAX);
        cr_expect_eq(within, before, "seed %u, limit %lu: %u entries, not %u", seed, limited.limit_cycles, within,
                     before);
        play_free(whole);
        play_free(cut);
    }
}

/* The second cause interrupts a hart that has run ahead of it and still runs when it is known. The hart sends to the
 * next one as soon as it may. That one enters a trap every few cycles; in some plays just after the message comes. */
enum { SENDER = 0, HANDLER = 2, TRAPPER = 3 };

#define STRIDE       4u
#define LONG_CYCLES  1600000u /* after two such runs no hart is batched: each wakes the scheduler */
#define APART_CYCLES 10000u   /* the causes */

/* `seed`: the cycles after which the message comes. */
static void write_handler_scripts(struct step script[HARTS][STEPS], unsigned seed)
{
    for (uint32_t h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++)
            script[h][i] =
                (struct step){.trap = i > 0 ? TRAP_WAIT : TRAP_WORK, .user_cycles = i > 0 ? 10 : LONG_CYCLES};
    for (int i = 1; i < STEPS; i++) {
        script[HANDLER][i] = (struct step){.trap = TRAP_NONE, .user_cycles = 1000, .host_us = 1000};
        script[TRAPPER][i] = (struct step){.trap = TRAP_WORK, .user_cycles = 1};
    }
    script[SENDER][1] = (struct step){.trap = TRAP_SEND, .user_cycles = 10, .to = HANDLER, .host_us = 20000};
    script[SENDER][2] = (struct step){.trap = TRAP_SEND, .user_cycles = APART_CYCLES, .to = HANDLER, .host_us = 20000};
    script[TRAPPER][1].user_cycles = APART_CYCLES + seed;
}

Test(sched, a_handler_sends_no_sooner_than_the_scheduler_expects)
{
    static const uint32_t turn_cycles = 1 + ENTRY_CYCLES + TRAP_CYCLES + EXIT_CYCLES;
    uint64_t interrupts = 0, called = 0;

    for (uint32_t first = 1; first <= turn_cycles; first += STRIDE) {
        struct cast c = cast_usual(first);

        c.write = write_handler_scripts;
        c.part[HANDLER].answers = true;
        struct play *p = play_new(&c, ahead);
        play_expect_order(p, "ahead");
        interrupts += sched_hart_statistics(p->sched, HANDLER).interrupts;
        called += p->counts.called;
        play_free(p);
    }
    cr_expect_eq(interrupts, 2 * ((turn_cycles + STRIDE - 1) / STRIDE), "%lu", interrupts);
    cr_expect_gt(called, 0, "a hart that runs is to stop for a cause");
}

Test(sched, a_pause_changes_nothing)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            struct cast c = cast_usual(seed);
            struct play *whole = play_new(&c, (struct direction){.strict = is_strict});
            struct play *paused = play_new(&c, (struct direction){.strict = is_strict, .pause_every = 2 + seed % 7});

            play_sort(whole);
            play_sort(paused);
            play_expect_equal(paused, whole, "paused against whole");
            play_free(whole);
            play_free(paused);
        }
}

Test(sched, what_comes_in_a_pause_takes_effect_in_order)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            struct cast c = cast_usual(seed);

            c.disturb_every = 1;
            struct play *p = play_new(&c, (struct direction){.strict = is_strict, .pause_every = 25});
            play_expect_order(p, is_strict ? "strict" : "ahead");
            cr_expect(p->ended[0], "seed %u, strict %d", seed, is_strict);
            play_free(p);
        }
}

/* Hart 0 traps again and again, while the others wait. */
static void write_passing_scripts(struct step script[HARTS][STEPS], unsigned seed)
{
    for (uint32_t h = 0; h < HARTS; h++)
        for (int i = 0; i < STEPS; i++)
            script[h][i] = h == 0 ? (struct step){.trap = TRAP_WORK, .user_cycles = 1 + seed, .times = 20}
                                  : (struct step){.trap = TRAP_WAIT, .user_cycles = 10};
}

/* It would find a trap that has begun later: the scheduler would tell. */
Test(sched, what_comes_in_a_pause_comes_before_all_traps_that_have_not_passed)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct cast c = cast_usual(seed);

        c.write = write_passing_scripts;
        c.limit_cycles = 40000;
        c.disturb_every = 1;
        struct play *p = play_new(&c, (struct direction){.pause_every = 30 + seed % 50});
        cr_expect_gt(p->counts.passed, 100, "seed %u", seed);
        play_expect_order(p, "ahead");
        play_free(p);
    }
}

Test(sched, a_loop_without_end_comes_back_and_the_others_go_on)
{
    for (unsigned seed = 1; seed <= 2; seed++) {
        struct cast c = cast_usual(seed);

        c.limit_cycles = MOST_AHEAD * 9 / 8;
        c.part[0].life = LIFE_ENDLESS;
        struct play *p = play_new(&c, (struct direction){.strict = seed % 2});
        cr_expect_leq(p->player[0].longest, MOST_AHEAD, "seed %u: %lu", seed, p->player[0].longest);
        cr_expect(seed % 2 == 1 || p->player[0].longest > MOST_AHEAD / 2, "seed %u: %lu", seed, p->player[0].longest);
        play_expect_order(p, "one without end");
        uint64_t latest = 0;
        for (uint32_t h = 1; h < HARTS; h++)
            latest = p->player[h].clock > latest ? p->player[h].clock : latest;
        cr_expect_gt(latest, 1000, "seed %u", seed);
        c.limit_cycles = MOST_AHEAD * 5 / 4;
        play_run(p);
        play_free(p);
    }
}

/* Others have been let run because of the promise: the run must not go on. Not every hart gets to break its own. */
Test(sched, a_hart_that_sends_sooner_than_promised_is_told_of)
{
    static const enum cheat cheats[] = {CHEAT_IN_TRAP, CHEAT_AWAKE};

    for (size_t k = 0; k < 2; k++) {
        unsigned told = 0;

        for (unsigned seed = 1; seed <= 30; seed++) {
            struct cast c = cast_usual(seed);
            uint32_t cheat = 1 + seed % (HARTS - 1);

            c.part[cheat].cheat = cheats[k];
            struct play *p = play_new(&c, ahead);
            told += p->broken != NULL;
            if (p->broken != NULL)
                cr_expect(p->broken_hart == cheat && strstr(p->broken, "sooner than the scheduler expects") != NULL,
                          "seed %u, hart %u: %s", seed, p->broken_hart, p->broken);
            play_free(p);
        }
        cr_expect_gt(told, 20, "cheat %zu: %u of 30", k, told);
    }
}

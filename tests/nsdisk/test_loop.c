/* Concurrent service: many clients and drives that finish as they like (several.c), and memory. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/fiber.h"
#include "tests/nsdisk/several.h"

#define IO_BYTES 65536

/* Hardly larger than what a client reads at once, so that what has come is often gone again. */
#define CACHED(write) 32, 4096, 2, 1, DRIVE_CACHE_##write, DRIVE_CACHE_LRU

static const struct several_case {
    const char *name;
    struct several_settings settings;
} cases[] = {
    {"room for all", {.steps = 60, .commands = 32, .io_bytes = IO_BYTES}},
    {"two commands at once", {.steps = 60, .commands = 2, .io_bytes = IO_BYTES}},
    {"one command at once", {.steps = 40, .commands = 1, .io_bytes = IO_BYTES}},
    {"requests too long for a parking place", {.steps = 60, .commands = 32, .io_bytes = 20000}},
    {"writes that fail", {.steps = 60, .commands = 32, .io_bytes = IO_BYTES, .fail_per_mill = 20}},
    {"caches",
     {.steps = 60, .commands = 32, .io_bytes = IO_BYTES, .volumes_cached = 3, .cache = {CACHED(BACK), 4, 0, 0}}},
    {"misses aside",
     {.steps = 60, .commands = 32, .io_bytes = IO_BYTES, .volumes_cached = 3, .cache = {CACHED(THROUGH), 4, 0, 1}}},
    {"misses aside on some volumes, filled later",
     {.steps = 60, .commands = 32, .io_bytes = IO_BYTES, .volumes_cached = 2, .cache = {CACHED(GROUPS), 64, 1, 1}}},
    {"misses aside, two commands at once",
     {.steps = 60, .commands = 2, .io_bytes = 20000, .volumes_cached = 3, .cache = {CACHED(BACK), 64, 1, 1}}},
    {"misses aside, writes that fail",
     {.steps = 60,
      .commands = 32,
      .io_bytes = IO_BYTES,
      .fail_per_mill = 20,
      .volumes_cached = 1,
      .cache = {CACHED(THROUGH), 64, 0, 1}}},
};

static struct loop_statistics run_case(const struct several_case *c, uint32_t seed)
{
    struct several_settings settings = c->settings;
    struct loop_statistics s;

    settings.seed = seed;
    const char *wrong = several_run(&settings, &s);
    cr_assert_null(wrong, "%s, seed %u: %s", c->name, seed, wrong);
    cr_expect_leq(s.commands_most, settings.commands);
    cr_expect(settings.commands == 1 || s.commands_most > 1, "%s: never two drives at once", c->name);
    cr_expect_lt(s.stack_most, FIBER_STACK_BYTES);
    return s;
}

/* NSDISK_SEEDS=100 for more. */
Test(loop, answers_all_requests_each_client_s_in_order, .timeout = 600)
{
    const char *wanted = getenv("NSDISK_SEEDS");
    uint32_t seeds = wanted ? (uint32_t)atoi(wanted) : 3, held = 0;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool aside = cases[i].settings.cache.misses == DRIVE_CACHE_MISSES_ASIDE;
        struct loop_statistics all = {0};

        for (uint32_t seed = 1; seed <= seeds; seed++) {
            struct loop_statistics s = run_case(&cases[i], seed);

            all.joined += s.joined;
            all.aside += s.aside;
            all.held += s.held;
        }
        cr_expect_gt(all.joined, 5 * seeds, "%s: %u writes were joined", cases[i].name, all.joined);
        cr_expect_eq(all.aside > 5 * seeds, aside, "%s: %u were put aside", cases[i].name, all.aside);
        cr_expect(aside || all.held == 0, "%s: %u replies were held", cases[i].name, all.held);
        held += all.held;
    }
    cr_expect_gt(held, 10);
}

/* ---- Fibers ---- */

static struct fiber fibers[2];
static char trail[64];

static void leave_trail(void *arg)
{
    volatile double kept = *(const char *)arg;

    for (;;) {
        strncat(trail, &(const char){(char)kept}, 1);
        fiber_leave(&fibers[*(const char *)arg - 'a']);
        kept += 2;
    }
}

Test(loop, fibers_go_on_where_they_left)
{
    static uint8_t stack[2][FIBER_STACK_BYTES] __attribute__((aligned(16)));

    fiber_make(&fibers[0], stack[0], leave_trail, "a");
    fiber_make(&fibers[1], stack[1], leave_trail, "b");
    for (int i = 0; i < 3; i++) {
        fiber_enter(&fibers[0]);
        fiber_enter(&fibers[1]);
    }
    cr_expect_str_eq(trail, "abcdef");
    cr_expect_gt(fiber_deepest(&fibers[0]), 0);
    cr_expect_lt(fiber_deepest(&fibers[0]), FIBER_STACK_BYTES);
}

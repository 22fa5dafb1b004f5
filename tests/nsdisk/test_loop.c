/* Concurrent service: many clients and drives that finish as they like (several.c), and memory. */
#include <criterion/criterion.h>
#include <string.h>

#include "nsdisk/serve/fiber.h"
#include "tests/nsdisk/several.h"

#define IO_BYTES 65536

static const struct several_case {
    const char *name;
    struct several_settings settings;
} cases[] = {
    {"room for all", {.steps = 60, .commands = 32, .io_bytes = IO_BYTES}},
    {"two commands at once", {.steps = 60, .commands = 2, .io_bytes = IO_BYTES}},
    {"one command at once", {.steps = 40, .commands = 1, .io_bytes = IO_BYTES}},
    {"requests too long for a parking place", {.steps = 60, .commands = 32, .io_bytes = 20000}},
    {"writes that fail", {.steps = 60, .commands = 32, .io_bytes = IO_BYTES, .fail_per_mill = 20}},
};

Test(loop, answers_all_requests_each_client_s_in_order)
{
    struct loop_statistics s;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint32_t seed = 1; seed <= 3; seed++) {
            struct several_settings settings = cases[i].settings;

            settings.seed = seed;
            const char *wrong = several_run(&settings, &s);
            cr_assert_null(wrong, "%s, seed %u: %s", cases[i].name, seed, wrong);
            cr_expect_leq(s.commands_most, settings.commands);
            cr_expect(settings.commands == 1 || s.commands_most > 1, "%s: never two drives at once", cases[i].name);
            cr_expect_gt(s.joined, 10, "%s: %u writes were joined", cases[i].name, s.joined);
            cr_expect_lt(s.stack_most, FIBER_STACK_BYTES);
        }
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

/* ncube's end of the control segment, without harts: what a grant sets, who is taken, where harts run, when a wait
 * ends. */
#define _GNU_SOURCE
#include "emu/qemu/harts.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct harts h;

static void set_up(void)
{
    cr_assert_eq(harts_init(&h, 4, 1), 0);
    h.processors = 2; /* the same one twice: threads need not move */
    h.processor[1] = h.processor[0];
}

static void tear_down(void)
{
    harts_free(&h);
}

TestSuite(harts, .init = set_up, .fini = tear_down);

/* As the plugin does it. */
static void stop(uint32_t index)
{
    harts_slot(&h, index)->stops++;
    harts_slot(&h, index)->next_stopped = h.control->stopped;
    h.control->stopped = index + 1;
}

Test(harts, a_grant_sets_the_clock_and_how_far_the_hart_may_run_and_ends_an_earlier_call)
{
    struct slot *s = harts_slot(&h, 1);
    uint32_t go = s->go;

    harts_call(&h, 1);
    cr_expect_eq(s->stop_soon, 1);
    s->posts = s->passed = 3;
    harts_grant(
        &h, 1,
        &(struct harts_grant){
            .base_cycles = 1000, .budget_cycles = 50, .pass_cycles = 40, .quiet_cycles = 1200, .batched = true});
    cr_expect(s->stop_soon == 0 && s->base_cycles == 1000 && s->budget_cycles == 50 && s->go == go + 1);
    cr_expect_eq(harts_progress(&h, 1), 1000);
    cr_expect_eq(harts_quiet(&h, 1), 1200);
    cr_expect(s->pass_cycles == 40 && s->batched == 1 && h.control->batch == 1);
    cr_expect(s->posts == 0 && s->passed == 0, "what the last stop has told must not be taken twice");
}

Test(harts, each_that_has_stopped_is_taken_once)
{
    uint32_t taken = 0;

    stop(2);
    stop(0);
    stop(3);
    for (int64_t index; (index = harts_take_stopped(&h)) >= 0;)
        taken |= 1u << index;
    cr_expect_eq(taken, 1u << 2 | 1u << 0 | 1u << 3);
    cr_expect_eq(h.running[0], 1, "only hart 1 runs");
}

Test(harts, one_is_moved_only_where_fewer_run_after_the_move)
{
    static const struct {
        const char *name;
        uint32_t running[2], place;
        bool spread;
        uint32_t expected;
    } c[] = {
        {"not spread", {3, 0}, 0, false, 0},     {"not spread, back home", {3, 0}, 1, false, 0},
        {"two fewer there", {2, 0}, 0, true, 1}, {"one fewer there: no gain", {1, 0}, 0, true, 0},
        {"as many", {1, 1}, 1, true, 1},         {"two fewer at home", {0, 2}, 1, true, 0},
    };

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        memcpy(h.running, c[i].running, sizeof c[i].running);
        h.place[0] = (uint8_t)c[i].place;
        harts_grant(&h, 0, &(struct harts_grant){.spread = c[i].spread});
        cr_expect_eq(h.place[0], c[i].expected, "%s", c[i].name);
        cr_expect_eq(h.running[c[i].expected], c[i].running[c[i].expected] + 1, "%s", c[i].name);
    }
}

Test(harts, those_that_started_elsewhere_go_home_when_granted)
{
    harts_start_on(&h, getpid(), 2, 2, 3);
    cr_expect(h.place[1] == 0 && h.place[2] == 1 && h.place[3] == 1);
    cr_expect(h.running[0] == 2 && h.running[1] == 2);
    stop(2);
    cr_expect_eq(harts_take_stopped(&h), 2);
    cr_expect_eq(h.running[1], 1);
    harts_grant(&h, 2, &(struct harts_grant){.spread = false});
    cr_expect(h.place[2] == 0 && h.running[0] == 3);
    h.processors = 1;
    harts_start_on(&h, getpid(), 0, 4, 1);
    cr_expect_eq(h.place[0], 0, "there is only one processor");
}

Test(harts, have_come_when_each_has_stopped)
{
    cr_expect_not(harts_have_come(&h, 0, 4));
    stop(0);
    stop(1);
    cr_expect_not(harts_have_come(&h, 0, 4));
    cr_expect(harts_have_come(&h, 0, 2));
}

Test(harts, a_wait_ends_when_none_has_stopped_for_so_long, .timeout = 600)
{
    stop(0);
    cr_expect_eq(harts_wait(&h, 3, 50), 2, "one of three has stopped");
    cr_expect(h.silent);
}

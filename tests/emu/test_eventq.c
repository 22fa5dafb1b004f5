/* The event queue: order, ties, cancelling. */
#include "emu/time/eventq.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char ran[256]; /* names of the events that have run, in order */

static void note(void *arg, uint64_t now_cycles)
{
    (void)now_cycles;
    strcat(ran, arg);
}

static void run_all(struct eventq *q)
{
    while (eventq_next(q) != EVENTQ_NEVER)
        eventq_run_one(q);
}

Test(eventq, runs_by_time_then_order_then_addition)
{
    static const struct {
        const char *name;
        uint64_t at_cycles;
        uint32_t order;
    } event[] = {
        {"g", 30, 0}, {"c", 20, 5}, {"a", 10, 9}, {"d", 20, 5}, {"b", 20, 1}, {"e", 20, 5}, {"f", 20, UINT32_MAX},
    };
    struct eventq *q = eventq_new();
    for (size_t i = 0; i < sizeof event / sizeof event[0]; i++)
        eventq_add(q, event[i].at_cycles, event[i].order, note, (void *)event[i].name);
    cr_expect_eq(eventq_next(q), 10);
    cr_expect_eq(eventq_next_order(q), 9);
    run_all(q);
    cr_expect_str_eq(ran, "abcdefg");
    eventq_free(q);
}

Test(eventq, is_empty_at_first_and_after_the_last)
{
    struct eventq *q = eventq_new();

    cr_expect_eq(eventq_next(q), EVENTQ_NEVER);
    eventq_add(q, 0, 0, note, "x");
    eventq_run_one(q);
    cr_expect_eq(eventq_next(q), EVENTQ_NEVER);
    cr_expect_str_eq(ran, "x");
    eventq_free(q);
}

Test(eventq, a_cancelled_event_does_not_run)
{
    struct eventq *q = eventq_new();

    eventq_add(q, 10, 0, note, "a");
    uint64_t b = eventq_add(q, 20, 0, note, "b");
    eventq_add(q, 30, 0, note, "c");
    cr_expect(eventq_cancel(q, b));
    cr_expect_not(eventq_cancel(q, b), "twice");
    run_all(q);
    cr_expect_str_eq(ran, "ac");
    eventq_free(q);
}

Test(eventq, the_id_of_an_event_that_ran_does_not_cancel_its_successor)
{
    struct eventq *q = eventq_new();
    uint64_t a = eventq_add(q, 10, 0, note, "a");

    eventq_run_one(q);
    uint64_t b = eventq_add(q, 20, 0, note, "b"); /* takes the same slot */
    cr_expect_neq(a, b);
    cr_expect_not(eventq_cancel(q, a));
    cr_expect_not(eventq_cancel(q, 0), "0 is no id");
    run_all(q);
    cr_expect_str_eq(ran, "ab");
    eventq_free(q);
}

static struct eventq *self_queue;
static uint64_t self_id;

static void cancel_itself(void *arg, uint64_t now_cycles)
{
    note(arg, now_cycles);
    cr_expect_eq(eventq_next(self_queue), 20, "only the other event is queued");
    cr_expect_not(eventq_cancel(self_queue, self_id));
}

Test(eventq, an_event_that_runs_is_no_longer_queued)
{
    self_queue = eventq_new();
    self_id = eventq_add(self_queue, 10, 0, cancel_itself, "a");
    eventq_add(self_queue, 20, 0, note, "b");
    run_all(self_queue);
    cr_expect_str_eq(ran, "ab");
    eventq_free(self_queue);
}

Test(eventq, the_order_of_addition_holds_across_events_that_run)
{
    struct eventq *q = eventq_new();

    eventq_add(q, 10, 0, note, "a");
    eventq_add(q, 20, 0, note, "b");
    eventq_run_one(q);
    eventq_add(q, 20, 0, note, "c");
    run_all(q);
    cr_expect_str_eq(ran, "abc");
    eventq_free(q);
}

struct chain {
    struct eventq *q;
    int left;
    uint64_t last_cycles;
};

static void chain_step(void *arg, uint64_t now_cycles)
{
    struct chain *c = arg;

    c->last_cycles = now_cycles;
    if (--c->left > 0)
        eventq_add(c->q, now_cycles, 0, chain_step, c);
}

Test(eventq, a_callback_may_add_events_of_its_own_cycle)
{
    struct chain c = {.q = eventq_new(), .left = 5};

    eventq_add(c.q, 42, 7, chain_step, &c);
    run_all(c.q);
    cr_expect_eq(c.left, 0);
    cr_expect_eq(c.last_cycles, 42);
    eventq_free(c.q);
}

Test(eventq, an_event_before_the_last_one_run_is_refused, .signal = SIGABRT)
{
    struct eventq *q = eventq_new();

    eventq_add(q, 10, 0, note, "a");
    eventq_run_one(q);
    fclose(stderr);
    eventq_add(q, 9, 0, note, "b");
}

#define MANY 3000

struct heard {
    uint32_t n;
    uint64_t last_cycles;
};

static struct heard heard;

static void check_order(void *arg, uint64_t now_cycles)
{
    cr_assert_eq(now_cycles, *(uint64_t *)arg);
    cr_assert_geq(now_cycles, heard.last_cycles);
    heard.last_cycles = now_cycles;
    heard.n++;
}

Test(eventq, thousands_of_events_with_every_third_cancelled_stay_in_order)
{
    static uint64_t at[MANY], id[MANY];
    struct eventq *q = eventq_new();
    uint32_t random = 1, cancelled = 0;

    for (int i = 0; i < MANY; i++) {
        random = random * 1103515245u + 12345u;
        at[i] = random >> 20;
        id[i] = eventq_add(q, at[i], random & 3, check_order, &at[i]);
    }
    for (int i = 0; i < MANY; i += 3, cancelled++)
        cr_assert(eventq_cancel(q, id[i]), "event %d", i);
    run_all(q);
    cr_expect_eq(heard.n, MANY - cancelled);
    eventq_free(q);
}

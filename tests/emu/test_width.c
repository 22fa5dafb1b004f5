/*
 * How many processors are chosen on hosts whose useful work is given: one that others leave alone, one that they use,
 * and programs with few harts at a time.
 */
#include "emu/qemu/width.h"

#include <criterion/criterion.h>

#define MS       1000000u
#define HARTS    64u
#define STEP_NS  50000u /* a window */
#define WIDE_MAX 4u

/* A host on which harts do so much useful work in a second, by the number of processors. */
struct host {
    double rate[WIDE_MAX + 1];
    uint32_t stops;  /* in each window */
    bool refuses;    /* no other processor is free */
    uint64_t now_ns; /* how long it has run, */
    uint64_t wide_ns, trials;
    uint32_t was;
};

static void run(struct host *h, struct width *w, uint32_t ms)
{
    double work = 0;

    for (uint64_t end_ns = h->now_ns + ms * (uint64_t)MS; h->now_ns < end_ns;) {
        h->now_ns += STEP_NS;
        h->wide_ns += w->now > 1 ? STEP_NS : 0;
        work += h->rate[w->now] * STEP_NS;
        for (uint32_t k = 0; k < h->stops; k++)
            width_count(w);
        if (!width_counts(w) || !width_is_due(w, h->now_ns))
            continue;
        enum width_step step = width_look(w, h->now_ns, (uint64_t)work);
        bool changes = step == WIDTH_CHANGES;
        if (step == WIDTH_GOES_ON)
            continue;
        if (changes && w->now > h->was && h->refuses)
            width_refuse(w, h->now_ns);
        h->trials += w->other > 0 && changes;
        h->was = w->now;
        work = 0;
    }
}

static struct host host_new(double one, double two, double four)
{
    return (struct host){.rate = {0, one, two, two, four}, .stops = 6, .was = 1, .now_ns = 1000 * (uint64_t)MS};
}

static struct width width_new(uint32_t most)
{
    struct width w;

    width_init(&w, HARTS, most, 0);
    cr_assert_eq(w.now, 1);
    return w;
}

Test(width, takes_two_processors_where_they_do_more)
{
    struct host h = host_new(1, 1.5, 1.5);
    struct width w = width_new(2);

    run(&h, &w, 50);
    cr_expect_eq(w.own, 2);
    run(&h, &w, 1000);
    cr_expect_eq(w.own, 2);
    cr_expect_gt(h.wide_ns, 900 * (uint64_t)MS);
}

Test(width, keeps_to_one_where_two_gain_too_little)
{
    struct host h = host_new(1, 1.2, 1.2);
    struct width w = width_new(2);

    run(&h, &w, 5000);
    cr_expect_eq(w.own, 1);
    cr_expect_lt(h.wide_ns, 100 * (uint64_t)MS, "%lu ns", (unsigned long)h.wide_ns);
    cr_expect_geq(h.trials, 3, "it is tried again");
}

Test(width, tries_nothing_where_harts_run_one_at_a_time)
{
    struct host h = host_new(1, 2, 2);
    struct width w = width_new(2);

    h.stops = 1;
    run(&h, &w, 5000);
    cr_expect_eq(h.trials, 0);
    cr_expect_eq(h.wide_ns, 0);
}

Test(width, gives_a_processor_up_within_milliseconds_when_others_use_it)
{
    struct host h = host_new(1, 1.5, 1.5);
    struct width w = width_new(2);

    run(&h, &w, 5000);
    cr_assert_eq(w.own, 2);
    h.rate[1] = 0.5, h.rate[2] = 0.3;
    run(&h, &w, 50);
    cr_expect_eq(w.own, 1);
    h.rate[1] = 1, h.rate[2] = 1.5;
    run(&h, &w, 200);
    cr_expect_eq(w.own, 2, "and takes it again");
}

Test(width, tries_nothing_where_others_use_the_only_processor)
{
    struct host h = host_new(0.6, 1.2, 1.2);
    struct width w = width_new(2);

    run(&h, &w, 5000);
    cr_expect_eq(h.trials, 0);
    h.rate[1] = 1, h.rate[2] = 1.6;
    run(&h, &w, 50);
    cr_expect_eq(w.own, 2, "until they have gone");
}

Test(width, gives_up_a_trial_that_does_less_before_harts_have_stopped_often)
{
    struct host h = host_new(1, 0.2, 0.2);
    struct width w = width_new(2);

    h.stops = 2; /* in each 50 us: 128 take 3.2 ms */
    run(&h, &w, 30000);
    cr_expect_geq(h.trials, 5);
    cr_expect_lt(h.wide_ns, h.trials * 5 * (uint64_t)MS);
}

Test(width, goes_back_when_two_gain_nothing_any_more)
{
    struct host h = host_new(1, 1.6, 1.6);
    struct width w = width_new(2);

    run(&h, &w, 100);
    cr_assert_eq(w.own, 2);
    h.rate[2] = 1;
    run(&h, &w, 2000);
    cr_expect_eq(w.own, 1);
}

Test(width, goes_up_and_down_step_by_step)
{
    struct host h = host_new(1, 1.7, 2.9);
    struct width w = width_new(4);

    run(&h, &w, 200);
    cr_expect_eq(w.own, 4);
    h.rate[4] = 1.6;
    run(&h, &w, 300);
    cr_expect_eq(w.own, 2);
}

Test(width, is_tried_soon_when_more_harts_run_at_a_time)
{
    struct host h = host_new(1, 1, 1);
    struct width w = width_new(2);

    h.stops = 2;
    run(&h, &w, 5000);
    cr_assert_eq(w.own, 1);
    h.stops = 6, h.rate[2] = 1.6;
    run(&h, &w, 300);
    cr_expect_eq(w.own, 2);
}

Test(width, may_begin_with_two)
{
    struct host h = host_new(1, 0.9, 0.9);
    struct width w = width_new(2);

    width_begin_with(&w, 2);
    cr_expect_eq(w.now, 2);
    h.was = 2;
    run(&h, &w, 50);
    cr_expect_eq(w.own, 1, "as long as it takes to find that it does not pay");
}

Test(width, is_at_most_what_there_is)
{
    struct host h = host_new(1, 1.7, 2.9);
    struct width w = width_new(3);

    h.rate[3] = 2.6;
    run(&h, &w, 500);
    cr_expect_eq(w.own, 3);
}

Test(width, that_is_refused_is_tried_less_and_less)
{
    struct host h = host_new(1, 1.7, 2.9);
    struct width w = width_new(2);

    h.refuses = true;
    run(&h, &w, 10000);
    cr_expect_eq(w.own, 1);
    cr_expect_lt(h.wide_ns, MS);
    h.refuses = false;
    run(&h, &w, 3000);
    cr_expect_eq(w.own, 2);
}

Test(width, of_a_machine_that_has_rested_is_one)
{
    struct host h = host_new(1, 1.7, 2.9);
    struct width w = width_new(2);

    run(&h, &w, 100);
    cr_assert_eq(w.own, 2);
    width_rest(&w);
    cr_expect_eq(w.now, 1);
    h.was = 1;
    run(&h, &w, 100);
    cr_expect_eq(w.own, 2);
}

Test(width, that_is_fixed_stays)
{
    struct host h = host_new(1, 0.1, 0.1);
    struct width w;

    width_init(&w, HARTS, 2, 2);
    h.was = 2;
    run(&h, &w, 1000);
    cr_expect_eq(w.now, 2);
    width_rest(&w);
    cr_expect_eq(w.now, 2);
    width_init(&w, HARTS, 2, 7);
    cr_expect_eq(w.now, 2, "there are no more");
}

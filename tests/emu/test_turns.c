/* Harts that take turns, without QEMU: threads of this process become fibers, and carriers execute them as they are
 * granted. */
#define _GNU_SOURCE
#include "emu/plugin/plugin_turns.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "emu/qemu/debug_area.h"
#include "emu/qemu/fiber.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/harts.h"

#define HARTS    64u
#define CARRIERS 2u

static struct harts h;

/* As plugin_hart.c does it. */
static void report(unsigned hart)
{
    slots_push(&h.control->stopped, hart + 1, &harts_slot(&h, hart)->next_stopped);
    __atomic_add_fetch(&h.control->doorbell, 1, __ATOMIC_SEQ_CST);
    futex_wake_sleeper(&h.control->doorbell, &h.control->asleep);
}

static struct {
    void (*body)(unsigned hart); /* what a hart does in each of its turns */
    uint32_t order[HARTS];       /* of the harts that have had a turn */
    uint32_t n;
    bool free;    /* what a hart waits for that yields */
    long checked; /* turns in which a hart has found everything as it was */
} play;

static _Noreturn void *live(void *arg)
{
    unsigned hart = (unsigned)(uintptr_t)arg;

    for (;;) {
        turns_stop(hart);
        play.body(hart);
    }
}

static void begin(void (*body)(unsigned hart))
{
    play.body = body;
    for (unsigned i = 0; i < HARTS; i++) {
        pthread_t thread;

        cr_assert_eq(pthread_create(&thread, NULL, live, (void *)(uintptr_t)i), 0);
    }
    cr_assert_eq(harts_wait(&h, HARTS, 20000), 0, "each hart stops once by itself");
}

static void note_order(unsigned hart)
{
    play.order[play.n++] = hart;
}

static int32_t answer; /* to an order */

/* As plugin_flush.c does it. */
static void obey(uint32_t order)
{
    cr_assert_eq(order, SLOT_FLUSH);
    for (unsigned i = 0; i < HARTS; i++)
        turns_visit(i, note_order);
    __atomic_store_n(&h.control->flushed, answer, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&h.control->doorbell, 1, __ATOMIC_SEQ_CST);
    futex_wake_sleeper(&h.control->doorbell, &h.control->asleep);
}

static void set_up(void)
{
    if (!fiber_possible())
        cr_skip_test(NO_FIBERS);
    cr_assert_eq(harts_init(&h, HARTS, CARRIERS), 0);
    sched_setaffinity(0, sizeof h.allowed, &h.allowed); /* carriers inherit it: they run side by side if they can */
    if (h.processors < CARRIERS)
        h.processor[1] = h.processor[0];
    h.processors = CARRIERS;
    harts_take_turns(&h, HARTS);
    cr_assert_eq(turns_init(h.control, 0, HARTS, report, obey), 0);
}

TestSuite(turns, .init = set_up, .timeout = 600);

static void grant(uint32_t hart, uint32_t carrier)
{
    h.place[hart] = (uint8_t)carrier; /* a hart that is spread stays where it is, if no processor has less to do */
    h.running[0] = h.running[1] = 0;
    harts_grant(&h, hart, &(struct harts_grant){.budget_cycles = 1, .spread = carrier != 0});
    cr_assert_eq(h.place[hart], carrier);
}

static void wait_for(uint32_t n)
{
    cr_assert_eq(harts_wait(&h, n, 20000), 0, "harts that have been granted stop again");
}

Test(turns, a_carrier_executes_its_harts_in_the_order_in_which_they_were_granted)
{
    begin(note_order);
    for (uint32_t i = 0; i < HARTS; i++)
        grant((i * 13 + 5) % HARTS, 0);
    wait_for(HARTS);
    cr_assert_eq(play.n, HARTS);
    for (uint32_t i = 0; i < HARTS; i++)
        cr_expect_eq(play.order[i], (i * 13 + 5) % HARTS);
}

static void make_code_due(void)
{
    slots_carrier(h.control, 0)->code_due = 1;
    h.control->code_due++;
}

static const struct {
    const char *name;
    int32_t answer;
    uint32_t flushes;
} answers[] = {{"done", SLOT_FLUSH_DONE, 1}, {"refused", SLOT_FLUSH_REFUSED, 0}};

Test(turns, an_order_goes_to_all_harts_which_ncube_does_not_notice)
{
    for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) {
        uint32_t flushes = h.flushes;

        if (k == 0)
            begin(note_order);
        play.n = 0;
        answer = answers[k].answer;
        cr_expect(!harts_code_is_due(&h));
        make_code_due();
        cr_expect(harts_code_is_due(&h));
        cr_assert(harts_renew_code(&h, 0));
        cr_expect(!harts_code_is_due(&h), "%s", answers[k].name);
        cr_expect_eq(h.flushes, flushes + answers[k].flushes, "%s", answers[k].name);
        cr_assert_eq(play.n, HARTS, "%s", answers[k].name);
        for (uint32_t i = 0; i < HARTS; i++)
            cr_expect_eq(play.order[i], i, "%s", answers[k].name);
        cr_expect_eq(harts_take_stopped(&h), -1, "%s", answers[k].name);
        slots_carrier(h.control, 0)->code_due = 0;
        cr_assert(harts_renew_code(&h, 0));
        cr_expect_eq(play.n, HARTS, "%s: one that is not due is not ordered", answers[k].name);
        play.n = 0;
        grant(3, 1);
        wait_for(1);
        cr_expect_eq(play.order[0], 3, "%s", answers[k].name);
    }
}

static uint32_t threads_of_this_process(void)
{
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/task");

    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

Test(turns, the_threads_of_harts_end_when_they_have_become_fibers)
{
    uint32_t before = threads_of_this_process();

    begin(note_order);
    while (threads_of_this_process() > before) /* the last steps of a thread follow its report */
        sched_yield();
    grant(7, 0);
    wait_for(1);
    cr_expect_eq(play.order[0], 7);
}

static __thread unsigned own;
static __thread long turns_had;

/* Everything that belongs to a thread must be that of the hart, on whichever carrier it is. */
static void find_own_state(unsigned hart)
{
    static const int rounding[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    static pthread_t self[HARTS];
    volatile double third = 1.0, divisor = 3.0;

    if (turns_had++ == 0) {
        own = hart;
        self[hart] = pthread_self();
        cr_assert_eq(fesetround(rounding[hart % 4]), 0);
    }
    third /= divisor;
    bool rounds_up = third * 3.0 > 1.0 || third > 0.33333333333333332;
    errno = (int)hart + 1;
    free(malloc(100 + hart));
    turns_yield(hart);
    if (own == hart && pthread_equal(self[hart], pthread_self()) && fegetround() == rounding[hart % 4] &&
        errno == (int)hart + 1 && rounds_up == (hart % 4 == 2))
        __atomic_add_fetch(&play.checked, 1, __ATOMIC_SEQ_CST);
}

Test(turns, a_hart_keeps_its_storage_and_its_rounding_on_every_carrier)
{
    long turns = 0;
    unsigned seed = 11;

    begin(find_own_state);
    for (int round = 0; round < 500; round++) {
        for (uint32_t i = 0; i < HARTS; i++)
            grant(i, (uint32_t)(rand_r(&seed) >> 5) % CARRIERS);
        wait_for(HARTS);
        turns += HARTS;
    }
    cr_expect_eq(play.checked, turns, "%ld of %ld turns", play.checked, turns);
}

static void wait_or_free(unsigned hart)
{
    if (hart == 0)
        while (!__atomic_load_n(&play.free, __ATOMIC_SEQ_CST))
            turns_yield(hart);
    else
        __atomic_store_n(&play.free, true, __ATOMIC_SEQ_CST);
}

/* As plugin_debug.c does it: one hart stands until another one has had its turn. */
static void stand_in_the_middle(unsigned hart)
{
    struct debug_area *area = debug_area_of(h.control);

    note_order(hart);
    if (hart != 0)
        return;
    area->hart[hart].stopped = 1;
    __atomic_add_fetch(&area->stopped, 1, __ATOMIC_SEQ_CST);
    turns_stand(hart);
    note_order(hart);
}

Test(turns, a_hart_that_stands_leaves_its_carrier_to_others_and_counts_as_running)
{
    begin(stand_in_the_middle);
    grant(0, 0);
    grant(1, 0);
    h.running[0] = 2;
    wait_for(1);
    cr_expect_eq(play.n, 2);
    cr_expect_eq(h.running[0], 1);
    harts_calm(&h);
    harts_release(&h, 0);
    cr_expect_eq(debug_area_of(h.control)->stopped, 0);
    wait_for(1);
    cr_assert_eq(play.n, 3, "it goes on where it stood, and then stops");
    cr_expect_eq(play.order[2], 0);
    cr_expect(harts_stand(&h));
}

Test(turns, a_hart_that_yields_lets_others_of_its_carrier_run)
{
    begin(wait_or_free);
    grant(0, 0);
    grant(1, 0);
    wait_for(2);
}

Test(turns, a_hart_that_yields_lets_one_run_that_is_granted_later)
{
    begin(wait_or_free);
    grant(0, 1); /* begins at once, since it is spread */
    grant(1, 1);
    wait_for(2);
}

static void let_fresh_twice(unsigned hart)
{
    note_order(hart);
    turns_let_fresh(hart);
    note_order(hart);
    turns_let_fresh(hart);
    note_order(hart);
}

Test(turns, harts_that_have_not_begun_go_before_those_that_have_let_them)
{
    static const uint32_t order[] = {0, 1, 2, 2, 2, 0, 0, 1, 1};

    begin(let_fresh_twice);
    for (uint32_t i = 0; i < 3; i++)
        grant(i, 0);
    wait_for(3);
    cr_assert_eq(play.n, 9);
    for (uint32_t k = 0; k < 9; k++)
        cr_expect_eq(play.order[k], order[k], "turn %u is hart %u's", k, play.order[k]);
}

static void count_turn(unsigned hart)
{
    (void)hart;
    __atomic_add_fetch(&play.checked, 1, __ATOMIC_SEQ_CST);
}

Test(turns, no_grant_is_lost_while_carriers_run)
{
    begin(count_turn);
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t n = 1 + round % 7;

        for (uint32_t k = 0; k < n; k++)
            grant((round + k * 9) % HARTS, (round + k) % CARRIERS);
        wait_for(n);
    }
    long expected = 0;
    for (uint32_t round = 0; round < 2000; round++)
        expected += 1 + round % 7;
    cr_expect_eq(play.checked, expected);
}

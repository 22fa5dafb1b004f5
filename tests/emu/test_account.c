/* The division of a hart's time into user code, kernel and idle, from events and requests in order. */
#include "emu/time/account.h"

#include <criterion/criterion.h>

#include "emu/time/eventq.h"

static struct account a;

static void set_up(void)
{
    account_init(&a);
}

TestSuite(account, .init = set_up);

/* left: of the last LEAVE; handled: since then an interrupt is being handled, or EVENTQ_NEVER. */
static void expect(const char *name, uint64_t now, uint64_t left, uint64_t handled, uint64_t user, uint64_t idle)
{
    const struct account_totals t = account_totals(&a, now, left, handled);

    cr_expect(t.user_cycles == user && t.idle_cycles == idle && t.kernel_cycles == now - user - idle,
              "%s: user %lu, kernel %lu, idle %lu", name, (unsigned long)t.user_cycles, (unsigned long)t.kernel_cycles,
              (unsigned long)t.idle_cycles);
}

Test(account, a_hart_that_has_not_left_the_kernel_is_in_it)
{
    expect("booting", 50, 0, EVENTQ_NEVER, 0, 0);
}

Test(account, idle_time_counts_from_idle_to_wake)
{
    account_idle(&a, 100);
    expect("idle", 150, 0, EVENTQ_NEVER, 0, 50);
    account_wake(&a, 180);
    expect("awake", 200, 0, EVENTQ_NEVER, 0, 80);
    account_wake(&a, 190);
    expect("woken when it was not idle", 200, 0, EVENTQ_NEVER, 0, 80);
    account_idle(&a, 200);
    account_wake(&a, 210);
    expect("idle again", 220, 0, EVENTQ_NEVER, 0, 90);
}

Test(account, a_trap_ends_user_code_before_its_way_in)
{
    expect("user code since 100", 130, 100, EVENTQ_NEVER, 30, 0);
    account_trap(&a, 100, 150, 10, 33);
    cr_expect(a.traps == 1 && a.instructions == 33 && a.interrupts == 0);
    expect("in the kernel", 160, 100, EVENTQ_NEVER, 40, 0);
    expect("left at 170", 200, 170, EVENTQ_NEVER, 70, 0);
    account_trap(&a, 170, 210, 10, 60);
    cr_expect(a.traps == 2 && a.instructions == 60);
    expect("trapped again", 210, 170, EVENTQ_NEVER, 70, 0);
}

Test(account, an_interrupt_takes_its_time_out_of_user_code)
{
    expect("being handled since 120", 130, 100, 120, 20, 0);
    account_handled(&a, 100, 120, 140);
    expect("resumed at 140", 150, 100, EVENTQ_NEVER, 30, 0);
    expect("the next is being handled since 160", 170, 140, 160, 40, 0);
    account_trap(&a, 140, 200, 10, 5);
    expect("trapped at 200", 200, 140, EVENTQ_NEVER, 70, 0);
}

Test(account, dropped_user_code_counts_up_to_its_interrupt)
{
    account_dropped(&a, 100, 120, 140, 0);
    expect("the kernel goes on", 150, 100, EVENTQ_NEVER, 20, 0);
}

Test(account, what_dropped_user_code_executed_counts_for_nothing)
{
    account_trap(&a, 100, 200, 0, 50);
    account_dropped(&a, 250, 300, 320, 90);
    account_trap(&a, 400, 500, 0, 100);
    cr_expect_eq(a.instructions, 60);
}

Test(account, a_cause_on_the_way_in_does_not_turn_the_way_into_user_code)
{
    account_handled(&a, 100, 150, 170); /* user code ended at 145, ENTER would have been at 160 */
    account_trap(&a, 170, 180, 15, 40);
    expect("ENTER at 180", 180, 170, EVENTQ_NEVER, 45, 0);
}

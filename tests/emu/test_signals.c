#include "emu/base/signals.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5000

/* Sends `signal` to its parent, each time after the parent has taken the one before. */
static void send_in_turn(pid_t parent, int signal, int taken)
{
    char byte;

    for (int i = 0; i < ROUNDS; i++) {
        kill(parent, signal);
        if (read(taken, &byte, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

/* The test checks without a pause, so nearly every signal arrives during a check: a lost one leads to a timeout. */
static void take_every(int signal, bool (*take)(void))
{
    int taken[2], status;
    pid_t self = getpid(), child;
    uint32_t bell = 0;

    cr_assert_eq(pipe(taken), 0);
    signals_install(&bell);
    child = fork();
    if (child == 0) {
        close(taken[1]); /* it ends with us */
        send_in_turn(self, signal, taken[0]);
    }
    for (int i = 0; i < ROUNDS; i++) {
        while (!take())
            ;
        cr_assert_eq(write(taken[1], "", 1), 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_geq(bell, ROUNDS);
    signals_release();
}

Test(signals, no_ended_child_is_lost, .timeout = 600)
{
    take_every(SIGCHLD, signals_take_child);
}

Test(signals, no_heartbeat_is_lost, .timeout = 600)
{
    take_every(SIGUSR1, signals_take_beat);
}

Test(signals, a_signal_from_before_the_wait_ends_it)
{
    static const int each[] = {SIGCHLD, SIGTERM};
    uint32_t bell = 0;

    signals_install(&bell);
    signals_be_orderly();
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        raise(each[i]);
        cr_expect_eq(signals_poll(NULL, 0, -1), -1);
        cr_expect(each[i] == SIGCHLD ? signals_take_child() : signals_take_request());
    }
    cr_expect_eq(signals_asked(), SIGTERM);
    cr_expect_eq(signals_end(), 0);
    signals_release();
}

/* ---- When an orderly end is stuck ---- */

#define MANY_LOOKS 20

static uint64_t work_ns, step_ns;

static uint64_t work(void *ctx)
{
    (void)ctx;
    return work_ns += step_ns;
}

/* Asks for an orderly end and raises the signal of each look itself, so that no time of the host counts: the timer's
 * first signal is half a second away. Returns at which look the end is given up, or MANY_LOOKS: at none of them. From
 * look to look virtual time advances by `step` and QEMU works for `work_of_look_ns`. */
static int given_up_at(uint64_t step, uint64_t work_of_look_ns)
{
    uint32_t bell = 0;
    int look = 0;

    step_ns = work_of_look_ns;
    signals_install(&bell);
    signals_watch_work(work, NULL);
    signals_be_orderly();
    signals_note_progress(1);
    raise(SIGTERM);
    for (uint64_t now = 1 + step; signals_end() == 0 && look < MANY_LOOKS; look++, now += step) {
        signals_note_progress(now);
        raise(SIGALRM);
    }
    signals_release();
    return look;
}

Test(signals, an_end_without_progress_and_work_is_given_up)
{
    cr_expect_eq(given_up_at(0, 0), 2);
}

Test(signals, an_end_goes_on_as_long_as_virtual_time_does)
{
    cr_expect_eq(given_up_at(1, 0), MANY_LOOKS);
}

Test(signals, an_end_goes_on_as_long_as_a_slow_host_works_at_a_step)
{
    cr_expect_eq(given_up_at(0, 5000000), MANY_LOOKS);
}

Test(signals, an_end_whose_work_leads_nowhere_is_given_up)
{
    cr_expect_eq(given_up_at(0, 500000000), 3);
}

Test(signals, threads_that_only_look_around_are_no_work)
{
    cr_expect_eq(given_up_at(0, 20000), 2);
}

/* The looks come by themselves: nobody raises their signal here. */
Test(signals, a_timer_looks_at_an_end, .timeout = 600)
{
    uint32_t bell = 0;

    step_ns = 0;
    signals_install(&bell);
    signals_watch_work(work, NULL);
    signals_be_orderly();
    raise(SIGTERM);
    while (signals_end() == 0)
        pause();
    cr_expect_eq(signals_end(), SIGTERM);
    signals_release();
}

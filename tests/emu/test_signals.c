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

enum { LIMIT_MS = 4000, STUCK_MS = 2000 };

static uint64_t work_ns, step_ns;

static uint64_t work(void *ctx)
{
    (void)ctx;
    return work_ns += step_ns;
}

/* Asks for an orderly end, and returns after how many ms it is given up, LIMIT_MS: not at all. In each step virtual
 * time advances by so much. */
static int given_up_after(uint64_t step, uint64_t work_of_look_ns)
{
    uint32_t bell = 0;
    int ms = 0;

    step_ns = work_of_look_ns;
    signals_install(&bell);
    signals_watch_work(work, NULL);
    signals_be_orderly();
    raise(SIGTERM);
    for (uint64_t now = 1; signals_end() == 0 && ms < LIMIT_MS; ms += 10, now += step) {
        signals_note_progress(now);
        usleep(10000);
    }
    signals_release();
    return ms;
}

Test(signals, an_end_without_progress_and_work_is_given_up, .timeout = 600)
{
    cr_expect_lt(given_up_after(0, 0), STUCK_MS);
}

Test(signals, an_end_goes_on_as_long_as_virtual_time_does, .timeout = 600)
{
    cr_expect_eq(given_up_after(1, 0), LIMIT_MS);
}

Test(signals, an_end_goes_on_as_long_as_a_slow_host_works_at_a_step, .timeout = 600)
{
    cr_expect_eq(given_up_after(0, 5000000), LIMIT_MS);
}

Test(signals, an_end_whose_work_leads_nowhere_is_given_up, .timeout = 600)
{
    cr_expect_lt(given_up_after(0, 500000000), STUCK_MS);
}

Test(signals, threads_that_only_look_around_are_no_work, .timeout = 600)
{
    cr_expect_lt(given_up_after(0, 20000), STUCK_MS);
}

/*
 * Signals: none is lost, and an orderly end is given up when nobody gets on with it (emu/base/signals.c), which is not
 * so while those who would lack a processor (emu/base/starved.c).
 */
#define _GNU_SOURCE
#include "emu/base/signals.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/starved.h"

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
static bool starved;

static uint64_t work(void *ctx)
{
    (void)ctx;
    return work_ns += step_ns;
}

static bool waits(void *ctx)
{
    (void)ctx;
    return starved;
}

static const struct signals_work worker = {work, waits};

/* Asks for an orderly end and raises the signal of each look itself, so that no time of the host counts: the timer's
 * first signal is half a second away. Returns at which look the end is given up, or MANY_LOOKS: at none of them. From
 * look to look virtual time advances by `step` and QEMU works for `work_of_look_ns`. */
static int given_up_at(uint64_t step, uint64_t work_of_look_ns)
{
    uint32_t bell = 0;
    int look = 0;

    step_ns = work_of_look_ns;
    signals_install(&bell);
    signals_watch_work(&worker, NULL);
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

Test(signals, an_end_that_waits_for_a_processor_goes_on)
{
    starved = true;
    cr_expect_eq(given_up_at(0, 0), MANY_LOOKS);
}

/* A process that has had a second of processor time without progress has wasted it. */
Test(signals, an_end_that_waits_for_a_processor_to_loop_is_given_up)
{
    starved = true;
    cr_expect_eq(given_up_at(0, 300000000), 5);
}

/* ---- Who waits for a processor ---- */

static pid_t child_that(void (*does)(void))
{
    pid_t child = fork();

    if (child == 0) {
        does();
        _exit(0);
    }
    return child;
}

static void sleeps(void)
{
    pause();
}

static void computes(void)
{
    for (volatile int turns = 0;; turns++)
        ;
}

static void await_runnable(pid_t pid, bool runnable)
{
    for (int i = 0; i < 10000 && starved_is_runnable(pid) != runnable; i++)
        usleep(1000);
    cr_expect_eq(starved_is_runnable(pid), runnable);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    cr_expect_eq(waitpid(pid, NULL, 0), pid);
}

Test(signals, who_computes_could_run_and_who_sleeps_or_is_suspended_could_not, .timeout = 600)
{
    pid_t idle = child_that(sleeps), busy = child_that(computes);

    await_runnable(idle, false);
    await_runnable(busy, true);
    kill(busy, SIGSTOP);
    await_runnable(busy, false);
    kill(busy, SIGCONT);
    await_runnable(busy, true);
    end_child(idle);
    end_child(busy);
    cr_expect_not(starved_is_runnable(busy));
}

/* Others on its only processor hold it up. */
Test(signals, the_time_without_a_processor_grows_beside_others, .timeout = 600)
{
    cpu_set_t one;
    int cpu = sched_getcpu();

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t other = child_that(computes); /* has the same processor */
    uint64_t before_ns = starved_own_ns();
    while (starved_own_ns() - before_ns < 20000000)
        ;
    end_child(other);
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
    signals_watch_work(&worker, NULL);
    signals_be_orderly();
    raise(SIGTERM);
    while (signals_end() == 0)
        pause();
    cr_expect_eq(signals_end(), SIGTERM);
    signals_release();
}

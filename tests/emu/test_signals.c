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

Test(signals, no_ended_child_is_lost, .timeout = 60)
{
    take_every(SIGCHLD, signals_take_child);
}

Test(signals, no_heartbeat_is_lost, .timeout = 60)
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

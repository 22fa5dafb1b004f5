/*
 * Calls that take a time, with times so large that sums of cycles could overflow.
 *
 *   sleeps CASE [CALL]
 */
#include <errno.h>
#include <limits.h>
#include <ntime.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

#define S_MOST  ((time_t)INT64_MAX)
#define YEARS_S 4294967295.0 /* UINT_MAX */

static const struct timespec longest = {S_MOST, 999999999};

static void ring(int number)
{
    (void)number;
}

/* ---- The calls: each returns -1 with EINTR when a signal ends it ---- */

static int do_trap(void)
{
    errno = (int)-trap_sleep(UINT64_MAX - 1);
    return errno ? -1 : 0;
}

static int do_nanosleep(void)
{
    struct timespec left = {0};
    int result = nanosleep(&longest, &left);

    check(left.tv_sec > INT64_MAX / CLOCK_HZ / 2 - 10, "%lld s are left", (long long)left.tv_sec);
    return result;
}

static int do_sleep(void)
{
    check(sleep(UINT_MAX) == UINT_MAX, "another number of seconds is left");
    errno = EINTR;
    return -1;
}

static int do_usleep(void)
{
    return usleep(UINT_MAX);
}

static int do_poll(void)
{
    return poll(NULL, 0, INT_MAX);
}

static int do_select(void)
{
    return select(0, NULL, NULL, NULL, &(struct timeval){S_MOST, 999999});
}

static int do_pselect(void)
{
    return pselect(0, NULL, NULL, NULL, &longest, NULL);
}

/* Takes the signal itself. */
static int do_wait(void)
{
    const sigset_t set = 1u << SIGALRM;

    sigprocmask(SIG_BLOCK, &set, NULL);
    int taken = sigtimedwait(&set, NULL, &longest);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    errno = taken == SIGALRM ? EINTR : 0;
    return -1;
}

static int do_alarm(void)
{
    struct itimerval most = {{S_MOST, 999999}, {S_MOST, 999999}};

    check(setitimer(ITIMER_REAL, &most, NULL) == 0, "setitimer: %d", errno);
    return pause();
}

static const struct call {
    const char *name;
    int (*call)(void);
} calls[] = {
    {"trap", do_trap},     {"nanosleep", do_nanosleep}, {"sleep", do_sleep}, {"usleep", do_usleep}, {"poll", do_poll},
    {"select", do_select}, {"pselect", do_pselect},     {"wait", do_wait},   {"alarm", do_alarm},
};
#define CALLS         (sizeof calls / sizeof *calls)
#define INTERRUPTIBLE (CALLS - 1) /* do_alarm would replace the alarm */

/* ---- Cases ---- */

static void are_interrupted(void)
{
    signal(SIGALRM, ring);
    for (size_t i = 0; i < INTERRUPTIBLE; i++) {
        double before = amicclk();

        ualarm(10000, 0);
        check(calls[i].call() == -1 && errno == EINTR, "%s: errno %d", calls[i].name, errno);
        check(amicclk() - before >= 10000 && amicclk() - before < 20000, "%s: %.0f us", calls[i].name,
              amicclk() - before);
    }
}

/* A century is a time like any other. */
static void end(void)
{
    double before = amicclk();

    check(sleep(UINT_MAX) == 0, "sleep");
    check(amicclk() - before >= YEARS_S * 1e6 && amicclk() - before < (YEARS_S + 1) * 1e6, "%.0f us",
          amicclk() - before);
    signal(SIGALRM, ring);
    check(alarm(UINT_MAX) == 0, "alarm");
    check(alarm(UINT_MAX) == UINT_MAX, "another number of seconds is left");
    before = amicclk();
    check(pause() == -1 && errno == EINTR, "pause");
    check(amicclk() - before >= (YEARS_S - 1) * 1e6, "%.0f us", amicclk() - before);
}

static void wait_for_ever(void)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, test_argv[0]) == 0)
            calls[i].call();
    check(0, "%s has ended", test_argv[0]);
}

static const struct test_case cases[] = {
    {"long ones are interrupted", are_interrupted},
    {"long ones end", end},
    {"for ever", wait_for_ever},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

/* Signals between nodes, of arriving messages and of faults; and the clock's sleep. */
#include <errno.h>
#include <n_errno.h>
#include <ntime.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { TYPE = 3 };

static volatile int counted, last;

static void count(int number)
{
    counted++;
    last = number;
}

static void send_byte(int dest, int type)
{
    check_equal(nwrite("x", 1, dest, type, NULL), 0);
}

static void receive_byte(int src, int type)
{
    char byte;

    check_equal(nread(&byte, 1, &src, &type, NULL), 1);
}

static pid_t pid_of(int node)
{
    return N_PROCESS(node, 0) + 1;
}

/* Every node but 0 signals node 0, which computes, sleeps, or waits in nread meanwhile. */
static void between_nodes(void)
{
    int node = own_node(), others = node_count() - 1;

    signal(SIGUSR1, count);
    check_equal(nsync(1), 0);
    if (node != 0) {
        for (int phase = 0; phase < 3; phase++) {
            receive_byte(0, TYPE);
            usleep(1000); /* by then node 0 spins, sleeps, or waits in nread */
            check_equal(kill(pid_of(0), SIGUSR1), 0);
            send_byte(0, TYPE + 1);
        }
        return;
    }
    for (int phase = 0; phase < 3; phase++) {
        counted = 0;
        for (int i = 1; i <= others; i++) {
            send_byte(i, TYPE);
            while (phase == 0 && counted < i)
                ;
            if (phase == 1)
                check(usleep(10000000) == -1 && errno == EINTR, "not interrupted");
            receive_byte(i, TYPE + 1);
            check_equal(counted, i);
            check_equal(last, SIGUSR1);
        }
    }
}

/* Values in every register survive the handler. */
static void registers_survive(void)
{
    double sum = 0, again = 0;

    signal(SIGIO, count);
    check_equal(nsync(1), 0);
    if (own_node() == 1)
        for (int i = 0; i < 50; i++) {
            usleep(100 + 37 * i);
            send_byte(0, TYPE);
        }
    for (int i = 1; own_node() == 0 && (i < 20000 || counted < 10); i++)
        sum += 1.0 / i;
    for (int i = 1; own_node() == 0 && again < sum; i++)
        again += 1.0 / i;
    check(sum == again, "%.17g, not %.17g", again, sum);
}

static volatile int taken;

static void take_all(int number)
{
    int src = N_ANY, type = TYPE;
    char byte;

    check_equal(number, SIGMSGS);
    while (ntest(&src, &type) >= 0) {
        check_equal(nread(&byte, 1, &src, &type, NULL), 1);
        taken++;
        src = N_ANY, type = TYPE;
    }
}

/* The program waits for another type all the time; the handler has taken what came for it. */
static void arrivals(void)
{
    int node = own_node(), nodes = node_count();

    signal(SIGMSGS, take_all);
    check_equal(nsync(1), 0);
    for (int i = 0; node != 0 && i < 20; i++)
        send_byte(0, TYPE);
    if (node != 0)
        send_byte(0, TYPE + 1);
    for (int i = 1; node == 0 && i < nodes; i++)
        receive_byte(i, TYPE + 1);
    if (node == 0) {
        signal(SIGMSGS, SIG_DFL);
        take_all(SIGMSGS);
        check_equal(taken, 20 * (nodes - 1));
    }
}

static jmp_buf after_fault;

static void leave_fault(int number)
{
    last = number;
    longjmp(after_fault, 1);
}

static void faults(void)
{
    sigset_t set;

    signal(SIGSEGV, leave_fault);
    signal(SIGILL, leave_fault);
    for (int i = 0; i < 6; i++) {
        last = 0;
        if (setjmp(after_fault) == 0) {
            if (i & 1)
                __asm__ volatile(".4byte 0");
            else
                *(volatile int *)(8 + 8l * own_node()) = 1;
        }
        check_equal(last, i & 1 ? SIGILL : SIGSEGV);
        sigemptyset(&set);
        sigaddset(&set, last);
        check_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
    }
}

static void blocked(void)
{
    sigset_t set, before;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    signal(SIGUSR2, count);
    check_equal(sigprocmask(SIG_BLOCK, &set, &before), 0);
    check_equal(nsync(1), 0);
    if (own_node() == 1)
        check_equal(kill(pid_of(0), SIGUSR2), 0);
    check_equal(nsync(1), 0);
    usleep(1000);
    check_equal(counted, 0);
    check_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    usleep(1);
    check_equal(counted, own_node() == 0);
}

static void errors(void)
{
    check(kill(pid_of(node_count()), SIGTERM) == -1 && errno == ESRCH, "no such node");
    check(kill(pid_of(0) + 0x10000, SIGTERM) == -1 && errno == ESRCH, "no such process");
    check(kill(pid_of(0), 99) == -1 && errno == EINVAL, "no such signal");
    check(kill(pid_of(0), 0) == 0, "is there");
    check(signal(SIGKILL, count) == SIG_ERR && errno == EINVAL, "SIGKILL");
    check(signal(0, count) == SIG_ERR && errno == EINVAL, "signal 0");
}

/* Node 1 ends all by a signal that node 0 does not handle. */
static void ended_by_another(void)
{
    if (own_node() == 1)
        kill(pid_of(0), SIGTERM);
    for (;;)
        ;
}

static void ends_all(void)
{
    signal(SIGTERM, count);
    if (own_node() == node_count() - 1)
        kill(0, SIGINT);
    pause();
}

static void sleeps_are_exact(void)
{
    struct timespec half = {0, 500000000}, now, then;

    double start_us = amicclk();
    check_equal(usleep(1500), 0);
    double slept_us = amicclk() - start_us;
    check(slept_us >= 1500 && slept_us < 1700, "slept %.2f us", slept_us);
    clock_gettime(CLOCK_MONOTONIC, &now);
    check_equal(nanosleep(&half, NULL), 0);
    clock_gettime(CLOCK_MONOTONIC, &then);
    double s = (double)(then.tv_sec - now.tv_sec) + 1e-9 * (double)(then.tv_nsec - now.tv_nsec);
    check(s >= 0.5 && s < 0.5002, "slept %.6f s", s);
    check_equal(sleep(2), 0);
    half.tv_nsec = 1000000000;
    check(nanosleep(&half, NULL) == -1 && errno == EINVAL, "a whole second of nanoseconds");
}

static const struct test_case cases[] = {
    {"between nodes", between_nodes},
    {"registers survive", registers_survive},
    {"arrivals", arrivals},
    {"faults", faults},
    {"blocked", blocked},
    {"errors", errors},
    {"ended by another", ended_by_another},
    {"ends all", ends_all},
    {"sleeps are exact", sleeps_are_exact},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

/* Signals between nodes, of arriving messages and of faults; and the clock's sleep. */
#include <assert.h>
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

/* The program waits for another type all the time; the handler takes the messages that arrive meanwhile. */
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

static sigset_t set_of(int number)
{
    sigset_t set;

    sigemptyset(&set);
    if (number)
        sigaddset(&set, number);
    return set;
}

/* The lower 32 bits: newlib's macros fill more. */
static unsigned blocked_now(void)
{
    sigset_t now;

    check_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
    return (unsigned)now;
}

static unsigned pending_now(void)
{
    sigset_t now;

    check_equal(sigpending(&now), 0);
    return (unsigned)now;
}

static void change(int how, sigset_t set)
{
    check_equal(sigprocmask(how, &set, NULL), 0);
}

#define BIT(number) (1u << (number))

static void masks(void)
{
    static const struct {
        int how;
        unsigned set, expected;
    } changes[] = {
        {SIG_BLOCK, BIT(SIGUSR1), BIT(SIGUSR1)},
        {SIG_BLOCK, BIT(SIGUSR2) | BIT(SIGTERM), BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGTERM)},
        {SIG_UNBLOCK, BIT(SIGUSR1) | BIT(SIGINT), BIT(SIGUSR2) | BIT(SIGTERM)},
        {SIG_SETMASK, BIT(SIGHUP), BIT(SIGHUP)},
        {SIG_BLOCK, BIT(SIGKILL) | BIT(SIGSTOP), BIT(SIGHUP)},
        {SIG_SETMASK, ~0u, ~(1u | BIT(SIGKILL) | BIT(SIGSTOP))},
        {SIG_SETMASK, 0, 0},
    };
    unsigned before = 0;

    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        sigset_t set = changes[i].set, old = 1;

        check_equal(sigprocmask(changes[i].how, &set, &old), 0);
        check_equal((unsigned)old, before);
        check_equal(blocked_now(), changes[i].expected);
        check_equal(blocked_now(), changes[i].expected);
        before = changes[i].expected;
    }
    sigset_t none = 0;
    check(sigprocmask(7, &none, NULL) == -1 && errno == EINVAL, "no such change");
    check_equal(pthread_sigmask(7, &none, NULL), EINVAL);
    check_equal((sigaddset)(&none, NSIG), -1);
    check_equal((sigismember)(&none, 0), -1);
    check_equal((sigaddset)(&none, SIGUSR2), 0);
    check(sigismember(&none, SIGUSR2) && !sigismember(&none, SIGUSR1), "what is in the set");
}

/* A blocked signal stays pending, whatever its effect and its sender; sigpending does not change it. */
static void stays_pending(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGABRT, SIGPIPE, SIGUSR1, SIGCHLD, SIGIO};

    signal(SIGUSR1, count);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        change(SIG_BLOCK, set_of(signals[i]));
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        check_equal(i % 2 ? raise(signals[i]) : kill(getpid(), signals[i]), 0);
        check_equal(counted, 0);
        check(pending_now() & BIT(signals[i]), "signal %d is not pending", signals[i]);
        blocked_now();
        check(pending_now() & BIT(signals[i]), "signal %d is not pending any more", signals[i]);
        signal(signals[i], i % 3 ? SIG_IGN : count); /* SIG_IGN drops it */
        check_equal(!(pending_now() & BIT(signals[i])), i % 3 != 0);
    }
    check_equal(pending_now(), BIT(SIGTERM) | BIT(SIGPIPE) | BIT(SIGIO));
    change(SIG_SETMASK, 0);
    check_equal(counted, 3);
    check_equal(pending_now(), 0);
}

/* On a node with several processes a signal from another node stays pending until it is unblocked. */
static void stays_pending_from_another(void)
{
    change(SIG_BLOCK, set_of(SIGTERM));
    check_equal(nsync(1), 0);
    if (own_node() == 1)
        check_equal(kill(pid_of(0), SIGTERM), 0);
    check_equal(nsync(1), 0);
    usleep(1000);
    check_equal(pending_now(), own_node() == 0 ? BIT(SIGTERM) : 0);
    signal(SIGTERM, count);
    change(SIG_UNBLOCK, set_of(SIGTERM));
    check_equal(counted, own_node() == 0);
}

static int during, nested;

static void look_at_mask(int number)
{
    during = (int)blocked_now();
    nested = counted;
    raise(SIGUSR2);
    nested = counted - nested;
    counted += number == SIGUSR1;
}

static void actions_have_masks(void)
{
    struct sigaction action = {.sa_handler = look_at_mask, .sa_mask = BIT(SIGUSR2) | BIT(SIGKILL)}, before;

    signal(SIGUSR2, count);
    check_equal(sigaction(SIGUSR1, &action, &before), 0);
    check(before.sa_handler == SIG_DFL, "the default");
    check_equal(sigaction(SIGUSR1, NULL, &before), 0);
    check(before.sa_handler == look_at_mask && before.sa_mask == action.sa_mask, "as it was given");
    raise(SIGUSR1);
    check_equal(during, (int)(BIT(SIGUSR1) | BIT(SIGUSR2)));
    check_equal(nested, 0);
    check_equal(counted, 2);
    check_equal(blocked_now(), 0);
    action.sa_mask = 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    check_equal(nested, 1);
    check(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL, "SIGKILL");
    check_equal(sigaction(SIGKILL, NULL, &before), 0);
}

static char order[8];
static unsigned entered;

static void note_order(int number)
{
    order[entered++] = number == SIGINT ? 'i' : number == SIGUSR1 ? '1' : '2';
}

/* Of several signals unblocked together the lowest is first on the stack, so its handler ends last. */
static void all_come_before_the_call_returns(void)
{
    signal(SIGINT, note_order);
    signal(SIGUSR1, note_order);
    signal(SIGUSR2, note_order);
    change(SIG_BLOCK, BIT(SIGINT) | BIT(SIGUSR1) | BIT(SIGUSR2));
    raise(SIGUSR2);
    raise(SIGUSR1);
    raise(SIGINT);
    raise(SIGINT);
    check_equal(entered, 0);
    change(SIG_SETMASK, 0);
    check(entered == 3 && order[0] == '2' && order[1] == '1' && order[2] == 'i', "%.8s", order);
}

static void suspends(void)
{
    sigset_t none = 0, all_but_usr1 = ~BIT(SIGUSR1);

    signal(SIGUSR1, count);
    signal(SIGUSR2, count);
    change(SIG_BLOCK, BIT(SIGUSR1) | BIT(SIGUSR2));
    check_equal(nsync(1), 0);
    if (own_node() == 1)
        for (int i = 0; i < 3; i++) {
            receive_byte(0, TYPE);
            usleep(300);
            kill(pid_of(0), i == 1 ? SIGCHLD : SIGUSR1);
            usleep(300);
            kill(pid_of(0), i == 1 ? SIGUSR2 : SIGUSR1);
        }
    for (int i = 0; own_node() == 0 && i < 3; i++) {
        double before = amicclk();

        send_byte(1, TYPE);
        check(sigsuspend(i == 1 ? &none : &all_but_usr1) == -1 && errno == EINTR, "sigsuspend");
        check_equal(counted, i + 1);
        check_equal(last, i == 1 ? SIGUSR2 : SIGUSR1);
        check_equal(blocked_now(), BIT(SIGUSR1) | BIT(SIGUSR2));
        usleep(1000);
        check(amicclk() - before < 3000, "it waited too long");
        if (i != 1) { /* the second one */
            check_equal(pending_now(), BIT(SIGUSR1));
            signal(SIGUSR1, SIG_IGN);
            signal(SIGUSR1, count);
        }
    }
}

static void waits_for_signals(void)
{
    sigset_t both = BIT(SIGUSR1) | BIT(SIGTERM);
    struct timespec ms = {0, 1000000};
    siginfo_t info;
    int number;

    change(SIG_BLOCK, both);
    signal(SIGUSR2, count);
    check_equal(nsync(1), 0);
    if (own_node() == 1) {
        kill(pid_of(0), SIGUSR2);
        kill(pid_of(0), SIGTERM);
        receive_byte(0, TYPE);
        usleep(500);
        kill(pid_of(0), SIGUSR1);
        return;
    }
    check_equal(sigwait(&both, &number), 0);
    check_equal(number, SIGTERM);
    check_equal(counted, 1);
    check(sigtimedwait(&both, &info, &ms) == -1 && errno == EAGAIN, "nothing comes");
    send_byte(1, TYPE);
    check_equal(sigtimedwait(&both, &info, &ms), SIGUSR1);
    check_equal(info.si_signo, SIGUSR1);
    raise(SIGUSR1);
    check_equal(sigwaitinfo(&both, NULL), SIGUSR1);
    check_equal(pending_now(), 0);
}

/* Ignored signals do nothing, whatever their sender, unless a fault raises them. */
static void ignores(void)
{
    signal(SIGUSR1, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    check_equal(nsync(1), 0);
    check_equal(raise(SIGUSR1), 0);
    check_equal(kill(pid_of(1 - own_node()), SIGTERM), 0);
    for (int number = 1; number < NSIG; number++)
        if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH || number == SIGIO ||
            number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
            check_equal(raise(number), 0);
    check_equal(nsync(1), 0);
}

/* ---- Ends: the last node ends all; the others wait, node 0 by polling ---- */

static void leave_to_others(void)
{
    if (own_node() == node_count() - 1)
        return;
    while (own_node() == 0)
        ntest(NULL, NULL);
    pause();
}

static void aborts(void)
{
    leave_to_others();
    abort();
}

static void asserts(void)
{
    leave_to_others();
    assert(own_node() < 0);
}

static void aborts_in_spite_of_all(void)
{
    leave_to_others();
    change(SIG_BLOCK, set_of(SIGABRT));
    signal(SIGABRT, count);
    abort();
}

static void aborts_though_ignored(void)
{
    leave_to_others();
    signal(SIGABRT, SIG_IGN);
    abort();
}

static void raises(void)
{
    leave_to_others();
    raise(SIGUSR1);
}

static void kills_itself(void)
{
    leave_to_others();
    kill(getpid(), SIGTERM);
}

static void kills_itself_for_good(void)
{
    leave_to_others();
    change(SIG_BLOCK, ~0u);
    raise(SIGKILL);
}

static void lets_its_end_through(void)
{
    leave_to_others();
    change(SIG_BLOCK, set_of(SIGHUP));
    raise(SIGHUP);
    change(SIG_UNBLOCK, set_of(SIGHUP));
}

static void suspends_until_its_end(void)
{
    sigset_t none = 0;

    leave_to_others();
    change(SIG_BLOCK, set_of(SIGQUIT));
    raise(SIGQUIT);
    sigsuspend(&none);
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
    {"masks", masks},
    {"stays pending", stays_pending},
    {"stays pending from another", stays_pending_from_another},
    {"actions have masks", actions_have_masks},
    {"all come before the call returns", all_come_before_the_call_returns},
    {"suspends", suspends},
    {"waits for signals", waits_for_signals},
    {"ignores", ignores},
    {"aborts", aborts},
    {"asserts", asserts},
    {"aborts in spite of all", aborts_in_spite_of_all},
    {"aborts though ignored", aborts_though_ignored},
    {"raises", raises},
    {"kills itself", kills_itself},
    {"kills itself for good", kills_itself_for_good},
    {"lets its end through", lets_its_end_through},
    {"suspends until its end", suspends_until_its_end},
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

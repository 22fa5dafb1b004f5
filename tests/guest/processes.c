/* Three processes on each node (-Nprocs 3): their spaces, messages, time, ends. */
#include <n_errno.h>
#include <ntime.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { PROCS = 3, TYPE = 11, SLICE_US = 5000 };

static int own_procid(void)
{
    int procid;

    whoami(NULL, &procid, NULL, NULL);
    return procid;
}

/* Process 0 of node 0 ends when all processes have reported to it; so "passed" means that all have passed. */
static void all_have_come(void)
{
    int self = npid();

    check_equal(nwrite(&self, sizeof self, 0, TYPE, NULL), 0);
    for (int i = 0; self == 0 && i < PROCS * node_count(); i++) {
        int src = N_ANY, type = TYPE, who = -1;

        check_equal(nread(&who, sizeof who, &src, &type, NULL), sizeof who);
        check_equal(src, who);
    }
}

static long shared = 1;

static void own_memory(void)
{
    long *heap = malloc(100000);

    for (long i = 0; i < 300; i++) {
        check(shared == 1 + i * (1 + npid()), "data of another");
        shared += 1 + npid();
        heap[i] = shared;
        if (i % 50 == 0)
            usleep(100);
    }
    for (long i = 0; i < 300; i++)
        check_equal(heap[i], 1 + (i + 1) * (1 + npid()));
    all_have_come();
}

/* Everyone sends to everyone else, by name. */
static void by_name(void)
{
    int nodes = node_count(), self = npid();

    for (int procid = 0; procid < PROCS; procid++)
        for (int node = 0; node < nodes; node++)
            check_equal(nwrite(&self, sizeof self, N_PROCESS(node, procid), 100 + self % 7, NULL), 0);
    for (int procid = PROCS - 1; procid >= 0; procid--)
        for (int node = 0; node < nodes; node++) {
            int src = N_PROCESS(node, procid), type = 100 + src % 7, who = -1;

            check_equal(nread(&who, sizeof who, &src, &type, NULL), sizeof who);
            check_equal(who, src);
        }
    check_equal(nwrite(&self, 4, N_PROCESS(0, PROCS), TYPE, NULL), -N_EINVAL);
    check_equal(nsync(99), 0);
    all_have_come();
}

/* Long messages land in the right one of three spaces with the same addresses. */
static void long_messages(void)
{
    static char buf[40000];
    int self = npid(), to = N_PROCESS(own_node() ^ (node_count() > 1), (own_procid() + 1) % PROCS);
    int from = N_PROCESS(own_node() ^ (node_count() > 1), (own_procid() + PROCS - 1) % PROCS), type = 5;

    for (int round = 0; round < 4; round++) {
        char *out = ngetp(sizeof buf);

        fill_pattern(out, sizeof buf, self + round);
        check_equal(nwritep(out, sizeof buf, to, 5, NULL), 0);
        check_equal(nread(buf, sizeof buf, &from, &type, NULL), sizeof buf);
        check_equal(find_wrong_byte(buf, sizeof buf, from + round), sizeof buf);
    }
    all_have_come();
}

/* All compute for the same time; then they have had equal shares of the time, and every register has its value. */
static void equal_shares(void)
{
    enum { TURNS = 200000 };
    volatile double sum = 0;
    double x = 1 + npid(), start_us = amicclk();

    for (int i = 0; i < TURNS; i++) {
        x = x * 1.0000001;
        sum = sum + x;
    }
    double took_us = amicclk() - start_us, again = 1 + npid(), expected = 0;
    all_have_come();
    for (int i = 0; i < TURNS; i++) {
        again = again * 1.0000001;
        expected = expected + again;
    }
    check(sum == expected, "%.17g, not %.17g", sum, expected);
    double alone_us = amicclk();
    all_have_come();
    check(took_us > 2 * SLICE_US && alone_us > start_us, "%.0f us is less than two slices", took_us);
}

/* Two processes wait until the third sends them a message: until then the third has the node to itself. */
static void the_blocked_cost_nothing(void)
{
    volatile int work = 0;
    int type = 1, src = N_PROCESS(own_node(), 0);
    char none;

    if (own_procid() > 0) {
        check_equal(nread(&none, 0, &src, &type, NULL), 0);
    } else {
        usleep(50000); /* the others wait by now */
        double start_us = amicclk();
        for (int i = 0; i < 100000; i++)
            work = work + 1;
        double took_us = amicclk() - start_us;
        check(took_us < 100000 * 1.1, "%.0f us", took_us);
        for (int procid = 1; procid < PROCS; procid++)
            check_equal(nwrite(&none, 0, N_PROCESS(own_node(), procid), 1, NULL), 0);
    }
    all_have_come();
}

static void compute(int steps)
{
    for (volatile int i = 0; i < steps; i++)
        ;
}

/* While another process runs, a message that is too long for the reader arrives, and then one that fits. */
static void turns_are_waited_for_in_order(void)
{
    enum { LONG = 100, SHORT = 8 };
    char buf[LONG] = {0};
    int src = N_PROCESS(1, 0), type = 1;

    if (npid() == src) {
        usleep(30000); /* the others are computing by now */
        check_equal(nwrite(buf, LONG, 0, type, NULL), 0);
        check_equal(nwrite(buf, SHORT, 0, type, NULL), 0);
    } else if (npid() == 0) {
        check_equal(nread(buf, SHORT, &src, &type, NULL), -N_EMSGSIZE);
        check_equal(nread(buf, LONG, &src, &type, NULL), LONG);
        check_equal(nread(buf, LONG, &src, &type, NULL), SHORT);
    } else if (own_node() == 0) {
        compute(100000);
    }
    all_have_come();
}

static void statuses(void)
{
    exit(npid() == N_PROCESS(1, 1) ? 7 : own_procid());
}

static void one_faults(void)
{
    int type = 12;

    if (npid() == N_PROCESS(1, 2))
        *(volatile int *)(8 + 8 * (long)own_node()) = 1;
    nread(&type, 4, NULL, &type, NULL);
}

static void spins(void)
{
    printf("begins\n");
    fflush(stdout);
    for (;;)
        ;
}

static const struct test_case cases[] = {
    {"own memory", own_memory},
    {"by name", by_name},
    {"long messages", long_messages},
    {"equal shares", equal_shares},
    {"the blocked cost nothing", the_blocked_cost_nothing},
    {"turns in order", turns_are_waited_for_in_order},
    {"statuses", statuses},
    {"one faults", one_faults},
    {"spins", spins},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

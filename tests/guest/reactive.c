/* <rk.h>: the Reactive Kernel's calls. Built with -Nprocs 3, too. */
#include <rk.h>

#include <nmon.h>

#include "check.h"

enum { LONG = 50000 };

static void ring(void)
{
    static const int lengths[] = {0, 1, 8, 4096, 4097, LONG};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i], before = (mynode() + nnodes() - 1) % nnodes();
        char *msg = xmalloc(n);

        check(msg != NULL && xlength(msg) == n, "xmalloc(%d)", n);
        fill_pattern(msg, (size_t)n & ~7ul, (uint32_t)mynode());
        xsend(msg, (mynode() + 1) % nnodes(), mypid());
        msg = xrecvb();
        check_equal(xlength(msg), n);
        check_equal(find_wrong_byte(msg, (size_t)n & ~7ul, (uint32_t)before), (size_t)n & ~7ul);
        xfree(msg);
    }
    check(xrecv() == NULL, "a message too many");
}

/* The way of 50 KB: the sender's pages go to the network, and the receiver's are mapped. */
static void no_copy(void)
{
    struct nmonitor before, after;

    check_equal(nmonitor(&before), 0);
    for (int i = 0; i < 3; i++) {
        xsend(xmalloc(LONG), mynode(), mypid());
        xfree(xrecvb());
    }
    check_equal(nmonitor(&after), 0);
    check(after.copied == before.copied && after.mapped == before.mapped + 3, "%d copied, %d mapped",
          (int)(after.copied - before.copied), (int)(after.mapped - before.mapped));
}

static void to_many(void)
{
    int dest[2 * 64], n = nnodes();

    for (int i = 0; i < n; i++) {
        dest[2 * i] = i;
        dest[2 * i + 1] = mypid();
    }
    char *msg = xmalloc(8);
    strcpy(msg, "many");
    msg[7] = (char)mynode();
    xmsend(msg, n, dest);
    for (int i = 0, sum = 0; i < n; i++) {
        msg = xrecvb();
        check(xlength(msg) == 8 && strcmp(msg, "many") == 0, "%s", msg);
        sum += msg[7];
        xfree(msg);
        check(i < n - 1 || sum == n * (n - 1) / 2, "from %d", sum);
    }
    xmsend(xmalloc(5), 0, dest); /* to nobody */
}

/* Other messages stay for others. */
static void beside_others(void)
{
    int type = N_ANY, src = N_ANY;
    char *msg = xmalloc(3);

    check_equal(nwrite("typed", 5, npid(), 1, NULL), 0);
    check(xrecv() == NULL, "xrecv took it");
    xsend(msg, mynode(), mypid());
    while (!(msg = xrecv()))
        ;
    check_equal(xlength(msg), 3);
    xfree(msg);
    check_equal(ntest(&src, &type), 5);
    check_equal(type, 1);
}

static void many(void)
{
    char *msg[100];

    for (int i = 0; i < 100; i++)
        check((msg[i] = xmalloc(i)) != NULL, "xmalloc(%d)", i);
    for (int i = 0; i < 100; i += 2)
        xfree(msg[i]);
    for (int i = 1; i < 100; i += 2) {
        check_equal(xlength(msg[i]), i);
        xfree(msg[i]);
    }
    check(xmalloc(-1) == NULL && xmalloc(0x7fffffff) == NULL, "too much memory");
}

static void bad_node(void)
{
    xsend(xmalloc(1), nnodes(), 0);
}

static void sent_twice(void)
{
    char *msg = xmalloc(1);

    xsend(msg, mynode(), mypid());
    xsend(msg, mynode(), mypid());
}

static void all(void);

static const struct test_case cases[] = {
    {"ring", ring},         {"no copy", no_copy},
    {"to many", to_many},   {"beside others", beside_others},
    {"many", many},         {"all", all}, /* those before it */
    {"bad node", bad_node}, {"sent twice", sent_twice},
    {NULL, NULL},
};

static void all(void)
{
    for (const struct test_case *c = cases; c->run != all; c++) {
        c->run();
        nsync(1);
    }
}

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

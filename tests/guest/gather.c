/*
 * Many messages wait, and are taken in another order than that of their arrival. The cost of taking one must not depend
 * on their number. Arguments: a case, and the number of messages (of "types"); a third prints the figures.
 */
#include <ntime.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_messages.h"

enum { TYPE = 9, TYPE_FIRST = 100, WARM = 4 };

static int messages = 2000, show;

static void take_from_any(void)
{
    int src = N_ANY, type = TYPE;
    long value;

    check_equal(nread(&value, sizeof value, &src, &type, NULL), sizeof value);
}

/* Waits until everything that the other nodes have sent has arrived. */
static void all_have_sent(void)
{
    check_equal(nsync(1), 0);
    usleep(100000);
}

static double report(const char *what, double us, int taken)
{
    if (show && own_node() == 0)
        printf("%-58s %10.2f us\n", what, us / taken);
    return us / taken;
}

/* One from each node, by source, the highest node's first; or from any. */
static double gather(int any)
{
    int node = own_node(), n = node_count();

    if (node != 0)
        send(0, TYPE, 0);
    all_have_sent();
    double start_us = amicclk();
    for (int i = n - 1; node == 0 && i > 0; i--)
        if (any)
            take_from_any();
        else
            take(i, TYPE, i, TYPE, 0);
    double us = amicclk() - start_us;
    check_equal(nsync(2), 0);
    return us;
}

static void descending(void)
{
    gather(1); /* all pages are there after this one */
    double any = report("from each node, as they have come", gather(1), node_count() - 1);
    double down = report("from each node, descending", gather(0), node_count() - 1);

    if (own_node() == 0)
        check(down <= 1.5 * any, "%.1f us a message, from any %.1f", down, any);
}

/* All of one node, by type, the last first. The first few are taken from a short queue. */
static double reverse(int count, int source)
{
    int node = own_node();

    for (int i = 0; node == 1 && i < count; i++)
        send(0, TYPE_FIRST + i, i);
    all_have_sent();
    double start_us = amicclk();
    for (int i = count - 1; node == 0 && i >= 0; i--)
        take(source, TYPE_FIRST + i, 1, TYPE_FIRST + i, i);
    double us = amicclk() - start_us;
    check_equal(nsync(2), 0);
    return us;
}

static void types(void)
{
    static const int sources[] = {1, N_ANY};

    for (int s = 0; s < 2; s++) {
        reverse(WARM, sources[s]);
        double few = report("a few, the last type first", reverse(WARM, sources[s]), WARM);
        double many = report(s ? "many, the last type first, from any" : "many, the last type first",
                             reverse(messages, sources[s]), messages);
        if (own_node() == 0)
            check(many <= 2 * few + 10, "source %d: %.1f us a message, of a few %.1f", sources[s], many, few);
    }
}

/* Two sources, three types, taken by what wildcards there are: each time the oldest that fits. */
static void wildcards(void)
{
    int node = own_node();

    for (int i = 0; node == 1 && i < messages; i++)
        send(0, TYPE_FIRST + i % 3, i);
    all_have_sent();
    for (int i = 0; node == 2 && i < messages; i++)
        send(0, TYPE_FIRST + i % 3, i);
    all_have_sent();
    if (node != 0)
        return;
    check_equal(nrange(TYPE_FIRST + 2, TYPE_FIRST + 2), 0);
    take(2, N_ANY, 2, TYPE_FIRST + 2, 2);
    take(N_ANY, N_ANY, 1, TYPE_FIRST + 2, 2);
    check_equal(nrange(0, N_TYPE_MAX), 0);
    take(N_ANY, TYPE_FIRST + 1, 1, TYPE_FIRST + 1, 1);
    take(2, N_ANY, 2, TYPE_FIRST, 0);
    for (int src = 1; src <= 2; src++)
        for (int i = 0; i < messages; i++)
            if (i != 2 && i != (src == 1 ? 1 : 0))
                take(N_ANY, N_ANY, src, TYPE_FIRST + i % 3, i);
}

static const struct test_case cases[] = {
    {"descending", descending},
    {"types", types},
    {"wildcards", wildcards},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    if (argc > 2)
        messages = atoi(argv[2]);
    show = argc > 3;
    return run_case(cases, argc, argv);
}

/*
 * What a group's operations cost on this cube: one line each, in microseconds, from when all have come to when the last
 * one is done. docs/group.md has the table; the test compares some with what they must be.
 *
 *   group_costs MOST [SET]     exchange and the long broadcast on at most MOST nodes; SET: nodes 0 .. SET-1, not all
 */
#include <group.h>
#include <ntime.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 4, MEGABYTE = 1 << 20, LONG_REDUCTION = 64 << 10, PART = 64, MEMBERS_MAX = 256 };

static char *long_data;
static char parts[MEMBERS_MAX * PART], received[MEMBERS_MAX * PART];
static int bytes[MEMBERS_MAX];

static void barrier(struct group *g)
{
    check_equal(group_barrier(g), 0);
}

static void broadcast(struct group *g)
{
    check_equal(group_broadcast(g, parts, 8, 0), 0);
}

static void all_reduce(struct group *g)
{
    double value = g->rank;

    check_equal(group_all_reduce(g, &value, 1, GROUP_DOUBLE, GROUP_SUM), 0);
    check(value == g->size * (g->size - 1) / 2.0, "the sum is %g", value);
}

static void gather(struct group *g)
{
    check_equal(group_gather(g, parts, received, bytes, 0), 0);
}

static void scatter(struct group *g)
{
    check_equal(group_scatter(g, parts, received, bytes, 0), 0);
}

static void exchange(struct group *g)
{
    check_equal(group_exchange(g, parts, bytes, received, bytes), 0);
}

static void all_gather(struct group *g)
{
    check_equal(group_all_gather(g, parts, received, bytes), 0);
}

static void scan(struct group *g)
{
    double value = 1;

    check_equal(group_scan(g, &value, 1, GROUP_DOUBLE, GROUP_SUM), 0);
    check(value == g->rank + 1, "the sum is %g", value);
}

/* An exchange of which each member has two partners, and the messages alone. */
static void two_partners(struct group *g)
{
    static int to[MEMBERS_MAX];

    memset(to, 0, (size_t)g->size * sizeof *to);
    to[g->rank ^ 1] = to[g->rank ^ 2] = PART;
    check_equal(group_exchange(g, parts, to, received, to), 0);
}

static void two_messages(struct group *g)
{
    for (int bit = 1; bit <= 2; bit++) {
        int rank = g->rank ^ bit, type = 7;

        check_equal(group_write(g, parts, PART, rank, type), 0);
        check_equal(group_read(g, received, PART, &rank, &type), PART);
    }
}

static void long_reduction(struct group *g)
{
    check_equal(group_all_reduce(g, long_data, LONG_REDUCTION / sizeof(int), GROUP_INT, GROUP_XOR), 0);
}

static void long_broadcast(struct group *g)
{
    check_equal(group_broadcast(g, long_data, MEGABYTE, 0), 0);
}

/* All nodes begin at the same time, which the first names. The last round counts: pages are there. */
static void measure(struct group *g, const char *name, void (*operation)(struct group *g))
{
    double took = 0;

    for (int round = operation == exchange || operation == long_broadcast ? ROUNDS - 1 : 0; round < ROUNDS; round++) {
        double begin = amicclk() + 5000;

        check_equal(group_broadcast(g, &begin, sizeof begin, 0), 0);
        usleep((unsigned)(begin - amicclk() - 200));
        while (amicclk() < begin)
            ;
        operation(g);
        took = amicclk() - begin;
        check_equal(group_all_reduce(g, &took, 1, GROUP_DOUBLE, GROUP_GREATEST), 0);
    }
    if (g->rank == 0)
        printf("%s n=%d us=%.1f\n", name, g->size, took);
}

int main(int argc, char **argv)
{
    int size = argc > 2 ? atoi(argv[2]) : node_count(), member[MEMBERS_MAX];
    struct group g;

    check(size >= 1 && size <= node_count() && size <= MEMBERS_MAX, "%d of %d nodes", size, node_count());
    for (int r = 0; r < size; r++) {
        member[r] = r;
        bytes[r] = PART;
    }
    if (own_node() >= size)
        return 0;
    check_equal(group_make(&g, member, size), 0); /* it ends with the program */
    long_data = malloc(MEGABYTE);
    check(long_data != NULL, "no memory");
    memset(long_data, g.rank, MEGABYTE);
    measure(&g, "barrier", barrier);
    measure(&g, "broadcast", broadcast);
    measure(&g, "all-reduce", all_reduce);
    measure(&g, "gather", gather);
    measure(&g, "scatter", scatter);
    measure(&g, "all-gather", all_gather);
    measure(&g, "scan", scan);
    if (size % 4 == 0) {
        measure(&g, "two-partners", two_partners);
        measure(&g, "two-messages", two_messages);
    }
    measure(&g, "long-all-reduce", long_reduction);
    if (argc <= 1 || size > atoi(argv[1]))
        return 0;
    measure(&g, "exchange", exchange);
    measure(&g, "megabyte", long_broadcast);
    return 0;
}

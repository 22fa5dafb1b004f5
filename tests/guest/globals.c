/*
 * Calls of all nodes: global operations, broadcast, barrier, and groups of any members; types above 0x7fff. None of
 * them disturbs another, or a program's wildcards.
 */
#include <group.h>
#include <math.h>
#include <n_errno.h>
#include <npara_prt.h>
#include <ntime.h>
#include <unistd.h>

#include "check_messages.h"

enum { TYPE = 9, ROUNDS = 20 };

static uint64_t bits(double d)
{
    uint64_t u;

    memcpy(&u, &d, sizeof u);
    return u;
}

/* ---- Global operations ---- */

static void operations(void)
{
    int node = own_node(), n = node_count();

    check_equal(ncubesize(), n);
    check_equal(isumn(node + 1), n * (n + 1) / 2);
    check_equal(imaxn(-node), 0);
    check_equal(imaxn((node + 1) % n), n - 1);
    check_equal(iminn(-node), 1 - n);
    check_equal(iminn(node - 5), -5);
    check_equal(isumn(0x40000000), (int)(0x40000000u * (unsigned)n));
    check(dsumn(node * 0.5) == n * (n - 1) / 4.0, "sum of doubles");
    check(dmaxn(node - 0.25) == n - 1.25, "greatest double");
    check(dminn(node - 0.25) == -0.25, "least double");
    check(isinf(dmaxn(node == n - 1 ? INFINITY : 1e308)), "infinity");
}

/* The last node comes late: until then it has memory, and its lines leave it, however far the others could be ahead. */
static void late_node(void)
{
    static char buf[4000];

    if (own_node() == node_count() - 1) {
        usleep(2000000);
        char *memory = malloc(500 << 10);
        check(memory != NULL, "no memory");
        printf("late\n");
        fflush(stdout);
        free(memory);
    }
    for (int i = 0; i < 1000; i++) {
        fill_pattern(buf, own_node() == 0 ? sizeof buf : 1, (uint32_t)i);
        nbrdcst(buf, sizeof buf);
        check_equal(find_wrong_byte(buf, sizeof buf, (uint32_t)i), sizeof buf);
    }
}

/* Values whose sum depends on the order: the nodes agree bit by bit, on what the order by dimensions gives. */
static double nasty(int node, int round)
{
    uint64_t seed = (uint64_t)node * 1000 + (uint64_t)round;

    draw(&seed);
    return ldexp(1.0 + draw(&seed) / 4294967296.0, (int)(draw(&seed) % 60)) * (draw(&seed) % 2 ? 1 : -1);
}

static double sum_of(int first, int n, int round)
{
    return n == 1 ? nasty(first, round) : sum_of(first, n / 2, round) + sum_of(first + n / 2, n / 2, round);
}

static void same_everywhere(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        double sum = dsumn(nasty(own_node(), round));

        check(bits(sum) == bits(sum_of(0, node_count(), round)), "round %d: %a", round, sum);
    }
}

static void broadcasts(void)
{
    static const int lengths[] = {0, 1, 8, 100, 16384, 16385, 200000};
    static char buf[200001];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];

        memset(buf, 0x55, sizeof buf);
        if (own_node() == 0)
            fill_pattern(buf, n, (uint32_t)i + 1);
        nbrdcst(buf, n);
        check(find_wrong_byte(buf, n, (uint32_t)i + 1) == (size_t)n, "%d bytes", n);
        check(own_node() == 0 || buf[n] == 0x55, "%d bytes: one more is written", n);
    }
}

/* ---- Contexts ---- */

/* Node 0 waits for any message from any node while all others are in a call of all nodes, which node 0 makes later. */
static void wildcards_see_no_others(void)
{
    int node = own_node(), last = node_count() - 1;

    for (int call = 0; last > 0 && call < 3; call++) {
        if (node == last) {
            usleep(20000); /* the others' messages arrive before this one */
            send(0, TYPE, call);
        }
        if (node == 0) {
            check_equal(ntest(NULL, NULL), -N_EAGAIN);
            take(N_ANY, N_ANY, last, TYPE, call);
            check_equal(ntest(NULL, NULL), -N_EAGAIN);
        }
        if (call == 0)
            check_equal(nsync(TYPE), 0);
        else if (call == 1)
            check_equal(isumn(1), node_count());
        else
            nbrdcst(&call, sizeof call);
    }
}

/* A program's own messages of the type do not disturb a barrier, and stay. */
static void types_of_others_are_free(void)
{
    int next = (own_node() + 1) % node_count(), previous = (own_node() + node_count() - 1) % node_count();

    for (int partner = 0; partner < node_count(); partner++)
        send(partner, TYPE, own_node());
    check_equal(nsync(TYPE), 0);
    send(next, 0, 1);
    check_equal(isumn(1), node_count());
    take(previous, 0, previous, 0, 1);
    for (int partner = 0; partner < node_count(); partner++)
        take(partner, TYPE, partner, TYPE, partner);
}

/* ---- Types of 16 bits ---- */

/* The system's messages use some of these numbers, too: loads, ends, signals, file requests and replies. */
static const int types[] = {0,      1,      0x7fff, 0x8000, 0x8001, 0x8003, 0x8004, 0x8005, 0x8009, 0x800a,
                            0x8021, 0x8030, 0x803c, 0x80a1, 0x80a3, 0x80a4, 0x80bf, 0xfd01, 0xfffe, 0xffff};
enum { TYPES = sizeof types / sizeof *types };

static void send_all_types(int dest)
{
    for (int i = 0; i < TYPES; i++)
        send(dest, types[i], types[i]);
}

static void all_types(void)
{
    int next = own_node() ^ (node_count() > 1), to = next, from = next;

    send_all_types(to);
    for (int i = TYPES - 1; i >= 0; i--) /* by type */
        take(from, types[i], from, types[i], types[i]);
    send_all_types(to);
    for (int i = 0; i < TYPES; i++) /* by type, from any */
        take(N_ANY, types[i], from, types[i], types[i]);
    send_all_types(to);
    for (int i = 0; i < TYPES; i++) /* in order of arrival */
        take(i % 2 ? N_ANY : from, N_ANY, from, types[i], types[i]);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    check_equal(nsync(0xfd01), 0);
}

static void ranges(void)
{
    static const struct {
        int low, high;
    } range[] = {{0, 0xffff}, {0, 0x7fff}, {0x8000, 0xffff}, {1, 0x8000}, {0x8021, 0x8021}, {0x7fff, 0xfd01}};
    int from = own_node();

    for (size_t r = 0; r < sizeof range / sizeof *range; r++) {
        send_all_types(from);
        usleep(10000);
        check_equal(nrange(range[r].low, range[r].high), 0);
        for (int i = 0; i < TYPES; i++)
            if (types[i] >= range[r].low && types[i] <= range[r].high)
                take(N_ANY, N_ANY, from, types[i], types[i]);
        check_equal(ntest(NULL, NULL), -N_EAGAIN);
        check_equal(nrange(0, 0xffff), 0);
        for (int i = 0; i < TYPES; i++)
            if (types[i] < range[r].low || types[i] > range[r].high)
                take(N_ANY, N_ANY, from, types[i], types[i]);
    }
    check_equal(nrange(0, 0x10000), -N_EINVAL);
}

static void other_ways(void)
{
    int node = own_node(), type = 0x8005, src = 0;
    char *buf = ngetp(5000), *got;

    if (node == 0) { /* to all, without a copy */
        fill_pattern(buf, 5000, 7);
        check_equal(nwritep(buf, 5000, N_DEST_ALL, 0x8005, NULL), 0);
    }
    check_equal(nreadp(&got, 5000, &src, &type, NULL), 5000);
    check_equal(type, 0x8005);
    check(find_wrong_byte(got, 5000, 7) == 5000, "the message");
    check_equal(nsync(1), 0);
    static char large[100000]; /* lands where nread waits */
    int next = (node + 1) % node_count();
    fill_pattern(large, sizeof large, (uint32_t)next);
    check_equal(nwrite(large, sizeof large, next, 0x8021, NULL), 0);
    src = N_ANY, type = 0x8021;
    check_equal(nread(large, sizeof large, &src, &type, NULL), sizeof large);
    check(find_wrong_byte(large, sizeof large, (uint32_t)node) == sizeof large, "the large message");
}

/* ---- Groups ---- */

/* The members are nodes in an order of their own: of each size there is. */
static int make(struct group *g, int size, int step)
{
    int member[64], is_member = 0;

    for (int r = 0; r < size; r++) {
        member[r] = (r * step + 1) % node_count();
        is_member |= member[r] == own_node();
    }
    if (is_member)
        check_equal(group_make(g, member, size), 0);
    return is_member;
}

static void one_group(int size, int step)
{
    struct group g;
    double own[3], first[3];

    if (!make(&g, size, step))
        return;
    for (int i = 0; i < 3; i++)
        own[i] = nasty(g.rank, size + i);
    check_equal(group_all_reduce(&g, own, 3, GROUP_DOUBLE, GROUP_SUM), 0);
    memcpy(first, own, sizeof first);
    for (int root = 0; root < size; root++) { /* everybody's result is everybody else's */
        double theirs[3];
        memcpy(theirs, own, sizeof theirs);
        check_equal(group_broadcast(&g, theirs, sizeof theirs, root), 0);
        check(memcmp(theirs, first, sizeof first) == 0, "%d members, rank %d: another result at rank %d", size, g.rank,
              root);
    }
    int left = g.rank;
    check_equal(group_broadcast(&g, &left, sizeof left, size - 1), 0);
    check_equal(left, size - 1);
    check_equal(group_barrier(&g), 0);
    check_equal(group_free(&g), 0);
}

static void groups(void)
{
    for (int size = 1; size <= node_count(); size++) {
        one_group(size, 1);
        one_group(size, node_count() - 1);
        one_group(size, 3);
    }
}

/* No member leaves a group's barrier before the last has arrived. */
static void group_barriers(void)
{
    for (int size = 1; size <= node_count(); size++) {
        struct group g;

        if (!make(&g, size, 1))
            continue;
        usleep(1000 + (unsigned)(g.rank * 7 + size * 5) % 32 * 100);
        double came = amicclk(), left;
        check_equal(group_barrier(&g), 0);
        left = amicclk();
        double last = came;
        check_equal(group_broadcast(&g, &last, sizeof last, size - 1), 0);
        check(last <= left, "%d members: left at %.2f, the last came at %.2f", size, left, last);
        check_equal(group_free(&g), 0);
    }
}

/* ---- nperror ---- */

static void errors(void)
{
    nperror("nothing yet");
    nwrite("", 1, 0, 0x10000, NULL);
    nperror("nwrite");
    nread(NULL, -1, NULL, NULL, NULL);
    ntest(NULL, NULL);
    check_equal(nwrite("", 0, own_node(), 1, NULL), 0); /* what works leaves it as it is */
    nperror("");
    check(ngetp(-1) == NULL, "less than nothing");
    nperror(NULL);
    nsync(-1);
    nperror("nsync");
}

/* ---- Nodes that do not make the call ---- */

static void one_has_ended(void)
{
    if (own_node() == node_count() - 1)
        exit(0);
    isumn(1);
}

static void another_call(void)
{
    if (own_node() == 1)
        isumn(1);
    else
        dsumn(1);
}

static void one_in_nsync(void)
{
    if (own_node() != 1)
        nsync(0xfd01);
}

/* With a dead node or link from 200 ms on. */
static void lost(void)
{
    while (amicclk() < 300000)
        usleep(1000);
    for (int i = 0; i < 3; i++)
        isumn(1);
}

/* With so much noise that long messages are given up. */
static void lost_broadcast(void)
{
    static char buf[100000];

    while (amicclk() < 300000)
        usleep(1000);
    nbrdcst(buf, sizeof buf);
    printf("came to node %d\n", own_node());
}

static const struct test_case cases[] = {
    {"operations", operations},
    {"same everywhere", same_everywhere},
    {"broadcasts", broadcasts},
    {"late node", late_node},
    {"wildcards see no others", wildcards_see_no_others},
    {"types of others are free", types_of_others_are_free},
    {"all types", all_types},
    {"ranges", ranges},
    {"other ways", other_ways},
    {"groups", groups},
    {"group barriers", group_barriers},
    {"errors", errors},
    {"one has ended", one_has_ended},
    {"another call", another_call},
    {"one in nsync", one_in_nsync},
    {"lost", lost},
    {"lost broadcast", lost_broadcast},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

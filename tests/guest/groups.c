/*
 * Groups of odd sizes and orders, their operations and their contexts. Every member knows what every other one has, so
 * it compares each result with a plain reference. Built with -DPROCS=3 -Nprocs 3, too: then members share nodes.
 */
#include <group.h>
#include <n_errno.h>
#include <ntime.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check_groups.h"

/* ---- Cases ---- */

static void one_set(int size, uint64_t seed)
{
    int member[MEMBERS_MAX];
    struct group g;

    if (!draw_list(member, size, seed))
        return;
    make(&g, member, size);
    check_all(&g);
    check_equal(group_free(&g), 0);
}

static void odd_sets(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= processes(); i++)
        one_set(sizes[i], (uint64_t)i + 3);
}

/* Processes of one procid, in order: all nodes, and the halves of the cube in descending order. */
static void subcubes(void)
{
    int member[MEMBERS_MAX], half = node_count() > 1 ? node_count() / 2 : 1, mine = own_node() / half;
    struct group everyone, halves;

    make(&everyone, NULL, node_count());
    if (mine == 2) /* the last of an odd number */
        half = 1;
    for (int r = 0; r < half; r++)
        member[r] = N_PROCESS((mine == 2 ? node_count() : (mine + 1) * half) - 1 - r, N_PROCID_OF(npid()));
    make(&halves, member, half);
    check(everyone.context != halves.context, "two groups in context %d", halves.context);
    check_all(&everyone);
    check_all(&halves);
    check_equal(group_free(&everyone), 0);
    check_all(&halves);
    check_equal(group_free(&halves), 0);
}

/* Two groups at once, which have some members in common; their operations take turns, and so do their messages. */
static void overlapping(void)
{
    int n = processes(), size = n * 2 / 3 + 1, first[2 * MEMBERS_MAX], second[2 * MEMBERS_MAX];
    int self = own_node() + N_PROCID_OF(npid()) * node_count(), in_first = self < size, in_second = self >= n - size;
    struct group a, b;

    for (int r = 0; r < size; r++) {
        first[r] = process((r * 5 + 1) % size % n);
        second[r] = process(n - 1 - r);
    }
    if (size % 5 == 0)
        for (int r = 0; r < size; r++)
            first[r] = process(r);
    if (in_first)
        make(&a, first, size);
    if (in_second)
        make(&b, second, size);
    for (int round = 0; round < 4; round++) {
        int sum = self, other_sum = self;

        if (in_first)
            check_equal(group_all_reduce(&a, &sum, 1, GROUP_INT, GROUP_SUM), 0);
        if (in_second)
            check_equal(group_all_reduce(&b, &other_sum, 1, GROUP_INT, GROUP_SUM), 0);
        check(!in_first || sum == size * (size - 1) / 2, "the first group's sum: %d", sum);
        check(!in_second || other_sum == size * (2 * n - size - 1) / 2, "the second group's sum: %d", other_sum);
        if (in_first)
            check_broadcast(&a);
        if (in_second)
            check_broadcast(&b);
    }
    if (in_first)
        check_equal(group_free(&a), 0);
    if (in_second)
        check_equal(group_free(&b), 0);
}

/* Four groups with members in common, two contexts, all operations: halves, thirds and single members of all. */
static void four_groups_in_two_contexts(void)
{
    int n = processes(), rank_of[2 * MEMBERS_MAX], self = -1, mine[3];
    struct group all_of, part[3], twin;

    for (int r = 0; r < n; r++)
        rank_of[r] = process(n - 1 - r);
    make(&all_of, rank_of, n);
    self = all_of.rank;
    for (int i = 0; i < 3; i++) { /* part i: every (i + 1)th rank from the last on, down */
        int size = 0;

        mine[i] = (n - 1 - self) % (i + 1) == 0;
        for (int r = n - 1; r >= 0; r -= i + 1)
            rank_of[size++] = r;
        check_equal(group_make_in(&part[i], &all_of, rank_of, size), mine[i] ? 0 : -N_ESRCH);
        check(!mine[i] || part[i].context == all_of.context, "context %d", part[i].context);
    }
    make(&twin, NULL, node_count());
    check(twin.context != all_of.context, "two groups in context %d", twin.context);
    for (int i = 0; i < 3; i++) {
        late_type++;
        if (mine[i])
            check_all(&part[i]);
    }
    late_type = 5;
    check_all(&twin);
    check_all(&all_of);
    for (int i = 0; i < 3; i++)
        check_equal(mine[i] ? group_free(&part[i]) : 0, 0);
    check_barrier(&all_of);
    check_equal(group_free(&all_of), 0);
    check_equal(group_free(&twin), 0);
}

/* Groups of unequal and odd sizes, each in a context of its own; who is not in one goes on to the next. */
static void four_contexts(void)
{
    const int n = processes(), size[] = {n, n * 2 / 3 | 1, (n + 1) / 2, n > 4 ? 3 : 1};
    int self = own_node() + N_PROCID_OF(npid()) * node_count(), member[4][2 * MEMBERS_MAX];
    struct group g[4];
    int mine[4] = {0};

    for (int i = 0; i < 4; i++) {
        for (int r = 0; r < size[i] && r < n; r++) {
            int k = (n - 1 - r + i * 3) % n;

            member[i][r] = process(k);
            mine[i] |= k == self;
        }
        if (mine[i])
            make(&g[i], member[i], size[i] < n ? size[i] : n);
        for (int j = 0; j < i; j++)
            check(!mine[i] || !mine[j] || g[i].context != g[j].context, "two groups in context %d", g[i].context);
    }
    for (int i = 3; i >= 0; i--)
        if (mine[i])
            check_all(&g[i]);
    for (int i = 0; i < 4; i++)
        check_equal(mine[i] ? group_free(&g[i]) : 0, 0);
}

/* The member that only receives comes late to many operations. The others send more than its memory holds. */
static void slow_member(void)
{
    enum { TURNS = 500, MOST = 2000 };
    int bytes[MEMBERS_MAX], last = node_count() - 1;
    struct group g;

    make(&g, NULL, node_count());
    for (int r = 0; r < g.size; r++)
        bytes[r] = MOST - r;
    fill_pattern(one, MOST, seed_of(g.rank, 0));
    for (int kind = 0; kind < 4; kind++) {
        int late = kind < 2 ? 0 : last;

        check_equal(group_barrier(&g), 0);
        if (g.rank == late)
            usleep(2000000);
        for (int i = 0; i < TURNS; i++) {
            int value = i;

            if (kind == 0)
                check_equal(group_gather(&g, one, all, bytes, late), 0);
            else if (kind == 1)
                check_equal(group_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM, late), 0);
            else if (kind == 2)
                check_equal(group_scatter(&g, all, other, bytes, 0), 0);
            else
                check_equal(group_broadcast(&g, other, MOST, 0), 0);
            check(kind != 1 || g.rank != late || value == i * g.size, "turn %d: %d", i, value);
        }
    }
    check_equal(group_free(&g), 0);
}

/* nread, a group's group_read and another group's see their own messages only; a wildcard sees no operation's. */
static void contexts_are_apart(void)
{
    struct group a, b;
    int rank, type, value, next = (own_node() + 1) % node_count();
    int previous = (own_node() + node_count() - 1) % node_count();

    make(&a, NULL, node_count());
    make(&b, NULL, node_count());
    for (int round = 0; round < 3; round++) {
        value = 1;
        check_equal(group_write(&b, &value, sizeof value, next, 7), 0);
        value = 2;
        check_equal(group_write(&a, &value, sizeof value, next, 7), 0);
        send(N_PROCESS(next, N_PROCID_OF(npid())), 7, round);
        check_equal(group_barrier(&a), 0);
        rank = type = N_ANY;
        check_equal(group_read(&a, &value, sizeof value, &rank, &type), sizeof value);
        check(value == 2 && rank == previous && type == 7, "value %d from rank %d, type %d", value, rank, type);
        check_equal(group_read(&b, &value, sizeof value, NULL, NULL), sizeof value);
        check_equal(value, 1);
        take(N_ANY, N_ANY, N_PROCESS(previous, N_PROCID_OF(npid())), 7, round);
        check_equal(group_test(&a, NULL, NULL), -N_EAGAIN);
        check_equal(group_barrier(&a), 0); /* before anybody sends the next */
    }
    check_equal(group_write(&a, &value, sizeof value, a.rank, GROUP_TYPE_MAX), 0);
    rank = N_ANY, type = GROUP_TYPE_MAX;
    check_equal(group_test(&a, &rank, &type), sizeof value);
    check_equal(rank, a.rank);
    check_equal(group_read(&a, &value, sizeof value, &rank, &type), sizeof value);
    check_equal(group_free(&a), 0);
    check_equal(group_free(&b), 0);
}

/* While node 0 waits for anything in a context, the others are in an operation of the same group. */
static void wildcards_see_no_operation(void)
{
    struct group g;
    int last = node_count() - 1, value = 0, rank = N_ANY, type = N_ANY;

    make(&g, NULL, node_count());
    if (own_node() == last) {
        usleep(20000);
        check_equal(group_write(&g, &last, sizeof last, 0, 3), 0);
    }
    if (own_node() == 0) {
        check_equal(group_read(&g, &value, sizeof value, &rank, &type), sizeof value);
        check_equal(rank, last);
        check_equal(type, 3);
    }
    value = 1;
    check_equal(group_all_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM), 0);
    check_equal(value, node_count());
    check_equal(group_free(&g), 0);
}

/* nsync beside a nread of any type and source. */
static void nsync_beside_any(void)
{
    int last = node_count() - 1;

    for (int round = 0; round < 5; round++) {
        if (own_node() == last && last > 0) {
            usleep(3000);
            send(N_PROCESS(0, N_PROCID_OF(npid())), round, round);
        }
        if (own_node() == 0 && last > 0)
            take(N_ANY, N_ANY, N_PROCESS(last, N_PROCID_OF(npid())), round, round);
        check_equal(nsync(round), 0);
    }
}

/* As many groups as there are contexts, and one more. What is given back can be used again. */
static void contexts_run_out(void)
{
    static struct group g[CONTEXTS + 1];

    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < CONTEXTS; i++)
            check_equal(group_make(&g[i], NULL, node_count()), 0);
        check_equal(group_make(&g[CONTEXTS], NULL, node_count()), -N_EAGAIN);
        check_equal(group_free(&g[CONTEXTS]), -N_EINVAL);
        check_equal(group_free(&g[9]), 0);
        check_equal(group_make(&g[CONTEXTS], NULL, node_count()), 0);
        check_equal(g[CONTEXTS].context, g[10].context - 1);
        for (int i = 0; i <= CONTEXTS; i++)
            if (i != 9)
                check_equal(group_free(&g[i]), 0);
    }
}

static void bad_arguments(void)
{
    struct group g, other_group;
    int self = npid(), twice[] = {self, self}, beyond[] = {self, node_count()}, negative[] = {-1, self};
    int another[] = {N_PROCESS(own_node(), N_PROCID_OF(self) + 1)}, bytes[MEMBERS_MAX] = {-1};
    int value = 0, rank = node_count(), type = GROUP_TYPE_MAX + 1;

    check_equal(group_make(&g, &self, 0), -N_EINVAL);
    check_equal(group_make(&g, twice, 2), -N_EINVAL);
    check_equal(group_make(&g, beyond, 2), -N_EINVAL);
    check_equal(group_make(&g, negative, 2), -N_EINVAL);
    check_equal(group_make(&g, another, 1), -N_ESRCH);
    check_equal(group_barrier(&g), -N_EINVAL);
    make(&g, NULL, node_count());
    check_equal(group_write(&g, &value, 1, node_count(), 1), -N_EINVAL);
    check_equal(group_write(&g, &value, 1, 0, GROUP_TYPE_MAX + 1), -N_EINVAL);
    check_equal(group_write(&g, &value, -1, 0, 1), -N_EINVAL);
    check_equal(group_read(&g, &value, 1, &rank, NULL), -N_EINVAL);
    check_equal(group_test(&g, NULL, &type), -N_EINVAL);
    check_equal(group_broadcast(&g, &value, -1, 0), -N_EINVAL);
    check_equal(group_broadcast(&g, &value, 1, node_count()), -N_EINVAL);
    check_equal(group_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM, -1), -N_EINVAL);
    check_equal(group_all_reduce(&g, &value, -1, GROUP_INT, GROUP_SUM), -N_EINVAL);
    check_equal(group_all_reduce(&g, &value, 1, GROUP_DOUBLE, GROUP_AND), -N_EINVAL);
    check_equal(group_all_reduce(&g, &value, 1, GROUP_DOUBLE, GROUP_XOR), -N_EINVAL);
    check_equal(group_all_reduce(&g, &value, 1, GROUP_INT64 + 1, GROUP_SUM), -N_EINVAL);
    check_equal(group_scan(&g, &value, -1, GROUP_INT, GROUP_SUM), -N_EINVAL);
    check_equal(group_scan_before(&g, &value, 1, GROUP_INT, GROUP_XOR + 1), -N_EINVAL);
    check_equal(group_make_in(&other_group, &g, (int[]){g.rank, g.rank}, 2), -N_EINVAL);
    check_equal(group_make_in(&other_group, &g, (int[]){node_count()}, 1), -N_EINVAL);
    check_equal(group_make_in(&other_group, &g, (int[]){-1}, 1), -N_EINVAL);
    check_equal(group_make_in(&other_group, &g, &value, 0), -N_EINVAL);
    check_equal(group_barrier(&other_group), -N_EINVAL);
    check_equal(group_all_gather(&g, &value, &value, bytes), -N_EINVAL);
    check_equal(group_gather(&g, &value, &value, bytes, 0), -N_EINVAL);
    bytes[0] = 0;
    check_equal(group_scatter(&g, &value, &value, bytes, node_count()), -N_EINVAL);
    bytes[0] = node_count() > 1 ? INT_MAX : -1;
    bytes[1] = 1;
    check_equal(group_gather(&g, &value, &value, bytes, 0), -N_EINVAL);
    check_equal(group_exchange(&g, &value, bytes, &value, bytes), -N_EINVAL);
    check_equal(group_free(&g), 0);
}

/* Members that name different lists learn of it, where the tree is the same. */
static void lists_differ(void)
{
    struct group g;
    int member[] = {0, own_node() == 1 ? 2 : 1, own_node() == 1 ? 1 : 2, 3};

    check_equal(group_make(&g, member, 4), -N_EINVAL);
}

/* ---- Members that do not come ---- */

static void one_has_ended(void)
{
    struct group g;
    int value = 1;

    make(&g, NULL, node_count());
    if (own_node() == node_count() - 1)
        exit(0);
    group_all_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM);
}

static void one_does_not_make(void)
{
    struct group g;

    if (own_node() != 1)
        group_make(&g, NULL, node_count());
}

static void nothing_comes(void)
{
    struct group g;

    make(&g, NULL, node_count());
    group_read(&g, NULL, 0, NULL, NULL);
}

/* With a dead node from 200 ms on: whoever has to do with it gets an error, and says so. */
static void member_dies(void)
{
    struct group g;
    int value = 1, result = 0;

    make(&g, NULL, node_count());
    usleep(300000);
    for (int i = 0; i < 3 && result >= 0; i++)
        result = group_all_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM);
    if (result < 0)
        printf("rank %d: %s, rank %d\n", g.rank, n_strerror(result), g.failed);
    exit(result < 0);
}

static volatile sig_atomic_t rings;

static void ring(int number)
{
    rings += number == SIGALRM;
}

/* One member comes late; no other leaves before. */
static void check_nobody_leaves_early(struct group *g, int late)
{
    if (g->rank == late)
        for (volatile int k = 0; k < 10000; k++)
            ;
    double came = amicclk();
    check_equal(group_barrier(g), 0);
    double left = amicclk();
    check_equal(group_all_reduce(g, &came, 1, GROUP_DOUBLE, GROUP_GREATEST), 0);
    check(left >= came, "left at %f, but the last came at %f", left, came);
}

/* Handlers run while members wait for the result: what they have given to their parents is not given again. */
static void handlers_run_meanwhile(void)
{
    const struct itimerval often = {.it_interval = {0, 2000}, .it_value = {0, 2000}}, never = {.it_value = {0, 0}};
    struct group g;

    make(&g, NULL, node_count());
    signal(SIGALRM, ring);
    check_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < 10; i++) {
        int value = i * (g.rank + 1);

        check_nobody_leaves_early(&g, i % g.size);
        check_equal(group_all_reduce(&g, &value, 1, GROUP_INT, GROUP_SUM), 0);
        check_equal(value, i * g.size * (g.size + 1) / 2);
    }
    check_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    check(g.size == 1 || rings > 10, "%d alarms", (int)rings);
    check_equal(group_free(&g), 0);
}

static const struct test_case cases[] = {
    {"odd sets", odd_sets},
    {"subcubes", subcubes},
    {"overlapping", overlapping},
    {"four groups in two contexts", four_groups_in_two_contexts},
    {"four contexts", four_contexts},
    {"slow member", slow_member},
    {"contexts are apart", contexts_are_apart},
    {"wildcards see no operation", wildcards_see_no_operation},
    {"nsync beside any", nsync_beside_any},
    {"contexts run out", contexts_run_out},
    {"bad arguments", bad_arguments},
    {"lists differ", lists_differ},
    {"one has ended", one_has_ended},
    {"one does not make", one_does_not_make},
    {"nothing comes", nothing_comes},
    {"member dies", member_dies},
    {"handlers run meanwhile", handlers_run_meanwhile},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

/*
 * Groups of odd sizes and orders, their operations and their contexts. Every member knows what every other one has, so
 * it compares each result with a plain reference. Built with -DPROCS=3 -Nprocs 3, too: then members share nodes.
 */
#include <group.h>
#include <limits.h>
#include <n_errno.h>
#include <ntime.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check_messages.h"

#ifndef PROCS
#define PROCS 1
#endif

enum { MEMBERS_MAX = 64, BYTES_MAX = 100000, CONTEXTS = 27, INTS = 5 };

static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32};
static char one[BYTES_MAX + 8], other[BYTES_MAX + 8], all[4 * BYTES_MAX];

static int processes(void)
{
    return node_count() * PROCS;
}

static int process(int number)
{
    return N_PROCESS(number % node_count(), number / node_count());
}

/* A list of `size` processes in an order of the seed's; true if the caller is in it. */
static int draw_list(int *member, int size, uint64_t seed)
{
    int order[8 * MEMBERS_MAX], is_member = 0;

    for (int i = 0; i < processes(); i++)
        order[i] = i;
    for (int i = 0; i < size; i++) {
        int from = i + (int)(draw(&seed) % (unsigned)(processes() - i)), number = order[from];

        order[from] = order[i];
        member[i] = process(number);
        is_member |= member[i] == npid();
    }
    return is_member;
}

static void make(struct group *g, const int *member, int size)
{
    check_equal(group_make(g, member, size), 0);
    check_equal(g->size, size);
    check(!member || member[g->rank] == npid(), "rank %d", g->rank);
}

/* ---- Each operation, against what it must give ---- */

static int late_type = 5; /* of messages to all; groups in one context have different ones */

/* The late member sends a message to each before the barrier; after it, each has received it. */
static void check_barrier(struct group *g)
{
    for (int late = 0; late < g->size; late += 3) {
        int rank = N_ANY, type = late_type;

        if (g->rank == late) {
            usleep(500);
            for (int r = 0; r < g->size; r++)
                check_equal(group_write(g, &late, sizeof late, r, late_type), 0);
        }
        check_equal(group_barrier(g), 0);
        check_equal(group_read(g, &rank, sizeof rank, &rank, &type), sizeof rank);
        check_equal(rank, late);
    }
}

static void check_broadcast(struct group *g)
{
    static const int lengths[] = {0, 1, 8, 4096, 8191, 8193, 33000, BYTES_MAX};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i], root = (int)i * 5 % g->size;

        memset(one, 0x55, sizeof one);
        if (g->rank == root)
            fill_pattern(one, (size_t)n, (uint32_t)n);
        check_equal(group_broadcast(g, one, n, root), 0);
        check(find_wrong_byte(one, (size_t)n, (uint32_t)n) == (size_t)n, "%d bytes from rank %d of %d", n, root,
              g->size);
        check(one[n] == 0x55, "%d bytes: one more is written", n);
    }
}

/* ---- Reductions and scans of integers ---- */

static int64_t value_of(enum group_element element, int rank, int i)
{
    uint64_t seed = (uint64_t)rank * 977 + (uint64_t)i;

    draw(&seed);
    int64_t low = (int)draw(&seed) - (1 << 30);
    return element == GROUP_INT ? low : (int64_t)((uint64_t)low << 31) ^ draw(&seed);
}

static int64_t combine(enum group_element element, enum group_operation operation, int64_t a, int64_t b)
{
    const int64_t results[] = {
        [GROUP_SUM] = (int64_t)((uint64_t)a + (uint64_t)b),
        [GROUP_LEAST] = a < b ? a : b,
        [GROUP_GREATEST] = a > b ? a : b,
        [GROUP_AND] = a & b,
        [GROUP_PRODUCT] = (int64_t)((uint64_t)a * (uint64_t)b),
        [GROUP_OR] = a | b,
        [GROUP_XOR] = a ^ b,
    };

    return element == GROUP_INT ? (int)results[operation] : results[operation];
}

static int64_t combine_ranks(enum group_element element, enum group_operation operation, int ranks, int i)
{
    int64_t value = value_of(element, 0, i);

    for (int r = 1; r < ranks; r++)
        value = combine(element, operation, value, value_of(element, r, i));
    return value;
}

static void put_own(const struct group *g, enum group_element element, void *at, int n)
{
    for (int i = 0; i < n; i++)
        if (element == GROUP_INT)
            ((int *)at)[i] = (int)value_of(element, g->rank, i);
        else
            ((int64_t *)at)[i] = value_of(element, g->rank, i);
}

static int64_t get(enum group_element element, const void *at, int i)
{
    return element == GROUP_INT ? ((const int *)at)[i] : ((const int64_t *)at)[i];
}

enum integer_call { REDUCE, ALL_REDUCE, SCAN, SCAN_BEFORE, INTEGER_CALLS };

/* Makes a call; returns how many ranks' combination it must give on this one, 0: nothing is said of it. */
static int call_of(struct group *g, enum integer_call call, int n, enum group_element element,
                   enum group_operation operation)
{
    int root = n % g->size, result;

    switch (call) {
    case REDUCE:
        result = group_reduce(g, one, n, element, operation, root);
        check_equal(result, 0);
        return g->rank == root ? g->size : 0;
    case ALL_REDUCE:
        result = group_all_reduce(g, one, n, element, operation);
        check_equal(result, 0);
        return g->size;
    case SCAN:
        check_equal(group_scan(g, one, n, element, operation), 0);
        return g->rank + 1;
    default:
        check_equal(group_scan_before(g, one, n, element, operation), 0);
        return g->rank == 0 ? 1 : g->rank; /* rank 0 keeps its own */
    }
}

static void check_integers(struct group *g, enum group_element element, enum group_operation operation, int n)
{
    for (enum integer_call call = REDUCE; call < INTEGER_CALLS; call++) {
        put_own(g, element, one, n);
        int ranks = call_of(g, call, n, element, operation);
        for (int i = 0; ranks > 0 && i<n; i += n> 100 ? 37 : 1) {
            int64_t expected = combine_ranks(element, operation, ranks, i), value = get(element, one, i);

            check(value == expected, "call %d, operation %d, %d of %d: %lld, not %lld", call, operation, i, n,
                  (long long)value, (long long)expected);
        }
    }
}

static void check_all_integers(struct group *g)
{
    for (enum group_element element = GROUP_INT; element <= GROUP_INT64; element += GROUP_INT64 - GROUP_INT) {
        for (int operation = GROUP_SUM; operation <= GROUP_XOR; operation++) {
            check_integers(g, element, operation, 1);
            check_integers(g, element, operation, INTS);
        }
        check_integers(g, element, GROUP_SUM, 0);
        check_integers(g, element, GROUP_SUM, 515);
        check_integers(g, element, GROUP_PRODUCT, 3001);
    }
}

/* Sums of small integers are exact in any order. */
static void check_doubles(struct group *g)
{
    double sum[3] = {g->rank, -1.5 * g->rank, 1}, least = 1.5 - g->rank, greatest = 0.5 + g->rank, product = -2;

    check_equal(group_all_reduce(g, sum, 3, GROUP_DOUBLE, GROUP_SUM), 0);
    check_equal(group_all_reduce(g, &least, 1, GROUP_DOUBLE, GROUP_LEAST), 0);
    check_equal(group_all_reduce(g, &greatest, 1, GROUP_DOUBLE, GROUP_GREATEST), 0);
    check_equal(group_scan(g, &product, 1, GROUP_DOUBLE, GROUP_PRODUCT), 0);
    double ranks = g->size * (g->size - 1) / 2.0, power = 1;
    check(sum[0] == ranks && sum[1] == -1.5 * ranks && sum[2] == g->size, "sums: %g %g %g", sum[0], sum[1], sum[2]);
    check(least == 2.5 - g->size && greatest == g->size - 0.5, "%g, %g", least, greatest);
    for (int r = 0; r <= g->rank; r++)
        power *= -2;
    check(product == power, "product %g, not %g", product, power);
}

/* A part from one rank for another: of 0 to `most` bytes. */
static int length_of(int from, int to, int most)
{
    uint64_t seed = (uint64_t)(from * 64 + to) * 31 + 7;

    draw(&seed);
    return (int)(draw(&seed) % 4 == 0 ? 0 : draw(&seed) % (unsigned)(most + 1));
}

static uint32_t seed_of(int from, int to)
{
    return (uint32_t)(from * 64 + to + 1);
}

static void check_part(const char *part, int n, int from, int to)
{
    check(find_wrong_byte(part, (size_t)n, seed_of(from, to)) == (size_t)n, "the %d bytes of rank %d for rank %d", n,
          from, to);
}

static void check_gather_and_scatter(struct group *g, int most)
{
    int bytes[MEMBERS_MAX], root = most % g->size, at = 0;

    for (int r = 0; r < g->size; r++)
        bytes[r] = length_of(r, 0, most);
    memset(all, 0, sizeof all);
    fill_pattern(one, (size_t)bytes[g->rank], seed_of(g->rank, 0));
    check_equal(group_gather(g, one, g->rank == root ? all : NULL, bytes, root), 0);
    for (int r = 0; g->rank == root && r < g->size; at += bytes[r++])
        check_part(all + at, bytes[r], r, 0);
    memset(other, 0x55, sizeof other);
    check_equal(group_scatter(g, g->rank == root ? all : NULL, other, bytes, root), 0);
    check_part(other, bytes[g->rank], g->rank, 0);
    check(other[bytes[g->rank]] == 0x55, "scatter: one byte more is written");
}

static void check_all_gather(struct group *g, int most)
{
    int bytes[MEMBERS_MAX], at = 0;

    for (int r = 0; r < g->size; r++)
        bytes[r] = length_of(r, 1, most);
    memset(all, 0x55, sizeof all);
    fill_pattern(one, (size_t)bytes[g->rank], seed_of(g->rank, 0));
    check_equal(group_all_gather(g, one, all, bytes), 0);
    for (int r = 0; r < g->size; at += bytes[r++])
        check_part(all + at, bytes[r], r, 0);
    check(at == sizeof all || all[at] == 0x55, "all-gather: one byte more is written");
}

static void check_exchange(struct group *g, int most)
{
    static char received[sizeof all];
    int to[MEMBERS_MAX], from[MEMBERS_MAX], at = 0;

    for (int r = 0; r < g->size; at += to[r++]) {
        to[r] = length_of(g->rank, r, most);
        from[r] = length_of(r, g->rank, most);
        fill_pattern(all + at, (size_t)to[r], seed_of(g->rank, r));
    }
    check_equal(group_exchange(g, all, to, received, from), 0);
    at = 0;
    for (int r = 0; r < g->size; at += from[r++])
        check_part(received + at, from[r], r, g->rank);
}

/* A part for the next rank and one for the one before only. */
static void check_exchange_of_neighbours(struct group *g)
{
    int to[MEMBERS_MAX] = {0}, from[MEMBERS_MAX] = {0}, next = (g->rank + 1) % g->size;
    int before = (g->rank + g->size - 1) % g->size;
    char back[2][8];

    to[next] = to[before] = from[next] = from[before] = 8;
    int is_one = next == before;
    fill_pattern(all, 8, seed_of(g->rank, next < before ? next : before));
    fill_pattern(all + 8, 8, seed_of(g->rank, next < before ? before : next));
    check_equal(group_exchange(g, all, to, back, from), 0);
    check_part(back[is_one || next < before ? 0 : 1], 8, next, g->rank);
    check_part(back[is_one || next > before ? 0 : 1], 8, before, g->rank);
}

static void check_all(struct group *g)
{
    int most = (int)sizeof all / g->size;

    check_barrier(g);
    check_broadcast(g);
    check_all_integers(g);
    check_doubles(g);
    check_gather_and_scatter(g, 100);
    check_gather_and_scatter(g, most < BYTES_MAX ? most : BYTES_MAX);
    check_all_gather(g, 100);
    check_all_gather(g, most < 12000 ? most : 12000);
    check_exchange(g, 100);
    check_exchange(g, most < 12000 ? most : 12000);
    check_exchange_of_neighbours(g);
}

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

/*
 * check_all: the operations of groups, each against a plain reference that every member computes. For a program of
 * PROCS processes on each node (tests/guest/groups.c).
 */
#pragma once

#include <group.h>
#include <limits.h>
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

/*
 * What a library builds on the collective operations (libpio/group/collect.h): operations that do not commute, types of
 * its own, and messages that it receives itself, while others come that it must answer.
 */
#include <n_errno.h>

#include "check.h"
#include "libpio/group/collect.h"
#include "vertex/contract/traps.h"

enum { MOST = 400, TYPE = 0x8400, NOTE_TYPE = 77 };

/* The map x -> factor x + offset, modulo 2^32. Done one after the other, maps do not commute. */
struct map {
    uint32_t factor, offset;
};

static struct map maps[MOST], room[MOST], before[MOST];

static struct map after(struct map first, struct map second)
{
    return (struct map){first.factor * second.factor, second.factor * first.offset + second.offset};
}

static void compose(void *into, const void *low, const void *high, int n)
{
    for (int i = 0; i < n; i++)
        ((struct map *)into)[i] = after(((const struct map *)low)[i], ((const struct map *)high)[i]);
}

static struct map map_of(int number, int i)
{
    return (struct map){(uint32_t)(2 * (number * 31 + i) + 3), (uint32_t)(number * 1009 + i)};
}

/* Of the members numbered 0 .. count-1. */
static struct map all_of(int count, int i)
{
    struct map m = map_of(0, i);

    for (int number = 1; number < count; number++)
        m = after(m, map_of(number, i));
    return m;
}

static struct collect_reduction own_maps(int number, int n)
{
    for (int i = 0; i < n; i++)
        maps[i] = map_of(number, i);
    return (struct collect_reduction){maps, room, n, sizeof *maps, compose};
}

static void check_maps(const struct map *at, int n, int count, const char *what)
{
    for (int i = 0; i < n; i++) {
        struct map expected = all_of(count, i);

        check(at[i].factor == expected.factor && at[i].offset == expected.offset, "%s of %d members, %d of %d", what,
              count, i, n);
    }
}

/* Reductions combine in the order of places, scans in that of ranks. */
static void check_order(struct group *g, int n)
{
    for (int root = 0; root < g->size; root += 3) {
        const struct collect_reduction x = own_maps(g->place, n);

        check_equal(collect_reduce(g, &x, root, TYPE), 0);
        if (g->place == root && (n > 64 || root == 0)) /* short ones begin at the root */
            check_maps(maps, n, g->size, "reduction");
    }
    struct collect_reduction x = own_maps(g->place, n);
    check_equal(collect_all_reduce(g, &x, TYPE), 0);
    check_maps(maps, n, g->size, "all-reduce");
    x = own_maps(g->rank, n);
    check_equal(collect_scan(g, &x, before, TYPE + 1), 0);
    check_maps(maps, n, g->rank + 1, "scan");
    if (g->rank > 0)
        check_maps(before, n, g->rank, "scan before");
}

/* Parts with a type of the library's, beside a message of the program's of that number. */
static void check_parts(struct group *g)
{
    int one[64], of_each[64] = {0}, bytes[64], other[64], next = (g->rank + 1) % g->size;
    int own_type = TYPE & GROUP_TYPE_MAX;

    for (int r = 0; r < g->size; r++) {
        bytes[r] = sizeof(int);
        one[r] = g->rank * 64 + r;
    }
    check_equal(group_write(g, &g->rank, sizeof(int), next, own_type), 0);
    check_equal(collect_all_gather(g, &g->rank, of_each, bytes, TYPE), 0);
    check_equal(collect_exchange(g, one, bytes, other, bytes, TYPE), 0);
    for (int r = 0; r < g->size; r++)
        check(of_each[r] == r && other[r] == r * 64 + g->rank, "rank %d: %d, %d", r, of_each[r], other[r]);
    check_equal(collect_gather(g, one, of_each, bytes, g->size - 1, TYPE), 0);
    check_equal(collect_scatter(g, of_each, other, bytes, g->size - 1, TYPE), 0);
    check_equal(other[0], one[0]);
    check_equal(group_read(g, other, sizeof(int), NULL, &own_type), sizeof(int));
    check_equal(other[0], (g->rank + g->size - 1) % g->size);
}

/* ---- A library that answers while it waits ---- */

static int answered;

/* Looks for both kinds of messages in turn. */
static int take_and_answer(struct group *g, int process, void *buf, long bytes, int type)
{
    for (;;) {
        int from = process, of = type, any = N_ANY, note = NOTE_TYPE, value;

        if (trap_test_context(&from, &of, g->context) >= 0)
            return (int)trap_read_context(buf, bytes, &from, &of, g->context);
        if (trap_test_context(&any, &note, g->context) >= 0) {
            check_equal(trap_read_context(&value, sizeof value, &any, &note, g->context), sizeof value);
            answered++;
        }
    }
}

/* Every member sends each other a note while these are in an operation. Some come only after the last one. */
static void check_progress(struct group *g)
{
    int note = NOTE_TYPE, late = 0, value;

    answered = 0;
    g->take = take_and_answer;
    for (int round = 0; round < g->size; round++) {
        for (int r = 0; r < g->size && g->rank == round; r++)
            check_equal(group_write(g, &r, sizeof r, r, NOTE_TYPE), 0);
        check_equal(collect_barrier(g, TYPE), 0);
    }
    check_order(g, 5);
    check_order(g, MOST);
    check_parts(g);
    g->take = NULL;
    int in_operations = answered;
    while (group_test(g, NULL, &note) >= 0) {
        check_equal(group_read(g, &value, sizeof value, NULL, &note), sizeof value);
        check_equal(value, g->rank);
        late++;
    }
    check_equal(in_operations + late, g->size);
    check_equal(group_all_reduce(g, &in_operations, 1, GROUP_INT, GROUP_SUM), 0);
    check(g->size == 1 || in_operations > g->size, "%d answers while waiting", in_operations);
}

/* The nodes by steps of `step`, which wrap: any order. */
static void one_group(int size, int step)
{
    int member[64], is_member = 0;
    struct group g;

    for (int r = 0; r < size; r++) {
        member[r] = (r * step + 1) % size;
        is_member |= member[r] == own_node();
    }
    if (!is_member)
        return;
    check_equal(group_make(&g, member, size), 0);
    check_order(&g, 1);
    check_order(&g, 257);
    check_order(&g, MOST);
    check_parts(&g);
    check_progress(&g);
    check_equal(group_free(&g), 0);
}

int main(void)
{
    for (int size = 1; size <= node_count(); size++)
        one_group(size, size % 5 == 0 ? 1 : 5);
    if (own_node() == 0)
        printf("passed\n");
    return 0;
}

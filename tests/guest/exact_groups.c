/*
 * Random groups: all nodes draw the same sequence of groups and operations from a seed, compute for different times
 * between them, and add up what they saw, and when. The results are compared with a reference; the sum of clocks and
 * results is each node's last line, so that a single cycle's difference between two runs shows.
 *
 *   exact_groups MIX SEED     MIX: not used; make exact names one
 */
#include <group.h>

#include "exact_work.h"

enum { TURNS = 25, NODES_MAX = 64, BYTES_MAX = 40000, OPERATIONS = 8 };

static uint64_t common;
static char buf[BYTES_MAX + 8], all[NODES_MAX * 128], back[NODES_MAX * 128];

static void broadcast(struct group *g, uint32_t drawn)
{
    int n = (int)(drawn % 3 ? drawn % 64 : drawn % BYTES_MAX), root = (int)(drawn / 7 % (unsigned)g->size);

    if (g->rank == root)
        fill_pattern(buf, (size_t)n, drawn);
    check_equal(group_broadcast(g, buf, n, root), 0);
    check(find_wrong_byte(buf, (size_t)n, drawn) == (size_t)n, "broadcast of %d bytes", n);
}

static void all_reduce(struct group *g, uint32_t drawn)
{
    static int value[700];
    int n = (int)(drawn % 3 ? drawn % 9 : drawn % 700);

    for (int i = 0; i < n; i++)
        value[i] = g->rank * (int)(drawn % 1000) + i;
    check_equal(group_all_reduce(g, value, n, GROUP_INT, GROUP_SUM), 0);
    for (int i = 0; i < n; i++)
        check_equal(value[i], g->size * (g->size - 1) / 2 * (int)(drawn % 1000) + i * g->size);
}

static void scan(struct group *g, uint32_t drawn)
{
    int value[8], n = (int)(drawn % 9);

    for (int i = 0; i < n; i++)
        value[i] = g->rank + i;
    check_equal(group_scan(g, value, n, GROUP_INT, GROUP_SUM), 0);
    for (int i = 0; i < n; i++)
        check_equal(value[i], g->rank * (g->rank + 1) / 2 + i * (g->rank + 1));
}

static void all_gather(struct group *g, uint32_t drawn)
{
    int bytes[NODES_MAX], at = 0;

    for (int r = 0; r < g->size; r++)
        bytes[r] = (int)((drawn / 3 + (unsigned)r * 37) % 128);
    fill_pattern(buf, (size_t)bytes[g->rank], (uint32_t)g->rank);
    check_equal(group_all_gather(g, buf, all, bytes), 0);
    for (int r = 0; r < g->size; at += bytes[r++])
        check(find_wrong_byte(all + at, (size_t)bytes[r], (uint32_t)r) == (size_t)bytes[r], "%d bytes from rank %d",
              bytes[r], r);
}

/* What the root has gathered, it shares out again. */
static void gather_and_scatter(struct group *g, uint32_t drawn)
{
    int bytes[NODES_MAX], root = (int)(drawn % (unsigned)g->size);

    for (int r = 0; r < g->size; r++)
        bytes[r] = (int)((drawn / 3 + (unsigned)r * 37) % 128);
    fill_pattern(buf, (size_t)bytes[g->rank], (uint32_t)g->rank);
    check_equal(group_gather(g, buf, all, bytes, root), 0);
    check_equal(group_scatter(g, all, back, bytes, root), 0);
    check(memcmp(buf, back, (size_t)bytes[g->rank]) == 0, "%d bytes gathered and scattered", bytes[g->rank]);
}

static void exchange(struct group *g, uint32_t drawn)
{
    int to[NODES_MAX], from[NODES_MAX], at = 0;

    for (int r = 0; r < g->size; at += to[r++]) {
        to[r] = (int)((drawn + (unsigned)(g->rank * 5 + r * 11)) % 128);
        from[r] = (int)((drawn + (unsigned)(r * 5 + g->rank * 11)) % 128);
        fill_pattern(all + at, (size_t)to[r], (uint32_t)(g->rank * 64 + r));
    }
    check_equal(group_exchange(g, all, to, back, from), 0);
    at = 0;
    for (int r = 0; r < g->size; at += from[r++])
        check(find_wrong_byte(back + at, (size_t)from[r], (uint32_t)(r * 64 + g->rank)) == (size_t)from[r],
              "%d bytes from rank %d", from[r], r);
}

static void pass_around(struct group *g, uint32_t drawn)
{
    int rank = (g->rank + g->size - 1) % g->size, type = N_ANY, value = 0;

    check_equal(group_write(g, &g->rank, sizeof g->rank, (g->rank + 1) % g->size, (int)(drawn % 100)), 0);
    while (drawn % 2 && group_test(g, &rank, &type) < 0)
        note(1);
    check_equal(group_read(g, &value, sizeof value, &rank, &type), sizeof value);
    check_equal(value, rank);
    check_equal(type, drawn % 100);
}

static void barrier(struct group *g, uint32_t drawn)
{
    (void)drawn;
    check_equal(group_barrier(g), 0);
}

static void (*const operations[OPERATIONS])(struct group *g, uint32_t drawn) = {
    broadcast, all_reduce, gather_and_scatter, exchange, pass_around, barrier, scan, all_gather};

/* All nodes draw the same list and operations; the members do them. */
static void turn(void)
{
    int nodes = node_count(), member[NODES_MAX], is_member = 0, size = 1 + (int)(draw(&common) % (unsigned)nodes);
    uint32_t first = draw(&common), step = draw(&common) % 2 ? 1 : (unsigned)nodes - 1;
    struct group g;

    for (int r = 0; r < size; r++) {
        member[r] = (int)((first + (unsigned)r * step) % (unsigned)nodes);
        is_member |= member[r] == own_node();
    }
    if (is_member)
        check_equal(group_make(&g, size == nodes && first % 2 ? NULL : member, size), 0);
    for (int i = 0; i < 3; i++) {
        uint32_t operation = draw(&common) % OPERATIONS, drawn = draw(&common) % 1000000;

        compute();
        if (is_member)
            operations[operation](&g, drawn);
        note(operation);
    }
    if (is_member)
        check_equal(group_free(&g), 0);
}

int main(int argc, char **argv)
{
    check(argc >= 3 && node_count() <= NODES_MAX, "usage: exact_groups MIX SEED");
    common = strtoull(argv[2], NULL, 10) * 7919 + 1;
    own_choice = common * 31 + (uint64_t)own_node();
    draw(&common);
    for (int i = 0; i < TURNS; i++)
        turn();
    printf("node %d: %.2f us, %016llx\n", own_node(), amicclk(), (unsigned long long)seen);
    return 0;
}

/* Paths as channel sets: the theorem of [P0 section 3] against the sets themselves. */
#include "emu/tools/paths.h"

#include <criterion/criterion.h>

#include "tests/emu/machines.h"

static struct path find(const struct topo *t, uint32_t from, uint32_t to)
{
    struct path p;

    cr_assert(path_find(t, from, to, NCU_VIA_NEAREST, &p), "%u -> %u", from, to);
    return p;
}

Test(paths, from_one_node_share_a_channel_exactly_when_they_have_the_same_P)
{
    struct topo t = sandia_machine(6, 0);

    for (uint32_t from = 0; from < 64; from++)
        for (uint32_t a = 0; a < 64; a++)
            for (uint32_t b = 0; b < 64; b++) {
                struct path pa = find(&t, from, a), pb = find(&t, from, b);
                bool same = pa.first_dimension == pb.first_dimension && pa.hops > 0;

                cr_assert_eq(path_shares_channel(&pa, &pb), same, "%u -> %u and %u", from, a, b);
            }
    topo_free(&t);
}

Test(paths, the_theorem_counts_the_disjoint_routings_to_io_nodes)
{
    struct topo t = sandia_machine(9, 16);

    for (uint32_t from = 0; from < 512; from++) {
        struct path p[16];

        for (uint32_t i = 0; i < 16; i++)
            p[i] = find(&t, from, NODE_IO(3, i));
        for (uint32_t n = 1; n <= 16; n++)
            cr_assert_eq(paths_disjoint(p, n), paths_disjoint_by_theorem(p, n), "node %u, %u I/O nodes", from, n);
    }
    topo_free(&t);
}

Test(paths, of_the_papers_example_are_two_disjoint_routings)
{
    struct topo t = sandia_machine(5, 8);
    struct path p[3] = {find(&t, 3, NODE_IO(3, 1)), find(&t, 3, NODE_IO(3, 2)), find(&t, 3, NODE_IO(3, 3))};

    cr_expect_not(path_shares_channel(&p[0], &p[1]));
    cr_expect(path_shares_channel(&p[0], &p[2]));
    cr_expect_eq(paths_disjoint(p, 3), 2);
    cr_expect_eq(paths_busiest_channel(p, 3), 2);
    topo_free(&t);
}

Test(paths, of_different_sources_can_share_whatever_their_P)
{
    struct topo t = sandia_machine(3, 0);
    struct path p[2] = {find(&t, 0, 7), find(&t, 1, 7)}; /* P = 0 and 1; both use 1.1 */

    cr_expect_neq(p[0].first_dimension, p[1].first_dimension);
    cr_expect(path_shares_channel(&p[0], &p[1]));
    cr_expect_eq(paths_disjoint(p, 2), 1);
    topo_free(&t);
}

Test(paths, joined_by_a_third_are_one_group)
{
    struct topo t = sandia_machine(3, 0);
    struct path p[3] = {find(&t, 0, 1), find(&t, 1, 3), find(&t, 0, 3)}; /* 0.0; 1.1; both */

    cr_expect_eq(paths_disjoint(p, 2), 2);
    cr_expect_eq(paths_disjoint(p, 3), 1);
    struct path both_first[3] = {p[2], p[0], p[1]};
    cr_expect_eq(paths_disjoint(both_first, 3), 1);
    topo_free(&t);
}

Test(paths, take_the_time_of_an_idle_network)
{
    struct topo t = sandia_machine(5, 8);
    struct path p = find(&t, 0, 31);

    cr_expect_eq(path_cycles(&t, &p, 4096), 37089);
    p = find(&t, 5, 5);
    cr_expect_eq(path_cycles(&t, &p, 8), 72);
    cr_expect_eq(paths_busiest_channel(&p, 1), 0);
    topo_free(&t);
}

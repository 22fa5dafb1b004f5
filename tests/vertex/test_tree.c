#include <criterion/criterion.h>

#include "vertex/process/tree.h"

static const struct {
    const char *name;
    uint32_t r, nodes, n, child[4];
} cases[] = {
    {"one node has none", 0, 1, 0, {0}},    {"root of 2", 0, 2, 1, {1}},           {"leaf of 2", 1, 2, 0, {0}},
    {"root of 16", 0, 16, 4, {1, 2, 4, 8}}, {"node 1 of 16", 1, 16, 3, {3, 5, 9}}, {"node 3 of 16", 3, 16, 2, {7, 11}},
    {"node 5 of 16", 5, 16, 1, {13}},       {"node 8 of 16", 8, 16, 0, {0}},       {"root of 3", 0, 3, 2, {1, 2}},
    {"node 1 of 3", 1, 3, 0, {0}},          {"node 1 of 13", 1, 13, 3, {3, 5, 9}}, {"node 5 of 13", 5, 13, 0, {0}},
};

Test(tree, children_are_those_of_the_binomial_tree)
{
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t child[32], n = tree_children(cases[i].r, cases[i].nodes, child);

        cr_assert_eq(n, cases[i].n, "%s: %u children", cases[i].name, n);
        for (uint32_t k = 0; k < n; k++)
            cr_expect_eq(child[k], cases[i].child[k], "%s: child %u is %u", cases[i].name, k, child[k]);
    }
}

Test(tree, every_node_but_the_root_is_reached_once_over_one_hop)
{
    enum { MAX = 1 << 10 };

    for (uint32_t dim = 0; dim <= 10; dim++) {
        int reached[MAX] = {0};

        for (uint32_t r = 0; r < 1u << dim; r++) {
            uint32_t child[32], n = tree_children(r, 1u << dim, child);

            for (uint32_t k = 0; k < n; k++) {
                cr_assert_eq(__builtin_popcount(r ^ child[k]), 1, "dim %u: %u to %u", dim, r, child[k]);
                reached[child[k]]++;
            }
        }
        cr_assert_eq(reached[0], 0, "dim %u: root", dim);
        for (uint32_t r = 1; r < 1u << dim; r++)
            cr_assert_eq(reached[r], 1, "dim %u: node %u is reached %d times", dim, r, reached[r]);
    }
}

Test(tree, of_any_number_of_nodes_reaches_each_once)
{
    for (uint32_t nodes = 1; nodes <= 100; nodes++) {
        int reached[100] = {0};

        for (uint32_t r = 0; r < nodes; r++) {
            uint32_t child[32], n = tree_children(r, nodes, child);

            for (uint32_t k = 0; k < n; k++) {
                cr_assert_lt(child[k], nodes);
                reached[child[k]]++;
            }
        }
        cr_assert_eq(reached[0], 0, "%u nodes: root", nodes);
        for (uint32_t r = 1; r < nodes; r++)
            cr_assert_eq(reached[r], 1, "%u nodes: node %u is reached %d times", nodes, r, reached[r]);
    }
}

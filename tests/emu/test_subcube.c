#include "emu/job/subcube.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* ---- Examples ---- */

Test(subcube, the_lowest_that_leaves_larger_ones_whole_is_taken)
{
    struct subcubes *s = subcubes_new(4);
    uint32_t base;

    cr_assert(subcubes_take(s, 2, &base) && base == 0);
    cr_assert(subcubes_take(s, 1, &base) && base == 4);
    cr_assert(subcubes_take(s, 0, &base) && base == 6);
    cr_assert(subcubes_take(s, 3, &base) && base == 8);
    cr_assert(subcubes_take(s, 0, &base) && base == 7);
    cr_expect_not(subcubes_take(s, 0, &base), "all 16 nodes are taken");
    cr_assert(subcubes_release(s, 4, 1));
    cr_assert(subcubes_release(s, 8, 3));
    cr_assert(subcubes_take(s, 0, &base));
    cr_expect_eq(base, 4, "the half is not cut for it");
    subcubes_free(s);
}

Test(subcube, the_smaller_block_is_taken_though_a_larger_one_lies_before_it)
{
    struct subcubes *s = subcubes_new(4);
    uint32_t base;

    cr_assert(subcubes_take(s, 3, &base) && base == 0);
    cr_assert(subcubes_take(s, 1, &base) && base == 8);
    cr_assert(subcubes_release(s, 0, 3));
    cr_assert(subcubes_take(s, 0, &base));
    cr_expect_eq(base, 10, "the block of 2, not the 8 or the 4: %u", base);
    cr_assert(subcubes_take(s, 2, &base));
    cr_expect_eq(base, 12, "%u", base);
    cr_assert(subcubes_take(s, 3, &base));
    cr_expect_eq(base, 0, "%u", base);
    subcubes_free(s);
}

Test(subcube, what_is_not_taken_can_not_be_released)
{
    struct subcubes *s = subcubes_new(3);
    uint32_t base;

    cr_assert(subcubes_take(s, 1, &base) && base == 0);
    cr_expect_not(subcubes_release(s, 0, 0), "a part of it");
    cr_expect_not(subcubes_release(s, 0, 2), "more than it");
    cr_expect_not(subcubes_release(s, 1, 1), "not aligned");
    cr_expect_not(subcubes_release(s, 8, 0), "outside");
    cr_expect_not(subcubes_release(s, 0, 9), "too large");
    cr_expect(subcubes_release(s, 0, 1));
    cr_expect_not(subcubes_release(s, 0, 1), "twice");
    subcubes_free(s);
}

Test(subcube, a_cube_of_one_node_has_one)
{
    struct subcubes *s = subcubes_new(0);
    uint32_t base = 9;

    cr_expect_not(subcubes_take(s, 1, &base));
    cr_expect(subcubes_take(s, 0, &base) && base == 0);
    cr_expect_not(subcubes_take(s, 0, &base));
    subcubes_free(s);
}

/* ---- Properties, against a map of nodes ---- */

#define DIM   6u
#define NODES (1u << DIM)

struct taken {
    uint32_t base, dim;
};

struct play {
    struct subcubes *subcubes;
    bool used[NODES];
    struct taken taken[NODES];
    uint32_t n;
    unsigned seed;
};

static bool is_free(const struct play *p, uint32_t base, uint32_t dim)
{
    for (uint32_t i = base; i < base + (1u << dim); i++)
        if (p->used[i])
            return false;
    return true;
}

static bool has_room(const struct play *p, uint32_t dim)
{
    for (uint32_t base = 0; base < NODES; base += 1u << dim)
        if (is_free(p, base, dim))
            return true;
    return false;
}

static void mark(struct play *p, struct taken t, bool used)
{
    for (uint32_t i = t.base; i < t.base + (1u << t.dim); i++)
        p->used[i] = used;
}

static void take_one(struct play *p)
{
    struct taken t = {.dim = (uint32_t)rand_r(&p->seed) % (DIM + 1) * (uint32_t)(rand_r(&p->seed) % 4) / 3};

    bool got = subcubes_take(p->subcubes, t.dim, &t.base);
    cr_assert_eq(got, has_room(p, t.dim), "dimension %u", t.dim);
    if (!got)
        return;
    cr_assert_eq(t.base % (1u << t.dim), 0, "base %u of dimension %u", t.base, t.dim);
    cr_assert_leq(t.base + (1u << t.dim), NODES);
    cr_assert(is_free(p, t.base, t.dim), "base %u of dimension %u is taken already", t.base, t.dim);
    mark(p, t, true);
    p->taken[p->n++] = t;
}

static void release_one(struct play *p)
{
    if (p->n == 0)
        return;
    struct taken *t = &p->taken[(uint32_t)rand_r(&p->seed) % p->n];
    cr_assert(subcubes_release(p->subcubes, t->base, t->dim));
    mark(p, *t, false);
    *t = p->taken[--p->n];
}

Test(subcube, any_order_of_takes_and_releases_gives_aligned_disjoint_ones_as_long_as_there_are_any)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct play p = {.subcubes = subcubes_new(DIM), .seed = seed};

        for (int step = 0; step < 2000; step++)
            if (rand_r(&p.seed) % 5 < 3)
                take_one(&p);
            else
                release_one(&p);
        while (p.n > 0)
            release_one(&p);
        uint32_t base;
        cr_expect(subcubes_take(p.subcubes, DIM, &base) && base == 0, "buddies have become one again");
        subcubes_free(p.subcubes);
    }
}

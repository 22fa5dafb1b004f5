/* The heap of clocks against a search through all of them. */
#include "emu/time/clocks.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

TestSuite(clocks);

#define HARTS 40u

struct plain { /* the same, kept without a heap */
    bool live[HARTS];
    uint64_t cycles[HARTS];
};

static uint32_t plain_first(const struct plain *p, uint32_t but)
{
    uint32_t first = CLOCKS_NONE;

    for (uint32_t i = 0; i < HARTS; i++)
        if (p->live[i] && i != but && (first == CLOCKS_NONE || p->cycles[i] < p->cycles[first]))
            first = i;
    return first;
}

static void change_one(struct clocks *c, struct plain *p, unsigned *seed)
{
    uint32_t hart = (uint32_t)rand_r(seed) % HARTS;
    uint64_t cycles = (uint64_t)rand_r(seed) % 20; /* many are equal */
    bool removed = p->live[hart] && rand_r(seed) % 3 == 0;

    if (removed)
        clocks_remove(c, hart);
    else if (p->live[hart])
        clocks_set(c, hart, cycles);
    else
        clocks_add(c, hart, cycles);
    p->live[hart] = !removed;
    p->cycles[hart] = cycles;
}

static void compare(const struct clocks *c, const struct plain *p, unsigned set, unsigned step)
{
    uint32_t first = plain_first(p, CLOCKS_NONE), second = plain_first(p, first);

    cr_assert_eq(clocks_first(c), first, "set %u, step %u: the first", set, step);
    cr_assert_eq(clocks_second_cycles(c), second == CLOCKS_NONE ? UINT64_MAX : p->cycles[second],
                 "set %u, step %u: the second", set, step);
    for (uint32_t i = 0; i < HARTS; i++)
        cr_assert(!p->live[i] || clocks_of(c, i) == p->cycles[i], "set %u, step %u: hart %u", set, step, i);
}

Test(clocks, the_first_and_the_second_are_found_after_any_changes)
{
    for (unsigned set = 1; set <= 20; set++) {
        struct clocks c;
        struct plain p = {0};
        unsigned seed = set;

        clocks_init(&c, HARTS);
        for (unsigned step = 0; step < 500; step++) {
            compare(&c, &p, set, step);
            change_one(&c, &p, &seed);
        }
        clocks_free(&c);
    }
}

Test(clocks, of_equal_clocks_the_lowest_hart_comes_first)
{
    struct clocks c;

    clocks_init(&c, HARTS);
    for (uint32_t i = HARTS; i-- > 0;)
        clocks_add(&c, i, 7);
    for (uint32_t i = 0; i < HARTS; i++) {
        cr_assert_eq(clocks_first(&c), i);
        clocks_remove(&c, i);
    }
    cr_assert_eq(clocks_first(&c), CLOCKS_NONE);
    clocks_free(&c);
}

/*
 * The subcubes form a binary tree in an array: entry 1 is the whole cube, 2i and 2i + 1 are the halves of i.
 *
 *   dim 2                1
 *   dim 1          2           3
 *   dim 0       4     5     6     7          node 4 is base 0, node 7 is base 3
 */
#include "emu/job/subcube.h"

#include <stdlib.h>

#include "emu/base/memory.h"

struct block {
    uint8_t fits; /* 1 + dimension of the largest free subcube in it; 0: none is free */
    bool taken;   /* as a whole */
};

struct subcubes {
    uint32_t dim;
    struct block *block; /* 1 .. 2^(dim+1) - 1 */
};

struct subcubes *subcubes_new(uint32_t dim)
{
    struct subcubes *s = memory_new(1, sizeof *s);
    struct block *block = memory_new((size_t)2 << dim, sizeof *block);

    *s = (struct subcubes){.dim = dim, .block = block};
    for (uint32_t d = 0; d <= dim; d++)
        for (uint32_t i = 1u << d; i < 2u << d; i++)
            block[i].fits = 1 + dim - d;
    return s;
}

void subcubes_free(struct subcubes *s)
{
    if (!s)
        return;
    free(s->block);
    free(s);
}

static uint32_t smaller_that_fits(const struct subcubes *s, uint32_t left, uint32_t dim)
{
    uint32_t right = left + 1;

    if (s->block[left].fits <= dim)
        return right;
    return s->block[right].fits > dim && s->block[right].fits < s->block[left].fits ? right : left;
}

/* Updates the blocks that contain block i, of dimension dim, which has changed. */
static void update_above(struct subcubes *s, uint32_t i, uint32_t dim)
{
    for (; i > 1; i /= 2, dim++) {
        const struct block *left = &s->block[i & ~1u], *right = &s->block[i | 1u];
        bool whole = left->fits == dim + 1 && right->fits == dim + 1;
        uint8_t larger = left->fits > right->fits ? left->fits : right->fits;

        s->block[i / 2].fits = whole ? dim + 2 : larger;
    }
}

bool subcubes_take(struct subcubes *s, uint32_t dim, uint32_t *base)
{
    uint32_t i = 1, d = s->dim;

    if (s->block[1].fits <= dim)
        return false;
    for (; d > dim; d--)
        i = smaller_that_fits(s, 2 * i, dim);
    s->block[i] = (struct block){.taken = true};
    update_above(s, i, dim);
    *base = (i - (1u << (s->dim - dim))) << dim;
    return true;
}

bool subcubes_release(struct subcubes *s, uint32_t base, uint32_t dim)
{
    if (dim > s->dim || base >= 1u << s->dim || base & ((1u << dim) - 1))
        return false;
    uint32_t i = (base >> dim) + (1u << (s->dim - dim));
    if (!s->block[i].taken)
        return false;
    s->block[i] = (struct block){.fits = dim + 1};
    update_above(s, i, dim);
    return true;
}

/* Order. In comparisons the first numbers that differ decide: order(a->x, b->x) ?: order(a->y, b->y). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* As qsort; an array of nothing may be NULL. */
static inline void order_sort(void *array, size_t n, size_t bytes, int (*compare)(const void *a, const void *b))
{
    if (n > 0)
        qsort(array, n, bytes, compare);
}

/* Of two times, or other numbers. */
static inline uint64_t earlier_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

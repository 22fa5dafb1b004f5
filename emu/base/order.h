/* Comparisons for qsort. The first numbers that differ decide: order(a->x, b->x) ?: order(a->y, b->y). */
#ifndef NCUBE_ORDER_H
#define NCUBE_ORDER_H

#include <stdint.h>

static inline int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

#endif

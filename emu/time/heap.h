/*
 * A binary heap of small numbers. The caller defines their order; the heap records the place of each number, so that
 * any one can be moved or removed in O(log n) without a search. eventq.c keeps events in it, clocks.c the clocks of
 * harts.
 *
 *              item[0]           the first
 *             /       \
 *         item[1]   item[2]      one of them is the second
 *
 *   place[item[i]] = i           for each i < n
 *
 * `before` says whether item a comes before item b. Callers pass a constant function, so that the compiler makes a copy
 * of the heap for each order and inlines the comparison.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct heap {
    uint32_t *item;  /* [n]; the caller allocates as many as there are different items */
    uint32_t *place; /* by item, valid while it is in the heap; the caller allocates it, too */
    uint32_t n;
};

typedef bool heap_order(const void *of, uint32_t a, uint32_t b);

#define HEAP_INLINE static inline __attribute__((always_inline))

HEAP_INLINE void heap_put(struct heap *h, uint32_t place, uint32_t item)
{
    h->item[place] = item;
    h->place[item] = place;
}

HEAP_INLINE void heap_move_up(struct heap *h, uint32_t item, heap_order *before, const void *of)
{
    uint32_t place = h->place[item];

    for (; place > 0 && before(of, item, h->item[(place - 1) / 2]); place = (place - 1) / 2)
        heap_put(h, place, h->item[(place - 1) / 2]);
    heap_put(h, place, item);
}

HEAP_INLINE void heap_move_down(struct heap *h, uint32_t item, heap_order *before, const void *of)
{
    uint32_t place = h->place[item];

    for (uint32_t child; (child = 2 * place + 1) < h->n; place = child) {
        if (child + 1 < h->n && before(of, h->item[child + 1], h->item[child]))
            child++;
        if (!before(of, h->item[child], item))
            break;
        heap_put(h, place, h->item[child]);
    }
    heap_put(h, place, item);
}

/* Inserts an item, which must not be in the heap. */
HEAP_INLINE void heap_insert(struct heap *h, uint32_t item, heap_order *before, const void *of)
{
    heap_put(h, h->n++, item);
    heap_move_up(h, item, before, of);
}

/* Restores the order after the key of an item in the heap has changed. */
HEAP_INLINE void heap_reorder(struct heap *h, uint32_t item, heap_order *before, const void *of)
{
    heap_move_up(h, item, before, of);
    heap_move_down(h, item, before, of);
}

/* Removes an item, which must be in the heap; the last item fills the gap. */
HEAP_INLINE void heap_remove(struct heap *h, uint32_t item, heap_order *before, const void *of)
{
    uint32_t place = h->place[item], last = h->item[--h->n];

    if (place == h->n)
        return;
    heap_put(h, place, last);
    heap_reorder(h, last, before, of);
}

/*
 * How pattern_place finds the element of a byte without trying all of them. Made with a pattern, in the way that fits
 * it:
 *
 *   bits       every size is a power of two: element and offset are bits of the file offset, moved
 *   array      by each dimension's index: index / k % procs is the process
 *   index      any nested PITFALLS: their runs, sorted, and a binary search
 *
 * Without any of these (a view, few elements, or very many runs) all elements are tried.
 */
#pragma once

#include "libpio/map/pattern.h"

/* One dimension, as it is distributed: `k` indices each to procs in turn, once round (BLOCK) or again and again. */
struct dealt {
    int64_t size, k;
    int32_t procs;
};

/* Each returns 0 or -ENOMEM, and sets p->places, or leaves it NULL where its way does not fit or does not pay. */
int places_of_bits(struct pattern *p, int bits, const uint8_t *bit);
int places_of_array(struct pattern *p, int dims, const struct dealt *dealt, int64_t item);
int places_of_runs(struct pattern *p);

void places_free(struct pattern *p);

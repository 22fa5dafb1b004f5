/*
 * Buddy allocation of subcubes: which nodes are free.
 *
 * A subcube of 2^d nodes has the addresses base .. base + 2^d - 1, base a multiple of 2^d: all its nodes agree in
 * the upper bits of their addresses, so e-cube routes between them stay in it. A free subcube of 2^(d+1) is split into
 * two buddies when half of it is wanted; two free buddies merge again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct subcubes;

/* A cube of 2^dim nodes, all free. Never NULL; subcubes_free frees it. */
struct subcubes *subcubes_new(uint32_t dim);
void subcubes_free(struct subcubes *s);

/* Takes a free subcube of 2^dim nodes: of those that fit, one that splits no larger one if possible, then the one with
 * the lowest address. False if there is none. */
bool subcubes_take(struct subcubes *s, uint32_t dim, uint32_t *base);

/* Frees a subcube that subcubes_take has returned. False, and nothing changes, if it is not taken. */
bool subcubes_release(struct subcubes *s, uint32_t base, uint32_t dim);

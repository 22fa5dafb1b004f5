/* Random patterns for the tests of libpio/map/. */
#pragma once

#include "libpio/map/pattern.h"

/* The next number of a sequence below `below`. */
uint32_t random_below(uint64_t *state, uint32_t below);

/* Arrays, stripes and bit permutations of at most about `most` bytes, and patterns of one element that is a random
 * nested set and does not cover its period. `ascending_only`: no bit permutations. */
struct pattern *random_pattern(uint64_t *state, int most, bool ascending_only);

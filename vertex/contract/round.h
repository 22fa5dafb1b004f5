/* Rounding: by it both ends of a message, or of a shared region, find the place of what follows. */
#pragma once

#include <stdint.h>

/* The least multiple of `unit`, a power of two, that is not below n. */
static inline uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

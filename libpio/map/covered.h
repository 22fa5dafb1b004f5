/* A set of bytes of a window, as a bit for each: what writes that are laid over each other have given. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The set's memory, for a window of so many bytes. It begins as zeros. */
static inline size_t covered_bytes(int64_t window_bytes)
{
    return (size_t)(window_bytes + 63) / 64 * sizeof(uint64_t);
}

static inline uint64_t covered_ones_from(int64_t bit)
{
    return ~0ull << (bit & 63);
}

/* Adds bytes from .. to-1, at least one. */
static inline void covered_add(uint64_t *covered, int64_t from, int64_t to)
{
    for (int64_t word = from >> 6; word <= (to - 1) >> 6; word++) {
        uint64_t ones = ~0ull;

        if (word == from >> 6)
            ones &= covered_ones_from(from);
        if (word == (to - 1) >> 6 && (to & 63) != 0)
            ones &= ~covered_ones_from(to);
        covered[word] |= ones;
    }
}

/* The first byte from `from` on that is in the set, or, if `flip` is ~0, is not; `end` if there is none before. */
static inline int64_t covered_find(const uint64_t *covered, int64_t from, int64_t end, uint64_t flip)
{
    for (int64_t word = from >> 6; word < (end + 63) >> 6; word++) {
        uint64_t found = covered[word] ^ flip;

        if (word == from >> 6)
            found &= covered_ones_from(from);
        if (found != 0) {
            const int64_t bit = (word << 6) + __builtin_ctzll(found);

            return bit < end ? bit : end;
        }
    }
    return end;
}

/*
 * Copies of items. Most are 8 bytes long and lie on multiples of 8. A compiler that does not know that copies byte by
 * byte, which takes a node ten times as long.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool star_is_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 7) == 0;
}

static inline void star_copy_8(char *to, const char *from)
{
    memcpy(__builtin_assume_aligned(to, 8), __builtin_assume_aligned(from, 8), 8);
}

/* Of blocks, which are short and aligned more often than not: a call of memcpy costs as much as 64 bytes. */
static inline void star_copy_block(char *to, const char *from, int64_t n)
{
    if (n > 64 || n % 8 != 0 || !star_is_aligned(to, from)) {
        memcpy(to, from, (size_t)n);
        return;
    }
    for (int64_t k = 0; k < n; k += 8)
        star_copy_8(to + k, from + k);
}

static inline void star_copy(char *to, const char *from, int64_t n)
{
    if (n == 8 && star_is_aligned(to, from))
        star_copy_8(to, from);
    else
        memcpy(to, from, (size_t)n);
}

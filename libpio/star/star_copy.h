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

static inline void star_copy(char *to, const char *from, int64_t n)
{
    if (n == 8 && star_is_aligned(to, from))
        star_copy_8(to, from);
    else
        memcpy(to, from, (size_t)n);
}

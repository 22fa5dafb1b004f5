#pragma once

/*
 * Copying from any address to a word-aligned one in words of 8 bytes, for memcpy and memmove. Private to the library.
 * Only words that contain bytes of the source are read.
 */
#include <stddef.h>
#include <stdint.h>

#define WORD_BYTES sizeof(uint64_t)
#define WORD_ROW   8 /* words copied in one turn of the loop */

typedef uint64_t __attribute__((may_alias)) word_any; /* a word of an object of any type */

#define WORDS_INLINE static inline __attribute__((always_inline))

/* Returns the number of bytes from the start of a word to ADDRESS. */
WORDS_INLINE size_t word_offset(const void *address)
{
    return (uintptr_t)address % WORD_BYTES;
}

/* Returns the word that begins SHIFT bits into LOW and ends in HIGH; SHIFT is 8 to 56. */
WORDS_INLINE uint64_t word_across(uint64_t low, uint64_t high, unsigned shift)
{
    return low >> shift | high << (64 - shift);
}

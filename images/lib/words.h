#ifndef NCUBE_WORDS_H
#define NCUBE_WORDS_H

/*
 * Copying by words of 8 bytes from an address of any alignment to one of a word's: of memcpy and memmove. Private
 * to the library. Only words that hold bytes of the source are read.
 */
#include <stddef.h>
#include <stdint.h>

#define WORD_BYTES sizeof(uint64_t)
#define WORD_ROW   8 /* words copied in one turn of the loop */

typedef uint64_t __attribute__((may_alias)) word_any; /* a word of an object of any type */

#define WORDS_INLINE static inline __attribute__((always_inline))

/* How far ADDRESS is behind a word's beginning. */
WORDS_INLINE size_t word_offset(const void *address)
{
    return (uintptr_t)address % WORD_BYTES;
}

/* The word that begins SHIFT bits inside LOW and ends in HIGH; SHIFT is 8 to 56. */
WORDS_INLINE uint64_t word_across(uint64_t low, uint64_t high, unsigned shift)
{
    return low >> shift | high << (64 - shift);
}

#endif

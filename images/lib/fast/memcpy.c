/*
 * memcpy: newlib's copies byte by byte, 14 cycles each, when source and destination are not equally far from a word.
 * This one always stores words, and takes each out of two when the source lies across.
 */
#include <string.h>

#include "images/lib/fast/words.h"

WORDS_INLINE void copy_row(word_any *to, const word_any *from)
{
    uint64_t a = from[0], b = from[1], c = from[2], d = from[3];
    uint64_t e = from[4], f = from[5], g = from[6], h = from[7];

    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    to[4] = e, to[5] = f, to[6] = g, to[7] = h;
}

WORDS_INLINE void copy_words(word_any *to, const word_any *from, size_t words)
{
    for (; words >= WORD_ROW; words -= WORD_ROW, to += WORD_ROW, from += WORD_ROW)
        copy_row(to, from);
    while (words--)
        *to++ = *from++;
}

WORDS_INLINE void copy_words_across(word_any *to, const char *from, size_t words)
{
    const word_any *source = (const word_any *)(from - word_offset(from));
    unsigned shift = 8 * word_offset(from);
    uint64_t low = *source++;

    for (; words >= 2; words -= 2, to += 2, source += 2) {
        uint64_t middle = source[0], high = source[1];

        to[0] = word_across(low, middle, shift);
        to[1] = word_across(middle, high, shift);
        low = high;
    }
    if (words)
        *to = word_across(low, *source, shift);
}

WORDS_INLINE void *copy_rest(void *to_start, char *to, const char *from, size_t n)
{
    while (n--)
        *to++ = *from++;
    return to_start;
}

/* Copies upwards: right for memmove, too, when the destination begins below the source. Up to two words come first, as
 * most calls copy no more; beyond them the first whole word of the destination always lies within the n bytes. Without
 * `restrict`, which would let the compiler store a word of a row before it has loaded all of them: memmove's rows
 * overlap. */
void *memcpy(void *to_start, const void *from_start, size_t n)
{
    char *to = to_start;
    const char *from = from_start;
    size_t words;

    if (n <= 2 * WORD_BYTES) {
        if (n < WORD_BYTES)
            return copy_rest(to_start, to, from, n);
        if (word_offset((void *)((uintptr_t)to | (uintptr_t)from)) == 0) {
            *(word_any *)to = *(const word_any *)from;
            if (n == WORD_BYTES)
                return to_start;
            to += WORD_BYTES;
            from += WORD_BYTES;
            n -= WORD_BYTES;
            if (n < WORD_BYTES)
                return copy_rest(to_start, to, from, n);
            *(word_any *)to = *(const word_any *)from;
            return to_start;
        }
        if (n < WORD_BYTES + (-(uintptr_t)to % WORD_BYTES))
            return copy_rest(to_start, to, from, n);
    }
    for (; word_offset(to); n--)
        *to++ = *from++;
    words = n / WORD_BYTES;
    n %= WORD_BYTES;
    if (word_offset(from) == 0)
        copy_words((word_any *)to, (const word_any *)from, words);
    else
        copy_words_across((word_any *)to, from, words);
    return copy_rest(to_start, to + words * WORD_BYTES, from + words * WORD_BYTES, n);
}

/* memmove: newlib's copies byte by byte, 14 cycles each, when the destination begins inside the source. */
#include <string.h>

#include "images/lib/fast/words.h"

/* Both point behind the last word; those below are copied downwards. */
WORDS_INLINE void copy_words_down(word_any *to, const word_any *from, size_t words)
{
    for (; words >= 2; words -= 2) {
        uint64_t high = *--from, low = *--from;

        *--to = high;
        *--to = low;
    }
    if (words)
        *--to = *--from;
}

WORDS_INLINE void copy_words_down_across(word_any *to, const char *from, size_t words)
{
    const word_any *source = (const word_any *)(from - word_offset(from));
    unsigned shift = 8 * word_offset(from);
    uint64_t high = *source;

    while (words--) {
        uint64_t low = *--source;

        *--to = word_across(low, high, shift);
        high = low;
    }
}

void *memmove(void *to_start, const void *from_start, size_t n)
{
    char *to = (char *)to_start + n;
    const char *from = (const char *)from_start + n;

    if ((uintptr_t)to_start - (uintptr_t)from_start >= n)
        return memcpy(to_start, from_start, n);
    if (n >= 2 * WORD_BYTES) {
        while (word_offset(to)) {
            *--to = *--from;
            n--;
        }
        if (word_offset(from) == 0)
            copy_words_down((word_any *)to, (const word_any *)from, n / WORD_BYTES);
        else
            copy_words_down_across((word_any *)to, from, n / WORD_BYTES);
        to -= n - n % WORD_BYTES;
        from -= n - n % WORD_BYTES;
        n %= WORD_BYTES;
    }
    while (n--)
        *--to = *--from;
    return to_start;
}

#include "vertex/memory/copy.h"

#include <stdint.h>

/* The compiler must not turn these loops into calls of memcpy, which is made of them. */
#define PLAIN_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uint64_t __attribute__((may_alias)) word;

enum { WORD = sizeof(word), TURN = 8 * WORD };

static size_t misalignment(const void *address)
{
    return (uintptr_t)address % WORD;
}

PLAIN_LOOPS static void copy_words(word *to, const word *from, size_t bytes)
{
    for (; bytes >= TURN; bytes -= TURN, to += 8, from += 8) {
        word a = from[0], b = from[1], c = from[2], d = from[3];
        word e = from[4], f = from[5], g = from[6], h = from[7];

        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
        to[4] = e, to[5] = f, to[6] = g, to[7] = h;
    }
    for (; bytes >= WORD; bytes -= WORD)
        *to++ = *from++;
}

/* `to` is aligned, `from` is `skew` bytes after an aligned word: each word is put together from two.
 * No word is read that holds none of the bytes. */
PLAIN_LOOPS static void copy_words_skewed(word *to, const unsigned char *from, size_t bytes, size_t skew)
{
    const word *aligned = (const word *)(from - skew);
    unsigned right = 8 * skew, left = 64 - right;
    word low = *aligned++;

    for (; bytes >= 4 * WORD; bytes -= 4 * WORD, to += 4, aligned += 4) {
        word a = aligned[0], b = aligned[1], c = aligned[2], d = aligned[3];

        to[0] = low >> right | a << left;
        to[1] = a >> right | b << left;
        to[2] = b >> right | c << left;
        to[3] = c >> right | d << left;
        low = d;
    }
    for (; bytes >= WORD; bytes -= WORD) {
        word high = *aligned++;

        *to++ = low >> right | high << left;
        low = high;
    }
}

PLAIN_LOOPS static void copy_single_bytes(unsigned char *to, const unsigned char *from, size_t bytes)
{
    while (bytes--)
        *to++ = *from++;
}

void copy_bytes(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    if (bytes >= 2 * WORD) {
        size_t head = -misalignment(t) % WORD;

        copy_single_bytes(t, f, head);
        t += head, f += head, bytes -= head;
        size_t body = bytes / WORD * WORD;
        if (misalignment(f) == 0)
            copy_words((word *)t, (const word *)f, body);
        else
            copy_words_skewed((word *)t, f, body, misalignment(f));
        t += body, f += body, bytes -= body;
    }
    copy_single_bytes(t, f, bytes);
}

PLAIN_LOOPS void copy_zero(void *to, size_t bytes)
{
    unsigned char *t = to;

    for (; bytes > 0 && misalignment(t); bytes--)
        *t++ = 0;
    for (; bytes >= TURN; bytes -= TURN, t += TURN) {
        word *w = (word *)t;

        w[0] = w[1] = w[2] = w[3] = 0;
        w[4] = w[5] = w[6] = w[7] = 0;
    }
    for (; bytes >= WORD; bytes -= WORD, t += WORD)
        *(word *)t = 0;
    while (bytes--)
        *t++ = 0;
}

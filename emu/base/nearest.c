#include "emu/base/nearest.h"

#include <string.h>

#define MEANT_WORD_BYTES 64 /* longer words are not compared */

/* The number of letters to insert, remove, replace, or exchange with the next one, to make b of a. */
static unsigned letters_apart(const char *a, const char *b)
{
    unsigned row[3][MEANT_WORD_BYTES + 1] = {0};
    size_t n = strlen(b);

    for (size_t j = 0; j <= n; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned replaced = last[j - 1] + (a[i - 1] != b[j - 1]),
                     fewer = last[j] < now[j - 1] ? last[j] : now[j - 1];

            now[j] = fewer + 1 < replaced ? fewer + 1 : replaced;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return row[strlen(a) % 3][n];
}

/* The same, but the missing end of a name counts as one letter. */
static unsigned distance(const char *word, const char *name)
{
    size_t length = strlen(word);

    return length >= 3 && strncmp(word, name, length) == 0 ? 1 : letters_apart(word, name);
}

const char *nearest_word(const char *word, const char *best, const char *candidate)
{
    size_t length = strlen(word);

    if (length >= MEANT_WORD_BYTES || strlen(candidate) >= MEANT_WORD_BYTES)
        return best;
    unsigned apart = distance(word, candidate), least = best ? distance(word, best) : apart + 1;
    return apart > 0 && apart <= 2 && apart < length &&
                   (apart < least || (apart == least && strlen(candidate) < strlen(best)))
               ? candidate
               : best;
}

/*
 * Lines that come again and again, alike but for numbers: a dead drive has nsdisk say one for each
 * request. The first few are shown, then the 10th, the 100th and so on, with their number; at the
 * end, how many there were.
 */
#ifndef NCUBE_REPEATS_H
#define NCUBE_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPEATS_SHOWN       3u
#define REPEATS_KINDS       64u /* lines of further kinds are all shown */
#define REPEATS_SHAPE_BYTES 128u

struct repeats { /* {0}: nothing has come */
    struct repeat {
        uint32_t from;
        char shape[REPEATS_SHAPE_BYTES]; /* alike.h */
        char first[REPEATS_SHAPE_BYTES]; /* as it came, or its beginning, one line */
        uint64_t count, shown;           /* that have come; number of the last that was shown */
    } kind[REPEATS_KINDS];
    uint32_t kinds;
};

/* Counts a line of n bytes from a node. Returns 0: it is not to be shown; else its number among
 * those alike. */
uint64_t repeats_note(struct repeats *r, uint32_t from, const char *text, size_t n);

/* Those of which lines have not been shown since they were last told: calls `tell` for each. */
void repeats_tell(struct repeats *r, void (*tell)(void *ctx, const struct repeat *kind), void *ctx);

#endif

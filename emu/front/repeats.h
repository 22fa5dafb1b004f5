/*
 * Counts lines that repeat with other numbers only: nsdisk prints one about a dead drive for each request, the front
 * end one for each message of a program that it refuses. The first
 * few are shown, then the 10th, the 100th and so on, with their number, and at the end the total.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPEATS_SHOWN       3u
#define REPEATS_KINDS       64u /* lines of further kinds are all shown */
#define REPEATS_SHAPE_BYTES 128u

struct repeats { /* {0}: no line has been counted */
    struct repeat {
        uint32_t from;
        char shape[REPEATS_SHAPE_BYTES]; /* alike.h */
        char first[REPEATS_SHAPE_BYTES]; /* the first line, or its beginning */
        uint64_t count, shown;           /* lines that have come; the number of the last one that was shown */
    } kind[REPEATS_KINDS];
    uint32_t kinds;
};

/* Counts a line of n bytes from a node. Returns its number among those alike, or 0 if it should not be shown. */
uint64_t repeats_note(struct repeats *r, uint32_t from, const char *text, size_t n);

/* Calls `tell` for each kind that has lines which were neither shown nor counted by an earlier call. */
void repeats_tell(struct repeats *r, void (*tell)(void *ctx, const struct repeat *kind), void *ctx);

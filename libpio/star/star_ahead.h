/*
 * Reading ahead of pieces of a file [P4 8], which are all as long: where a node has read two pieces that are as far
 * apart as the two before, up or down, the next one is read while the node computes.
 */
#pragma once

#include "libpio/star/store.h"

struct star_ahead {
    char *bytes; /* of the piece that is being read; the caller makes and frees it */
    bool is_under_way;
    int number;          /* the store's */
    int64_t piece;       /* that is under way */
    int64_t last, step;  /* the piece before, and how far it was from its own one before */
    int64_t piece_bytes; /* of each */
};

/* Reads a piece to *bytes, or takes what has been read ahead, whose memory it gets for its own; then reads ahead from
 * piece `low` on below `limit`. Returns the bytes, fewer at the end of the file, or a negative errno. */
int64_t star_ahead_read(struct star_ahead *a, const struct star_store *store, int handle, int64_t piece, int64_t low,
                        int64_t limit, char **bytes);

/* Ends what is under way, and forgets it: before the file changes, or is closed. */
void star_ahead_stop(struct star_ahead *a, const struct star_store *store);

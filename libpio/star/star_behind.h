/*
 * A write that goes on while the node computes [P4 8: write-behind], of a row or a superblock that is full. Its outcome
 * is known when it has ended: then it is the file's error, as if the next call had met it.
 */
#pragma once

#include "libpio/star/store.h"

struct star_behind {
    bool is_under_way;
    int number; /* the store's */
    const char *from;
    int64_t bytes, at;
};

/* Starts a write of bytes that stay as they are until its end; none is under way. Where the store cannot, writes them.
 * 0, or a negative errno. */
int star_behind_start(struct star_behind *b, const struct star_store *store, int handle, const char *from,
                      int64_t bytes, int64_t at);

/* Ends it, if one is under way. 0, or a negative errno. */
int star_behind_end(struct star_behind *b, const struct star_store *store, int handle);

/*
 * Views of open files: which bytes of a file an element has [P3 section 6.3.1], so that one N_FREAD or N_FWRITE moves
 * many runs, with offsets in the element's own space (vertex/contract/proto.h, N_FVIEW).
 *
 *   view     0   1   2   3   4   5   6   7          offsets and bytes of a request
 *            |   |   |   |    \   \   \   \
 *   file   ..0...1...2...3.....4...5...6...7..      runs; gaps less than a block are read, and written back, with them
 *
 * A view belongs to its open file and is dropped with it.
 */
#ifndef NSDISK_VIEW_H
#define NSDISK_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "nsdisk/ext2/ext2.h"
#include "vertex/contract/proto.h"

#define VIEW_TOTAL_BYTES (256u << 10) /* of a server's views, as they came */

struct view;

/* Bytes for runs and what is between them, one for each volume. */
struct view_sieve {
    uint8_t bytes[CACHE_GATHER_BYTES];
};

/* Makes a view of what pattern_pack wrote. The bytes are checked whole first: -N_EINVAL (also for an element without
 * bytes), -N_E2BIG, -N_EOVERFLOW; -N_ENOMEM. */
int view_make(const void *packed, size_t n, struct view **view);
void view_free(struct view *view); /* NULL is allowed */
/* The bytes that it was made of. */
size_t view_bytes(const struct view *view);

/* Moves `bytes` bytes from `offset` of the view on. Return how many were moved, all before the first that was not, or
 * the error that stopped the first: as ext2_read and ext2_write; -N_EFBIG: the file would have to be too large. */
int64_t view_read(const struct view *view, struct view_sieve *sieve, struct ext2_inode *inode, uint64_t offset,
                  void *buf, uint32_t bytes);
int64_t view_write(const struct view *view, struct view_sieve *sieve, struct ext2_inode *inode, uint64_t offset,
                   const void *buf, uint32_t bytes);

#endif

/*
 * Views of open files: which bytes of a file an element has [P3 section 6.3.1], so that one N_FREAD or N_FWRITE moves
 * many runs, with offsets in the element's own space (vertex/contract/proto.h, N_FVIEW).
 *
 *   view     0   1   2   3   4   5   6   7          offsets and bytes of a request
 *            |   |   |   |    \   \   \   \
 *   file   ..0...1...2...3.....4...5...6...7..      runs; gaps less than a block are read with them
 *
 * A view belongs to its open file and is dropped with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/map/pattern.h"
#include "nsdisk/ext2/ext2.h"
#include "vertex/contract/proto.h"

#define VIEW_TOTAL_BYTES (1536u << 10) /* of a server's views in memory, unless it is told otherwise */

struct view;

#define VIEW_SIEVE_BYTES CACHE_GATHER_BYTES /* for runs and what is between them */

/* Makes a view of what pattern_pack wrote. The bytes are checked whole first: -N_EINVAL (also for an element without
 * bytes), -N_E2BIG, -N_EOVERFLOW; -N_ENOMEM. */
int view_make(const void *packed, size_t n, struct view **view);
void view_free(struct view *view); /* NULL is allowed */

/* The memory that all views of a server may take, whoever has them. */
struct view_room {
    size_t bytes, most_bytes;
};

/* Puts a view in the place of another; n = 0: none. It is checked whole, and has room, before the other goes. Errors as
 * of view_make; -N_ENOMEM, too, beyond the most that all may take. */
int view_replace(struct view_room *room, struct view **place, const void *packed, size_t n);

/* Where bytes offset .. offset+bytes-1 of the view lie, bytes > 0: in file bytes *first .. *end-1. False: beyond what a
 * file can have. */
bool view_range(const struct view *view, uint64_t offset, uint32_t bytes, int64_t *first, int64_t *end);
/* The file byte of byte `at` of the view. */
int64_t view_file(const struct view *view, int64_t at);
/* How many bytes of the view lie below that file byte. */
int64_t view_rank(const struct view *view, int64_t file);
/* As plan_runs: run->file and run->in[PLAN_B] are in the file and in the view. */
void view_runs(const struct view *view, int64_t from, int64_t to, bool (*each)(void *ctx, const struct plan_run *run),
               void *ctx);

/* Move the view's bytes of file bytes from .. to-1 between the file's, of which file[0] is byte `at`, and `packed`,
 * which has the first of them first. Return how many they are. */
int64_t view_gather(const struct view *view, int64_t from, int64_t to, void *packed, const void *file, int64_t at);
int64_t view_scatter(const struct view *view, int64_t from, int64_t to, void *file, int64_t at, const void *packed);

/* Reads `bytes` bytes from `offset` of the view on, by a sieve of VIEW_SIEVE_BYTES. Returns how many were read, all
 * before the first that was not, or the error that stopped the first: as ext2_read. */
int64_t view_read(const struct view *view, uint8_t *sieve, struct ext2_inode *inode, uint64_t offset, void *buf,
                  uint32_t bytes);

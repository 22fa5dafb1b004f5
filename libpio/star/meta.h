/*
 * The text of a file's .meta [P4 5, 4.2]: shape, and what the segments are. Pure.
 *
 *   star 1
 *   state closed             or "writing": from open to close
 *   shape 256 128
 *   order row                of the VPs in NB and CB segments; also "column", "grid g0 g1"
 *   nodes 8                  of the last writer
 *   nb 8 64                  b_NB, rows; only if there is an NB segment
 *   cb 8 0                   b_CB, bytes of each VP
 *   ib 64 2 32768 16777216   only with an IB segment: block, pointers of an entry, superblock, where it begins
 *   superblocks 1024 128     likewise: how many there are, of data and of the directory
 *   reason TEXT              may be there: what ended the NB segment
 *   end
 */
#pragma once

#include <stddef.h>

#include "libpio/star/row_order.h"
#include "libpio/star/segments.h"

#define STAR_REASON_BYTES   100
#define STAR_META_BYTES     2048 /* greatest text, with its NUL */
#define STAR_CB_BLOCK_MAX   65536
#define STAR_SUPERBLOCK_MAX (1 << 20)

struct star_meta {
    bool is_writing;
    int rank;
    long extent[CS_RANK_MAX];
    enum star_order order;
    int grid[CS_RANK_MAX];
    int nodes;
    struct star_segments segments;
    int64_t ib_block, ib_pointers, ib_superblock, ib_begin; /* ib_block 0: there is no IB segment */
    int64_t superblocks, directory_superblocks;
    char reason[STAR_REASON_BYTES]; /* "" */
};

/* Writes the text, at most STAR_META_BYTES with a NUL. Returns its length. */
size_t star_meta_format(const struct star_meta *m, char *text);

/* Reads a text. 0, or -EPROTO if star_meta_format would not write exactly these bytes, or numbers are out of range. */
int star_meta_parse(const char *text, size_t bytes, struct star_meta *m);

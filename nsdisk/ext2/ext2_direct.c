/*
 * The contents of files without a data cache. Data is on the medium when a write returns.
 *
 * Whole blocks go between the disk and the caller's buffer directly, one command per contiguous run. Unaligned pieces
 * go through the volume's bounce buffer, also in one command, their partial blocks completed from the cache. A read
 * within one block, and sequential reads of less than SMALL_READ_BYTES, go through the cache, with read-ahead. A block
 * that a write left in the midst of stays in the cache, as the next write mostly goes on there; that block and the new
 * ones behind it are then one command.
 */
#include "nsdisk/ext2/ext2.h"

#include <string.h>

#define SMALL_READ_BYTES 4096u

/* How many bytes of the span can go directly, whole blocks to an aligned buffer; 0: better through the bounce. */
static uint32_t direct_bytes(const struct ext2 *fs, const struct ext2_span *s, const void *buf)
{
    uint32_t whole = s->bytes & ~(fs->block_bytes - 1);
    bool worth = whole == s->bytes || whole >= CACHE_GATHER_BYTES;

    return s->offset == 0 && worth && ((uintptr_t)buf & 7) == 0 ? whole : 0;
}

static void span_advance(const struct ext2 *fs, struct ext2_span *s, uint32_t bytes)
{
    uint32_t blocks = (s->offset + bytes) >> fs->block_shift;

    s->block += blocks;
    s->old = blocks < s->old ? s->old - blocks : 0;
    s->offset = ext2_block_offset(fs, s->offset + bytes);
    s->bytes -= bytes;
}

/* ---- Reading ---- */

static int read_cached(struct ext2 *fs, const struct ext2_span *s, uint8_t *buf, uint32_t bytes)
{
    struct cache_block *block;
    int error = cache_get(fs->cache, s->block, BLOCK_DATA, &block);

    if (error < 0)
        return error;
    memcpy(buf, block->bytes + s->offset, bytes);
    cache_put(block);
    return 0;
}

static int read_bounced(struct ext2 *fs, const struct ext2_span *s, uint8_t *buf, uint32_t bytes)
{
    int error = cache_read_data(fs->cache, s->block, ext2_blocks_of(fs, s->offset, bytes), fs->bounce);

    if (error == 0)
        memcpy(buf, fs->bounce + s->offset, bytes);
    return error;
}

/* Reads a span in as few commands as it takes. */
static int span_read(struct ext2 *fs, struct ext2_span s, uint8_t *buf)
{
    int error = 0;

    while (s.bytes != 0 && error == 0) {
        uint32_t n = direct_bytes(fs, &s, buf);

        if (n != 0) {
            error = cache_read_data(fs->cache, s.block, n >> fs->block_shift, buf);
        } else if (s.offset + s.bytes <= fs->block_bytes) {
            n = s.bytes;
            error = read_cached(fs, &s, buf, n);
        } else {
            n = ext2_smaller(s.bytes, CACHE_GATHER_BYTES - s.offset);
            error = read_bounced(fs, &s, buf, n);
        }
        buf += n;
        span_advance(fs, &s, n);
    }
    return error;
}

static int direct_read(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, uint8_t *buf, bool small)
{
    struct ext2 *fs = inode->fs;

    (void)file_block;
    if (!small)
        return span_read(fs, s, buf);
    int error = cache_read_ahead(fs->cache, s.block, s.old);
    return error < 0 ? error : read_cached(fs, &s, buf, s.bytes);
}

/* ---- Writing ---- */

/* Puts what a partly written block held before into the bounce buffer. */
static int complete_block(struct ext2 *fs, const struct ext2_span *s, uint32_t index)
{
    uint8_t *at = fs->bounce + ((size_t)index << fs->block_shift);
    struct cache_block *block;

    if (index >= s->old) {
        memset(at, 0, fs->block_bytes);
        return 0;
    }
    int error = cache_get(fs->cache, s->block + index, BLOCK_DATA, &block);
    if (error < 0)
        return error;
    memcpy(at, block->bytes, fs->block_bytes);
    cache_put(block);
    return 0;
}

static int write_bounced(struct ext2 *fs, const struct ext2_span *s, const uint8_t *buf, uint32_t bytes)
{
    uint32_t count = ext2_blocks_of(fs, s->offset, bytes);
    int error = 0;

    if (s->offset != 0 || bytes < fs->block_bytes)
        error = complete_block(fs, s, 0);
    if (error == 0 && count > 1 && ext2_block_offset(fs, s->offset + bytes) != 0)
        error = complete_block(fs, s, count - 1);
    if (error < 0)
        return error;
    memcpy(fs->bounce + s->offset, buf, bytes);
    error = cache_write_data(fs->cache, s->block, count, fs->bounce);
    if (error == 0 && ext2_block_offset(fs, s->offset + bytes) != 0)
        cache_keep_data(fs->cache, s->block + count - 1, fs->bounce + ((size_t)(count - 1) << fs->block_shift));
    return error;
}

static int direct_write(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, const uint8_t *buf)
{
    struct ext2 *fs = inode->fs;
    int error = 0;

    (void)file_block;
    while (s.bytes != 0 && error == 0) {
        uint32_t n = direct_bytes(fs, &s, buf);

        if (n != 0) {
            error = cache_write_data(fs->cache, s.block, n >> fs->block_shift, buf);
        } else {
            n = ext2_smaller(s.bytes, CACHE_GATHER_BYTES - s.offset);
            error = write_bounced(fs, &s, buf, n);
        }
        buf += n;
        span_advance(fs, &s, n);
    }
    return error;
}

static int direct_clear_tail(struct ext2_inode *inode, uint32_t number, uint32_t tail)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;
    int error = cache_get(fs->cache, number, BLOCK_DATA, &block);

    if (error < 0)
        return error;
    memcpy(fs->bounce, block->bytes, tail);
    memset(fs->bounce + tail, 0, fs->block_bytes - tail);
    if (memcmp(fs->bounce, block->bytes, fs->block_bytes) != 0)
        error = cache_write_data(fs->cache, number, 1, fs->bounce);
    cache_put(block);
    return error;
}

const struct ext2_way ext2_direct = {direct_read, direct_write, direct_clear_tail, SMALL_READ_BYTES, true};

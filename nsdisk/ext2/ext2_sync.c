/*
 * Syncing, and what waits for it.
 *
 * The order of writing (cache.h) keeps a crash harmless only if two things wait until a flush has succeeded:
 *
 *   unnamed inodes   made since the last sync, stored without links: their names are on the disk now, so they get their
 *                    links (ext2_itable.c)
 *   freed extents    still marked in their bitmaps: nothing on the disk points to them now, so they are given back
 *
 * ext2_sync does both. It is called by fsync and unmount, and by the allocation, when a volume or one of the two lists
 * is full; so it stands below these and calls nothing of them.
 */
#include "nsdisk/ext2/ext2_sync.h"

#include "nsdisk/ext2/disk_bytes.h"
#include "nsdisk/ext2/ext2_itable.h"
#include "vertex/contract/errors.h"

int ext2_begin(struct ext2 *fs)
{
    return fs->read_only ? -N_EROFS : cache_reserve(fs->cache);
}

/* ---- Freed extents ---- */

bool ext2_is_freed(const struct ext2 *fs, uint32_t block)
{
    for (uint32_t i = 0; i < fs->freed_count; i++)
        if (!fs->freed[i].inodes && block - fs->freed[i].first < fs->freed[i].count)
            return true;
    return false;
}

int ext2_note_freed(struct ext2 *fs, uint32_t first, uint32_t count, bool inodes)
{
    /* Full, as the last sync has failed: without another one that does not, nothing can be given back. */
    int full = fs->freed_count == EXT2_FREED_MAX ? ext2_sync(fs) : 0;

    if (full < 0)
        return full;
    struct ext2_freed *last = &fs->freed[fs->freed_count == 0 ? 0 : fs->freed_count - 1];
    *(inodes ? &fs->freed_inodes : &fs->freed_blocks) += count;
    if (fs->freed_count != 0 && last->inodes == inodes && last->first + last->count == first) {
        last->count += count;
        return 0;
    }
    if (fs->freed_count != 0 && last->inodes == inodes && first + count == last->first) {
        last->first = first;
        last->count += count;
        return 0;
    }
    fs->freed[fs->freed_count++] = (struct ext2_freed){first, count, inodes};
    return fs->freed_count == EXT2_FREED_MAX ? ext2_sync(fs) : 0;
}

/* ---- Giving back ---- */

/* Clears bits and counts them. A bit that is clear already means that two files had the block. */
static uint32_t clear_bits(struct ext2 *fs, uint8_t *bits, uint32_t bit, uint32_t count, const char *what,
                           uint32_t number)
{
    uint32_t cleared = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (disk_get_bit(bits, bit + i)) {
            bits[(bit + i) >> 3] &= (uint8_t) ~(1u << ((bit + i) & 7));
            cleared++;
        } else {
            ext2_corrupt(fs, "%s %u is freed twice", what, number + i);
        }
    }
    return cleared;
}

/* Gives back the part of an extent that lies in its first block's group; returns its length. */
static int apply_in_group(struct ext2 *fs, const struct ext2_freed *f, uint32_t done)
{
    uint32_t number = f->first + done;
    uint32_t base = f->inodes ? 1 : fs->first_data_block;
    uint32_t per_group = f->inodes ? fs->inodes_per_group : fs->blocks_per_group;
    uint32_t group = (number - base) / per_group, bit = (number - base) % per_group;
    uint32_t count = f->count - done < per_group - bit ? f->count - done : per_group - bit;
    struct ext2_group *g = &fs->group[group];
    struct cache_block *bitmap;
    int error = cache_get(fs->cache, f->inodes ? g->inode_bitmap : g->block_bitmap, BLOCK_BITMAP, &bitmap);

    if (error < 0)
        return error;
    uint32_t cleared = clear_bits(fs, bitmap->bytes, bit, count, f->inodes ? "inode" : "block", number);
    *(f->inodes ? &g->free_inodes : &g->free_blocks) += cleared;
    *(f->inodes ? &fs->free_inodes : &fs->free_blocks) += cleared;
    cache_mark_dirty(fs->cache, bitmap);
    cache_put(bitmap);
    error = ext2_store_group(fs, group);
    return error < 0 ? error : (int)count;
}

/* What cannot be given back stays marked: lost until e2fsck, never used twice. */
static int apply_extent(struct ext2 *fs, const struct ext2_freed *f)
{
    for (uint32_t done = 0; done < f->count;) {
        int result = apply_in_group(fs, f, done);

        if (result < 0)
            return result;
        done += (uint32_t)result;
    }
    return 0;
}

static int apply_freed(struct ext2 *fs)
{
    int first_error = 0;

    for (uint32_t i = 0; i < fs->freed_count; i++) {
        int error = apply_extent(fs, &fs->freed[i]);

        first_error = first_error < 0 ? first_error : error;
    }
    fs->freed_count = fs->freed_blocks = fs->freed_inodes = 0;
    return first_error;
}

/* ---- Syncing ---- */

int ext2_sync(struct ext2 *fs)
{
    int error = cache_flush_but_late(fs->cache);

    if (error == 0 && fs->unnamed_count != 0)
        error = ext2_publish_unnamed(fs);
    if (error == 0)
        error = cache_flush(fs->cache);
    return error < 0 ? error : apply_freed(fs);
}

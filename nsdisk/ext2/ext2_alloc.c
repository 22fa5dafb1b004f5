/*
 * Allocation of blocks and inodes.
 *
 * Locality. A file grows behind its last block (the goal), so that a write is one command; a new run is looked for
 * close behind the goal, then where eight blocks are free together, then anywhere in the group, then in the groups
 * after it. Files are made in their directory's group, directories where most blocks are free.
 *
 * Giving back. A freed block or inode stays marked in its bitmap, and in the list of freed extents, until a flush has
 * put on the disk that nothing points to it; then ext2_sync gives it back. A full volume syncs at once.
 *
 * Damage. A bitmap that calls used space free costs files, so it is not believed alone:
 *
 *   the group's count      on a volume that was clean both were written together: they are compared before the first
 *                          block or inode of the group is taken. A group whose blocks differ gives no more
 *   the layout             the volume's own blocks are never free
 *   the cache              a block that is in it was read because it is in use; a freed block leaves it
 *   the freed extents      their bits are set until they are given back
 *   the inode              its links and times (ext2_inode.c)
 *
 * None of these costs a read. A used block or inode that a bitmap calls free is reported, its bit is set, and another
 * one is taken.
 */
#include "nsdisk/ext2/ext2.h"

#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "nsdisk/ext2/ext2_sync.h"
#include "vertex/contract/errors.h"

#define NEAR_BLOCKS 32u /* a free block so close behind the goal is as good as the goal */

/* ---- Bits ---- */

static void bits_set(uint8_t *bits, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        bits[i >> 3] |= (uint8_t)(1u << (i & 7));
}

/* The first zero bit in [from, to), or `to`. */
static uint32_t bits_find_zero(const uint8_t *bits, uint32_t from, uint32_t to)
{
    uint32_t i = from;

    while (i < to) {
        if ((i & 31) == 0 && to - i >= 32 && disk_get32(bits + (i >> 3)) == UINT32_MAX)
            i += 32;
        else if (disk_get_bit(bits, i))
            i++;
        else
            return i;
    }
    return to;
}

/* The first of eight zero bits that make a byte, in [from, to), or `to`. */
static uint32_t bits_find_zero_byte(const uint8_t *bits, uint32_t from, uint32_t to)
{
    for (uint32_t i = (from + 7) & ~7u; i + 8 <= to; i += 8)
        if (bits[i >> 3] == 0)
            return i;
    return to;
}

/* All zero bits in [0, count). Nearly all words of a bitmap are full or empty. */
static uint32_t bits_free(const uint8_t *bits, uint32_t count)
{
    uint32_t zeros = 0, i = 0;

    for (; i + 64 <= count; i += 64) {
        uint64_t clear = ~disk_get64(bits + (i >> 3));

        if (clear == UINT64_MAX)
            zeros += 64;
        else
            for (; clear != 0; clear &= clear - 1)
                zeros++;
    }
    for (; i < count; i++)
        zeros += !disk_get_bit(bits, i);
    return zeros;
}

static uint32_t bits_count_zeros(const uint8_t *bits, uint32_t from, uint32_t to)
{
    uint32_t i = from;

    while (i < to && !disk_get_bit(bits, i))
        i++;
    return i - from;
}

/* ---- Blocks ---- */

/* The best free bit of a group's bitmap for a goal bit, or `bits`. */
static uint32_t choose_bit(const uint8_t *bitmap, uint32_t goal, uint32_t bits)
{
    uint32_t near = goal + NEAR_BLOCKS < bits ? goal + NEAR_BLOCKS : bits;
    uint32_t bit = bits_find_zero(bitmap, goal, near);

    if (bit < near)
        return bit;
    bit = bits_find_zero_byte(bitmap, goal, bits);
    if (bit == bits)
        bit = bits_find_zero_byte(bitmap, 0, bits);
    if (bit == bits)
        bit = bits_find_zero(bitmap, goal, bits);
    if (bit == bits)
        bit = bits_find_zero(bitmap, 0, bits);
    return bit;
}

/* A crash leaves counts that are older than their bitmaps, so only a volume that was clean tells anything. */
static bool bitmap_agrees(struct ext2 *fs, uint32_t group, const uint8_t *bits, uint32_t count, uint32_t counted,
                          const char *what)
{
    uint32_t zeros = fs->clean_before ? bits_free(bits, count) : counted;

    if (zeros == counted)
        return true;
    ext2_corrupt(fs, "group %u: its bitmap has %u free %s, its descriptor %u", group, zeros, what, counted);
    return false;
}

static bool blocks_are_believed(struct ext2 *fs, uint32_t group, const struct cache_block *bitmap)
{
    struct ext2_group *g = &fs->group[group];

    if (!g->blocks_compared) {
        g->blocks_compared = true;
        g->blocks_doubted =
            !bitmap_agrees(fs, group, bitmap->bytes, ext2_group_blocks(fs, group), g->free_blocks, "blocks");
    }
    return !g->blocks_doubted;
}

/* The number of blocks from `first` on that have no known owner. */
static uint32_t unowned_blocks(struct ext2 *fs, uint32_t first, uint32_t count)
{
    uint32_t n = 0;
    bool all_files = ext2_is_file_block(fs, first, count);

    while (n < count && (all_files || ext2_is_file_block(fs, first + n, 1)) && !cache_has(fs->cache, first + n) &&
           (fs->freed_blocks == 0 || !ext2_is_freed(fs, first + n)))
        n++;
    return n;
}

/* Marks a block as taken that the bitmap calls free and that has an owner. The caller asks for one report, however many
 * such blocks follow. */
static int leave_block(struct ext2 *fs, uint32_t group, struct cache_block *bitmap, uint32_t bit, bool report)
{
    struct ext2_group *g = &fs->group[group];
    uint32_t block = ext2_group_first_block(fs, group) + bit;
    const char *owner = ext2_is_file_block(fs, block, 1) ? "a file's" : "the volume's own";

    if (report)
        ext2_corrupt(fs, "group %u: its bitmap marks block %u, which is %s, as free", group, block, owner);
    bits_set(bitmap->bytes, bit, 1);
    cache_mark_dirty(fs->cache, bitmap);
    fs->free_blocks -= fs->free_blocks != 0;
    g->free_blocks -= g->free_blocks != 0;
    return ext2_store_group(fs, group);
}

static int take_blocks(struct ext2 *fs, uint32_t group, struct cache_block *bitmap, uint32_t bit, uint32_t count)
{
    struct ext2_group *g = &fs->group[group];
    uint32_t counted = count < g->free_blocks ? count : g->free_blocks;

    if (counted < count)
        ext2_corrupt(fs, "group %u: %u free blocks counted, but its bitmap has more", group, g->free_blocks);
    bits_set(bitmap->bytes, bit, count);
    cache_mark_dirty(fs->cache, bitmap);
    g->free_blocks -= counted;
    fs->free_blocks -= counted;
    return ext2_store_group(fs, group);
}

/* Takes blocks by a bitmap that is believed. Returns their number, 0 if it has none. */
static int alloc_by_bitmap(struct ext2 *fs, uint32_t group, struct cache_block *bitmap, uint32_t goal_bit,
                           uint32_t want, uint32_t *first)
{
    uint32_t bits = ext2_group_blocks(fs, group), bit, left = 0;

    while ((bit = choose_bit(bitmap->bytes, goal_bit, bits)) < bits) {
        *first = ext2_group_first_block(fs, group) + bit;
        uint32_t count = bits_count_zeros(bitmap->bytes, bit, want < bits - bit ? bit + want : bits);
        count = unowned_blocks(fs, *first, count);
        int error =
            count == 0 ? leave_block(fs, group, bitmap, bit, left++ == 0) : take_blocks(fs, group, bitmap, bit, count);
        if (error < 0 || count != 0)
            return error < 0 ? error : (int)count;
    }
    fs->group[group].blocks_doubted = left != 0; /* not full, but wrong */
    return 0;
}

/* Takes blocks in one group. Returns their number, 0 if it has none. */
static int alloc_in_group(struct ext2 *fs, uint32_t group, uint32_t goal_bit, uint32_t want, uint32_t *first)
{
    struct cache_block *bitmap;

    if (fs->group[group].free_blocks == 0)
        return 0;
    int result = cache_get(fs->cache, fs->group[group].block_bitmap, BLOCK_BITMAP, &bitmap);
    if (result < 0)
        return result;
    if (blocks_are_believed(fs, group, bitmap))
        result = alloc_by_bitmap(fs, group, bitmap, goal_bit, want, first);
    cache_put(bitmap);
    return result;
}

static int alloc_blocks_once(struct ext2 *fs, uint32_t goal, uint32_t want, uint32_t *first)
{
    if (goal < fs->first_data_block || goal >= fs->blocks)
        goal = fs->first_data_block;
    uint32_t group = (goal - fs->first_data_block) / fs->blocks_per_group;
    uint32_t bit = (goal - fs->first_data_block) % fs->blocks_per_group;
    bool doubted = false;
    for (uint32_t i = 0; i < fs->groups; i++) {
        int result = alloc_in_group(fs, group, bit, want, first);

        if (result != 0)
            return result;
        doubted |= fs->group[group].blocks_doubted;
        group = group + 1 < fs->groups ? group + 1 : 0;
        bit = 0;
    }
    return doubted ? -N_EIO : -N_ENOSPC;
}

bool ext2_is_block_free(struct ext2 *fs, uint32_t block)
{
    struct cache_block *bitmap;

    if (!ext2_is_file_block(fs, block, 1))
        return false;
    uint32_t group = (block - fs->first_data_block) / fs->blocks_per_group;
    if (cache_get(fs->cache, fs->group[group].block_bitmap, BLOCK_BITMAP, &bitmap) < 0)
        return false;
    bool is_free = !disk_get_bit(bitmap->bytes, (block - fs->first_data_block) % fs->blocks_per_group);
    cache_put(bitmap);
    return is_free;
}

int ext2_alloc_blocks(struct ext2 *fs, uint32_t goal, uint32_t want, uint32_t *first)
{
    int result = alloc_blocks_once(fs, goal, want, first);

    if (result == -N_ENOSPC && fs->freed_blocks != 0) {
        result = ext2_sync(fs);
        if (result == 0)
            result = alloc_blocks_once(fs, goal, want, first);
    }
    return result;
}

/* ---- Aligned groups of eight, which are a byte of the bitmap ---- */

static int alloc_eight_by_bitmap(struct ext2 *fs, uint32_t group, struct cache_block *bitmap, uint32_t goal_bit,
                                 uint32_t *first)
{
    uint32_t bits = ext2_group_blocks(fs, group);

    for (uint32_t bit = goal_bit; (bit = bits_find_zero_byte(bitmap->bytes, bit, bits)) < bits; bit += 8) {
        *first = ext2_group_first_block(fs, group) + bit;
        if (*first % 8 == 0 && unowned_blocks(fs, *first, 8) == 8) {
            int error = take_blocks(fs, group, bitmap, bit, 8);

            return error < 0 ? error : 8;
        }
    }
    return goal_bit == 0 ? 0 : alloc_eight_by_bitmap(fs, group, bitmap, 0, first);
}

static int alloc_eight_in_group(struct ext2 *fs, uint32_t group, uint32_t goal_bit, uint32_t *first)
{
    struct cache_block *bitmap;

    if (fs->group[group].free_blocks < 8)
        return 0;
    int result = cache_get(fs->cache, fs->group[group].block_bitmap, BLOCK_BITMAP, &bitmap);
    if (result < 0)
        return result;
    if (blocks_are_believed(fs, group, bitmap))
        result = alloc_eight_by_bitmap(fs, group, bitmap, goal_bit, first);
    cache_put(bitmap);
    return result;
}

int ext2_alloc_eight(struct ext2 *fs, uint32_t goal, uint32_t *first)
{
    if (goal < fs->first_data_block || goal >= fs->blocks)
        goal = fs->first_data_block;
    uint32_t group = (goal - fs->first_data_block) / fs->blocks_per_group;
    uint32_t bit = (goal - fs->first_data_block) % fs->blocks_per_group;
    for (uint32_t i = 0; i < fs->groups; i++) {
        int result = alloc_eight_in_group(fs, group, bit, first);

        if (result != 0)
            return result;
        group = group + 1 < fs->groups ? group + 1 : 0;
        bit = 0;
    }
    return 0;
}

/* ---- Inodes ---- */

static int alloc_ino_in_group(struct ext2 *fs, uint32_t group, bool directory, uint32_t *ino)
{
    struct ext2_group *g = &fs->group[group];
    struct cache_block *bitmap;

    if (g->free_inodes == 0)
        return -N_ENOSPC;
    int error = cache_get(fs->cache, g->inode_bitmap, BLOCK_BITMAP, &bitmap);
    if (error < 0)
        return error;
    if (!g->inodes_compared) {
        g->inodes_compared = true; /* each is looked at before it is taken, whatever this says */
        bitmap_agrees(fs, group, bitmap->bytes, fs->inodes_per_group, g->free_inodes, "inodes");
    }
    uint32_t from = group == 0 ? fs->first_ino - 1 : 0;
    uint32_t bit = bits_find_zero(bitmap->bytes, from, fs->inodes_per_group);
    if (bit < fs->inodes_per_group) {
        bits_set(bitmap->bytes, bit, 1);
        cache_mark_dirty(fs->cache, bitmap);
        g->free_inodes--;
        g->directories += directory;
        fs->free_inodes -= fs->free_inodes != 0;
        *ino = group * fs->inodes_per_group + bit + 1;
        error = ext2_store_group(fs, group);
    } else {
        ext2_corrupt(fs, "group %u: %u free inodes counted, but its bitmap has none", group, g->free_inodes);
        g->free_inodes = 0;
        error = -N_ENOSPC; /* the next group may have one */
    }
    cache_put(bitmap);
    return error;
}

static uint32_t emptiest_group(const struct ext2 *fs, uint32_t fallback)
{
    uint32_t best = fallback;

    for (uint32_t i = 0; i < fs->groups; i++)
        if (fs->group[i].free_inodes != 0 && fs->group[i].free_blocks > fs->group[best].free_blocks)
            best = i;
    return best;
}

static int alloc_ino_once(struct ext2 *fs, uint32_t group, bool directory, uint32_t *ino)
{
    for (uint32_t i = 0; i < fs->groups; i++) {
        int error = alloc_ino_in_group(fs, group, directory, ino);

        if (error != -N_ENOSPC)
            return error;
        group = group + 1 < fs->groups ? group + 1 : 0;
    }
    return -N_ENOSPC;
}

int ext2_alloc_ino(struct ext2 *fs, uint32_t parent, bool directory, uint32_t *ino)
{
    uint32_t group = ext2_group_of_ino(fs, parent);

    if (directory)
        group = emptiest_group(fs, group);
    int error = alloc_ino_once(fs, group, directory, ino);
    if (error == -N_ENOSPC && fs->freed_inodes != 0) {
        error = ext2_sync(fs);
        if (error == 0)
            error = alloc_ino_once(fs, group, directory, ino);
    }
    return error;
}

int ext2_leave_ino(struct ext2 *fs, uint32_t ino, bool directory)
{
    uint32_t group = ext2_group_of_ino(fs, ino);

    fs->group[group].directories -= directory;
    return directory ? ext2_store_group(fs, group) : 0;
}

/* ---- Giving back ---- */

int ext2_free_blocks(struct ext2 *fs, uint32_t first, uint32_t count)
{
    if (!ext2_is_file_block(fs, first, count))
        return ext2_corrupt(fs, "blocks %u to %u are freed, but are not a file's", first, first + count - 1);
    int error = cache_forget(fs->cache, first, count);
    return error < 0 ? error : ext2_note_freed(fs, first, count, false);
}

int ext2_free_ino(struct ext2 *fs, uint32_t ino, bool directory)
{
    uint32_t group = ext2_group_of_ino(fs, ino);

    if (directory && fs->group[group].directories == 0 && fs->clean_before)
        ext2_corrupt(fs, "group %u: no directory counted, but inode %u was one", group, ino);
    if (directory && fs->group[group].directories != 0) {
        fs->group[group].directories--;
        int error = ext2_store_group(fs, group);
        if (error < 0)
            return error;
    }
    return ext2_note_freed(fs, ino, 1, true);
}

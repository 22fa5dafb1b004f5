/*
 * Where a file's blocks are on the disk.
 *
 *   pointer 0-11   data
 *   pointer 12     indirect block  -> data
 *   pointer 13     2nd level       -> indirect blocks -> data
 *   pointer 14     3rd level       -> 2nd level       -> indirect blocks -> data
 *
 * The 12 direct pointers and every lowest indirect block are called a leaf here: a row of pointers to data for
 * consecutive file blocks. A pointer of 0 is a hole, at any level.
 *
 * Writing goes in the order prepare (indirect blocks), data, set (pointers), so that no pointer is older than
 * its data. Truncating clears a pointer before it frees the blocks below it.
 */
#include "nsdisk/ext2/ext2.h"

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"

#define NO_GOAL 0u /* find, do not make */

struct leaf {
    struct cache_block *block; /* held; NULL: the inode's direct pointers, or missing */
    uint32_t index;            /* of the wanted file block's pointer */
    uint64_t count;            /* pointers from there on; blocks of the hole if missing */
    bool missing;
};

/* ---- Arithmetic ---- */

/* The number of levels of indirect blocks above a file block's data; *rest = its place below that pointer. */
static uint32_t map_depth(const struct ext2 *fs, uint64_t file_block, uint64_t *rest)
{
    uint32_t depth = 0;

    *rest = file_block;
    if (file_block < EXT2_DIRECT)
        return 0;
    *rest -= EXT2_DIRECT;
    for (depth = 1; depth < 3 && *rest >> (depth * fs->pointers_shift) != 0; depth++)
        *rest -= 1ull << (depth * fs->pointers_shift);
    return depth;
}

/* Which pointer leads to `rest` in an indirect block of a level. */
static uint32_t level_index(const struct ext2 *fs, uint64_t rest, uint32_t level)
{
    return (uint32_t)(rest >> ((level - 1) * fs->pointers_shift)) & ((1u << fs->pointers_shift) - 1);
}

static enum block_type level_type(uint32_t level)
{
    return (enum block_type)(BLOCK_INDIRECT_1 + level - 1);
}

static uint32_t pointers(const struct ext2 *fs)
{
    return 1u << fs->pointers_shift;
}

/* ---- Finding and making leaves ---- */

static int check_pointer(struct ext2_inode *inode, uint32_t first, uint32_t count, uint64_t file_block)
{
    if (ext2_is_file_block(inode->fs, first, count))
        return 0;
    return ext2_corrupt(inode->fs, "inode %u, file block %lu: points to block %u (%u blocks), which is not a file's",
                        inode->ino, (unsigned long)file_block, first, count);
}

/* A new indirect block for a pointer of the inode (parent NULL) or of another indirect block. */
static int indirect_make(struct ext2_inode *inode, struct cache_block *parent, uint32_t index, uint32_t level,
                         uint32_t goal, uint32_t *pointer)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;
    int result = ext2_alloc_blocks(fs, goal, 1, pointer);

    if (result < 0)
        return result;
    result = cache_get_new(fs->cache, *pointer, level_type(level), &block);
    if (result < 0) {
        ext2_free_blocks(fs, *pointer, 1);
        return result;
    }
    cache_put(block);
    inode->blocks_512 += fs->block_bytes / 512;
    if (!parent) {
        inode->block[index] = *pointer;
    } else {
        disk_put32(parent->bytes + 4 * index, *pointer);
        cache_mark_dirty(fs->cache, parent);
    }
    return 0;
}

/* There is no leaf: the pointer above it, at this level, is 0, so that all below the pointer is a hole. */
static void leaf_set_missing(const struct ext2 *fs, uint64_t rest, uint32_t level, struct leaf *leaf)
{
    uint64_t span = 1ull << (level * fs->pointers_shift);

    leaf->missing = true;
    leaf->count = span - (rest & (span - 1));
}

/* Replaces *block, which holds the pointer at `index` (NULL: the inode does), by the indirect block that the pointer
 * leads to; makes that block if the pointer is 0. On an error nothing is held. */
static int indirect_get(struct ext2_inode *inode, uint64_t file_block, uint32_t level, uint32_t goal, uint32_t index,
                        uint32_t pointer, struct cache_block **block)
{
    int error = pointer == 0 ? indirect_make(inode, *block, index, level, goal, &pointer)
                             : check_pointer(inode, pointer, 1, file_block);

    cache_put(*block);
    return error < 0 ? error : cache_get(inode->fs->cache, pointer, level_type(level), block);
}

/* Goes down from an indirect pointer of the inode to the leaf. */
static int leaf_descend(struct ext2_inode *inode, uint64_t file_block, uint32_t depth, uint64_t rest, uint32_t goal,
                        struct leaf *leaf)
{
    struct cache_block *block = NULL;
    uint32_t index = EXT2_DIRECT - 1 + depth;
    uint32_t pointer = inode->block[index];

    for (uint32_t level = depth; level > 0; level--) {
        if (pointer == 0 && goal == NO_GOAL) {
            cache_put(block);
            leaf_set_missing(inode->fs, rest, level, leaf);
            return 0;
        }
        int error = indirect_get(inode, file_block, level, goal, index, pointer, &block);
        if (error < 0)
            return error;
        index = level_index(inode->fs, rest, level);
        pointer = disk_get32(block->bytes + 4 * index);
    }
    leaf->block = block;
    leaf->index = index;
    leaf->count = pointers(inode->fs) - index;
    return 0;
}

/* Finds the leaf of a file block; with a goal, makes it if it is missing. The caller puts leaf->block. */
static int leaf_get(struct ext2_inode *inode, uint64_t file_block, uint32_t goal, struct leaf *leaf)
{
    uint64_t rest;

    *leaf = (struct leaf){0};
    if (file_block >= ext2_map_max_blocks(inode->fs))
        return -N_EFBIG;
    uint32_t depth = map_depth(inode->fs, file_block, &rest);
    if (depth != 0)
        return leaf_descend(inode, file_block, depth, rest, goal, leaf);
    leaf->index = (uint32_t)rest;
    leaf->count = EXT2_DIRECT - rest;
    return 0;
}

static uint32_t leaf_pointer(const struct ext2_inode *inode, const struct leaf *leaf, uint32_t i)
{
    if (leaf->missing)
        return 0;
    if (!leaf->block)
        return inode->block[leaf->index + i];
    return disk_get32(leaf->block->bytes + 4 * (leaf->index + i));
}

/* ---- Runs ---- */

/* Lengthens the run by what the leaf continues it with. Returns false when the run ends in this leaf. */
static bool run_extend(const struct ext2_inode *inode, const struct leaf *leaf, uint32_t most, struct ext2_run *run)
{
    if (run->count == 0)
        run->first = leaf_pointer(inode, leaf, 0);
    if (leaf->missing && run->first == 0) {
        run->count = leaf->count < most - run->count ? run->count + (uint32_t)leaf->count : most;
        return true;
    }
    for (uint32_t i = 0; i < leaf->count && run->count < most; i++) {
        if (leaf_pointer(inode, leaf, i) != (run->first == 0 ? 0 : run->first + run->count))
            return false;
        run->count++;
    }
    return true;
}

int ext2_map_run(struct ext2_inode *inode, uint64_t file_block, uint32_t most, struct ext2_run *run)
{
    *run = (struct ext2_run){0};
    bool more = true;
    while (more && run->count < most) {
        struct leaf leaf;
        int error = leaf_get(inode, file_block + run->count, NO_GOAL, &leaf);

        if (error == -N_EFBIG && run->count != 0)
            break;
        if (error < 0)
            return error;
        more = run_extend(inode, &leaf, most, run);
        cache_put(leaf.block);
    }
    return run->first == 0 ? 0 : check_pointer(inode, run->first, run->count, file_block);
}

int ext2_map_prepare(struct ext2_inode *inode, uint64_t file_block, uint32_t count, uint32_t goal)
{
    uint32_t done = 0;

    while (done < count) {
        struct leaf leaf;
        int error = leaf_get(inode, file_block + done, goal, &leaf);

        if (error < 0)
            return done == 0 ? error : (int)done;
        done = leaf.count < count - done ? done + (uint32_t)leaf.count : count;
        cache_put(leaf.block);
    }
    return (int)count;
}

static uint32_t leaf_set(struct ext2_inode *inode, struct leaf *leaf, uint32_t first, uint32_t count)
{
    uint32_t n = leaf->count < count ? (uint32_t)leaf->count : count;

    for (uint32_t i = 0; i < n; i++) {
        if (!leaf->block)
            inode->block[leaf->index + i] = first + i;
        else
            disk_put32(leaf->block->bytes + 4 * (leaf->index + i), first + i);
    }
    if (leaf->block)
        cache_mark_dirty(inode->fs->cache, leaf->block);
    return n;
}

int ext2_map_set(struct ext2_inode *inode, uint64_t file_block, uint32_t first, uint32_t count)
{
    for (uint32_t done = 0; done < count;) {
        struct leaf leaf;
        int error = leaf_get(inode, file_block + done, NO_GOAL, &leaf);

        if (error < 0)
            return error;
        done += leaf_set(inode, &leaf, first + done, count - done);
        cache_put(leaf.block);
    }
    inode->blocks_512 += count * (inode->fs->block_bytes / 512);
    return 0;
}

/* ---- Truncating ---- */

/* The number of blocks that a walk may free: as many as the inode says it has. This bounds the walk where indirect
 * blocks lead to each other, or many times to the same block. */
static uint32_t blocks_counted(const struct ext2_inode *inode)
{
    uint32_t n = inode->blocks_512 / (inode->fs->block_bytes / 512);

    return n < inode->fs->blocks ? n : inode->fs->blocks;
}

static int count_block(struct ext2_inode *inode, uint32_t *left)
{
    if (*left == 0)
        return ext2_corrupt(inode->fs, "inode %u: its pointers lead to more blocks than the %u sectors that it counts",
                            inode->ino, inode->blocks_512);
    --*left;
    return 0;
}

/* Frees a block to which nothing points, and all blocks below it. level 0: data. */
static int free_tree(struct ext2_inode *inode, uint32_t pointer, uint32_t level, uint32_t *left)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;
    int error = count_block(inode, left);

    if (error < 0)
        return error;
    if (level > 0) {
        error = check_pointer(inode, pointer, 1, 0);
        if (error == 0)
            error = cache_get(fs->cache, pointer, level_type(level), &block);
        if (error < 0)
            return error;
        for (uint32_t i = 0; i < pointers(fs) && error == 0; i++) {
            uint32_t child = disk_get32(block->bytes + 4 * i);

            if (child != 0)
                error = free_tree(inode, child, level - 1, left);
        }
        cache_put(block);
        if (error < 0)
            return error;
    }
    return ext2_free_blocks(fs, pointer, 1);
}

/* Frees all blocks below an indirect block from its data block `keep` on (0 < keep < its span). */
static int trim_tree(struct ext2_inode *inode, uint32_t pointer, uint32_t level, uint64_t keep, uint32_t *left)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;
    int error = check_pointer(inode, pointer, 1, 0);

    if (error == 0)
        error = cache_get(fs->cache, pointer, level_type(level), &block);
    if (error < 0)
        return error;
    uint32_t child_shift = (level - 1) * fs->pointers_shift;
    uint64_t part = keep & ((1ull << child_shift) - 1);
    uint32_t i = (uint32_t)(keep >> child_shift);
    if (part != 0) {
        uint32_t child = disk_get32(block->bytes + 4 * i++);

        error = child == 0 ? 0 : trim_tree(inode, child, level - 1, part, left);
    }
    for (; i < pointers(fs) && error == 0; i++) {
        uint32_t child = disk_get32(block->bytes + 4 * i);

        if (child == 0)
            continue;
        disk_put32(block->bytes + 4 * i, 0);
        cache_mark_dirty(fs->cache, block);
        error = free_tree(inode, child, level - 1, left);
    }
    cache_put(block);
    return error;
}

/* Takes the inode's pointers whose first block is at or beyond keep out of the inode, into cut[]. */
static void cut_pointers(struct ext2_inode *inode, uint64_t keep, uint32_t cut[EXT2_POINTERS])
{
    uint64_t base = 0;

    for (uint32_t i = 0; i < EXT2_POINTERS; i++) {
        cut[i] = base >= keep ? inode->block[i] : 0;
        if (cut[i] != 0)
            inode->block[i] = 0;
        base += i < EXT2_DIRECT ? 1 : 1ull << ((i - EXT2_DIRECT + 1) * inode->fs->pointers_shift);
    }
}

/* Frees what cut_pointers took out, and all blocks below. */
static int free_cut(struct ext2_inode *inode, const uint32_t cut[EXT2_POINTERS], uint32_t *left)
{
    int error = 0;

    for (uint32_t i = 0; i < EXT2_POINTERS && error == 0; i++)
        if (cut[i] != 0)
            error = free_tree(inode, cut[i], i < EXT2_DIRECT ? 0 : i - EXT2_DIRECT + 1, left);
    return error;
}

/* Frees from file block `keep` on below the pointer that also leads to kept blocks, if there is one. */
static int trim_kept(struct ext2_inode *inode, uint64_t keep, uint32_t *left)
{
    uint64_t rest;

    if (keep >= ext2_map_max_blocks(inode->fs))
        return 0;
    uint32_t depth = map_depth(inode->fs, keep, &rest);
    uint32_t pointer = depth == 0 ? 0 : inode->block[EXT2_DIRECT - 1 + depth];
    return pointer == 0 ? 0 : trim_tree(inode, pointer, depth, rest, left);
}

int ext2_map_truncate(struct ext2_inode *inode, uint64_t keep)
{
    uint32_t cut[EXT2_POINTERS];
    uint32_t counted = blocks_counted(inode), left = counted;

    cut_pointers(inode, keep, cut);
    inode->goal = 0;
    int error = ext2_inode_store(inode);
    if (error == 0)
        error = free_cut(inode, cut, &left);
    if (error == 0)
        error = trim_kept(inode, keep, &left);
    inode->blocks_512 -= (counted - left) * (inode->fs->block_bytes / 512);
    int stored = ext2_inode_store(inode);
    return error < 0 ? error : stored;
}

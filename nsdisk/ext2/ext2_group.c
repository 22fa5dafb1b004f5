/*
 * The groups of a volume: their descriptors, the layout that these give, and the report of corruption. Everything else
 * of ext2 stands on this.
 *
 * A descriptor is unpacked at mount and packed whenever it changes. A group's bitmaps and its table of inodes lie in
 * the group, behind the volume's descriptors; no file may have these blocks.
 */
#include "nsdisk/ext2/ext2.h"

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define DESCRIPTOR_BYTES 32u

enum { /* offsets in a group descriptor */
       G_BLOCK_BITMAP = 0,
       G_INODE_BITMAP = 4,
       G_INODE_TABLE = 8,
       G_FREE_BLOCKS = 12,
       G_FREE_INODES = 14,
       G_DIRECTORIES = 16,
};

uint32_t ext2_now(const struct ext2 *fs)
{
    return fs->env.now_s(fs->env.ctx);
}

int ext2_corrupt(struct ext2 *fs, const char *format, ...)
{
    char text[240];
    va_list list;

    va_start(list, format);
    size_t n = text_print(text, sizeof text, "%s: corrupt: ", fs->volume);
    text_print_list(text + n, sizeof text - n, format, list);
    va_end(list);
    fs->errors = true;
    fs->env.log.write(fs->env.log.ctx, text);
    return -N_EIO;
}

/* ---- Descriptors ---- */

static uint32_t inode_table_blocks(const struct ext2 *fs)
{
    uint32_t per_block = fs->block_bytes / fs->inode_bytes;

    return (fs->inodes_per_group + per_block - 1) / per_block;
}

static bool in_volume(const struct ext2 *fs, uint32_t first, uint32_t count)
{
    return first > fs->first_data_block && first < fs->blocks && count <= fs->blocks - first;
}

static uint32_t descriptor_blocks(const struct ext2 *fs)
{
    uint32_t per_block = fs->block_bytes / DESCRIPTOR_BYTES;

    return (fs->groups + per_block - 1) / per_block;
}

/* Within the group's blocks (only flex_bg, which is refused, puts a group's own elsewhere), behind the volume's
 * descriptors. */
static bool in_group(const struct ext2 *fs, uint32_t group, uint32_t first, uint32_t count)
{
    uint32_t start = ext2_group_first_block(fs, group);
    uint32_t blocks = ext2_group_blocks(fs, group);

    return first > fs->first_data_block + descriptor_blocks(fs) && first >= start && first - start < blocks &&
           count <= blocks - (first - start);
}

static bool overlaps_table(const struct ext2 *fs, const struct ext2_group *g, uint32_t block)
{
    return block - g->inode_table < inode_table_blocks(fs);
}

static int descriptor_get(struct ext2 *fs, uint32_t group, struct cache_block **block)
{
    uint32_t per_block = fs->block_bytes / DESCRIPTOR_BYTES;

    return cache_get(fs->cache, fs->first_data_block + 1 + group / per_block, BLOCK_GROUPS, block);
}

static uint8_t *descriptor_in(const struct ext2 *fs, uint32_t group, const struct cache_block *block)
{
    return block->bytes + group % (fs->block_bytes / DESCRIPTOR_BYTES) * DESCRIPTOR_BYTES;
}

int ext2_load_group(struct ext2 *fs, uint32_t group)
{
    struct cache_block *block;
    struct ext2_group *g = &fs->group[group];
    int error = descriptor_get(fs, group, &block);

    if (error < 0)
        return error;
    const uint8_t *at = descriptor_in(fs, group, block);
    g->block_bitmap = disk_get32(at + G_BLOCK_BITMAP);
    g->inode_bitmap = disk_get32(at + G_INODE_BITMAP);
    g->inode_table = disk_get32(at + G_INODE_TABLE);
    g->free_blocks = disk_get16(at + G_FREE_BLOCKS);
    g->free_inodes = disk_get16(at + G_FREE_INODES);
    g->directories = disk_get16(at + G_DIRECTORIES);
    cache_put(block);
    if (!in_group(fs, group, g->block_bitmap, 1) || !in_group(fs, group, g->inode_bitmap, 1) ||
        !in_group(fs, group, g->inode_table, inode_table_blocks(fs)))
        return ext2_corrupt(fs, "group %u: bitmaps %u and %u, inode table %u: outside the group", group,
                            g->block_bitmap, g->inode_bitmap, g->inode_table);
    if (g->block_bitmap == g->inode_bitmap || overlaps_table(fs, g, g->block_bitmap) ||
        overlaps_table(fs, g, g->inode_bitmap))
        return ext2_corrupt(fs, "group %u: bitmaps %u and %u, inode table %u: they overlap", group, g->block_bitmap,
                            g->inode_bitmap, g->inode_table);
    return 0;
}

int ext2_store_group(struct ext2 *fs, uint32_t group)
{
    struct cache_block *block;
    const struct ext2_group *g = &fs->group[group];
    int error = descriptor_get(fs, group, &block);

    if (error < 0)
        return error;
    uint8_t *at = descriptor_in(fs, group, block);
    disk_put16(at + G_FREE_BLOCKS, g->free_blocks);
    disk_put16(at + G_FREE_INODES, g->free_inodes);
    disk_put16(at + G_DIRECTORIES, g->directories);
    cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return 0;
}

/* ---- Layout ---- */

static bool overlaps(uint32_t first, uint32_t count, uint32_t other, uint32_t other_count)
{
    return first < other + other_count && other < first + count;
}

/* A group's own blocks lie in it: ext2_load_group has seen to it. */
static bool overlaps_group_blocks(const struct ext2 *fs, uint32_t group, uint32_t first, uint32_t count)
{
    const struct ext2_group *g = &fs->group[group];

    return overlaps(first, count, g->block_bitmap, 1) || overlaps(first, count, g->inode_bitmap, 1) ||
           overlaps(first, count, g->inode_table, inode_table_blocks(fs));
}

bool ext2_is_file_block(const struct ext2 *fs, uint32_t first, uint32_t count)
{
    if (count == 0 || !in_volume(fs, first, count) || first <= fs->first_data_block + descriptor_blocks(fs))
        return false;
    uint32_t last_group = (first + count - 1 - fs->first_data_block) / fs->blocks_per_group;
    for (uint32_t g = (first - fs->first_data_block) / fs->blocks_per_group; g <= last_group; g++)
        if (overlaps_group_blocks(fs, g, first, count))
            return false;
    return true;
}

uint32_t ext2_group_of_ino(const struct ext2 *fs, uint32_t ino)
{
    return (ino - 1) / fs->inodes_per_group;
}

uint32_t ext2_group_goal(const struct ext2 *fs, uint32_t group)
{
    return fs->group[group].inode_table + inode_table_blocks(fs);
}

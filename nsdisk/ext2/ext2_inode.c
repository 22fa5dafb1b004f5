/*
 * Inodes in memory. Each inode that is held has one copy, found by number; so all holders see one size and one link
 * count, and a file without names lives until its last holder puts it.
 *
 *   get, new -> held -> (change, store) -> put -> idle, for the next one
 *
 * ext2_itable.c has the copies and their places on the disk.
 */
#include "nsdisk/ext2/ext2.h"

#include "nsdisk/ext2/disk_bytes.h"
#include "nsdisk/ext2/ext2_itable.h"
#include "vertex/contract/errors.h"

enum { /* offsets in a block of extended attributes */
       A_MAGIC = 0,
       A_REFERENCES = 4,
};
#define ATTRIBUTES_MAGIC 0xea020000u

/* ---- Getting ---- */

static int inode_check(const struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;

    if (inode->mode == 0 || inode->links == 0)
        return -N_ESTALE;
    if (ext2_is_dir(inode) && (inode->size_bytes & (fs->block_bytes - 1)) != 0)
        return ext2_corrupt(fs, "directory inode %u: size %lu, expected a multiple of %u", inode->ino,
                            (unsigned long)inode->size_bytes, fs->block_bytes);
    if (ext2_is_dir(inode) && inode->size_bytes >> 9 > inode->blocks_512)
        return ext2_corrupt(fs, "directory inode %u: size %lu, but only %u sectors of blocks", inode->ino,
                            (unsigned long)inode->size_bytes, inode->blocks_512);
    if (ext2_is_dir(inode) && inode->size_bytes >> fs->block_shift > fs->blocks)
        return ext2_corrupt(fs, "directory inode %u: size %lu, but the volume has only %u blocks", inode->ino,
                            (unsigned long)inode->size_bytes, fs->blocks);
    if (ext2_is_file(inode) && inode->size_bytes > ext2_map_max_blocks(fs) << fs->block_shift)
        return ext2_corrupt(fs, "inode %u: size %lu, expected at most %lu", inode->ino,
                            (unsigned long)inode->size_bytes,
                            (unsigned long)(ext2_map_max_blocks(fs) << fs->block_shift));
    return 0;
}

static int inode_load(struct ext2_inode *inode)
{
    int error = ext2_copy_load(inode);

    return error < 0 ? error : inode_check(inode);
}

int ext2_inode_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    if (ino == 0 || ino > fs->inodes)
        return ext2_corrupt(fs, "inode %u is wanted, expected 1 to %u", ino, fs->inodes);
    struct ext2_inode *inode = ext2_copy_find(fs, ino);
    if (inode) {
        inode->refs++;
        *out = inode;
        return 0;
    }
    inode = ext2_copy_make(fs, ino);
    if (!inode)
        return -N_ENOMEM;
    int error = inode_load(inode);
    if (error < 0)
        ext2_copy_drop(inode);
    else
        *out = inode;
    return error;
}

static int inode_start(struct ext2 *fs, uint32_t ino, uint16_t mode, struct ext2_inode **out)
{
    uint32_t generation;
    int error = ext2_copy_find(fs, ino) != NULL ? -N_EBUSY : ext2_place_clear(fs, ino, &generation);

    if (error < 0)
        return error;
    struct ext2_inode *inode = ext2_copy_make(fs, ino);
    if (!inode)
        return -N_ENOMEM;
    inode->mode = mode;
    inode->generation = generation;
    inode->atime_s = inode->ctime_s = inode->mtime_s = ext2_now(fs);
    ext2_unnamed_add(inode);
    error = ext2_inode_store(inode);
    if (error < 0) {
        ext2_unnamed_remove(inode);
        ext2_copy_drop(inode);
    } else {
        *out = inode;
    }
    return error;
}

/* One line, however many the bitmap is wrong about. */
static void report_in_use(struct ext2 *fs, uint32_t first, uint32_t count)
{
    if (count == 1)
        ext2_corrupt(fs, "inode %u is in use, but its group's bitmap marks it as free: not allocated", first);
    else
        ext2_corrupt(fs, "inode %u and %u more are in use, but their groups' bitmaps mark them as free: not allocated",
                     first, count - 1);
}

/* Each number that turns out to be in use stays taken, so this ends. */
int ext2_inode_new(struct ext2 *fs, uint32_t parent, uint16_t mode, struct ext2_inode **out)
{
    uint32_t ino = 0, first_used = 0, used = 0;
    bool directory = (mode & EXT2_S_IFMT) == EXT2_S_IFDIR;
    int error = fs->unnamed_count == EXT2_UNNAMED_MAX ? ext2_sync(fs) : 0;

    if (error == 0)
        error = ext2_alloc_ino(fs, parent, directory, &ino);
    while (error == 0 && (error = inode_start(fs, ino, mode, out)) == -N_EBUSY) {
        first_used = used++ == 0 ? ino : first_used;
        error = ext2_leave_ino(fs, ino, directory);
        if (error == 0 && (error = ext2_begin(fs)) == 0)
            error = ext2_alloc_ino(fs, parent, directory, &ino);
        if (error < 0)
            ino = 0;
    }
    if (used != 0)
        report_in_use(fs, first_used, used);
    if (error < 0 && ino != 0)
        ext2_free_ino(fs, ino, directory);
    return error;
}

/* ---- Putting ---- */

bool ext2_inode_has_blocks(const struct ext2_inode *inode)
{
    uint32_t attribute_512 = inode->attributes == 0 ? 0 : inode->fs->block_bytes / 512;

    if (ext2_is_symlink(inode))
        return inode->blocks_512 != attribute_512 || inode->size_bytes >= EXT2_SHORT_SYMLINK_BYTES;
    return ext2_is_file(inode) || ext2_is_dir(inode);
}

/* Inodes may share a block of attributes: the last one frees it. */
static int attributes_release(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;

    if (!ext2_is_file_block(fs, inode->attributes, 1))
        return ext2_corrupt(fs, "inode %u: attributes in block %u", inode->ino, inode->attributes);
    int error = cache_get(fs->cache, inode->attributes, BLOCK_ATTRIBUTES, &block);
    if (error < 0)
        return error;
    uint32_t magic = disk_get32(block->bytes + A_MAGIC);
    uint32_t references = disk_get32(block->bytes + A_REFERENCES);
    bool shared = magic == ATTRIBUTES_MAGIC && references > 1;
    if (shared) {
        disk_put32(block->bytes + A_REFERENCES, references - 1);
        cache_mark_dirty(fs->cache, block);
    }
    cache_put(block);
    if (magic != ATTRIBUTES_MAGIC)
        return ext2_corrupt(fs, "inode %u: block %u: magic 0x%x, expected attributes", inode->ino, inode->attributes,
                            magic);
    return shared ? 0 : ext2_free_blocks(fs, inode->attributes, 1);
}

static int inode_delete(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    int error = ext2_inode_has_blocks(inode) ? ext2_map_truncate(inode, 0) : 0;

    if (error == 0 && inode->attributes != 0)
        error = attributes_release(inode);
    if (error < 0)
        return error;
    ext2_unnamed_remove(inode);
    inode->attributes = 0;
    inode->size_bytes = 0;
    inode->blocks_512 = 0;
    inode->dtime_s = ext2_now(fs);
    error = ext2_inode_store(inode);
    return error < 0 ? error : ext2_free_ino(fs, inode->ino, ext2_is_dir(inode));
}

int ext2_inode_put(struct ext2_inode *inode)
{
    if (!inode || --inode->refs != 0)
        return 0;
    int error = inode->links == 0 && !inode->fs->read_only ? inode_delete(inode) : 0;
    ext2_copy_drop(inode);
    return error;
}

/* ---- The journal's inode ---- */

int ext2_inode_get_journal(struct ext2 *fs, uint64_t size_bytes, struct ext2_inode **out)
{
    if (ext2_copy_find(fs, EXT2_JOURNAL_INO))
        return -N_ENOTSUP;
    struct ext2_inode *inode = ext2_copy_make(fs, EXT2_JOURNAL_INO);
    if (!inode)
        return -N_ENOMEM;
    int error = inode_load(inode);
    bool empty = error == -N_ESTALE && inode->blocks_512 == 0;
    bool sound = fs->has_journal ? error == 0 && ext2_is_file(inode) && inode->size_bytes >= size_bytes : empty;
    if (!sound) {
        ext2_copy_drop(inode);
        return error < 0 && error != -N_ESTALE ? error : -N_ENOTSUP;
    }
    if (!fs->has_journal) {
        inode->mode = EXT2_S_IFREG | 0600;
        inode->links = 1;
        inode->size_bytes = size_bytes;
        inode->atime_s = inode->ctime_s = inode->mtime_s = ext2_now(fs);
        inode->dtime_s = 0;
    }
    *out = inode;
    return 0;
}

int ext2_inode_put_journal(struct ext2_inode *inode, bool remove)
{
    struct ext2 *fs = inode->fs;
    int error = 0;

    if (remove && !fs->read_only) {
        error = ext2_map_truncate(inode, 0);
        inode->mode = inode->links = 0;
        inode->size_bytes = inode->blocks_512 = 0;
        inode->atime_s = inode->ctime_s = inode->mtime_s = 0;
        int stored = ext2_inode_store(inode);
        error = error < 0 ? error : stored;
    }
    ext2_copy_drop(inode);
    return error;
}

uint8_t ext2_dir_type(uint16_t mode)
{
    static const uint8_t type[16] = {
        [1] = 5, [2] = 3, [4] = EXT2_FT_DIRECTORY, [6] = 4, [8] = EXT2_FT_REGULAR, [10] = EXT2_FT_SYMLINK, [12] = 6};

    return type[mode >> 12];
}

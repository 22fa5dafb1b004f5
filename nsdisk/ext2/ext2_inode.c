/*
 * Inodes in memory. Each inode that is held has one copy, found by number; so all holders see one size and one link
 * count, and a file without names lives until its last holder puts it.
 *
 *   get, new -> held -> (change, store) -> put -> idle, for the next one
 *
 * An inode made since the last sync is unnamed: it is stored without links, as if deleted, until a sync has brought its
 * name to the disk. So a crash never leaves an inode in use that has no name, which only a human could judge.
 *
 * The copy is packed into its cached block of inodes by ext2_inode_store, field by field; fields that ext2 does not
 * define here (those behind the first 128 bytes) keep what they hold.
 */
#include "nsdisk/ext2/ext2.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"

enum { /* offsets in an inode */
       I_MODE = 0,
       I_UID = 2,
       I_SIZE = 4,
       I_ATIME = 8,
       I_CTIME = 12,
       I_MTIME = 16,
       I_DTIME = 20,
       I_GID = 24,
       I_LINKS = 26,
       I_BLOCKS = 28,
       I_FLAGS = 32,
       I_BLOCK = 40,
       I_GENERATION = 100,
       I_ATTRIBUTES = 104,
       I_SIZE_HIGH = 108,
       I_UID_HIGH = 120,
       I_GID_HIGH = 122,
};

enum { /* offsets in a block of extended attributes */
       A_MAGIC = 0,
       A_REFERENCES = 4,
};
#define ATTRIBUTES_MAGIC 0xea020000u

/* ---- Blocks of inodes ---- */

static int inode_block_get(struct ext2 *fs, uint32_t ino, struct cache_block **block)
{
    uint32_t index = (ino - 1) % fs->inodes_per_group;
    uint32_t per_block = fs->block_bytes / fs->inode_bytes;
    uint32_t number = fs->group[ext2_group_of_ino(fs, ino)].inode_table + index / per_block;

    return cache_get(fs->cache, number, BLOCK_INODES, block);
}

static uint8_t *inode_in(const struct ext2 *fs, uint32_t ino, const struct cache_block *block)
{
    uint32_t index = (ino - 1) % fs->inodes_per_group;

    return block->bytes + index % (fs->block_bytes / fs->inode_bytes) * fs->inode_bytes;
}

static void inode_unpack(struct ext2_inode *inode, const uint8_t *at)
{
    inode->mode = disk_get16(at + I_MODE);
    inode->links = disk_get16(at + I_LINKS);
    inode->uid = disk_get16(at + I_UID) | (uint32_t)disk_get16(at + I_UID_HIGH) << 16;
    inode->gid = disk_get16(at + I_GID) | (uint32_t)disk_get16(at + I_GID_HIGH) << 16;
    inode->size_bytes = disk_get32(at + I_SIZE);
    if (ext2_is_file(inode))
        inode->size_bytes |= (uint64_t)disk_get32(at + I_SIZE_HIGH) << 32;
    inode->atime_s = disk_get32(at + I_ATIME);
    inode->ctime_s = disk_get32(at + I_CTIME);
    inode->mtime_s = disk_get32(at + I_MTIME);
    inode->dtime_s = disk_get32(at + I_DTIME);
    inode->blocks_512 = disk_get32(at + I_BLOCKS);
    inode->flags = disk_get32(at + I_FLAGS);
    inode->generation = disk_get32(at + I_GENERATION);
    inode->attributes = disk_get32(at + I_ATTRIBUTES);
    for (uint32_t i = 0; i < EXT2_POINTERS; i++)
        inode->block[i] = disk_get32(at + I_BLOCK + 4 * i);
}

static void inode_pack(const struct ext2_inode *inode, uint8_t *at)
{
    disk_put16(at + I_MODE, inode->mode);
    disk_put16(at + I_LINKS, inode->unnamed ? 0 : inode->links);
    disk_put16(at + I_UID, inode->uid);
    disk_put16(at + I_UID_HIGH, inode->uid >> 16);
    disk_put16(at + I_GID, inode->gid);
    disk_put16(at + I_GID_HIGH, inode->gid >> 16);
    disk_put32(at + I_SIZE, (uint32_t)inode->size_bytes);
    if (ext2_is_file(inode))
        disk_put32(at + I_SIZE_HIGH, (uint32_t)(inode->size_bytes >> 32));
    disk_put32(at + I_ATIME, inode->atime_s);
    disk_put32(at + I_CTIME, inode->ctime_s);
    disk_put32(at + I_MTIME, inode->mtime_s);
    disk_put32(at + I_DTIME, inode->dtime_s);
    disk_put32(at + I_BLOCKS, inode->blocks_512);
    disk_put32(at + I_FLAGS, inode->flags);
    disk_put32(at + I_GENERATION, inode->generation);
    disk_put32(at + I_ATTRIBUTES, inode->attributes);
    for (uint32_t i = 0; i < EXT2_POINTERS; i++)
        disk_put32(at + I_BLOCK + 4 * i, inode->block[i]);
}

/* ---- The table ---- */

static struct ext2_inode *table_find(struct ext2 *fs, uint32_t ino)
{
    struct ext2_inode *inode = fs->inode_hash[ino % EXT2_HASH];

    while (inode && inode->ino != ino)
        inode = inode->next;
    return inode;
}

static struct ext2_inode *table_insert(struct ext2 *fs, uint32_t ino)
{
    struct ext2_inode *inode = fs->inode_idle;

    if (inode)
        fs->inode_idle = inode->next;
    else if (!(inode = malloc(sizeof *inode)))
        return NULL;
    memset(inode, 0, sizeof *inode);
    inode->fs = fs;
    inode->ino = ino;
    inode->refs = 1;
    inode->next = fs->inode_hash[ino % EXT2_HASH];
    fs->inode_hash[ino % EXT2_HASH] = inode;
    return inode;
}

static void table_remove(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    struct ext2_inode **at = &fs->inode_hash[inode->ino % EXT2_HASH];

    while (*at != inode)
        at = &(*at)->next;
    *at = inode->next;
    inode->next = fs->inode_idle;
    fs->inode_idle = inode;
}

/* ---- Unnamed inodes ---- */

static struct ext2_unnamed *unnamed_find(struct ext2 *fs, uint32_t ino)
{
    for (uint32_t i = 0; i < fs->unnamed_count; i++)
        if (fs->unnamed[i].ino == ino)
            return &fs->unnamed[i];
    return NULL;
}

static void unnamed_remove(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;

    if (!inode->unnamed)
        return;
    struct ext2_unnamed *u = unnamed_find(fs, inode->ino);
    *u = fs->unnamed[--fs->unnamed_count];
    inode->unnamed = false;
}

int ext2_publish_unnamed(struct ext2 *fs)
{
    for (; fs->unnamed_count != 0; fs->unnamed_count--) {
        const struct ext2_unnamed *u = &fs->unnamed[fs->unnamed_count - 1];
        struct ext2_inode *inode = table_find(fs, u->ino);
        struct cache_block *block;
        int error = inode_block_get(fs, u->ino, &block);

        if (error < 0)
            return error;
        disk_put16(inode_in(fs, u->ino, block) + I_LINKS, u->links);
        cache_mark_dirty(fs->cache, block);
        cache_put(block);
        if (inode)
            inode->unnamed = false;
    }
    return 0;
}

/* ---- Storing ---- */

int ext2_inode_store(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;

    if (inode->unnamed)
        unnamed_find(fs, inode->ino)->links = inode->links;
    int error = inode_block_get(fs, inode->ino, &block);
    if (error < 0)
        return error;
    inode_pack(inode, inode_in(fs, inode->ino, block));
    cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return 0;
}

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
    struct ext2 *fs = inode->fs;
    struct cache_block *block;
    int error = inode_block_get(fs, inode->ino, &block);

    if (error < 0)
        return error;
    inode_unpack(inode, inode_in(fs, inode->ino, block));
    cache_put(block);
    const struct ext2_unnamed *unnamed = inode->links == 0 ? unnamed_find(fs, inode->ino) : NULL;
    if (unnamed) {
        inode->links = unnamed->links;
        inode->unnamed = true;
    }
    return inode_check(inode);
}

int ext2_inode_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    if (ino == 0 || ino > fs->inodes)
        return ext2_corrupt(fs, "inode %u is wanted, expected 1 to %u", ino, fs->inodes);
    struct ext2_inode *inode = table_find(fs, ino);
    if (inode) {
        inode->refs++;
        *out = inode;
        return 0;
    }
    inode = table_insert(fs, ino);
    if (!inode)
        return -N_ENOMEM;
    int error = inode_load(inode);
    if (error < 0)
        table_remove(inode);
    else
        *out = inode;
    return error;
}

/* Whether e2fsck would take this inode for a file, or ask about it. A deleted inode has no links and a time of
 * deletion. */
static bool place_is_in_use(const uint8_t *at)
{
    return disk_get16(at + I_LINKS) != 0 || (disk_get16(at + I_MODE) != 0 && disk_get32(at + I_DTIME) == 0);
}

/* Prepares the inode's place on the disk: all zeros but the generation, which goes on from the last user's.
 * -N_EBUSY: a file is there. */
static int inode_clear_place(struct ext2 *fs, uint32_t ino, uint32_t *generation)
{
    struct cache_block *block;
    int error = inode_block_get(fs, ino, &block);

    if (error < 0)
        return error;
    uint8_t *at = inode_in(fs, ino, block);
    if (place_is_in_use(at)) {
        cache_put(block);
        return -N_EBUSY;
    }
    *generation = disk_get32(at + I_GENERATION) + 1;
    memset(at, 0, fs->inode_bytes);
    cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return 0;
}

static int inode_start(struct ext2 *fs, uint32_t ino, uint16_t mode, struct ext2_inode **out)
{
    uint32_t generation;
    int error = table_find(fs, ino) != NULL ? -N_EBUSY : inode_clear_place(fs, ino, &generation);

    if (error < 0)
        return error;
    struct ext2_inode *inode = table_insert(fs, ino);
    if (!inode)
        return -N_ENOMEM;
    inode->mode = mode;
    inode->generation = generation;
    inode->atime_s = inode->ctime_s = inode->mtime_s = ext2_now(fs);
    inode->unnamed = true;
    fs->unnamed[fs->unnamed_count++] = (struct ext2_unnamed){ino, 0};
    error = ext2_inode_store(inode);
    if (error < 0) {
        unnamed_remove(inode);
        table_remove(inode);
    } else {
        *out = inode;
    }
    return error;
}

/* One line, however many the bitmap is wrong about. */
static void report_in_use(struct ext2 *fs, uint32_t first, uint32_t count)
{
    if (count == 1)
        ext2_corrupt(fs, "inode %u is in use, but its group's bitmap calls it free: not taken", first);
    else
        ext2_corrupt(fs, "inode %u and %u more are in use, but their groups' bitmaps call them free: not taken", first,
                     count - 1);
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
    unnamed_remove(inode);
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
    table_remove(inode);
    return error;
}

/* ---- The journal's inode ---- */

int ext2_inode_get_journal(struct ext2 *fs, uint64_t size_bytes, struct ext2_inode **out)
{
    if (table_find(fs, EXT2_JOURNAL_INO))
        return -N_ENOTSUP;
    struct ext2_inode *inode = table_insert(fs, EXT2_JOURNAL_INO);
    if (!inode)
        return -N_ENOMEM;
    int error = inode_load(inode);
    bool empty = error == -N_ESTALE && inode->blocks_512 == 0;
    bool sound = fs->has_journal ? error == 0 && ext2_is_file(inode) && inode->size_bytes >= size_bytes : empty;
    if (!sound) {
        table_remove(inode);
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
    table_remove(inode);
    return error;
}

uint8_t ext2_dir_type(uint16_t mode)
{
    static const uint8_t type[16] = {
        [1] = 5, [2] = 3, [4] = EXT2_FT_DIRECTORY, [6] = 4, [8] = EXT2_FT_REGULAR, [10] = EXT2_FT_SYMLINK, [12] = 6};

    return type[mode >> 12];
}

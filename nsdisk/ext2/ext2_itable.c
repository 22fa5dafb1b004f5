/*
 * The inode table: inodes on the disk, and their copies in memory.
 *
 * A copy is packed into its cached block of inodes by ext2_inode_store, field by field; fields that ext2 does not
 * define here (those behind the first 128 bytes) keep what they hold.
 *
 * An inode made since the last sync is unnamed: it is stored without links, as if deleted, until a sync has brought
 * its name to the disk. So a crash never leaves an inode in use that has no name, which only a human could judge. A
 * block in which only such inodes have changed, and times, is late: it is written once, after the names, with the
 * links.
 */
#include "nsdisk/ext2/ext2_itable.h"

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

/* ---- Copies in memory ---- */

struct ext2_inode *ext2_copy_find(struct ext2 *fs, uint32_t ino)
{
    struct ext2_inode *inode = fs->inode_hash[ino % EXT2_HASH];

    while (inode && inode->ino != ino)
        inode = inode->next;
    return inode;
}

struct ext2_inode *ext2_copy_make(struct ext2 *fs, uint32_t ino)
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

void ext2_copy_drop(struct ext2_inode *inode)
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

void ext2_unnamed_remove(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;

    if (!inode->unnamed)
        return;
    struct ext2_unnamed *u = unnamed_find(fs, inode->ino);
    *u = fs->unnamed[--fs->unnamed_count];
    inode->unnamed = false;
}

void ext2_unnamed_add(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;

    inode->unnamed = true;
    fs->unnamed[fs->unnamed_count++] = (struct ext2_unnamed){inode->ino, 0};
}

int ext2_publish_unnamed(struct ext2 *fs)
{
    for (; fs->unnamed_count != 0; fs->unnamed_count--) {
        const struct ext2_unnamed *u = &fs->unnamed[fs->unnamed_count - 1];
        struct ext2_inode *inode = ext2_copy_find(fs, u->ino);
        struct cache_block *block;
        int error = inode_block_get(fs, u->ino, &block);

        if (error < 0)
            return error;
        disk_put16(inode_in(fs, u->ino, block) + I_LINKS, u->links);
        cache_mark_late(fs->cache, block);
        cache_put(block);
        if (inode)
            inode->unnamed = false;
    }
    return 0;
}

/* ---- Storing ---- */

static int store(struct ext2_inode *inode, bool late)
{
    struct ext2 *fs = inode->fs;
    struct cache_block *block;

    if (inode->unnamed)
        unnamed_find(fs, inode->ino)->links = inode->links;
    int error = inode_block_get(fs, inode->ino, &block);
    if (error < 0)
        return error;
    inode_pack(inode, inode_in(fs, inode->ino, block));
    if (late)
        cache_mark_late(fs->cache, block);
    else
        cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return 0;
}

int ext2_inode_store(struct ext2_inode *inode)
{
    return store(inode, inode->unnamed);
}

int ext2_inode_store_times(struct ext2_inode *inode)
{
    return store(inode, true);
}

/* ---- Loading and clearing ---- */

int ext2_copy_load(struct ext2_inode *inode)
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
    return 0;
}

/* Whether e2fsck would take this inode for a file, or ask about it. A deleted inode has no links and a time of
 * deletion. */
static bool place_is_in_use(const uint8_t *at)
{
    return disk_get16(at + I_LINKS) != 0 || (disk_get16(at + I_MODE) != 0 && disk_get32(at + I_DTIME) == 0);
}

int ext2_place_clear(struct ext2 *fs, uint32_t ino, uint32_t *generation)
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
    cache_mark_late(fs->cache, block);
    cache_put(block);
    return 0;
}

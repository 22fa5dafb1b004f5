/*
 * The entries of one directory.
 *
 *   +-----+--------------+------------+------+------+-------------+
 *   | ino | record_bytes | name_bytes | type | name | unused      |   4, 2, 1, 1 bytes; record_bytes % 4 == 0
 *   +-----+--------------+------------+------+------+-------------+
 *
 * Records fill each block of the directory exactly; ino 0 is an unused record. A removed record is joined to the one
 * before it. Directories that another system indexed by hash are read as they are, because the index looks like unused
 * records; adding an entry takes the index's mark away, since it is then no longer in order.
 *
 * Every record is checked before it is believed.
 */
#include "nsdisk/ext2/ext2.h"

#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"

enum { /* offsets in a record */
       D_INO = 0,
       D_RECORD = 4,
       D_NAME_BYTES = 6,
       D_TYPE = 7,
       D_NAME = 8,
};
#define RECORD_MIN_BYTES 12u
#define INDEX_FLAG       0x1000u

static uint32_t record_bytes_for(uint32_t name_bytes)
{
    return (D_NAME + name_bytes + 3) & ~3u;
}

static uint32_t dir_blocks(const struct ext2_inode *dir)
{
    return (uint32_t)(dir->size_bytes >> dir->fs->block_shift);
}

/* ---- Records ---- */

static int record_error(struct ext2_inode *dir, uint32_t block, uint32_t offset, const struct ext2_entry *e)
{
    return ext2_corrupt(dir->fs,
                        "directory inode %u, block %u, offset %u: record of %u bytes, name of %u, inode %u; "
                        "expected records within the block and inodes up to %u",
                        dir->ino, block, offset, e->record_bytes, e->name_bytes, e->ino, dir->fs->inodes);
}

static bool ino_is_nameable(const struct ext2 *fs, uint32_t ino)
{
    return ino == 0 || ino == EXT2_ROOT_INO || (ino >= fs->first_ino && ino <= fs->inodes);
}

/* Unpacks and checks the record at an offset that is a multiple of 4. */
static int record_get(struct ext2_inode *dir, const struct cache_block *block, uint32_t offset, struct ext2_entry *e)
{
    const struct ext2 *fs = dir->fs;
    const uint8_t *at = block->bytes + offset;

    *e = (struct ext2_entry){0};
    if (offset + RECORD_MIN_BYTES > fs->block_bytes)
        return record_error(dir, block->at.number, offset, e);
    e->ino = disk_get32(at + D_INO);
    e->record_bytes = disk_get16(at + D_RECORD);
    e->name_bytes = at[D_NAME_BYTES];
    e->type = fs->filetype ? at[D_TYPE] : EXT2_FT_UNKNOWN;
    e->name = (const char *)at + D_NAME;
    bool fits = e->record_bytes >= RECORD_MIN_BYTES && e->record_bytes % 4 == 0 &&
                e->record_bytes <= fs->block_bytes - offset && D_NAME + e->name_bytes <= e->record_bytes;
    bool named = e->ino == 0 || (e->name_bytes != 0 && ino_is_nameable(fs, e->ino));
    return fits && named ? 0 : record_error(dir, block->at.number, offset, e);
}

static void record_put(const struct ext2 *fs, uint8_t *at, uint32_t ino, uint32_t record_bytes, const char *name,
                       uint32_t name_bytes, uint8_t type)
{
    disk_put32(at + D_INO, ino);
    disk_put16(at + D_RECORD, record_bytes);
    at[D_NAME_BYTES] = (uint8_t)name_bytes;
    at[D_TYPE] = fs->filetype ? type : 0;
    memcpy(at + D_NAME, name, name_bytes);
}

/* Holds block `index` of a directory. */
static int dir_block_get(struct ext2_inode *dir, uint32_t index, struct cache_block **block)
{
    struct ext2_run run;
    int error = ext2_map_run(dir, index, 1, &run);

    if (error < 0)
        return error;
    if (run.first == 0)
        return ext2_corrupt(dir->fs, "directory inode %u: block %u is a hole, expected entries", dir->ino, index);
    return cache_get(dir->fs->cache, run.first, BLOCK_DIRECTORY, block);
}

/* ---- Finding ---- */

static bool entry_is(const struct ext2_entry *e, const char *name, uint32_t name_bytes)
{
    return e->ino != 0 && e->name_bytes == name_bytes && memcmp(e->name, name, name_bytes) == 0;
}

/* 1 and the slot's place if the block has the name, else 0. */
static int block_find(struct ext2_inode *dir, struct cache_block *block, const char *name, uint32_t name_bytes,
                      struct ext2_slot *slot)
{
    uint32_t previous = 0;
    struct ext2_entry e;

    for (uint32_t offset = 0; offset < dir->fs->block_bytes; offset += e.record_bytes) {
        int error = record_get(dir, block, offset, &e);

        if (error < 0)
            return error;
        if (entry_is(&e, name, name_bytes)) {
            *slot = (struct ext2_slot){block, offset, previous, e.ino, e.type};
            return 1;
        }
        previous = offset;
    }
    return 0;
}

int ext2_dir_find(struct ext2_inode *dir, const char *name, uint32_t name_bytes, struct ext2_slot *slot)
{
    for (uint32_t i = 0; i < dir_blocks(dir); i++) {
        struct cache_block *block;
        int result = dir_block_get(dir, i, &block);

        if (result == 0)
            result = block_find(dir, block, name, name_bytes, slot);
        else
            block = NULL;
        if (result > 0)
            return 0;
        cache_put(block);
        if (result < 0)
            return result;
    }
    return -N_ENOENT;
}

void ext2_slot_put(struct ext2_slot *slot)
{
    cache_put(slot->block);
    slot->block = NULL;
}

/* ---- Room ---- */

static uint32_t record_used_bytes(const struct ext2_entry *e)
{
    return e->ino == 0 ? 0 : record_bytes_for(e->name_bytes);
}

/* 1 and the slot's place if the block has room for a record of `bytes`, else 0. */
static int block_find_room(struct ext2_inode *dir, struct cache_block *block, uint32_t bytes, struct ext2_slot *slot)
{
    struct ext2_entry e;

    for (uint32_t offset = 0; offset < dir->fs->block_bytes; offset += e.record_bytes) {
        int error = record_get(dir, block, offset, &e);

        if (error < 0)
            return error;
        if (e.record_bytes >= record_used_bytes(&e) + bytes) {
            *slot = (struct ext2_slot){block, offset, offset, e.ino, e.type};
            return 1;
        }
    }
    return 0;
}

/* Takes a block behind the directory's last one, with the indirect blocks that will point to it. */
static int dir_take_block(struct ext2_inode *dir, uint32_t index, uint32_t *first)
{
    struct ext2 *fs = dir->fs;
    struct ext2_run last = {0};
    int result = index == 0 ? 0 : ext2_map_run(dir, index - 1, 1, &last);
    uint32_t goal = last.first != 0 ? last.first + 1 : ext2_group_goal(fs, ext2_group_of_ino(fs, dir->ino));

    if (result == 0)
        result = ext2_map_prepare(dir, index, 1, goal + 1);
    if (result > 0)
        result = ext2_alloc_blocks(fs, goal, 1, first);
    if (result < 0)
        ext2_inode_store(dir); /* it keeps the indirect blocks */
    return result < 0 ? result : 0;
}

/* Adds a block with one record that is not used. The slot is in it. */
static int dir_grow(struct ext2_inode *dir, struct ext2_slot *slot)
{
    struct ext2 *fs = dir->fs;
    uint32_t index = dir_blocks(dir), first;

    *slot = (struct ext2_slot){0};
    int error = dir_take_block(dir, index, &first);
    if (error < 0)
        return error;
    error = cache_get_new(fs->cache, first, BLOCK_DIRECTORY, &slot->block);
    if (error < 0) {
        ext2_free_blocks(fs, first, 1);
        return error;
    }
    record_put(fs, slot->block->bytes, 0, fs->block_bytes, "", 0, EXT2_FT_UNKNOWN);
    error = ext2_map_set(dir, index, first, 1);
    if (error == 0) {
        dir->size_bytes += fs->block_bytes;
        dir->dir_hint = index;
        error = ext2_inode_store(dir);
    }
    if (error < 0)
        ext2_slot_put(slot);
    return error;
}

int ext2_dir_make_room(struct ext2_inode *dir, uint32_t name_bytes, struct ext2_slot *slot)
{
    uint32_t count = dir_blocks(dir);

    for (uint32_t i = 0; i < count; i++) {
        struct cache_block *block;
        uint32_t index = (dir->dir_hint + i) % count;
        int result = dir_block_get(dir, index, &block);

        if (result < 0)
            return result;
        result = block_find_room(dir, block, record_bytes_for(name_bytes), slot);
        if (result > 0) {
            dir->dir_hint = index;
            return 0;
        }
        cache_put(block);
        if (result < 0)
            return result;
    }
    return dir_grow(dir, slot);
}

/* ---- Changing ---- */

static void dir_changed(struct ext2_inode *dir, struct ext2_slot *slot)
{
    cache_mark_dirty(dir->fs->cache, slot->block);
    dir->mtime_s = dir->ctime_s = ext2_now(dir->fs);
}

void ext2_dir_fill(struct ext2_inode *dir, struct ext2_slot *slot, const char *name, uint32_t name_bytes, uint32_t ino,
                   uint8_t type)
{
    uint8_t *at = slot->block->bytes + slot->offset;
    uint32_t record_bytes = disk_get16(at + D_RECORD);

    if (slot->ino != 0) { /* behind the entry that is there */
        uint32_t used = record_bytes_for(at[D_NAME_BYTES]);
        disk_put16(at + D_RECORD, used);
        at += used;
        record_bytes -= used;
    }
    record_put(dir->fs, at, ino, record_bytes, name, name_bytes, type);
    dir->flags &= ~INDEX_FLAG;
    dir_changed(dir, slot);
    ext2_slot_put(slot);
}

void ext2_dir_point(struct ext2_inode *dir, struct ext2_slot *slot, uint32_t ino, uint8_t type)
{
    uint8_t *at = slot->block->bytes + slot->offset;

    disk_put32(at + D_INO, ino);
    if (dir->fs->filetype)
        at[D_TYPE] = type;
    dir_changed(dir, slot);
}

void ext2_dir_remove(struct ext2_inode *dir, struct ext2_slot *slot)
{
    uint8_t *at = slot->block->bytes + slot->offset;
    uint8_t *before = slot->block->bytes + slot->previous;

    if (before == at)
        disk_put32(at + D_INO, 0);
    else
        disk_put16(before + D_RECORD, disk_get16(before + D_RECORD) + disk_get16(at + D_RECORD));
    dir_changed(dir, slot);
    ext2_slot_put(slot);
}

int ext2_dir_start(struct ext2_inode *dir, uint32_t parent)
{
    struct ext2 *fs = dir->fs;
    struct ext2_slot slot;
    uint32_t dot_bytes = record_bytes_for(1);
    int error = dir_grow(dir, &slot);

    if (error < 0)
        return error;
    uint8_t *at = slot.block->bytes;
    record_put(fs, at, dir->ino, dot_bytes, ".", 1, EXT2_FT_DIRECTORY);
    record_put(fs, at + dot_bytes, parent, fs->block_bytes - dot_bytes, "..", 2, EXT2_FT_DIRECTORY);
    dir_changed(dir, &slot);
    ext2_slot_put(&slot);
    return 0;
}

/* ---- Going through ---- */

/* The first used record at or after `from` in a block: 1, or 0 when there is none. *offset is its place. */
static int block_next(struct ext2_inode *dir, const struct cache_block *block, uint32_t from, uint32_t *offset,
                      struct ext2_entry *e)
{
    for (*offset = 0; *offset < dir->fs->block_bytes; *offset += e->record_bytes) {
        int error = record_get(dir, block, *offset, e);

        if (error < 0)
            return error;
        if (e->ino != 0 && *offset >= from)
            return 1;
    }
    return 0;
}

int ext2_dir_next(struct ext2_inode *dir, uint64_t *offset, struct ext2_entry *entry, char name[EXT2_NAME_MAX_BYTES])
{
    const struct ext2 *fs = dir->fs;

    while (*offset < dir->size_bytes) {
        struct cache_block *block;
        uint32_t index = (uint32_t)(*offset >> fs->block_shift), at;
        uint64_t base = (uint64_t)index << fs->block_shift;
        int result = dir_block_get(dir, index, &block);

        if (result < 0)
            return result;
        result = block_next(dir, block, (uint32_t)(*offset - base), &at, entry);
        if (result > 0)
            memcpy(name, entry->name, entry->name_bytes);
        cache_put(block);
        *offset = base + (result > 0 ? at + entry->record_bytes : fs->block_bytes);
        entry->name = name;
        if (result != 0)
            return result;
    }
    return 0;
}

bool ext2_is_dots(const char *name, uint32_t name_bytes)
{
    return name[0] == '.' && (name_bytes == 1 || (name_bytes == 2 && name[1] == '.'));
}

int ext2_dir_is_empty(struct ext2_inode *dir)
{
    char name[EXT2_NAME_MAX_BYTES];
    struct ext2_entry e;
    uint64_t offset = 0;
    int result;

    while ((result = ext2_dir_next(dir, &offset, &e, name)) > 0)
        if (!ext2_is_dots(e.name, e.name_bytes))
            return 0;
    return result < 0 ? result : 1;
}

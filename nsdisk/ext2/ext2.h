/*
 * The ext2 file system of one volume, as mke2fs makes it: revisions 0 and 1, blocks of 1, 2 or 4 KB.
 *
 * From the top down; each file calls only files below it:
 *
 *   ext2_rename.c  renaming
 *   ext2_journal.c changes of several blocks at once
 *   ext2_name.c    making and removing names
 *   ext2_walk.c    paths
 *   ext2_dir.c     the entries of one directory
 *   ext2_data.c    reading, writing and resizing
 *   ext2_direct.c  bytes between a file's blocks and the caller
 *   ext2_cached.c  the same through the data cache
 *   ext2_super.c   the superblock, mount, unmount
 *   ext2_inode.c   the inodes that callers hold
 *   ext2_map.c     file block -> disk block, through up to three levels of indirect blocks
 *   ext2_alloc.c   finding and taking blocks and inodes
 *   ext2_sync.c    sync, and the freed extents that wait for one
 *   ext2_itable.c  inodes on the disk, and their copies in memory
 *   ext2_group.c   group descriptors, layout, reporting of corruption
 *
 * Names and layouts are those of the second extended file system (`man 5 ext2`, and the layout that `debugfs stat`
 * and `dumpe2fs` print). Disk bytes are unpacked into the structures here; only the cache has disk bytes.
 *
 * Errors are negative n_error. Corruption is reported through the log, with volume, block or inode and the expected
 * value; the volume is marked as having errors, and the call returns -N_EIO. A volume without a supported feature is
 * read-only or not mounted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/ext2/blockdev.h"
#include "nsdisk/ext2/cache.h"
#include "nsdisk/ext2/data_cache.h"

#define EXT2_ROOT_INO            2u
#define EXT2_JOURNAL_INO         8u
#define EXT2_NAME_MAX_BYTES      255u
#define EXT2_LINK_MAX            32000u
#define EXT2_DIRECT              12u
#define EXT2_POINTERS            15u   /* 12 direct, then one, two and three levels */
#define EXT2_SHORT_SYMLINK_BYTES 60u   /* a text that is shorter lies in the inode */
#define EXT2_SYMLINK_MAX         40u   /* followed in one path */
#define EXT2_PATH_BYTES          8192u /* a path while links are replaced by their texts */

enum {
    EXT2_S_IFMT = 0170000,
    EXT2_S_IFLNK = 0120000,
    EXT2_S_IFREG = 0100000,
    EXT2_S_IFDIR = 0040000,
};

enum { /* types in directory entries; also those of struct file_dirent */
       EXT2_FT_UNKNOWN = 0,
       EXT2_FT_REGULAR = 1,
       EXT2_FT_DIRECTORY = 2,
       EXT2_FT_SYMLINK = 7,
};

/* A flag of inodes, chattr's `i`: a server's own file. Its blocks may hold what nobody has written to it, so no request
 * of a client reaches its bytes or its attributes. */
#define EXT2_PRIVATE 0x10u

struct ext2_env {
    struct cache_log log;
    uint32_t (*now_s)(void *ctx);      /* seconds since 1970, for time stamps */
    uint64_t (*now_cycles)(void *ctx); /* for counts; NULL: no clock */
    void *ctx;
};

struct ext2_group {
    uint32_t block_bitmap, inode_bitmap, inode_table; /* block numbers */
    uint32_t free_blocks, free_inodes, directories;
    bool blocks_compared, inodes_compared; /* its bitmap with its count, since the mount */
    bool blocks_doubted;                   /* its bitmap is wrong: no further block of it is taken */
};

/* Blocks or inodes to which nothing in memory points, but something on the disk still may. */
struct ext2_freed {
    uint32_t first;
    uint32_t count;
    bool inodes;
};

/* An inode made since the last sync: on the disk it has no links until its name is there. */
struct ext2_unnamed {
    uint32_t ino;
    uint16_t links; /* that it will have */
};

struct ext2_path { /* a name as a client sent it: no NUL at the end */
    const char *text;
    uint32_t bytes;
};

struct ext2_inode {
    struct ext2 *fs;
    struct ext2_inode *next; /* in its hash chain, or idle */
    uint32_t ino;
    uint32_t refs; /* get minus put */
    /* on the disk */
    uint16_t mode;
    uint16_t links;
    uint32_t uid, gid;
    uint64_t size_bytes;
    uint32_t atime_s, ctime_s, mtime_s, dtime_s;
    uint32_t blocks_512; /* data, indirect and attribute blocks, in 512 bytes */
    uint32_t flags;
    uint32_t generation;
    uint32_t attributes; /* block of extended attributes, or 0 */
    uint32_t block[EXT2_POINTERS];
    /* in memory */
    bool unnamed;        /* in the list of unnamed inodes */
    uint64_t write_next; /* file block after the last written one */
    uint32_t goal;       /* disk block wanted for it; 0: no idea */
    uint32_t dir_hint;   /* directory: block where the last entry found room */
    uint64_t read_next;  /* offset after the last read, to see sequential reading */
};

#define EXT2_HASH 64u

struct ext2 {
    char volume[16];
    struct blockdev dev;
    struct cache *cache;
    struct data_cache *data; /* of files' data; NULL: none */
    const struct ext2_way *way;
    struct data_waiter *asker; /* set: the next read of an absent block asks for it, and clears this; NULL: it waits */
    struct ext2_env env;
    /* settled at mount */
    uint32_t block_bytes, block_shift;
    uint32_t pointers_shift; /* log2 of pointers per indirect block */
    uint32_t blocks, first_data_block, blocks_per_group;
    uint32_t inodes, inodes_per_group, inode_bytes, first_ino;
    uint32_t groups;
    uint64_t file_max_bytes;
    bool filetype; /* directory entries carry a type */
    bool read_only;
    bool clean_before; /* the clean mark was set at mount */
    bool has_journal;  /* in inode 8, with nothing to recover */
    bool may_have_journal;
    /* changing */
    bool has_private;                  /* some of its files may be EXT2_PRIVATE */
    bool errors;                       /* corruption was found */
    uint32_t free_blocks, free_inodes; /* as the bitmaps have them */
    struct ext2_group *group;          /* [groups] */
    struct ext2_freed *freed;          /* [EXT2_FREED_MAX] */
    uint32_t freed_count, freed_blocks, freed_inodes;
    struct ext2_unnamed *unnamed; /* [EXT2_UNNAMED_MAX] */
    uint32_t unnamed_count;
    struct ext2_inode *inode_hash[EXT2_HASH]; /* refs > 0 */
    struct ext2_inode *inode_idle;
    uint8_t *bounce; /* CACHE_GATHER_BYTES, for unaligned data */
    char *path;      /* EXT2_PATH_BYTES */
};

/* ---- ext2_super.c ---- */

/* Checks the volume, clears its clean mark and mounts it. dev is copied. data: the settings of its data cache; kb = 0:
 * none. error gets one line when the result is
 * negative: -N_EINVAL not ext2 or damaged, -N_ENOTSUP unknown feature, -N_ENOMEM, -N_EIO. */
int ext2_mount(struct ext2 **fs, const struct blockdev *dev, const char *volume, size_t cache_bytes,
               const struct drive_cache *data, const struct ext2_env *env, char *error, size_t error_bytes);
/* Writes everything back, sets the clean mark if nothing was wrong, and frees fs, whatever the result.
 * Every inode must have been put. */
int ext2_unmount(struct ext2 *fs);
/* Frees fs and writes nothing: as in a crash, what was not synced is lost. */
void ext2_abandon(struct ext2 *fs);
/* Writes the superblock at once: whether e2fsck has to finish what the journal holds. */
int ext2_store_journal_mark(struct ext2 *fs, bool to_recover);
/* Makes the superblock dirty, as it is. */
int ext2_touch_super(struct ext2 *fs);
/* From now on files of the volume may be private: the superblock says so, at once. */
int ext2_store_private_mark(struct ext2 *fs);

/* ---- ext2_group.c ---- */

/* Reports corruption and returns -N_EIO. */
int ext2_corrupt(struct ext2 *fs, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t ext2_now(const struct ext2 *fs);
/* Reads a group's descriptor into fs->group[group]. -N_EIO: it is damaged, which is reported. */
int ext2_load_group(struct ext2 *fs, uint32_t group);
/* Packs the group's counts into its descriptor. */
int ext2_store_group(struct ext2 *fs, uint32_t group);
/* True if [first, first + count) are blocks that files may have: in range, outside bitmaps and inode tables. */
bool ext2_is_file_block(const struct ext2 *fs, uint32_t first, uint32_t count);
uint32_t ext2_group_of_ino(const struct ext2 *fs, uint32_t ino);
/* The first block of a group that a file may have. */
uint32_t ext2_group_goal(const struct ext2 *fs, uint32_t group);

static inline uint32_t ext2_group_first_block(const struct ext2 *fs, uint32_t group)
{
    return fs->first_data_block + group * fs->blocks_per_group;
}

/* The number of a group's blocks: the last group may have fewer than the others. */
static inline uint32_t ext2_group_blocks(const struct ext2 *fs, uint32_t group)
{
    uint32_t rest = fs->blocks - ext2_group_first_block(fs, group);

    return rest < fs->blocks_per_group ? rest : fs->blocks_per_group;
}

/* ---- ext2_sync.c ---- */

/* Makes everything durable; then what was freed can be allocated again. */
int ext2_sync(struct ext2 *fs);
/* The caller calls this before each step of a change. -N_EROFS: the volume is read-only. -N_EIO: a flush that was due
 * failed. */
int ext2_begin(struct ext2 *fs);

/* ---- ext2_alloc.c ---- */

/* Takes 1 to `want` contiguous blocks, the first as near behind goal as possible. Returns their number. -N_ENOSPC;
 * -N_EIO: there is none in the groups whose bitmaps can be believed. */
bool ext2_is_block_free(struct ext2 *fs, uint32_t block); /* its bitmap says so */
int ext2_alloc_blocks(struct ext2 *fs, uint32_t goal, uint32_t want, uint32_t *first);
/* Takes eight blocks, the first a multiple of eight, as near behind goal as possible. Returns 8; 0: no such eight are
 * free; -N_EIO. */
int ext2_alloc_eight(struct ext2 *fs, uint32_t goal, uint32_t *first);
/* Nothing in memory points to them any more. They can be taken again after the next sync. */
int ext2_free_blocks(struct ext2 *fs, uint32_t first, uint32_t count);
/* Takes an inode number near the directory `parent`; only the bitmap has been asked whether it is free. -N_ENOSPC. */
int ext2_alloc_ino(struct ext2 *fs, uint32_t parent, bool directory, uint32_t *ino);
/* For a number that turned out to be a file's: it stays taken, but does not count as a new directory. */
int ext2_leave_ino(struct ext2 *fs, uint32_t ino, bool directory);
int ext2_free_ino(struct ext2 *fs, uint32_t ino, bool directory);

/* ---- ext2_inode.c ---- */

/* Gets the only copy in memory of an inode; the caller puts it. -N_EIO: no such inode, or damaged. -N_ESTALE: not in
 * use. */
int ext2_inode_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out);
/* Makes an inode with links 0 and stores it; the caller puts it. A number whose inode is in use although its bitmap
 * calls it free is reported and passed over. */
int ext2_inode_new(struct ext2 *fs, uint32_t parent, uint16_t mode, struct ext2_inode **out);
/* The journal's inode: the volume's own, or a new one of this size without blocks, not stored. -N_ENOTSUP: the volume
 * says that it has none, but the inode is in use; or it is too short. */
int ext2_inode_get_journal(struct ext2 *fs, uint64_t size_bytes, struct ext2_inode **out);
/* remove: the inode and its blocks are free again. */
int ext2_inode_put_journal(struct ext2_inode *inode, bool remove);
/* Gives the copy back. The last put of an inode without links frees the inode and its blocks. NULL is allowed. */
int ext2_inode_put(struct ext2_inode *inode);
/* Packs the copy into its cached block of inodes (ext2_itable.c). */
int ext2_inode_store(struct ext2_inode *inode);
/* The same where only times have changed since the last one: they need not be on the disk before anything else. */
int ext2_inode_store_times(struct ext2_inode *inode);
static inline bool ext2_is_dir(const struct ext2_inode *inode)
{
    return (inode->mode & EXT2_S_IFMT) == EXT2_S_IFDIR;
}
static inline bool ext2_is_file(const struct ext2_inode *inode)
{
    return (inode->mode & EXT2_S_IFMT) == EXT2_S_IFREG;
}
static inline bool ext2_is_symlink(const struct ext2_inode *inode)
{
    return (inode->mode & EXT2_S_IFMT) == EXT2_S_IFLNK;
}
/* True if the inode's pointers are block numbers: not a device's number, not a short link's text. */
bool ext2_inode_has_blocks(const struct ext2_inode *inode);
uint8_t ext2_dir_type(uint16_t mode);

/* ---- ext2_map.c ---- */

struct ext2_run {
    uint32_t first; /* disk block; 0: a hole */
    uint32_t count; /* blocks, contiguous on the disk, or all in the hole */
};

/* The longest run at file_block, at most `most` blocks. */
int ext2_map_run(struct ext2_inode *inode, uint64_t file_block, uint32_t most, struct ext2_run *run);
/* Makes the indirect blocks for [file_block, file_block + count). Returns for how many there was room. -N_ENOSPC. */
int ext2_map_prepare(struct ext2_inode *inode, uint64_t file_block, uint32_t count, uint32_t goal);
/* Points the prepared file blocks at [first, first + count). */
int ext2_map_set(struct ext2_inode *inode, uint64_t file_block, uint32_t first, uint32_t count);
/* Frees every block at or beyond file block `keep`. The inode is stored. */
int ext2_map_truncate(struct ext2_inode *inode, uint64_t keep);
/* The number of file blocks that a file's pointers can lead to. */
static inline uint64_t ext2_map_max_blocks(const struct ext2 *fs)
{
    uint32_t shift = fs->pointers_shift;

    return EXT2_DIRECT + (1ull << shift) + (1ull << 2 * shift) + (1ull << 3 * shift);
}

/* ---- ext2_data.c ---- */

/* Bytes read, 0 at the end of the file; or an error when nothing was read. */
int64_t ext2_read(struct ext2_inode *inode, uint64_t offset, void *buf, uint32_t bytes);
/* Bytes written, less than asked when the volume is full or the file as large as it can be; or an error when nothing
 * was. -N_EFBIG, -N_ENOSPC. */
int64_t ext2_write(struct ext2_inode *inode, uint64_t offset, const void *buf, uint32_t bytes);
int ext2_set_size(struct ext2_inode *inode, uint64_t size_bytes);
/* Gives a new symbolic link its text, which is shorter than a block. -N_ENOSPC. */
int ext2_write_symlink(struct ext2_inode *inode, struct ext2_path text);
/* Reads a symbolic link's text of at most `bytes`; returns its length. */
int ext2_read_symlink(struct ext2_inode *inode, char *text, uint32_t bytes);

/* ---- ext2_direct.c, ext2_cached.c: between the disk and the caller, without a data cache and with one ---- */

/* A contiguous piece of data on the disk. */
struct ext2_span {
    uint32_t block;  /* the first */
    uint32_t offset; /* in it */
    uint32_t bytes;
    uint32_t old; /* of its blocks, from the first on; the others were just allocated: what they hold means nothing */
};

/* `file_block` leads to s.block. Each returns 0, or an error. */
struct ext2_way {
    /* s.old: of the blocks that follow each other there, of which a small read, within one block, may bring more. */
    int (*read)(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, uint8_t *buf, bool small);
    int (*write)(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, const uint8_t *buf);
    /* Clears the file's last block, which is `block` on the disk, from `tail` on. */
    int (*clear_tail)(struct ext2_inode *inode, uint32_t block, uint32_t tail);
    uint32_t small_bytes; /* sequential reads of less are small */
    bool mixes;           /* a write may have old blocks and new ones */
};

extern const struct ext2_way ext2_direct, ext2_cached;

static inline uint32_t ext2_block_offset(const struct ext2 *fs, uint64_t offset)
{
    return (uint32_t)(offset & (fs->block_bytes - 1));
}

static inline uint32_t ext2_blocks_of(const struct ext2 *fs, uint32_t offset, uint32_t bytes)
{
    return (uint32_t)(((uint64_t)offset + bytes + fs->block_bytes - 1) >> fs->block_shift);
}

static inline uint32_t ext2_smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Asks for the first block of a read that is not in the data cache, which the volume has. Returns whether the read has
 * to wait, until w->done is called; else it is to be tried, and may wait on the fiber. */
bool ext2_cached_ask(struct ext2_inode *inode, uint64_t offset, uint32_t bytes, struct data_waiter *w);
/* Whether no read of these bytes would wait for the drive. */
bool ext2_cached_has(struct ext2_inode *inode, uint64_t offset, uint64_t bytes);
/* -N_EIO: something that was written to the file, and answered, could not be written back to the drive. Else 0. */
int ext2_write_error(const struct ext2_inode *inode);

/* Goes over a file's blocks, which are read or changed where they are in the cache. Begins as {0}. */
struct ext2_cursor {
    uint64_t file_block; /* the first of a run that is known */
    struct ext2_run run;
    uint64_t last_file_block; /* that was looked at, or changed: */
    uint32_t last;            /* on the disk; 0: none */
};

/* A block's bytes until the next call of anything; zeros in a hole. -N_EAGAIN as of ext2_read. */
int ext2_cached_look(struct ext2_inode *inode, struct ext2_cursor *c, uint64_t file_block, const uint8_t **bytes);
/* After the last one: reads ahead. */
void ext2_cached_looked(struct ext2_inode *inode, const struct ext2_cursor *c);
/* A block's bytes, to be changed until the next call of anything. NULL: it is not there, or lies in another group than
 * the one before; ext2_write may be used. ext2_begin comes first. */
int ext2_cached_change(struct ext2_inode *inode, struct ext2_cursor *c, uint64_t file_block, uint8_t **bytes);
/* After the last one, of which there is any. -N_EIO as of data_cache_settle. */
int ext2_cached_changed(struct ext2_inode *inode, const struct ext2_cursor *c);

/* ---- ext2_dir.c ---- */

struct ext2_entry {
    uint32_t ino;
    uint32_t record_bytes;
    uint32_t name_bytes;
    uint8_t type;
    const char *name; /* within the block; no NUL */
};

/* Where an entry is, or where one fits; its block is held until ext2_slot_put. */
struct ext2_slot {
    struct cache_block *block;
    uint32_t offset;
    uint32_t previous; /* offset of the entry before it in the block; == offset for the first */
    uint32_t ino;
    uint8_t type;
};

/* -N_ENOENT when the name is not there. */
int ext2_dir_find(struct ext2_inode *dir, const char *name, uint32_t name_bytes, struct ext2_slot *slot);
/* Finds or makes room for a name that is not there. -N_ENOSPC. */
int ext2_dir_make_room(struct ext2_inode *dir, uint32_t name_bytes, struct ext2_slot *slot);
/* Writes the entry into the room. Puts the slot. Cannot fail. */
void ext2_dir_fill(struct ext2_inode *dir, struct ext2_slot *slot, const char *name, uint32_t name_bytes, uint32_t ino,
                   uint8_t type);
/* Makes the found entry name another inode. Does not put the slot. */
void ext2_dir_point(struct ext2_inode *dir, struct ext2_slot *slot, uint32_t ino, uint8_t type);
/* Removes the found entry. Puts the slot. */
void ext2_dir_remove(struct ext2_inode *dir, struct ext2_slot *slot);
void ext2_slot_put(struct ext2_slot *slot);
/* The next entry at or after *offset (a byte of the directory); *offset then continues after it. Its name is copied.
 * Returns 1, or 0 at the end. */
int ext2_dir_next(struct ext2_inode *dir, uint64_t *offset, struct ext2_entry *entry, char name[EXT2_NAME_MAX_BYTES]);
/* 1 if it has only "." and "..". */
int ext2_dir_is_empty(struct ext2_inode *dir);
/* "." or "..": names that operations may not make or remove. */
bool ext2_is_dots(const char *name, uint32_t name_bytes);
/* Writes "." and ".." into a new directory's first block. */
int ext2_dir_start(struct ext2_inode *dir, uint32_t parent);

/* ---- ext2_walk.c, ext2_name.c, ext2_rename.c ---- */

/* The file at a path, to be put. Follows links, one that is the last name only if `follow` is set. */
int ext2_lookup(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_inode **out);
/* The regular file at a path, made if it is missing; to be put. exclusive: -N_EEXIST if anything is there. */
int ext2_create(struct ext2 *fs, struct ext2_path path, uint16_t mode, bool exclusive, struct ext2_inode **out);
/* Makes a regular file with this content, durable when it returns. -N_EEXIST: something is there; nothing changes. */
int ext2_make_file(struct ext2 *fs, struct ext2_path path, uint16_t mode, struct ext2_path content);
/* On a volume that was not shut down cleanly: removes a name whose inode is not in use, which a crash leaves, so that
 * the name can be used again before e2fsck has removed it. */
int ext2_drop_dead(struct ext2 *fs, struct ext2_path path);
int ext2_unlink(struct ext2 *fs, struct ext2_path path);
int ext2_link(struct ext2 *fs, struct ext2_path from, struct ext2_path to);
int ext2_rename(struct ext2 *fs, struct ext2_path from, struct ext2_path to);
/* A symbolic link that says `text`. -N_ENAMETOOLONG: it does not fit into a block. */
int ext2_symlink(struct ext2 *fs, struct ext2_path path, struct ext2_path text);
int ext2_mkdir(struct ext2 *fs, struct ext2_path path, uint16_t mode);
int ext2_rmdir(struct ext2 *fs, struct ext2_path path);

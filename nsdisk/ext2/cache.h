/*
 * The block cache of one volume: the only owner of blocks in memory, and the only caller of the disk.
 *
 *   get -> held -> (change, mark dirty) -> put -> ... -> flush -> clean -> evicted by age
 *
 * Every cached block carries the type it is expected to have. Asking for it as another type means that two
 * structures on the disk claim the same block: the mismatch is reported by volume, block and caller, and is -N_EIO.
 *
 * Metadata is written back, file data is written through: a BLOCK_DATA block in the cache equals the disk's. A volume
 * with a data cache (data_cache.h) keeps no file data here.
 *
 * Order of a flush. The types below are in the order of writing:
 *
 *   0. file data                 of the data cache, if there is one
 *   1. bitmaps, group counts     an allocation is on the disk before anything points to the block or inode
 *   2. fresh blocks              allocated since the last flush: indirect blocks from the leaves up, directory
 *                                blocks; all are whole before anything points to them
 *   3. indirect blocks, inodes   an inode is marked as deleted before its name goes
 *   4. directories, superblock
 *   5. late blocks, and by ext2_sync the links of new inodes, whose names are now there (ext2_itable.c)
 *   6. by ext2_sync: what was freed becomes free in the bitmaps, now that no pointer to it is left (ext2_alloc.c)
 *
 * Other data went before all of it. So at any moment the bitmaps on the disk call no block free that the disk uses, no
 * pointer leads to garbage, and e2fsck -p can repair by itself what a crash leaves: names of inodes not in use,
 * wrong counts, lost space.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/ext2/block_index.h"
#include "nsdisk/ext2/blockdev.h"

#define CACHE_MIN_BLOCKS   64u    /* a volume's least cache, twice CACHE_STEP_BLOCKS */
#define CACHE_STEP_BLOCKS  32u    /* more than one step of any operation dirties */
#define CACHE_GATHER_BYTES 32768u /* most bytes of one gathered write or read-ahead */

enum block_type {
    BLOCK_DATA,
    BLOCK_BITMAP,
    BLOCK_GROUPS,
    BLOCK_INDIRECT_1, /* points to data */
    BLOCK_INDIRECT_2, /* points to BLOCK_INDIRECT_1 */
    BLOCK_INDIRECT_3,
    BLOCK_INODES,
    BLOCK_ATTRIBUTES,
    BLOCK_DIRECTORY,
    BLOCK_SUPER,
    BLOCK_TYPES
};

struct cache_block {
    struct index_entry at; /* the first member: cache.c finds the block by it */
    uint8_t *bytes;        /* block_bytes of them; aligned for any field */
    uint32_t holds;        /* get minus put */
    uint8_t type;
    bool valid; /* number and type mean something */
    bool dirty;
    bool fresh; /* nothing on the disk points to it yet */
    bool late;  /* what has changed may reach the disk after the directories */
};

struct cache_log {
    void (*write)(void *ctx, const char *text); /* one line, without newline */
    void *ctx;
};

struct cache;
struct data_cache;

/* A cache of about cache_bytes for a device with blocks of block_bytes. dev and volume must outlive it.
 * NULL when memory is short. */
struct cache *cache_new(const struct blockdev *dev, const char *volume, uint32_t block_bytes, size_t cache_bytes,
                        struct cache_log log);
void cache_free(struct cache *c);
/* From now on a flush begins with this data cache, and what has left the volume leaves it, too. NULL: none. */
void cache_attach_data(struct cache *c, struct data_cache *data);

/* Holds a block, reading it if needed. -N_EIO: the disk failed, or the block is cached as another type. */
#define cache_get(c, number, type, out) cache_get_for(c, number, type, out, __func__)
int cache_get_for(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out, const char *caller);

/* Holds a just allocated block: zeros, dirty and fresh. Errors as cache_get, when room had to be made. */
#define cache_get_new(c, number, type, out) cache_get_new_for(c, number, type, out, __func__)
int cache_get_new_for(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out,
                      const char *caller);

void cache_put(struct cache_block *b); /* NULL is allowed */
void cache_mark_dirty(struct cache *c, struct cache_block *b);
/* The same for a change that may reach the disk after all others. */
void cache_mark_late(struct cache *c, struct cache_block *b);

/* File data, blocks [first, first + count), between the disk and buf in one command. */
#define cache_read_data(c, first, count, buf)  cache_read_data_for(c, first, count, buf, __func__)
#define cache_write_data(c, first, count, buf) cache_write_data_for(c, first, count, buf, __func__)
int cache_read_data_for(struct cache *c, uint32_t first, uint32_t count, void *buf, const char *caller);
int cache_write_data_for(struct cache *c, uint32_t first, uint32_t count, const void *buf, const char *caller);

/* The same as a command that runs while the caller goes on (blockdev.h), for the data cache. cache_await_data waits
 * until it is done; cache_end_data, then, reports an error of the drive, and returns it. */
void cache_start_data(struct cache *c, bool write, uint32_t first, uint32_t count, void *buf,
                      struct blockdev_command *command);
void cache_await_data(struct cache *c, struct blockdev_command *command);
int cache_end_data(struct cache *c, bool write, uint32_t first, uint32_t count, const struct blockdev_command *command);

/* Brings data blocks into the cache by one command, at most CACHE_GATHER_BYTES, unless the first is there. */
int cache_read_ahead(struct cache *c, uint32_t first, uint32_t count);

/* Keeps a data block that is on the disk with these bytes, if there is room for it. */
void cache_keep_data(struct cache *c, uint32_t number, const void *bytes);

/* Drops blocks that were freed, dirty or not. -N_EIO: one is held, which means that it had two owners; none is
 * dropped then. */
#define cache_forget(c, first, count) cache_forget_for(c, first, count, __func__)
int cache_forget_for(struct cache *c, uint32_t first, uint32_t count, const char *caller);

/* Whether a block is in the cache, which means that a file or the volume uses it. Does not read the disk. */
bool cache_has(struct cache *c, uint32_t number);

/* To be called before each step of an operation: flushes when half of the cache is dirty. After it, no flush
 * happens until CACHE_STEP_BLOCKS more blocks are dirty, so none falls between a pointer and its target. */
int cache_reserve(struct cache *c);

/* Writes every dirty block, in the order above. On -N_EIO what was not written is still dirty. */
int cache_flush(struct cache *c);
/* The same, but leaves the late blocks dirty, which are the last in that order. */
int cache_flush_but_late(struct cache *c);

/* Writes one held block now, whatever else is dirty. */
int cache_write_now(struct cache *c, struct cache_block *b);

/* The dirty blocks, in the order above; valid until the next call of anything that may dirty or flush. */
uint32_t cache_list_dirty(struct cache *c, struct cache_block *const **list);

/* Whether any block was ever asked for as two types. */
bool cache_has_mismatch(const struct cache *c);
uint32_t cache_dirty_blocks(const struct cache *c);
uint32_t cache_held_blocks(const struct cache *c); /* for tests: 0 between requests */

/*
 * The data cache of one volume: blocks of files, beside the metadata of cache.h. Off unless the machine file gives the
 * drive a `cache_kb`.
 *
 *   volume   | part | part | part | part | part | ...     parts: the volume's blocks
 *   blocks   |        block        |      block   ...     of `block` bytes, aligned; some parts valid, some dirty
 *   groups   |                 group              ...     `group` blocks, aligned, read and written together
 *
 * A part is in the cache only if a file has it: callers ask for parts that an inode's pointers have led to.
 *
 *   absent -> (read: its group, as far as the file has it) -> valid -> (write) -> dirty -> (write back) -> valid
 *
 * Reading ahead and writing back are commands that run while the caller goes on, where the disk can do so. A transfer
 * has a buffer of its own until it ends; whatever needs one of its parts waits for it, so nothing is fetched twice.
 *
 * Data goes before the pointers to it: cache_flush begins with data_cache_flush. Dirty parts that the drive did not
 * take stay dirty, as metadata does, so that no pointer to them is written; every flush tries them again. They do not
 * make room for others.
 */
#ifndef NSDISK_DATA_CACHE_H
#define NSDISK_DATA_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "nsdisk/ext2/cache.h"
#include "vertex/contract/drive_cache.h"

/* A data cache of set->kb for the volume of `cache`, which reads and writes for it. Takes all its memory now. At least
 * two groups; blocks of at least part_bytes, which are the volume's. NULL: no memory. */
struct data_cache *data_cache_new(struct cache *cache, const char *volume, uint32_t part_bytes,
                                  const struct drive_cache *set, struct cache_log log);
/* Waits for what is under way and drops the rest. NULL is allowed. */
void data_cache_free(struct data_cache *d);

/* Parts of a group: they are read and written together. A power of two. */
uint32_t data_cache_group(const struct data_cache *d);
uint32_t data_cache_ahead_groups(const struct data_cache *d);

/* Whether any of the parts is there or under way. */
bool data_cache_has(const struct data_cache *d, uint32_t first, uint32_t count);

/* A part's bytes until the next call of anything, if it is there or under way: a hit. NULL: a miss. */
const uint8_t *data_cache_look(struct data_cache *d, uint32_t part);

/* Brings parts of one group, after a miss of `wanted`, one of them, by one command, as far as none between
 * them and `wanted` is there. *bytes: of `wanted`, until the next call. -N_EIO: the drive failed. */
int data_cache_fetch(struct data_cache *d, uint32_t first, uint32_t count, uint32_t wanted, const uint8_t **bytes);

/* Starts to read those groups of the parts of which nothing is there, as far as buffers are free. */
void data_cache_ahead(struct data_cache *d, uint32_t first, uint32_t count);

/* Writes a whole part. ino: the file. -N_EIO: there is no room, because the drive does not take what is dirty. */
int data_cache_write(struct data_cache *d, uint32_t ino, uint32_t part, const void *buf);

/* After writes to parts of one group, of which `part` is one: writes to the disk what `write` says. -N_EIO, with
 * "through" only: the drive failed, and those parts are no longer here. */
int data_cache_settle(struct data_cache *d, uint32_t part);

/* Writes every dirty part, neighbours by one command, and waits. -N_EIO: some are still dirty. */
int data_cache_flush(struct data_cache *d);

/* Drops parts, dirty or not. */
void data_cache_forget(struct data_cache *d, uint32_t first, uint32_t count);

/* Whether the drive refused a part of this file that is still dirty. */
bool data_cache_failed(const struct data_cache *d, uint32_t ino);

struct drive_cache_counts data_cache_counts(const struct data_cache *d);

#endif

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
 *     `-> (fill = "later": write of some bytes) -> partial -> (read, for the other bytes) -> dirty
 *
 * A partial part is dirty, and one run of its bytes is valid. It is read before it is needed or written.
 *
 * Commands run while the caller goes on, where the disk can do so. Each has a buffer of its own until it ends, and a
 * list of those who wait for one of its parts. So nothing is fetched twice, and a part has a place among the blocks
 * only once it has come. Two kinds of callers use the cache:
 *
 *   askers      never wait: they are told that the part is there, or are called when it is
 *   the fiber   waits where an asker would be called: ext2 is synchronous (loop.h). It has two buffers of its own, so
 *               it never waits in turn, and it may write others to make room for what it brings
 *
 * While the fiber waits, askers may use the cache. Whoever drives the disk calls data_cache_reap when one of its
 * commands has ended, as long as there are askers.
 *
 * Data goes before the pointers to it: cache_flush begins with data_cache_flush. Dirty parts that the drive did not
 * take stay dirty, as metadata does, so that no pointer to them is written; every flush tries them again. They do not
 * make room for others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nsdisk/ext2/cache.h"
#include "vertex/contract/drive_cache.h"

/* A clock in cycles, for the counts. */
struct data_clock {
    uint64_t (*cycles)(void *ctx); /* NULL: there is none */
    void *ctx;
};

/* A data cache of set->kb for the volume of `cache`, which reads and writes for it. Takes all its memory now. At least
 * two groups; blocks of at least part_bytes, which are the volume's. NULL: no memory. */
struct data_cache *data_cache_new(struct cache *cache, const char *volume, uint32_t part_bytes,
                                  const struct drive_cache *set, struct cache_log log, struct data_clock clock);
/* Waits for commands under way and drops the rest. Waiters that are left are called with -N_EIO. NULL is allowed. */
void data_cache_free(struct data_cache *d);

/* Parts of a group: they are read and written together. A power of two. */
uint32_t data_cache_group(const struct data_cache *d);
/* Groups that are read ahead of a sequential reader; 0: none. */
uint32_t data_cache_ahead_groups(const struct data_cache *d);
/* Whether a block that is written in part may be read later. */
bool data_cache_fills_later(const struct data_cache *d);

/* Whether any of the parts is there or under way. */
bool data_cache_has(const struct data_cache *d, uint32_t first, uint32_t count);

/* Whether a part is there. */
bool data_cache_is_there(const struct data_cache *d, uint32_t part);
/* Whether so many parts are few enough to be there at the same time, beside others. */
bool data_cache_holds(const struct data_cache *d, uint32_t parts);
/* Whether the server is to serve others while a read waits for the drive. */
bool data_cache_sets_aside(const struct data_cache *d);

/* Drops parts, dirty or not; who waits in turn to bring any of them is called with -N_EAGAIN. On the fiber. */
void data_cache_forget(struct data_cache *d, uint32_t first, uint32_t count);
/* The same for many more parts than the cache has. */
void data_cache_forget_many(struct data_cache *d, uint32_t first, uint32_t count);

/* Whether the drive refused a part of this file that is still dirty. */
bool data_cache_failed(const struct data_cache *d, uint32_t ino);

/* As of now; `drive` is the caller's to set. */
struct drive_cache_counts data_cache_counts(const struct data_cache *d);
/* Where they are while the cache is there, but for what is in it unused; `drive` is DRIVE_CACHE_COUNTING then. */
const struct drive_cache_counts *data_cache_counts_place(const struct data_cache *d);

/* ---- Askers (data_ask.c) ---- */

enum data_answer {
    DATA_HERE,      /* done */
    DATA_UNDER_WAY, /* a command that somebody else began brings it, */
    DATA_STARTED,   /* or one that has just begun; */
    DATA_NO_ROOM    /* no buffer, or no block, is free: its turn comes. In all three, `done` will be called */
};

/* One who asks for a part. The caller's, and unchanged, from a call that did not return DATA_HERE until `done`; so long
 * the parts that it names stay the file's. */
struct data_waiter {
    /* The part's bytes, until it returns; NULL: of a write, or error < 0: -N_EIO, the drive failed; -N_EAGAIN: parts
     * that it names were dropped before its turn came. May ask again, also with this waiter. */
    void (*done)(struct data_waiter *w, const uint8_t *bytes, int error);
    uint32_t part;
    uint32_t first, count; /* parts of its group that are the file's, next to it, and it among them: they come along */
    /* of a write: */
    const uint8_t *from; /* NULL: a read */
    uint32_t ino;
    uint16_t offset, bytes; /* in the part */
    /* the cache's */
    TAILQ_ENTRY(data_waiter) next;
    uint64_t since_cycles;
    bool waits, put, again;
};

/* Asks for the bytes of w->part. DATA_HERE: they are *bytes until the next call of anything, and w->done will not be
 * called. A look-ahead is another call, before or after. */
enum data_answer data_cache_ask(struct data_cache *d, struct data_waiter *w, const uint8_t **bytes);

/* Writes w->bytes from w->from into w->part. Done when they are in the cache; with "through", when they are on the
 * medium. DATA_HERE: *error is 0, or -N_EIO as below. */
enum data_answer data_cache_ask_write(struct data_cache *d, struct data_waiter *w, int *error);

/* A read that has asked is begun again when it has been called, and counts then: what it has counted so far is taken
 * back. Returns how many misses that were; data_cache_count_misses makes them misses again, once the read is done. */
struct data_looks {
    uint32_t requests, hits, misses;
};
struct data_looks data_cache_looks(const struct data_cache *d);
uint32_t data_cache_count_again(struct data_cache *d, struct data_looks before);
void data_cache_count_misses(struct data_cache *d, uint32_t misses);

/* As data_cache_ahead. */
void data_cache_ask_ahead(struct data_cache *d, uint32_t first, uint32_t count);

/* Takes in what commands that are done have brought, calls who has waited for it, and goes on with those whose turn
 * has come. */
void data_cache_reap(struct data_cache *d);

/* ---- The fiber ---- */

/* A part's bytes until the next call of anything, if it is there or under way: a hit. NULL: a miss. */
const uint8_t *data_cache_look(struct data_cache *d, uint32_t part);

/* Brings parts of one group, after a miss of `wanted`, one of them, by one command, as far as none between
 * them and `wanted` is there. *bytes: of `wanted`, until the next call. -N_EIO: the drive failed. */
int data_cache_fetch(struct data_cache *d, uint32_t first, uint32_t count, uint32_t wanted, const uint8_t **bytes);

/* Starts to read those groups of the parts of which nothing is there, as far as buffers are free. */
void data_cache_ahead(struct data_cache *d, uint32_t first, uint32_t count);

/* Writes a whole part. ino: the file. -N_EIO: there is no room, because the drive does not take what is dirty. */
int data_cache_write(struct data_cache *d, uint32_t ino, uint32_t part, const void *buf);

/* Writes some bytes of a part, if it is there or they are one run with those of it that are. -N_EAGAIN: the rest has to
 * be fetched before. -N_EIO: as above. */
int data_cache_write_some(struct data_cache *d, uint32_t ino, uint32_t part, uint32_t offset, const void *buf,
                          uint32_t bytes);

/* The bytes of a part, to be changed there until the next call: it is dirty from now on. NULL: it is not there. */
uint8_t *data_cache_change(struct data_cache *d, uint32_t ino, uint32_t part);

/* After writes to parts of one group, of which `part` is one: writes to the disk what `write` says. -N_EIO, with
 * "through" only: the drive failed, and those parts are no longer here. */
int data_cache_settle(struct data_cache *d, uint32_t part);

/* Writes every dirty part, neighbours by one command, and waits. -N_EIO: some are still dirty. */
int data_cache_flush(struct data_cache *d);

/* ---- Blocks that go elsewhere (nsdisk/managers/peers.h) ---- */

/* Has `evicted` called before a block makes room for another one: its first part, a bit for each part that is valid,
 * and the bytes of all. */
void data_cache_tell_evictions(struct data_cache *d,
                               void (*evicted)(void *ctx, uint32_t first, uint32_t valid, const uint8_t *bytes),
                               void *ctx);
/* Keeps a part that is clean, if there is room, which it makes as a read does. On the fiber. */
void data_cache_keep(struct data_cache *d, uint32_t part, const uint8_t *bytes);
/* How many blocks have nothing. */
uint32_t data_cache_free_blocks(const struct data_cache *d);

/*
 * What the files of the data cache share: the blocks, and the commands under way.
 *
 * A mask has a bit for each part of a block. `writing` parts are dirty and under way to the disk: they become clean
 * when the transfer ends well, unless they have been written again. A block with dirty parts is never evicted.
 *
 * On the fiber, functions wait for commands, and askers may have changed everything when they go on: they look again
 * for what they need, and keep no block or transfer across a wait. A transfer that is landing is the fiber's alone.
 */
#pragma once

#include "nsdisk/ext2/data_cache.h"

#define PARTS_MAX          32u /* of a block: bits of a mask */
#define NOT_INDEXED        UINT32_MAX
#define TRANSFER_PARTS_MAX (DRIVE_CACHE_GROUP_MAX_BYTES / 1024)

TAILQ_HEAD(data_waiters, data_waiter);

/* The bytes of a partial part that are valid. */
struct data_range {
    uint16_t from, to;
};

struct data_block {
    struct index_entry at; /* the first member; its number is that of the first part / parts of a block */
    uint8_t *bytes;
    uint32_t *owner;          /* [parts]: the inode that wrote it */
    struct data_range *range; /* [parts], of those that are partial; NULL: none ever is */
    uint32_t valid, dirty, writing, failed;
    uint32_t partial; /* dirty, but not valid */
    uint32_t unasked; /* came with others, and nobody has used them yet */
    bool due;         /* its group is full, and found no buffer to be written from */
};

enum transfer_state {
    TRANSFER_FREE,
    TRANSFER_UNDER_WAY,
    TRANSFER_LANDING, /* its end is being taken in, */
    TRANSFER_CALLING  /* and those who wait for it are called */
};

struct transfer {
    struct blockdev_command command;
    enum transfer_state state;
    bool write;
    bool on_fiber;         /* lands there, which may wait meanwhile */
    bool fills;            /* reads what partial parts lack, for no other reason */
    uint32_t first, count; /* parts */
    uint32_t wanted;       /* the part for which it was begun; NOT_INDEXED: none */
    uint8_t *bytes;
    uint32_t
        landed[TRANSFER_PARTS_MAX / 32]; /* bits of the parts that are in their blocks, or no longer wanted there */
    struct data_waiters waiters;
};

struct data_cache {
    struct cache *cache;
    const char *volume;
    struct cache_log log;
    struct data_clock clock;
    struct drive_cache set;
    uint32_t part_bytes;
    uint32_t parts; /* of a block: 1 << parts_shift */
    uint32_t parts_shift;
    uint32_t group;        /* parts of a group */
    uint32_t buffer_parts; /* of a transfer */
    uint32_t count;        /* blocks */
    uint32_t dirty;        /* parts */
    uint32_t failed;       /* of them, that the drive did not take */
    uint32_t partial;      /* of them */
    uint32_t due;          /* blocks */
    bool short_of_room;    /* what an asker's read has brought found no block */
    struct block_index index;
    struct data_block *block; /* [count] */
    uint32_t *order;          /* [count], during a flush: their numbers */
    uint8_t *bytes;           /* of all blocks */
    uint32_t *owners;
    struct data_range *ranges;
    uint8_t *buffers;
    uint32_t transfers;
    struct transfer *transfer;    /* [transfers], that run while the caller goes on, */
    struct transfer *fetch, *own; /* and, behind them, the fiber's: a read, and what makes room for it */
    struct data_waiters no_room;  /* in turn */
    uint32_t writes_without_room; /* of them */
    uint32_t under_way[2];        /* transfers that read, that write */
    uint32_t waiting;             /* requests, the fiber's too */
    struct drive_cache_counts counts;
    void (*evicted)(void *ctx, uint32_t first, uint32_t valid, const uint8_t *bytes); /* or NULL */
    void *evicted_ctx;
};

static inline uint32_t data_log2(uint32_t n)
{
    uint32_t shift = 0;

    while (n >> shift > 1)
        shift++;
    return shift;
}

static inline struct data_block *data_block_at(struct index_entry *e)
{
    return (struct data_block *)e;
}

/* The block of a part, and the part's bit in it; NULL when the block is not there. */
static inline struct data_block *data_find(const struct data_cache *d, uint32_t part, uint32_t *bit)
{
    *bit = 1u << (part & (d->parts - 1));
    return data_block_at(index_find(&d->index, part >> d->parts_shift));
}

/* The block of a part, and the bits of the *n parts from it on, at most `count`, that are the block's. */
static inline struct data_block *data_find_run(const struct data_cache *d, uint32_t part, uint32_t count,
                                               uint32_t *bits, uint32_t *n)
{
    uint32_t shift = part & (d->parts - 1);

    *n = count < d->parts - shift ? count : d->parts - shift;
    *bits = (*n == PARTS_MAX ? UINT32_MAX : (1u << *n) - 1) << shift;
    return data_block_at(index_find(&d->index, part >> d->parts_shift));
}

static inline void data_note_landed(struct transfer *t, uint32_t part)
{
    t->landed[(part - t->first) / 32] |= 1u << (part - t->first) % 32;
}

static inline bool data_has_landed(const struct transfer *t, uint32_t part)
{
    return t->landed[(part - t->first) / 32] >> (part - t->first) % 32 & 1;
}

static inline uint8_t *data_part_at(const struct data_cache *d, const struct data_block *b, uint32_t part)
{
    return b->bytes + (size_t)(part & (d->parts - 1)) * d->part_bytes;
}

static inline uint32_t data_bits(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static inline uint32_t data_group_of(const struct data_cache *d, uint32_t part)
{
    return part & ~(d->group - 1);
}

static inline uint64_t data_cycles(const struct data_cache *d)
{
    return d->clock.cycles ? d->clock.cycles(d->clock.ctx) : 0;
}

/* ---- data_cache.c ---- */

/* Whether a part is there, with all of its bytes. */
bool data_is_there(const struct data_cache *d, uint32_t part);
/* Parts from `at` on, at most `most`, that are partial and not being read; not those that have failed, if `good`. */
uint32_t data_partial_run(const struct data_cache *d, uint32_t at, uint32_t most, bool good);
/* A part has been used. */
void data_use(struct data_cache *d, struct data_block *b, uint32_t bit);
/* A partial part of what a read has brought gets its other bytes; the read's buffer gets those that it had. */
void data_complete(struct data_cache *d, struct data_block *b, uint32_t part, struct transfer *t);
/* Puts what a read has brought into its places, as far as there is room. on_fiber: makes room. */
void data_install(struct data_cache *d, struct transfer *t, bool on_fiber);
/* The oldest block without dirty parts, or NULL; *dirty is then the oldest with some that the drive has not refused
 * yet, and that are not under way, if `idle`. */
struct data_block *data_oldest(const struct data_cache *d, bool idle, struct data_block **dirty);
/* Gives a block that data_oldest has returned another number. */
void data_block_become(struct data_cache *d, struct data_block *b, uint32_t number);
/* On the fiber: the block of a part, perhaps a new one. -N_EIO: all is dirty and the drive takes nothing. */
int data_block_get(struct data_cache *d, uint32_t part, struct data_block **out, uint32_t *bit);
/* On the fiber: writes what of a part's group is dirty, and waits. */
int data_write_group(struct data_cache *d, uint32_t part);
/* On the fiber: waits until nothing that is under way brings the part. */
void data_end_reads_of(struct data_cache *d, uint32_t part);
/* Begins and ends a wait, for the counts. */
uint64_t data_wait_begin(struct data_cache *d);
void data_wait_end(struct data_cache *d, uint64_t since_cycles);

/* ---- data_write.c ---- */

/* Puts bytes of a part that is there, or all of its bytes, or some that are one run with those that are valid, into
 * their block, of the part or new: they are dirty. False: neither. */
bool data_put(struct data_cache *d, struct data_block *b, uint32_t part, uint32_t ino, uint32_t offset,
              const uint8_t *bytes, uint32_t n);
/* True if a write of these bytes would do. b: NULL: the block is not there. */
bool data_may_put(const struct data_cache *d, const struct data_block *b, uint32_t part, uint32_t offset, uint32_t n);
/* ---- data_transfer.c ---- */

/* Parts become clean; parts go. */
void data_parts_clean(struct data_cache *d, struct data_block *b, uint32_t bits);
void data_parts_drop(struct data_cache *d, struct data_block *b, uint32_t bits);
/* Starts to read parts that are not under way into the buffer of a transfer that is free. */
void data_start_read(struct data_cache *d, struct transfer *t, uint32_t first, uint32_t count, uint32_t wanted);
/* Starts to write parts, of which no older write is under way, from the buffer of a transfer that is free. */
void data_start_write(struct data_cache *d, struct transfer *t, uint32_t first, uint32_t count);
/* As far as the parts around `wanted`, of [first, first + count), are neither there nor under way: *first, *count. */
void data_clip(const struct data_cache *d, uint32_t wanted, uint32_t *first, uint32_t *count);
/* NULL: each has a command under way. */
struct transfer *data_transfer_find_free(struct data_cache *d);
/* A transfer that reads, or writes, any of the parts; NULL: none does. */
struct transfer *data_search_transfers(const struct data_cache *d, bool write, uint32_t first, uint32_t count);
static inline struct transfer *data_transfer_of(const struct data_cache *d, bool write, uint32_t first, uint32_t count)
{
    return d->under_way[write] == 0 ? NULL : data_search_transfers(d, write, first, count);
}
/* Takes in what a command that is done has brought, and calls those who wait for it. */
void data_land(struct data_cache *d, struct transfer *t, bool on_fiber);
/* Parts from `at` on, below `end`, that one command may write; not those that have failed, if `good`. */
uint32_t data_writable(const struct data_cache *d, uint32_t at, uint32_t end, bool good);
/* Whether all parts of a part's group are dirty and none is under way or partial. */
bool data_group_is_full(const struct data_cache *d, uint32_t part);

/* On the fiber. */

/* Ends a transfer, waiting for it. -N_EIO: the drive failed. */
int data_transfer_end(struct data_cache *d, struct transfer *t);
/* Ends the transfers that read, or write, any of the parts. Returns whether there was one. */
bool data_end_transfers_of(struct data_cache *d, bool write, uint32_t first, uint32_t count);
int data_end_writes(struct data_cache *d);
void data_end_reads(struct data_cache *d);
/* Takes in what has ended meanwhile. */
void data_take_in(struct data_cache *d);
/* Reads the rest of partial parts in [first, end). wait: until they are there, and not of those that have failed. */
int data_fill(struct data_cache *d, uint32_t first, uint32_t end, bool wait);
/* Writes the dirty parts in [first, end), and those behind them that one command may take along, below run_end. wait:
 * until they are written, and not those that the drive has refused. Stops at the first error. */
int data_write_parts(struct data_cache *d, uint32_t first, uint32_t end, uint32_t run_end, bool wait);

/* ---- data_ask.c ---- */

/* An asker's read is asked for once more. */
void data_ask_again(struct data_cache *d, struct data_waiter *w);
/* An asker's write goes on, now that a command has ended. */
void data_ask_go_on_write(struct data_cache *d, struct data_waiter *w, int error);
/* Calls those without room that would bring any of the parts; those who wait for a command bring them no longer. */
void data_ask_anew(struct data_cache *d, uint32_t first, uint32_t count);
/* Goes on with those whose turn has come. */
void data_ask_turn(struct data_cache *d);

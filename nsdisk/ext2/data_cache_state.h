/*
 * What data_cache.c and data_transfer.c share: the blocks of a data cache, and its commands under way.
 *
 * A mask has a bit for each part of a block. `writing` parts are dirty and under way to the disk: they become clean
 * when the transfer ends well, unless they have been written again. A block with dirty parts is never evicted.
 */
#ifndef NSDISK_DATA_CACHE_STATE_H
#define NSDISK_DATA_CACHE_STATE_H

#include "nsdisk/ext2/data_cache.h"

#define TRANSFERS   (DRIVE_CACHE_BUFFERS - 2) /* so many commands under way */
#define PARTS_MAX   32u                       /* of a block: bits of a mask */
#define NOT_INDEXED UINT32_MAX

struct data_block {
    struct index_entry at; /* the first member; its number is that of the first part / parts of a block */
    uint8_t *bytes;
    uint32_t *owner; /* [parts]: the inode that wrote it */
    uint32_t valid, dirty, writing, failed;
    uint32_t unasked; /* came with others, and nobody has used them yet */
};

struct transfer {
    struct blockdev_command command;
    bool busy, write;
    uint32_t first, count; /* parts */
    uint8_t *bytes;
};

struct data_cache {
    struct cache *cache;
    const char *volume;
    struct cache_log log;
    struct drive_cache set;
    uint32_t part_bytes;
    uint32_t parts; /* of a block: 1 << parts_shift */
    uint32_t parts_shift;
    uint32_t group;        /* parts of a group */
    uint32_t buffer_parts; /* of a transfer */
    uint32_t count;        /* blocks */
    uint32_t dirty;        /* parts */
    uint32_t failed;       /* of them, that the drive did not take */
    struct block_index index;
    struct data_block *block;       /* [count] */
    struct data_block **order;      /* [count], during a flush */
    struct data_block **group_list; /* [group], while a group is written */
    uint8_t *bytes;                 /* of all blocks */
    uint32_t *owners;
    uint8_t *buffers;
    struct transfer transfer[TRANSFERS]; /* that run while the caller goes on */
    struct transfer fetch, own;          /* that end at once: a read, and a write to make room for it */
    struct drive_cache_counts counts;
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

static inline uint8_t *data_part_at(const struct data_cache *d, const struct data_block *b, uint32_t part)
{
    return b->bytes + (size_t)(part & (d->parts - 1)) * d->part_bytes;
}

static inline uint32_t data_bits(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* ---- data_transfer.c ---- */

/* Parts become clean; parts go. */
void data_parts_clean(struct data_cache *d, struct data_block *b, uint32_t bits);
void data_parts_drop(struct data_cache *d, struct data_block *b, uint32_t bits);
/* Starts a command of parts that are not under way, from or into the buffer of a transfer that is free. */
void data_transfer_start(struct data_cache *d, struct transfer *t, bool write, uint32_t first, uint32_t count);
/* Ends a transfer, waiting for it. wanted: as data_install. -N_EIO: the drive failed. */
int data_transfer_end(struct data_cache *d, struct transfer *t, uint32_t wanted);
/* NULL: each has a command under way. */
struct transfer *data_transfer_find_free(struct data_cache *d);
bool data_transfer_has(const struct transfer *t, uint32_t first, uint32_t count);
/* Ends the transfers that read, or write, any of the parts. Returns whether there was one. */
bool data_end_transfers_of(struct data_cache *d, bool write, uint32_t first, uint32_t count);
int data_end_writes(struct data_cache *d);
void data_end_reads(struct data_cache *d);
/* Takes in what has ended meanwhile. */
void data_reap(struct data_cache *d);
/* Writes the dirty parts of blocks in ascending order; neighbours are one command. wait: until they are written, and
 * not those that the drive has refused. Stops at the first error. */
int data_write_blocks(struct data_cache *d, struct data_block *const *block, uint32_t n, bool wait);
/* Lists the blocks of a part's group that are there, in d->group_list. Returns how many; *full: all parts of the group
 * are dirty and not under way. */
uint32_t data_list_group(struct data_cache *d, uint32_t part, bool *full);

/* ---- data_cache.c ---- */

/* Puts what a read has brought into its places, as far as there is room. `wanted` is about to be used; NOT_INDEXED:
 * nothing is. */
void data_install(struct data_cache *d, const struct transfer *t, uint32_t wanted);

#endif

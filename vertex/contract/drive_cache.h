/*
 * The data cache of a drive: its settings on their way from the machine file to the nsdisk, and its counts on their way
 * back. docs/nsdisk.md says what each setting promises.
 */
#ifndef CONTRACT_DRIVE_CACHE_H
#define CONTRACT_DRIVE_CACHE_H

#include <stdint.h>

enum drive_cache_write {
    DRIVE_CACHE_THROUGH, /* on the medium when the write is answered */
    DRIVE_CACHE_GROUPS,  /* a group is written when all of it is dirty */
    DRIVE_CACHE_BACK,    /* for a sync, or when room is needed */
};

enum drive_cache_evict {
    DRIVE_CACHE_LRU, /* the block that was used least recently goes first */
    DRIVE_CACHE_FIFO /* the block that came first goes first */
};

#define DRIVE_CACHE_BLOCK_MIN_BYTES 1024u
#define DRIVE_CACHE_BLOCK_MAX_BYTES 32768u
#define DRIVE_CACHE_GROUP_MAX_BYTES 131072u
#define DRIVE_CACHE_AHEAD_MAX       16u
/* Beside its blocks a cache has buffers of a group's size, but at least of this one. */
#define DRIVE_CACHE_BUFFERS          6u
#define DRIVE_CACHE_BUFFER_MIN_BYTES 32768u

struct drive_cache { /* all 0: there is none */
    uint32_t kb;
    uint32_t block_bytes;  /* a power of two */
    uint16_t group_blocks; /* a power of two */
    uint16_t ahead_groups;
    uint8_t write; /* enum drive_cache_write */
    uint8_t evict; /* enum drive_cache_evict */
    uint16_t reserved;
};
_Static_assert(sizeof(struct drive_cache) == 16, "drive_cache layout");

#define DRIVE_CACHE_SIZES 6u /* commands of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 and more blocks of the volume */

struct drive_cache_counts { /* in blocks of the volume, except for write_backs, in commands */
    uint64_t hits;          /* reads of blocks that were there, or under way */
    uint64_t misses;        /* reads of blocks that were not */
    uint64_t prefetched;    /* blocks that came without having been asked for */
    uint64_t unused;        /* those of them that went, or were still there at the end, without a use */
    uint64_t write_backs[DRIVE_CACHE_SIZES];
};
_Static_assert(sizeof(struct drive_cache_counts) == 80, "drive_cache_counts layout");

struct drive_cache_report { /* of the nsdisk's reply to N_SHUTDOWN, one for each drive with a data cache */
    uint32_t drive;
    uint32_t reserved;
    struct drive_cache_counts counts;
};
_Static_assert(sizeof(struct drive_cache_report) == 88, "drive_cache_report layout");

#endif

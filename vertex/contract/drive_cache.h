/*
 * The data cache of a drive: its settings on their way from the machine file to the nsdisk, and its counts on their way
 * back. docs/nsdisk.md says what each setting promises.
 */
#pragma once

#include <stdint.h>

enum drive_cache_write {
    DRIVE_CACHE_THROUGH, /* on the medium when the write is answered */
    DRIVE_CACHE_GROUPS,  /* a group is written when all of it is dirty */
    DRIVE_CACHE_BACK,    /* for a sync, or when room is needed */
};

enum drive_cache_evict {
    DRIVE_CACHE_LRU,       /* the block that was used least recently goes first */
    DRIVE_CACHE_FIFO,      /* the block that came first goes first */
    DRIVE_CACHE_USED_FIRST /* as LRU, but blocks of which a part has come and was not used yet go last */
};

enum drive_cache_fill {
    DRIVE_CACHE_FILL_FIRST, /* a block that is written in part and is not there is read before */
    DRIVE_CACHE_FILL_LATER  /* ... when the rest of it is needed, or it goes to the drive */
};

enum drive_cache_misses {
    DRIVE_CACHE_MISSES_WAIT, /* the requests behind a read that waits for the drive wait, too */
    DRIVE_CACHE_MISSES_ASIDE /* it is put aside, and they are served */
};

#define DRIVE_CACHE_BLOCK_MIN_BYTES 1024u
#define DRIVE_CACHE_BLOCK_MAX_BYTES 32768u
#define DRIVE_CACHE_GROUP_MAX_BYTES 131072u
#define DRIVE_CACHE_AHEAD_MAX       16u
#define DRIVE_CACHE_COMMANDS        4u /* under way at once, unless the machine file says otherwise */
#define DRIVE_CACHE_COMMANDS_MAX    64u
/* Beside its blocks a cache has buffers of a group's size, but at least of this one: one for each command, and as many
 * for commands that are waited for. */
#define DRIVE_CACHE_BUFFERS_WAITED   2u
#define DRIVE_CACHE_BUFFER_MIN_BYTES 32768u

struct drive_cache { /* all 0: there is none */
    uint32_t kb;
    uint32_t block_bytes;  /* a power of two */
    uint16_t group_blocks; /* a power of two */
    uint16_t ahead_groups;
    uint8_t write; /* enum drive_cache_write */
    uint8_t evict; /* enum drive_cache_evict */
    uint8_t commands;
    uint8_t fill : 4;   /* enum drive_cache_fill */
    uint8_t misses : 4; /* enum drive_cache_misses */
};
_Static_assert(sizeof(struct drive_cache) == 16, "drive_cache layout");

#define DRIVE_CACHE_SIZES 6u /* commands of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 and more blocks of the volume */

#define DRIVE_CACHE_COUNTING 0x434e5453u

/* In blocks of the volume, but for what is in commands: reads and write_backs. Less than 2^32 of each: a server that
 * does nothing else needs years of virtual time for them. */
struct drive_cache_counts {
    uint64_t wait_cycles;              /* of all `waits` together */
    uint32_t requests;                 /* blocks, or parts of them, that were to be read or written */
    uint32_t hits;                     /* reads of blocks that were there, or under way */
    uint32_t misses;                   /* reads of blocks that were not */
    uint32_t prefetched;               /* blocks that came without having been asked for */
    uint32_t unused;                   /* those of them that went, or were still there at the end, without a use */
    uint32_t waits;                    /* requests that had to wait: for a command, or for room */
    uint32_t waiting_most;             /* at once */
    uint32_t reads[DRIVE_CACHE_SIZES]; /* each of a group, or of what it lacked */
    uint32_t write_backs[DRIVE_CACHE_SIZES];
    uint32_t drive; /* on its node; DRIVE_CACHE_COUNTING: these are where the server counts */
};
_Static_assert(sizeof(struct drive_cache_counts) == 88, "drive_cache_counts layout");

/* What a cache manager of Clusterfile has done for all its files since it began (nsdisk/managers/). It keeps them
 * behind the record that it tells Vertex of (tell, abi.h), and tells clients. */
struct manager_counts {
    struct drive_cache_counts cache; /* of its blocks, in blocks of 4 KB; commands are reads and writes of servers */
    uint64_t read, written;          /* bytes that came from servers, and went there */
    uint32_t kb_most;                /* of blocks in its memory at a time, its own and others' */
    /* in blocks of 16 KB */
    uint32_t evicted;    /* had to go to make room; those of them */
    uint32_t given;      /* that went to another manager; */
    uint32_t received;   /* that came from others, to be kept; */
    uint32_t asked_back; /* that were asked for where they had gone, */
    uint32_t given_back; /* and that others had asked for, and got */
};
_Static_assert(sizeof(struct manager_counts) == 128, "manager_counts layout");

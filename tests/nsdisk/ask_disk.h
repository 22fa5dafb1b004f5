/*
 * For tests of askers of the data cache (nsdisk/ext2/data_cache.h): a disk whose commands end when the test says so,
 * the oldest first, a cache on it, and who waits for its parts.
 */
#pragma once

#include "nsdisk/ext2/data_cache.h"
#include "tests/nsdisk/volume.h"

#define PART    1024u
#define PARTS   512u
#define WAITERS 200u

struct ask_case {
    const char *name;
    struct drive_cache set;
};

extern uint64_t random_state;
uint32_t below(uint32_t n);

/* Returns NSDISK_STEPS, or the usual number. */
uint32_t steps_wanted(uint32_t usual);

/* ---- The disk ---- */

struct given {
    struct blockdev_command *command;
    bool write;
    uint32_t first, count; /* parts */
    uint8_t *buf;
};

extern struct ask_disk {
    uint8_t medium[PARTS][PART];
    struct given line[80];
    uint32_t under_way;
    uint32_t commands;              /* given so far */
    uint32_t fail_per_mill;         /* of the commands that write */
    bool (*written)(uint32_t part); /* after each block; false: stop */
    bool gone[PARTS];               /* dropped: no command brings it */
    void (*meanwhile)(void);        /* while the fiber waits */
} disk;

void end_oldest(void);

/* ---- The cache ---- */

extern struct cache *cache;
extern struct data_cache *d;

void make(const struct drive_cache *set);
void unmake(void);

/* ---- Askers ---- */

extern struct data_waiter waiter[WAITERS];
extern bool waits[WAITERS]; /* which of them are in use */
extern uint32_t waiting;

struct data_waiter *free_waiter(void); /* NULL: there is none */

/* The part's group is its file's, but for the first part of every third group. */
void extent_of(uint32_t part, uint32_t group, uint32_t *first, uint32_t *count);

/*
 * Power cuts. A scenario is run once to count the blocks it writes, then again with the power cut after every n-th of
 * them, also in the midst of a command. Each time e2fsck must be able to repair the volume, and what was durable before
 * the cut must be there. A cut is silent: the server goes on and knows nothing, so that a scenario does the same in
 * every run.
 */
#pragma once

#include "tests/nsdisk/volume.h"

#define BIG 30000u

/* The volume, and contents for files of it. */
extern struct volume v;
extern uint8_t old[BIG], new[BIG];

struct scenario {
    const char *name;
    void (*before)(void); /* and unmounted */
    void (*during)(void); /* cut somewhere */
    void (*after)(uint32_t cut);
    const char *repair;  /* e2fsck's options */
    uint32_t blocks;     /* of the volume, at least; 0: small */
    const char *options; /* more for mke2fs, or NULL */
};

/* With every setting of the data cache. The power is cut as often as without it only if NSDISK_ALL_CUTS is set, and
 * then after every block. */
void run_scenario(const struct scenario *s, uint32_t block_bytes);

/* In `during`: from here on something is durable, mark i of 8. In `after`: it was so before the cut. */
void set_mark(int i);
bool was_durable(int i, uint32_t cut);

extern const struct volume_cache *cache; /* the setting under which the scenario runs */

uint64_t open_new(const char *name);

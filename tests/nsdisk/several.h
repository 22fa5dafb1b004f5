/*
 * Several volumes behind one loop (nsdisk/serve/loop.h), and several clients with several requests under way: random,
 * but the same for a seed. Drives finish in random order, each drive's commands in theirs.
 */
#pragma once

#include <stdint.h>

#include "nsdisk/serve/loop.h"

struct several_settings {
    uint32_t seed;
    uint32_t steps;          /* bursts of requests of each client */
    uint32_t commands;       /* that the node takes at once, at most DISK_COMMANDS_MAX */
    uint32_t io_bytes;       /* most data in a message */
    uint32_t fail_per_mill;  /* of writes that fail */
    uint32_t volumes_cached; /* so many have this data cache */
    struct drive_cache cache;
};

/* Runs until the shutdown. NULL, or what went wrong: a reply that is missing, out of its client's order, of another
 * size or with other data than the client wrote, a request that never ends, a volume that e2fsck does not like. The
 * text lasts until the next call. */
const char *several_run(const struct several_settings *settings, struct loop_statistics *statistics);

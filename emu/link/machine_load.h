/*
 * What `ncube top` shows of a machine beyond its report (machine_report.h): how busy its nodes, channels and drives
 * have been since the start, and what the nodes do now.
 *
 *   "load": { "cycles": virtual time, "host_s", "states": { "runs": n, "message": n, ... },
 *             "nodes":    [ [address, state, user, kernel, idle cycles] ],
 *             "channels": [ [from, to, messages, busy, blocked cycles] ], the busiest first
 *             "drives":   [ [volume, queue, commands, bytes, busy, queue cycles] ],
 *             "caches":   [ [volume, requests, hits, misses, prefetched, unused, waits, cycles of these,
 *                            commands that read, by size (drive_cache.h), commands that wrote, by size ] ],
 *             "left_out": rows that did not fit into the message }
 *
 * States are "runs" and the words of ncu_wait_word.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "emu/state/machine_data.h"

/* The content of a LINK_ASK that asks for it. */
#define LOAD_QUESTION "load"

/* Returns the object, of at most `room` bytes as text; NULL if there is no memory. The caller drops it. */
json_t *machine_load(struct machine *m, size_t room);

/* The types of a row's elements: i, a whole number; s, a text. */
#define LOAD_NODE    "isiii"
#define LOAD_CHANNEL "iiiii"
#define LOAD_DRIVE   "siiiii"
#define LOAD_CACHE   "siiiiiiiiiiiiiiiiiii"

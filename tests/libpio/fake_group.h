/*
 * Nodes as processes of the host: <group.h>'s functions over shared memory, the modes of <nself.h>, and a store of
 * files in a folder that can fail. Takes the place of libpio/group, star_modes.c and store_pio.c at the link.
 */
#pragma once

#include <stdbool.h>

/* Runs `program` on P nodes, each a process. Returns true if it has returned true on all; a node that has not, or that
 * has crashed, has printed why. */
bool fake_nodes_run(int nodes, bool (*program)(void *arg), void *arg);

/* From the n-th read or write of this node on (1: the next), so many fail with that errno. */
void fake_store_fail(int n, int times, int error);

/* This node's process ends, as if all were well, before the n-th change of the files from here on. */
void fake_store_end_at(int n);

/* Full rows and superblocks are written as late as possible. */
extern bool fake_store_is_slow;

/* This node's requests so far. */
extern int fake_store_requests;

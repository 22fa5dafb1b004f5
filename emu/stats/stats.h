/*
 * Statistics of a run: collects what scheduler, NCUs, network and drives have counted, and prints a summary or writes
 * JSON. docs/statistics.md explains every field.
 *
 * Everything is counted in virtual time and is the same in every run, except for the part that describes the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/model/ncu.h"
#include "emu/network/topo.h"
#include "emu/time/sched.h"
#include "vertex/contract/drive_cache.h"

struct stats_calls;

struct stats_source { /* only read */
    const struct topo *topo;
    const struct sched *sched;
    const struct ncu *ncu;
    /* Stores what the data cache of a drive of topo->io[index] has counted; false: it has none (emu/state/caches.h). */
    bool (*cache_counts)(void *ctx, uint32_t index, uint32_t drive, struct drive_cache_counts *counts);
    void *ctx;
    const struct stats_calls *calls; /* of libraries, in which nodes have waited; NULL: not counted */
    uint32_t nodes;                  /* compute nodes, then I/O nodes */
    bool stuck;                      /* include what each node waits for */
    /* of this host */
    double start_seconds, run_seconds; /* until the machine ran, and from then on */
    uint32_t cabinets, processors;
    const char *harts; /* how they are executed: a word of --harts */
    uint32_t flushes;  /* of buffers for translated code (harts_flush) */
};

/* Prints the summary: mean, lowest and highest value of each number. */
void stats_print(FILE *to, const struct stats_source *source);

/* Writes JSON. Returns 0, or -1 with errno. */
int stats_write(FILE *to, const struct stats_source *source);

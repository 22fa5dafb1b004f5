/*
 * Statistics of a run: collects what the scheduler, the NCUs, the network and the drives have counted, and prints it in
 * short or writes it as JSON. What every field means: docs/statistics.md.
 *
 * All of it belongs to virtual time and is the same in every run, but for what is kept apart as the host's.
 */
#ifndef NCUBE_STATS_H
#define NCUBE_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/model/ncu.h"
#include "emu/model/topo.h"
#include "emu/time/sched.h"

struct stats_source { /* only read */
    const struct topo *topo;
    const struct sched *sched;
    const struct ncu *ncu;
    uint32_t nodes; /* compute nodes, then I/O nodes */
    bool stuck;     /* tell what each node waits for */
    /* of this host */
    double start_seconds, run_seconds; /* until the machine ran, and from then on */
    uint32_t cabinets, processors;
};

/* The short form: mean, least and most of each number. */
void stats_print(FILE *to, const struct stats_source *source);

/* Writes JSON. 0, or -1 with errno. */
int stats_write(FILE *to, const struct stats_source *source);

#endif

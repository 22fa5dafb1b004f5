/*
 * What programs tell of themselves (emu/state/told.h): how long nodes have waited in the calls of a library, MPI's, by
 * call and communicator; and what cache managers have counted.
 */
#pragma once

#include <jansson.h>

#include "emu/stats/stats.h"

/* Makes the counts of so many nodes; the caller frees them. */
struct stats_calls *stats_calls_new(uint32_t nodes);
void stats_calls_free(struct stats_calls *c);

/* Counts a wait of a node. */
void stats_calls_count(struct stats_calls *c, uint32_t index, const char *call, const char *communicator,
                       uint64_t cycles);

/* Keeps what the cache manager on a node has counted; and returns what was kept last, or NULL. */
void stats_calls_keep(struct stats_calls *c, uint32_t index, const struct manager_counts *counts);
const struct manager_counts *stats_calls_manager(const struct stats_calls *c, uint32_t index);

/* Returns whether a node has waited in any call; and the list of its calls, for the caller. */
bool stats_calls_waited(const struct stats_calls *c, uint32_t index);
json_t *stats_calls_json(const struct stats_calls *c, uint32_t index);

/* Prints a table for each communicator, whose rows are calls; nothing if no node has waited in any. */
void stats_calls_print(FILE *to, const struct stats_source *s);

/* What the data caches of a machine's drives have counted, also while it runs. */
#pragma once

#include "emu/state/machine_data.h"

/* Stores what the data cache of a drive of topo->io[index] has counted: what its nsdisk has told at its shutdown;
 * before that, what it has counted so far, where `unused` lacks what is still cached. False: it has no data cache, or
 * its nsdisk has none now. Has no effect on the node. */
bool caches_count(void *machine, uint32_t index, uint32_t drive, struct drive_cache_counts *counts);

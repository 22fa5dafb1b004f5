/*
 * Whether the racks' hosts suffice for a machine: rank 0 asks them before it starts anything.
 */
#pragma once

#include "emu/rack/rack_wire.h"
#include "emu/state/machine_data.h"

/* Says what a rack's host has: the answer to WIRE_ASK. lib: the folder of ncube's parts there. */
void racks_host_find(struct wire_host *host, const char *lib);

/* Compares what the hosts of all racks have with each other and with what the machine needs there. host: by rack.
 * Returns 0, or -1 after a line for each thing that a host lacks. */
int racks_hosts_check(struct machine *m, uint32_t racks, const struct wire_host *host);

/*
 * Which nodes of a machine each rack has, where other hosts have them.
 *
 * A rack has whole cabinets, in the order of the nodes' numbers; I/O nodes are last. By default a cabinet is a subcube,
 * as large as the racks' shares are still about equal, and the racks have equal numbers of cabinets, or nearly:
 *
 *      64 nodes, 3 racks:   0..15 | 16..39 | 40..63     2, 3 and 3 subcubes of 8 nodes
 */
#pragma once

#include "emu/state/machine_data.h"

/* Sets topo.nodes_per_cabinet, cabinets and rack_end of a machine whose nodes are counted: as --racks says, else as the
 * machine file does, else by default. Returns 0, or -1 after a line. */
int placing_divide(struct machine *m);

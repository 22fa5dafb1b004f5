/*
 * Nodes as the commands read them: by the names that they print (node_short_name), or as `//volume`, which is the I/O
 * node of a volume.
 */
#pragma once

#include <stdint.h>

#include "emu/network/topo.h"
#include "vertex/shared/node_name.h"

/* Returns the node that a text names, or TOPO_NONE if the machine has no such node. */
uint32_t node_parse(const struct topo *t, const char *text);

/*
 * Nodes as the commands read and print them: a compute node by its number, I/O node i of board b as `b.i`, the front
 * end as `host`; they also read `//volume` for the I/O node of a volume.
 */
#ifndef NCUBE_NODE_TEXT_H
#define NCUBE_NODE_TEXT_H

#include <stdint.h>

#include "emu/network/topo.h"

#define NODE_SHORT_NAME_BYTES 24u
/* Writes a node's name to `name` and returns it. */
const char *node_short_name(uint32_t node, char name[NODE_SHORT_NAME_BYTES]);

/* Returns the node that a text names, or TOPO_NONE if the machine has no such node. */
uint32_t node_parse(const struct topo *t, const char *text);

#endif

/*
 * Names of nodes for messages to the user, by the host and the library. The addresses are those of machine.h.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "vertex/contract/machine.h"

#define NODE_NAME_BYTES 40u

/* Writes "node 5", "I/O node 0 of board 3", "the front end", or "node 0x9001" for an address that no node has. `name`
 * has room for NODE_NAME_BYTES. Returns it. */
static inline const char *node_name(uint32_t node, char *name)
{
    if (NODE_IS_COMPUTE(node))
        snprintf(name, NODE_NAME_BYTES, "node %u", (unsigned)node);
    else if (NODE_IS_IO(node))
        snprintf(name, NODE_NAME_BYTES, "I/O node %u of board %u", (unsigned)NODE_INDEX_OF(node),
                 (unsigned)NODE_BOARD_OF(node));
    else if (node == NODE_HOST)
        snprintf(name, NODE_NAME_BYTES, "the front end");
    else
        snprintf(name, NODE_NAME_BYTES, "node 0x%x", (unsigned)node);
    return name;
}

#define NODE_SHORT_NAME_BYTES 24u

/* Writes the name by which commands read and print a node: a compute node's number, "b.i" for I/O node i of board b,
 * "host" for the front end. Returns `name`. */
static inline const char *node_short_name(uint32_t node, char name[NODE_SHORT_NAME_BYTES])
{
    if (node == NODE_HOST)
        snprintf(name, NODE_SHORT_NAME_BYTES, "host");
    else if (NODE_IS_IO(node))
        snprintf(name, NODE_SHORT_NAME_BYTES, "%u.%u", (unsigned)NODE_BOARD_OF(node), (unsigned)NODE_INDEX_OF(node));
    else
        snprintf(name, NODE_SHORT_NAME_BYTES, "%u", (unsigned)node);
    return name;
}

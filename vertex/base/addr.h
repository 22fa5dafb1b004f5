/*
 * The three addresses of each byte of this node's memory.
 *
 *   kernel   VERTEX_WINDOW_VA + x    the pointer that Vertex uses
 *   node     x                       the offset into the window that the NCU takes
 *   machine  addr_window + x         the QEMU-physical address that page tables hold
 *
 * Bytes of the shared region (Vertex's text, the built-in program) have equal kernel and machine addresses,
 * and no node address.
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/machine.h"

extern uint64_t addr_window; /* set once by main() */

static inline uint64_t addr_to_node(const void *kernel)
{
    return (uint64_t)kernel - VERTEX_WINDOW_VA;
}

static inline uint64_t addr_to_machine(const void *kernel)
{
    return addr_to_node(kernel) + addr_window;
}

static inline void *addr_from_machine(uint64_t machine)
{
    if (machine < CABINET_RAM_BASE + CABINET_SHARED_BYTES)
        return (void *)machine;
    return (void *)(machine - addr_window + VERTEX_WINDOW_VA);
}

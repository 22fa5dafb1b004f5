/* Machines for the tests: wired in memory, no file. Header-only, since each test is a program of its own. */
#pragma once

#include <stdlib.h>

#include "emu/network/topo.h"

static inline struct topo_io_node io_node_in_cube(uint32_t dim, uint32_t board, uint32_t i)
{
    struct topo_io_node io = {.node = NODE_IO(board, i)};

    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        io.si[k] = topo_sandia_si(board, i, k) < 1u << dim ? topo_sandia_si(board, i, k) : TOPO_NONE;
    return io;
}

/* 2^dim compute nodes; board 3 with I/O nodes 0 .. n_io-1, wired by Table 1 [P0]; the front end at node 0. */
static inline struct topo sandia_machine(uint32_t dim, uint32_t n_io)
{
    struct topo t = {.dim = dim, .ram_bytes = NODE_RAM_DEFAULT_BYTES, .nodes_per_cabinet = 256, .n_io = n_io};

    t.io = calloc(n_io + 1, sizeof *t.io);
    for (uint32_t i = 0; i < n_io; i++)
        t.io[i] = io_node_in_cube(dim, 3, i);
    return t;
}

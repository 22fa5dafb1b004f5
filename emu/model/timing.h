/*
 * The presets of the machine file's key `timing`: the network's times, those of instructions, and cycles that Vertex
 * charges for messages on top of them, by the NCU instruction CHARGE (machine.h). And the stated costs of files
 * (stated.h), which no preset changes.
 */
#pragma once

#include <stdbool.h>

#include "emu/network/topo.h"
#include "vertex/contract/machine.h"

/* The stated costs of a machine whose file does not say otherwise, and the names of their rows in it. */
extern const struct software_stated {
    const char *name;
    struct stated_cost cost;
} software_stated[STATED_ROWS];

struct software_costs { /* charges for messages, on compute nodes and on I/O nodes */
    struct software_cost compute, io;
};

struct instruction_cost {
    const char *class; /* its name in the machine file */
    uint32_t cycles;
};

struct timing { /* zeros: the nCUBE 2, and no charges */
    struct channel_times channels;
    bool no_broadcasts; /* the network carries a message to one node only */
    struct software_costs software;
    const struct instruction_cost *instructions; /* of some classes; ends with a NULL class */
};

extern const char *const timing_names[]; /* of the presets; ends with NULL */
extern const struct timing timing_presets[];

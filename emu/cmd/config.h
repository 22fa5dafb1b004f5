/*
 * The machine file: what machine to build. Its keys are described in docs/machine-file.md.
 */
#ifndef NCUBE_CONFIG_H
#define NCUBE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/inputs.h"
#include "emu/model/fault.h"
#include "emu/model/topo.h"
#include "vertex/contract/machine.h"

struct config_cost { /* an entry of `cycles = { ... }`: another cost for a class of instructions */
    char *name;
    uint32_t cycles;
    char *where; /* "sandia.conf:31", for an error if there is no class of that name */
};

struct machine_config {
    struct topo topo;
    char *path;          /* of the machine file; NULL: config_default */
    struct inputs files; /* the machine file and those that it includes */
    uint32_t n_costs;
    struct config_cost *cost;
    struct software_cost software; /* `timing` */
    uint32_t n_faults;
    struct fault *fault;
};

/* Reads and checks a machine file. image_folder, if not NULL, is where image paths start instead of the file's
 * `images` or its own folder. The images themselves are not looked at (disk_open does that).
 * Returns 0 and a config that the caller frees with config_free; or -1, an empty config and one line in error:
 * "FILE:LINE: what is wrong; what would be right". */
int config_load(struct machine_config *config, const char *path, const char *image_folder, char *error,
                size_t error_bytes);

/* The machine without a file: 2^dim compute nodes and the front end at node 0. dim <= NODE_MAX_DIM (asserted).
 * The caller frees it. */
void config_default(struct machine_config *config, uint32_t dim);

void config_free(struct machine_config *config);

#endif

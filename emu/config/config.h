/*
 * The machine file, which describes the machine to build. docs/machine-file.md describes its keys.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/base/inputs.h"
#include "emu/model/fault.h"
#include "emu/model/timing.h"
#include "emu/network/topo.h"
#include "vertex/contract/machine.h"

struct config_cost { /* of `timing` or an entry of `cycles = { ... }`: the cost of a class of instructions */
    char *name;
    uint32_t cycles;
    char *where; /* "sandia.conf:31", to be quoted if no class has that name */
};

#define CONFIG_RACKS_MOST 256u

struct machine_config {
    struct topo topo;
    char *path;          /* of the machine file; NULL: config_default */
    char *text;          /* the machine file with what it includes and with --set: another ncube reads it as this one */
    struct inputs files; /* the machine file and those that it includes */
    uint32_t n_costs;
    struct config_cost *cost;               /* in this order: a later one replaces an earlier one */
    struct software_costs software;         /* of `timing`; the network's part of it is the topology's */
    struct stated_cost stated[STATED_ROWS]; /* `costs` */
    uint32_t n_faults;
    struct fault *fault;
    uint32_t n_racks, rack_nodes[CONFIG_RACKS_MOST]; /* `racks` */
};

/* Reads and checks a machine file. image_folder, if not NULL, is the folder at which the paths of images start,
 * instead of the file's `images` or the file's own folder. Does not look at the images themselves; disk_open does.
 * Returns 0 and a config that the caller frees with config_free; or -1, an empty config and one line in error:
 * "FILE:LINE: what is wrong; what would be right". */
int config_load(struct machine_config *config, const char *path, const char *image_folder, char *error,
                size_t error_bytes);

/* The same, and says each fault of the file, one line each. What names a part that has a fault is not judged. */
int config_check(struct machine_config *config, const char *path, const char *image_folder,
                 void (*say)(void *ctx, const char *fault), void *ctx, char *error, size_t error_bytes);

/* Makes the machine that has no file: 2^dim compute nodes, and the front end at node 0. dim is at most NODE_MAX_DIM
 * (asserted). The caller frees it with config_free. */
void config_default(struct machine_config *config, uint32_t dim);

void config_free(struct machine_config *config);

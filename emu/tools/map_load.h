/*
 * What a redistribution asks of the channels of a machine: `ncube map A B -m FILE`. No machine is booted: every message
 * takes its e-cube path, and the busiest channel bounds the rate [P1 1.2, 2.2].
 *
 * The elements of A are the nodes of one program, and those of B of the next one in a pipeline, placed as `ncube run`
 * places them: each program on a subcube of its own, the larger one first. Or the elements of B are the machine's
 * drives, in the order of the machine file.
 */
#pragma once

#include <jansson.h>

#include "emu/network/topo.h"

struct map_load {
    const struct topo *topo;
    uint32_t elements[2];
    uint32_t base[2]; /* node of element 0 */
    bool to_drives;
    uint64_t *bytes; /* [topo_channels] */
    uint64_t all;    /* bytes of all messages */
    uint32_t busiest;
};

/* Places both sides. Returns false, and a line in `error`, if the machine is too small. The caller calls map_load_free
 * in any case. */
bool map_load_begin(struct map_load *l, const struct topo *topo, const int32_t elements[2], bool to_drives, char *error,
                    size_t error_bytes);
void map_load_free(struct map_load *l);

/* Adds a message of element a of A to element b of B. Returns false, and a line in `error`, if no path leads there. */
bool map_load_add(struct map_load *l, int32_t a, int32_t b, uint64_t bytes, char *error, size_t error_bytes);

/* Prints where the elements are, the busiest channel and the rate to expect; or gives them as JSON. */
void map_load_print(const struct map_load *l);
json_t *map_load_json(const struct map_load *l);

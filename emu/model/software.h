/*
 * What the node's system software costs beyond what Vertex's own instructions cost: a preset of the machine file
 * (`timing`), for a machine whose messages take as long as those of 1992. Vertex charges it by the NCU
 * (machine.h, CHARGE).
 */
#ifndef NCUBE_SOFTWARE_H
#define NCUBE_SOFTWARE_H

#include "vertex/contract/machine.h"

struct software_preset {
    const char *name;
    struct software_cost cost;
};

extern const struct software_preset software_presets[]; /* the last one's name is NULL */

/* NULL if there is none of that name. */
const struct software_preset *software_preset_find(const char *name);

#endif

/*
 * Cycles that Vertex charges for messages on top of those of its instructions, by the NCU instruction CHARGE
 * (machine.h): presets of the machine file (`timing`), for a machine whose messages take as long as those of 1992.
 */
#ifndef NCUBE_SOFTWARE_H
#define NCUBE_SOFTWARE_H

#include "vertex/contract/machine.h"

struct software_preset {
    const char *name;
    struct software_cost cost;
};

/* The stated costs of a machine whose file does not say otherwise, and the names of their rows in it. */
extern const struct software_stated {
    const char *name;
    struct stated_cost cost;
} software_stated[STATED_ROWS];

extern const struct software_preset software_presets[]; /* ends with a preset whose name is NULL */

/* Returns the preset of that name, or NULL. */
const struct software_preset *software_preset_find(const char *name);

#endif

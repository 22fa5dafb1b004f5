/*
 * Cycles that Vertex charges for messages on top of those of its instructions, by the NCU instruction CHARGE
 * (machine.h): presets of the machine file (`timing`), for a machine whose messages take as long as those of 1992.
 */
#ifndef NCUBE_SOFTWARE_H
#define NCUBE_SOFTWARE_H

#include "vertex/contract/machine.h"

/* The stated costs of a machine whose file does not say otherwise, and the names of their rows in it. */
extern const struct software_stated {
    const char *name;
    struct stated_cost cost;
} software_stated[STATED_ROWS];

extern const char *const software_presets[]; /* names, which end with NULL */
extern const struct software_cost software_costs[];

#endif

/*
 * Copies of a cabinet: instead of starting QEMU for each, ncube lets the first cabinet copy its process when all its
 * harts have come. A copy shares QEMU's memory with the first until either writes, and has RAM of its own.
 */
#pragma once

#include <stdint.h>

/* To be called when QEMU loads the plugin, with the number of its harts. */
void copy_init(uint32_t harts);

/* Executes the order in control.copy, and answers it. To be called by the first carrier while all harts are stopped and
 * have not been granted yet. Returns in the copy, too, whose harts are then stopped in its own slots. */
void copy_make(void);

/*
 * The volumes of a machine file, for commands that read and change images without a machine.
 */
#pragma once

#include "emu/config/config.h"
#include "emu/disk/pio_image.h"

struct machine_volumes {
    struct machine_config config;
    struct pio_volumes volumes;         /* all; or, as a command chooses, some of them */
    const char **all_name, **all_image; /* [drives] */
};

/* Reads a machine file, and collects its volumes; NULL: there are none. `images`: the folder of the images, or NULL.
 * Returns 0, or -1 with one line in `error` (ERROR_LINE_BYTES). The caller frees *m. */
int machine_volumes_load(struct machine_volumes *m, const char *file, const char *images, char *error);
void machine_volumes_free(struct machine_volumes *m);

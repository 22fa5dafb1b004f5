/*
 * Copies of files between images and the host, for `ncube disk`. Functions return 0, or -1 with one line in `error`
 * (ERROR_LINE_BYTES). What is copied appears under its name when it is complete.
 */
#pragma once

#include <stdint.h>

#include "emu/disk/cfs_image.h"
#include "emu/disk/clf_image.h"
#include "emu/disk/pio_image.h"

enum disk_name_kind { NAME_IN_IMAGE, NAME_PIO, NAME_CLF, NAME_CFS };

struct disk_name {
    enum disk_name_kind kind;
    const char *image; /* of a path in an image */
    const char *path;  /* begins with '/', in the text that was parsed */
    const char *map;   /* of a new PIO file, text of libpio/map/pattern.h; NULL: stripes */
};

/* Copies to a file of the host; "-": to standard output. `volumes`: those of the machine, if one was given. */
int disk_copy_out(struct pio_volumes *volumes, const struct disk_name *from, const char *to, char *error);
/* Copies from a file of the host; "-": from standard input. block_bytes: of a new PIO file; 0: the default. */
int disk_copy_in(struct pio_volumes *volumes, const char *from, const struct disk_name *to, uint32_t block_bytes,
                 char *error);

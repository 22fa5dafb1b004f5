/*
 * The names of striped volumes: which paths are on one, and where the parts of their files are.
 */
#pragma once

#include "libpio/file/pio.h"

#define STRIPED_PATH_BYTES 1024 /* FILE_NAME_MAX_BYTES of vertex/contract/proto.h */

struct striped_volume {
    const char *name;         /* "big" */
    struct pio_layout layout; /* disks, volumes and map */
};

/* Returns the striped volume that a path is on and sets *name to the path there, which begins with '/'; NULL if it is
 * on none. The machine is asked for its striped volumes at the first path that begins with "//". */
const struct striped_volume *striped_find(const char *path, const char **name);

/* Writes the path of the part on volume k to `part`. 0, or -ENAMETOOLONG. */
int striped_part(const struct striped_volume *volume, int k, const char *name, char part[STRIPED_PATH_BYTES]);

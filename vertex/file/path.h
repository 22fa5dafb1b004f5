/*
 * Path names: "//volume/path" is a file on a volume, anything else one on the front end [P0 section 2]. Pure.
 */
#ifndef VERTEX_PATH_H
#define VERTEX_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

struct path_parts {
    bool on_volume;
    char volume[VOLUME_NAME_BYTES]; /* if on_volume */
    const char *name;               /* the rest, in the text given: "/path" on a volume, else all of it */
    uint32_t name_bytes;            /* without the NUL; 0: the root */
};

/* Makes the path in `text`, which has room for `size` bytes, one that begins at `base`, which is absolute, unless it is
 * absolute itself or empty. 0, or -N_ENAMETOOLONG. */
int path_prepend(const char *base, char *text, uint32_t size);
/* Takes ".", "..", repeated and final slashes out of an absolute path; above a root is the root. Returns its length.
 * By its text alone: ".." behind a symbolic link is the folder that the link is in. */
uint32_t path_simplify(char *text);

/* 0, or -N_ENOENT: empty path, or no volume has such a name (empty, too long). */
int path_parse(const char *path, struct path_parts *parts);

#endif

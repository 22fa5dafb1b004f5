/*
 * Path names: "//volume/path" is a file on a volume, any other path a file of the front end [P0 section 2]. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

struct path_parts {
    bool on_volume;
    char volume[VOLUME_NAME_BYTES]; /* if on_volume */
    const char *name;               /* points into the path: to the "/path" after a volume, else to its start */
    uint32_t name_bytes;            /* without the NUL; 0: the root */
};

/* Puts the absolute path `base` before the path in `text`, which has room for `size` bytes, unless that is absolute or
 * empty. Returns 0 or -N_ENAMETOOLONG. */
int path_prepend(const char *base, char *text, uint32_t size);
/* Removes ".", "..", repeated and final slashes from an absolute path; ".." at a root stays there. Returns the new
 * length. Looks only at the text: ".." after a symbolic link means the folder that contains the link. */
uint32_t path_simplify(char *text);

/* Splits a path into *parts. Returns 0, or -N_ENOENT: the path is empty, or its volume's name is empty or too long. */
int path_parse(const char *path, struct path_parts *parts);
/* The same for the path on a volume that "volume/path" names: what is left of "//volume/path" without its slashes. */
int path_parse_volume(const char *volume, struct path_parts *parts);

uint32_t path_length(const char *text); /* without its NUL */

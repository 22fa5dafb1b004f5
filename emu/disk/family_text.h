/*
 * The texts that are the names of files of families (docs/cfs.md, docs/clusterfile.md) on the images of a machine: a
 * volume's file, whose first line says whose it is, has lines with a word and its value, and "end".
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES).
 */
#pragma once

#include <stdbool.h>

#include "emu/disk/pio_image.h"

struct family_text {
    const char *scheme, *what; /* "clf", "Clusterfile", for errors */
    const char *first;         /* the first line, with its end */
};

/* Reads the text of the first volume on which `path` is a name of that family. text: [bytes + 1], with a NUL. */
int family_text_find(struct pio_volumes *v, const struct family_text *t, const char *path, char *text, size_t bytes,
                     struct volume_stat *st, char *error);
/* Whether the volume's file begins with that line. */
bool family_text_is(struct volume *v, const struct family_text *t, const char *path);
/* The machine's volume of that name. */
int family_text_volume(const struct pio_volumes *v, const char *name, uint32_t *index, char *error);

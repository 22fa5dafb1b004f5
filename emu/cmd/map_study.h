/* `ncube map --match`, `--access` and `--advise`: views and layouts (emu/tools/map_match.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/options.h"
#include "libpio/map/pattern.h"

struct map_study {
    const struct options *options; /* of the command, for its errors */
    const char *svg;               /* or NULL */
    int64_t bytes;                 /* of the file that are compared */
    int64_t first, last;           /* of an access; last -1: there is none */
    bool json;
};

/* Whether the standard output shows colours. */
bool map_shows_colours(void);

/* Ends what has been written to an SVG file; NULL: it could not be opened, errno says why. Returns 0, or 1 after a line
 * that says why. */
int map_svg_end(const struct options *options, const char *path, FILE *file);

/* Reads FIRST-LAST. Returns false if it is none. */
bool map_study_range(const char *text, int64_t *first, int64_t *last);

/* Return the command's status. p: a view's pattern and a layout's; of advise: n views' patterns. */
int map_study_match(const struct map_study *s, const struct pattern *const p[2], char **text);
int map_study_advise(const struct map_study *s, const struct pattern *const *p, char **text, int n);

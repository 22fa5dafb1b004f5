/*
 * How well views and layouts match, for `ncube map` [P3 sections 6.3.3, 8.1, 9.1.1]: A's elements are the views of
 * processes, B's the subfiles of a layout.
 *
 *   match    of each view: the subfiles that it meets, and bytes a run, which is contiguous in the view and in the
 *            subfile. A view that matches is one run of one subfile
 *   access   bytes FROM to TO of each view: what is asked of each subfile, and where bytes are copied. In the program's
 *            memory, if its bytes for a subfile are not one run there (they are gathered into the message), and at the
 *            server, if they are not one run in the subfile [P3 Figure 6.1]
 *
 * In a picture a share is a cell: the darker, the more of the view's bytes are in the subfile.
 */
#pragma once

#include <stdio.h>

#include "emu/tools/map_meet.h"

struct map_share { /* of a view in a subfile */
    int32_t view, subfile;
    int64_t bytes, runs;
    int64_t first, last; /* of an access: in the subfile */
    bool gathered, scattered;
};

struct map_match {
    const struct pattern *p[2];
    struct map_share *share; /* in order of views, then of subfiles; none is without bytes */
    size_t shares, room;
    int64_t bytes, runs;         /* of all */
    int64_t gathered, scattered; /* bytes that are copied, of an access */
};

/* Of all bytes that map_meet compares. Returns false, and a line in `error`. */
bool map_match_whole(struct map_match *m, const struct pattern *const p[2], int64_t to, char *error,
                     size_t error_bytes);
/* Of an access to bytes from .. to of each view; those that end before are left out. Errors likewise; also patterns
 * whose elements' bytes do not ascend in the file. */
bool map_match_access(struct map_match *m, const struct pattern *const p[2], int64_t from, int64_t to, char *error,
                      size_t error_bytes);
void map_match_free(struct map_match *m);

/* Prints it as characters, in shades if `coloured`; at most `most` rows. */
void map_match_print(const struct map_match *m, FILE *to, bool coloured, int most);
/* Writes it as SVG, for light and dark backgrounds. title: a line of any bytes for each pattern. */
void map_match_write_svg(const struct map_match *m, FILE *to, const char *const title[2]);

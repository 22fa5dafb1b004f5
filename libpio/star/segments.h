/*
 * The NB and CB segments of a file [P4 4.1, 4.2, Figure 4]: from a VP's offset to its block, and from there to the
 * file. Pure arithmetic. Block r of VP i of a segment is at  begin + (r N + i) block:
 *
 *   | NB: nb_rows rows of N blocks of nb_block bytes | CB: rows of N blocks of cb_block bytes, cb_bytes of each VP |
 *   0                                                E1                                                            E2
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/star/cstar.h"

struct star_segments {
    int64_t vps;               /* N */
    int64_t nb_block, nb_rows; /* b_NB, R; 0: there is no NB segment */
    int64_t cb_block;          /* b_CB */
    int64_t cb_bytes;          /* T; 0: there is no CB segment */
    bool has_ib;               /* all nodes know that there is an IB segment behind */
};

/* A VP's row of a segment. */
struct star_row {
    int64_t block; /* bytes */
    int64_t file;  /* where VP 0's block lies */
    int64_t at;    /* the VP's offset at which it begins */
};

/* E1 and E2; and the VP's offset at which the streams end. */
int64_t star_segments_nb_end(const struct star_segments *s);
int64_t star_segments_file_end(const struct star_segments *s);
int64_t star_segments_end(const struct star_segments *s);

/* The row with a VP's offset in it. Offsets behind the NB segment are in the CB one. */
struct star_row star_segments_row(const struct star_segments *s, int64_t at);

/* The streams are to have at least `end` bytes; what `mode` is says which segment grows. */
void star_segments_grow(struct star_segments *s, enum cs_mode mode, int64_t end);
/* The streams are to have at most `end` bytes. */
void star_segments_cut(struct star_segments *s, int64_t end);

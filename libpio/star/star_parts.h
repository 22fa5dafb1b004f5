/*
 * The parts of a parallel file by their names: the data, .meta, .first and .dir; and what is written of them when the
 * mode changes.
 */
#pragma once

#include "libpio/star/star_file.h"

/* The caller's layout, or NULL. */
const struct pio_layout *star_layout_of(const struct cs_file *f);

/* A part's name, in name[], which is returned. */
const char *star_part_name(const struct cs_file *f, char name[STAR_PART_BYTES], const char *suffix);

/* Opens a part, if *handle is -1. 0 or a negative errno. */
int star_open_part(const struct cs_file *f, const char *suffix, int flags, int *handle);

/* What .meta says of the file as it is now; writes that. */
struct star_meta star_meta_of(const struct cs_file *f, bool is_writing);
int star_put_meta(const struct cs_file *f, const struct star_meta *m);

/* All nodes go to `mode` to write [P4 5.2.3]: node 0 writes a .meta, which says where the segments end, so that they
 * are found after a crash; to IB, all open .dir, which node 0 makes. Once for each mode. 0, or an error of one node. */
int star_transition(struct cs_file *f, enum cs_mode mode);

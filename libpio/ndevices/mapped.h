/*
 * The mapped driver of nDEVICES [P1 section 2.6]: a descriptor whose bytes are one element of a file, by a pattern. It
 * lies on the driver that has the file, and calls that driver's pread and pwrite for each run of bytes.
 */
#pragma once

#include "vertex/include/ndevices.h"

#include "libpio/map/pattern.h"

struct mapped;

extern const struct ndevice mapped_device; /* its state is a struct mapped; nothing opens it by a path */

/* Maps an open file. The pattern stays the caller's and must live as long. An element that the pattern does not have
 * has no bytes. Returns 0 and the state of a mapped descriptor at offset 0; or -EINVAL: the element is negative;
 * -ENOTSUP: the driver cannot read and write at an offset; -ESPIPE: this file has no offsets; -ENOMEM. */
int mapped_new(const struct ndevice *below, void *state, const struct pattern *pattern, int32_t element,
               struct mapped **mapped);

/* Ends the mapping: frees the state and leaves the file below open, as it was. */
void mapped_end(struct mapped *m);
/* Frees the state of a file that is mapped again, or closed. */
void mapped_free(struct mapped *m);

const struct pattern *mapped_pattern(const struct mapped *m);
/* The file below: what mapped_new was given. */
const struct ndevice *mapped_below(const struct mapped *m, void **state);

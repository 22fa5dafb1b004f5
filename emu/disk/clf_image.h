/*
 * Clusterfile's files on the images of a machine [P3 section 4.2]: a text on the metadata volume, and parts on all
 * (vertex/contract/clusterfile.h, docs/clusterfile.md).
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES).
 */
#pragma once

#include "emu/disk/pio_image.h"

struct clf_image_file;

/* Opens the file `path` for reading; *bytes: its size. The caller closes it. */
int clf_image_open(struct pio_volumes *v, const char *path, struct clf_image_file **f, uint64_t *bytes, char *error);
/* Reads n bytes at an offset of the file. */
int clf_image_read(struct clf_image_file *f, uint64_t offset, void *buf, size_t n, char *error);
/* NULL is allowed. */
int clf_image_close(struct clf_image_file *f, int result, char *error);

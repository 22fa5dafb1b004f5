/*
 * PIO files on the images of a machine [P0 section 3]: blocks of one logical file on many volumes, described beside
 * each subfile (libpio/file/layout.h).
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES).
 */
#pragma once

#include <stdint.h>

#include "emu/disk/volume.h"
#include "libpio/file/layout.h"

/* The volumes of a machine, opened when they are needed. */
struct pio_volumes {
    uint32_t n;
    const char *const *name;  /* n names */
    const char *const *image; /* n paths */
    struct volume **open;     /* n, all NULL at the start */
    bool write;               /* how they are opened */
};

/* Opens volume i unless it is open. */
int pio_volume(struct pio_volumes *v, uint32_t i, struct volume **volume, char *error);

/* Closes all open volumes. Reports the first error. */
int pio_volumes_close(struct pio_volumes *v, int result, char *error);

struct pio_image_file;

/* Opens the PIO file `path` for reading; *bytes: its size. Every volume must have its part. The caller closes it. */
int pio_image_open(struct pio_volumes *v, const char *path, struct pio_image_file **f, uint64_t *bytes, char *error);

/* Returns the first byte from `from` on that some subfile is too short to have, or `to`: there is none below it. What
 * is behind the end of a subfile, and before the end of the file, reads as zeros. */
int64_t pio_image_missing(const struct pio_image_file *f, int64_t from, int64_t to);

/* Describes a new PIO file on all volumes, in their order; 0: blocks as usual; map NULL: none. Returns 0, or -1 with a
 * line in error if they are too many, or none. */
int pio_image_describe(const struct pio_volumes *v, uint32_t block_bytes, const char *map, struct pio_description *d,
                       char *error);

/* Makes a PIO file without a name yet, over the volumes that `description` names. */
int pio_image_new(struct pio_volumes *v, const struct pio_description *description, struct pio_image_file **f,
                  char *error);

/* Move n bytes at an offset of the logical file. */
int pio_image_read(struct pio_image_file *f, uint64_t offset, void *buf, size_t n, char *error);
int pio_image_write(struct pio_image_file *f, uint64_t offset, const void *buf, size_t n, char *error);

/* Gives a new file its name, on every volume; descriptions come last, so that an incomplete file has none. */
int pio_image_link(struct pio_image_file *f, const char *path, char *error);

const struct pio_description *pio_image_description(const struct pio_image_file *f);

/* NULL is allowed. */
int pio_image_close(struct pio_image_file *f, int result, char *error);

/* Removes the subfiles of all volumes, then the descriptions, so that an interrupted removal can be repeated. */
int pio_image_remove(struct pio_volumes *v, const char *path, char *error);

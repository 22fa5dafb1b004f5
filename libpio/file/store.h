/*
 * PIO files on their volumes: names, descriptions, opening, creation, removal. Only pio_store_open leaves descriptors
 * open.
 *
 * On every volume the description is made before the subfile and removed after it. Descriptions appear whole, and are
 * durable then (PIO_ASK_MAKE). Volume 0's subfile is made last and removed first. All volumes are asked at the same
 * time. So a process that sees a subfile and afterwards no description has found a plain file; one that sees data
 * anywhere and afterwards a part missing has found a loss, and not a creation under way.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "libpio/file/layout.h"

#define PIO_DESCRIPTION_SUFFIX ".pio"

struct pio_name {
    const char *name;              /* from its first '/', within the caller's string */
    char volume[PIO_VOLUME_BYTES]; /* where to look; "": on the volumes of the layout */
};

/* 0, or -ENOENT (empty), -EINVAL, -EISDIR, -ENAMETOOLONG. A name without '/' in front is refused too: -EINVAL. */
int pio_name_parse(const char *text, struct pio_name *name);

/* Finds the file's description, and its number among the volumes' (unless `index` is NULL). 0, -ENOENT if none of the
 * volumes where it might be has one, -EPROTO if the first found is damaged or on the wrong volume, or the volume's
 * error. */
int pio_store_find(const struct pio_name *name, const struct pio_layout *layout, struct pio_description *description,
                   int *index);

/* Checks that each volume but that of `index`, where the description was found, has its own. 0; -ENOENT: none; -EPROTO:
 * a foreign one; or the volume's error. */
int pio_store_check(const char *name, const struct pio_description *description, int index);

struct pio_opened {
    int fd; /* -1: not open */
    int node;
};

/* Opens every subfile by `flags`, an O_ACCMODE, and checks at the same moment that its volume has the file's
 * description: one request to each volume. 0, and *bytes is the logical size; otherwise an error, nothing is open, and
 * pio_store_survey finds out what is there. */
int pio_store_open(const char *name, const struct pio_description *description, int flags,
                   struct pio_opened opened[PIO_DISKS_MAX], int64_t *bytes);

void pio_store_close(struct pio_opened *opened, int disks); /* those that are open */

struct pio_survey {
    int64_t bytes; /* logical size */
    int missing;   /* first volume without subfile or description; -1: all there */
};

/* Looks at all volumes of the file. 0; -EPROTO: a foreign description or a plain file; or the volume's error. */
int pio_store_survey(const char *name, const struct pio_description *description, struct pio_survey *survey);

/* Whether every volume exists and can be written: 0, -ENOENT, -EROFS, or the volume's error. */
int pio_store_check_writable(const struct pio_description *description);

/* Makes the missing descriptions. -EPROTO: another process makes the file with another layout. -ENOENT, -EROFS: of
 * pio_store_check_writable; nothing has been made. */
int pio_store_describe(const char *name, const struct pio_description *description, mode_t mode);

/* Removes every subfile and description, volume 0's last, unless one of the others stays. Returns the first error. */
int pio_store_remove(const char *name, const struct pio_description *description);

/* Removes a file so that it is whole or gone whenever the call is cut short: marks volume 0's description and removes
 * its subfile, which decides, then the rest. An error: it is still there, whole. What the rest leaves belongs to no
 * file (pio_store_is_unlinked), and goes by pio_store_remove. */
int pio_store_unlink(const char *name, const struct pio_description *description);

/* Whether what is found of the file is left of one that has been removed: 1, 0, or the volume's error. */
int pio_store_is_unlinked(const char *name, const struct pio_description *description);

/*
 * The container of a recording: a tar archive, packed by zstd (libarchive). Its last entry, end.json, ends with a
 * check of all entries before it: a container without it has been cut, one with another has been damaged.
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES), without the file's name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/base/error_line.h"
#include "emu/base/file_extent.h"

/* ---- Writing ---- */

struct container;

/* Begins a container in an open file, which stays the caller's. */
int container_begin(struct container **p, int fd, char *error);
int container_add(struct container *p, const char *name, const void *bytes, size_t n, char *error);
/* Adds the extents of a file of so many bytes, which are in ascending order. */
int container_add_file(struct container *p, const char *name, int fd, uint64_t bytes, const struct file_extent *extent,
                       size_t extents, char *error);
/* Adds end.json, the text of a JSON object, to which it adds the check; and frees the container. With `text` NULL only
 * frees it. */
int container_end(struct container *p, const char *text, char *error);

/* ---- Reading ---- */

struct unpacked_entry {
    char *name;
    uint64_t bytes;  /* its size */
    uint64_t stored; /* without what reads as zeros */
    int fd;          /* it, in memory */
};

struct unpacked {
    struct unpacked_entry *entry; /* in the order of the container */
    size_t n, room;
};

/* Reads all of a container, and checks that it is whole. Fails with "is no recording", ... The caller calls
 * unpacked_free after either. */
int unpack(struct unpacked *u, int fd, char *error);
const struct unpacked_entry *unpacked_find(const struct unpacked *u, const char *name);
/* Returns an entry's bytes, with a NUL behind them, which the caller frees; NULL if it cannot be read. */
char *unpacked_text(const struct unpacked_entry *e);
void unpacked_free(struct unpacked *u);

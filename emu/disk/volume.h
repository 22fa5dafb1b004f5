/*
 * An ext2 image on the host, opened without a machine, by libext2fs.
 *
 * An open image is locked as a machine locks it (flock), so no machine can use it meanwhile. One that is opened for
 * writing is marked as not clean until volume_close, as a mounted one is: after a kill, it must pass e2fsck first.
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES) that names the image or the path. `error` may
 * be NULL where the caller already has a line to report. Paths begin at the image's root, with or without a '/'.
 * Symbolic links are followed inside the image.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/error_line.h"

#define VOLUME_ENTRY_BYTES 256 /* of an entry, with its NUL */

struct volume;

struct volume_stat {
    uint32_t inode;
    uint32_t mode; /* with the type, as st_mode */
    uint32_t links, uid, gid;
    uint32_t generation;
    uint64_t bytes, blocks_512;
    int64_t mtime_s;
};

/* Opens and locks an image's file. Returns its descriptor, which the caller closes, or -1. */
int volume_lock(const char *image, bool write, char *error);

/* Opens an image. For writing, it must be clean, e2fsck must find nothing, and it must have no feature that ext2 has
 * not; else no byte of it changes. The caller closes *v. */
int volume_open(struct volume **v, const char *image, bool write, char *error);

/* Writes everything back, marks the image clean and closes it. NULL is allowed. Like the other functions that close,
 * returns `result` if that is not 0, and then leaves the error as it is. */
int volume_close(struct volume *v, int result, char *error);

int volume_stat(struct volume *v, const char *path, struct volume_stat *st, char *error);

/* Whether the path exists. False also when it cannot be looked up. */
bool volume_has(struct volume *v, const char *path);

/* Calls visit for every entry of a directory but "." and "..", in the order of the directory. A path that is no
 * directory is its only entry. */
int volume_list(struct volume *v, const char *path,
                void (*visit)(void *ctx, const char *name, const struct volume_stat *), void *ctx, char *error);

/* ---- Contents ---- */

struct volume_file;

/* Opens a regular file for reading; *bytes: its size. The caller closes it. */
int volume_file_open(struct volume *v, const char *path, struct volume_file **f, uint64_t *bytes, char *error);

/* Makes a regular file that has no name yet. volume_file_link names it; otherwise closing it deletes it. */
int volume_file_new(struct volume *v, struct volume_file **f, char *error);

/* Move n bytes at an offset. Reading beyond the end gives zeros. */
int volume_file_read(struct volume_file *f, uint64_t offset, void *buf, size_t n, char *error);
/* The volume's block that is the file's block `at`; 0: a hole. */
int volume_file_block(struct volume_file *f, uint64_t at, uint64_t *block, char *error);
int volume_file_write(struct volume_file *f, uint64_t offset, const void *buf, size_t n, char *error);

/* Gives a new file its name. A regular file of that name is replaced; anything else there is an error, and
 * so is a path that ends in a slash. */
int volume_file_link(struct volume_file *f, const char *path, char *error);

/* Closes a file; NULL is allowed. Returns `result` if that is not 0, as volume_close does. */
int volume_file_close(struct volume_file *f, int result, char *error);

/* ---- Names ---- */

int volume_mkdir(struct volume *v, const char *path, char *error);
/* Removes a name, and the file with its last name; a directory only if it is empty. */
int volume_remove(struct volume *v, const char *path, char *error);

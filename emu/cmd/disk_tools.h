/*
 * The host's files and programs for `ncube disk`: files that appear only when they are complete, and e2fsprogs.
 *
 * Functions return 0, or -1 with one line in `error` (VOLUME_ERROR_BYTES).
 */
#ifndef NCUBE_DISK_TOOLS_H
#define NCUBE_DISK_TOOLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of the host that gets its name when it is closed with success; an older file of that name stays until then. */
struct new_file {
    int fd;     /* -1: not open */
    char *path; /* NULL: bytes are written to their place at once: standard output, a device */
    char *temporary;
};

/* "-" is standard output. */
int new_file_open(struct new_file *f, const char *path, char *error);
/* Closes the file. If `result`, that of writing it, is negative, deletes the file and leaves `error` as it is. Returns
 * the first failure, or 0. */
int new_file_close(struct new_file *f, int result, char *error);

/* Move n bytes, in as many pieces as it takes. -1 with errno; a read returns less at the end. */
int disk_tools_write(int fd, const void *buf, size_t n);
ssize_t disk_tools_read(int fd, void *buf, size_t n);

/* Makes an ext2 image by mke2fs. The file must not exist. */
int disk_tools_create(const char *image, uint64_t bytes, uint32_t block_bytes, const char *label, char *error);

/* Checks an image by e2fsck -p, which prints what it does. */
int disk_tools_check(const char *image, char *error);

#endif

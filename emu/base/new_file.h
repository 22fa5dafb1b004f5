/*
 * Files of the host that appear only when they are complete.
 *
 * new_file_ functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES), which names the file.
 */
#pragma once

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
/* As new_file_close, but fails if another file has got the name in the meantime. */
int new_file_close_as_new(struct new_file *f, int result, char *error);

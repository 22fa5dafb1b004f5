/*
 * The files that a run reads, by device and inode, so that no output overwrites one of them, and no file is used as
 * two.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct input {
    char *what; /* "the image of volume df00" */
    dev_t dev;
    ino_t ino;
};

struct inputs { /* {0}: none */
    struct input *input;
    uint32_t n;
};

/* Returns the use that was noted for the file at `path`, under this or another name, or NULL. */
const char *inputs_find(const struct inputs *in, const char *path);

/* Notes a file and its use. A file that does not exist is not noted. */
void inputs_add(struct inputs *in, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));

void inputs_free(struct inputs *in);

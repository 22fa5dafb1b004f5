/*
 * The files that a run reads, by device and inode: so that none is written over, and none is taken
 * for two.
 */
#ifndef NCUBE_INPUTS_H
#define NCUBE_INPUTS_H

#include <stddef.h>
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

/* What the file of that name is already, under any name, or NULL. */
const char *inputs_find(const struct inputs *in, const char *path);

/* Notes a file; one that is not there is nobody's. The process ends when memory is gone. */
void inputs_add(struct inputs *in, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));

void inputs_free(struct inputs *in);

#endif

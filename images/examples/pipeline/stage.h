/*
 * What the three programs of this folder have in common: a square of complex numbers goes from one to the next, and
 * each program says once how its own nodes share it. It may go by a pipe, by a file or by a striped file.
 */
#pragma once

#include <fcntl.h>
#include <nself.h>
#include <pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct number {
    float re, im;
};

_Noreturn static inline void stage_fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Reads the side of the square, a power of two. */
static inline int stage_side(const char *text)
{
    int side = atoi(text);

    if (side < 2 || side > 4096 || (side & (side - 1)) != 0) {
        fprintf(stderr, "%s: give the side of the square, a power of two from 2 to 4096\n", text);
        exit(2);
    }
    return side;
}

/* Opens a file, or takes the standard stream for "-". It is not emptied: other nodes may have written already. */
static inline int stage_open(const char *name, int standard)
{
    int fd =
        strcmp(name, "-") == 0 ? standard : open(name, standard == STDIN_FILENO ? O_RDONLY : O_RDWR | O_CREAT, 0644);

    if (fd < 0)
        stage_fail(name);
    return fd;
}

/* The rows of the square, or its columns, in blocks, one for each node of the program; `item` bytes each number. */
static inline struct pattern *stage_map(int side, int item, int by_columns, long displacement)
{
    char text[80], why[PATTERN_WHY_BYTES];
    struct pattern *map;

    if (by_columns)
        snprintf(text, sizeof text, "array %dx%dx%d *,block on 1x%d +%ld", side, side, item, ncubesize(), displacement);
    else
        snprintf(text, sizeof text, "array %dx%dx%d block,* on %dx1 +%ld", side, side, item, ncubesize(), displacement);
    if (pattern_parse(text, &map, why) != 0) {
        fprintf(stderr, "%s: %s\n", text, why);
        exit(1);
    }
    return map;
}

static inline void stage_set_map(int fd, const struct pattern *map)
{
    if (ioctl(fd, N_SETMAP, map) != 0)
        stage_fail("N_SETMAP");
}

/* Bytes of this node. */
static inline long stage_bytes(const struct pattern *map)
{
    return map->element[npid()].bytes;
}

static inline void *stage_memory(long bytes)
{
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);

    if (!memory)
        stage_fail("memory");
    return memory;
}

static inline void stage_move(ssize_t moved, long bytes, const char *what)
{
    if (moved < 0)
        stage_fail(what);
    if (moved != bytes) {
        fprintf(stderr, "%s: %ld bytes instead of %ld\n", what, (long)moved, bytes);
        exit(1);
    }
}

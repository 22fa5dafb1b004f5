/*
 * The output of a program's nodes, put together by whole lines: what a node has written goes on to the host's stream up
 * to its last newline, and the rest waits until its line is complete, the node reads from the standard input, or ends.
 * So lines of different nodes never mix. On request each line begins with its node: "node 3: ".
 *
 * A program on one node without labels is passed through as it is. A line longer than LINES_MAX_BYTES goes on in
 * pieces.
 */
#ifndef NCUBE_LINES_H
#define NCUBE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/streams.h"

#define LINES_MAX_BYTES 16384u

struct line { /* one that is not complete */
    uint8_t *bytes;
    size_t n, room;
    bool begun;    /* its first piece, and its label, have gone on */
    int32_t error; /* what became of it, for the node's next write: 0 or a negative n_error */
};

struct lines {
    struct streams *streams; /* outlives it */
    uint32_t base, nodes;    /* node addresses base .. base + nodes - 1; others are passed through */
    bool label;
    struct line *line; /* two for each node: of the output and of the error stream */
    int32_t error;     /* that no write can tell any more: 0 or a negative n_error */
};

/* 0, or -N_ENOMEM. */
int lines_init(struct lines *l, struct streams *streams, uint32_t base, uint32_t nodes, bool label);
void lines_free(struct lines *l);

/* A node writes to STREAM_OUT or STREAM_ERR: as streams_write, but that bytes kept for later count as written, and
 * after an error nothing of the lines that met it. An error of lines_flush is told by the node's next write. */
int64_t lines_write(struct lines *l, uint32_t node, enum stream which, const void *bytes, size_t n);

/* A node's incomplete lines go on as they are. */
void lines_flush(struct lines *l, uint32_t node);
/* The same at the node's end: it writes no more. */
void lines_end(struct lines *l, uint32_t node);
/* The first error that no node has been told; 0: none. It counts as told then. */
int32_t lines_take_error(struct lines *l);

#endif

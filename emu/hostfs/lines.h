/*
 * Merges the output of a program's nodes line by line. The bytes of a node are written to the host's stream up
 * to the last newline; the rest waits until its line is complete, the node reads from the standard input, or it ends.
 * So lines of different nodes never mix. On request each line begins with its node: "node 3: ".
 *
 * The output of a single node without labels is passed on unchanged. A line longer than LINES_MAX_BYTES is written in
 * pieces.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hostfs/streams.h"

#define LINES_MAX_BYTES 16384u

struct line { /* a line that is not complete */
    uint8_t *bytes;
    size_t n, room;
    bool begun;    /* its label and its first piece have been written */
    int32_t error; /* of writing it, for the node's next write to report: 0 or a negative n_error */
};

struct lines {
    struct streams *streams; /* outlives it */
    uint32_t base, nodes;    /* node addresses base .. base + nodes - 1; output of others is passed on unchanged */
    bool label;
    struct line *line; /* two for each node: for the output and for the error stream */
    int32_t error;     /* that no later write can report: 0 or a negative n_error */
};

/* 0, or -N_ENOMEM. */
int lines_init(struct lines *l, struct streams *streams, uint32_t base, uint32_t nodes, bool label);
void lines_free(struct lines *l);

/* Writes bytes of a node to STREAM_OUT or STREAM_ERR, like streams_write, with two differences: bytes that are kept for
 * later count as written, and the lines that met an error do not. The node's next write reports an error of
 * lines_flush. */
int64_t lines_write(struct lines *l, uint32_t node, enum stream which, const void *bytes, size_t n);

/* Writes a node's incomplete lines as they are. */
void lines_flush(struct lines *l, uint32_t node);
/* The same when a node has ended, so that no later write can report an error. */
void lines_end(struct lines *l, uint32_t node);
/* The first error that no write has reported, or 0. Clears it. */
int32_t lines_take_error(struct lines *l);

/*
 * Random programs of <cstar.h>, beside N streams in memory. The same program is drawn whatever the number of nodes and
 * the shape's distribution are. On nodes, each calls the library and compares its own VPs; anywhere, the streams alone
 * can be computed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libpio/star/cstar.h"

struct star_stream {
    unsigned char *bytes;
    long length, at;
};

struct star_program {
    uint32_t seed;
    int steps;
    const char *name;           /* of the file */
    const struct cs_options *o; /* or NULL */
    int nodes;                  /* for a grid; 0: consecutive VPs */
    bool only_streams;          /* calls nothing of the library */
    int rows;                   /* the file is there: an array of others, so many rows of 8 bytes of each VP */
    /* What comes of it: */
    long vps, extent[2];
    struct star_stream *stream; /* [vps] */
    char why[200];              /* the first difference; "" */
};

/* Runs it. False: *p says why. The caller frees the streams by star_program_free. */
bool star_program_run(struct star_program *p);
void star_program_free(struct star_program *p);

/* A program in which one VP prints between writes of all, and then all read it. False: *p says why. */
bool star_program_prints(struct star_program *p);

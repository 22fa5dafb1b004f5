/*
 * Takes the streams out of a parallel file, by what docs/cstar.md says of the files and without the library's code: the
 * judge of what the library has written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define UNSTAR_RANK 31

struct unstar {
    long vps, nodes;
    int rank;
    long extent[UNSTAR_RANK], grid[UNSTAR_RANK]; /* grid[0] 0: there is none */
    bool is_column;
    long *place; /* [vps]: which block of a row is a VP's */
    long nb_block, nb_rows, cb_block, cb_bytes;
    long ib_block, pointers, superblock, e3, superblocks, directory_superblocks; /* ib_block 0: no IB segment */
    unsigned char **stream;                                                      /* [vps], malloc'd */
    long *length;                                                                /* [vps] */
    char why[200];                                                               /* "": it is right */
};

/* Sets `place` for the line "order ..." of a .meta, of `vps`, `rank` and `extent`. False: it is none. The caller frees
 * it. */
bool unstar_places(struct unstar *u, const char *order);

/* Reads the file, PATH.meta, and PATH.first and PATH.dir if there is an IB segment. False: *u says why.
 * The caller frees it by unstar_free. */
bool unstar_read(const char *path, struct unstar *u);
void unstar_free(struct unstar *u);

/*
 * A move of bytes as its pieces, one for each block (cfs_moves.c), for those that have several under way (cfs_async.c).
 */
#pragma once

#include "libpio/cfs/cfs_client.h"

struct piece { /* a request under way */
    long number;
    uint64_t at; /* in the move */
    uint32_t bytes;
    uint32_t disk; /* of the machine */
};

struct move {
    struct cfs_open *f; /* NULL: the place is free */
    bool write;
    uint8_t *buf;
    uint64_t n, at;                    /* bytes to move, and where they are in the file */
    uint64_t next;                     /* of them, those that were asked for, or need not be */
    uint64_t good;                     /* bytes from the start on without an error */
    int error;                         /* behind them */
    struct piece piece[CFS_ASYNC_MAX]; /* a ring from `first` on */
    uint32_t first, pieces;
};

/* As far as the file goes, or there is room. Returns 0 or an error. */
int cfs_move_prepare(struct move *m, struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at);
/* Begins the next piece. A block that has no pointer is zeros. */
void cfs_piece_begin(struct move *m);
/* Ends the oldest piece. */
void cfs_piece_end(struct move *m);
/* Returns what has moved. A file is as long as what was written to it without an error. */
int64_t cfs_move_finish(struct move *m);

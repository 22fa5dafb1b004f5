/*
 * A transfer: one PIO READ or PIO WRITE under way [P0 Figures 3 and 5]. Several may be, of one file or of many.
 *
 *   pio_transfer_begin    issues the first C requests of each volume; passes.h calls it, for all or for one part after
 *                         another
 *   pio_transfer_finish   waits for acknowledgements, of whichever transfer, and issues what follows each, until this
 *                         transfer has none under way
 *   transfer_end.h        then makes the result of it
 *
 * What went wrong stays with the transfer; only lost acknowledgements concern all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/file/file.h"
#include "libpio/file/pending.h"
#include "libpio/file/pieces.h"

struct pio_progress {    /* on one volume */
    int64_t ended_bytes; /* of a read: where the subfile was seen to end, else INT64_MAX */
    int64_t wrote_bytes; /* of a write: how far the subfile was written, else 0 */
    /* of a file with a map or a view: the offset of the next request, and where the last one ends unless the limit is
     * lowered */
    int64_t next, end;
};

struct pio_transfer {
    struct pio_transfer *next; /* of the file's list `started` (starts.c) */
    struct pio_file *file;
    enum pio_op op;
    struct pio_pieces pieces;             /* the user's memory; only read from when writing */
    int64_t start;                        /* offset of its first byte, in the file or in its view */
    int64_t from;                         /* where the present pass begins in the user's memory: 0 of most */
    int64_t limit;                        /* end of the transfer in the user's memory: see transfer.c */
    int error;                            /* of the failure that set the limit, 0: none */
    int failed_volume;                    /* at which that was */
    int under_way;                        /* requests in the queue */
    struct pio_request *requests, *spare; /* D*C of them; those not in the queue */
    struct pio_progress *on;              /* D of them */
    int *part, parts;                     /* of a file with a map or a view: the volumes that have bytes of it */
    int64_t whole;                        /* the limit before any failure */
    bool has_result;                      /* it has been ended, and is still to be told so */
    int64_t result;
};

/* What all transfers of a process share, in shared_state.c. A program that has the driver of striped files has a second
 * copy of libpio's code in there (images/program.ld), but one of this: acknowledgements do not say whose they are, so
 * whichever copy takes one must find its request. */
struct pio_shared {
    struct pio_queue queue; /* all requests under way */
    char *comm; /* the communication buffer: an acknowledgement with its data, or a block to write that is gathered;
                   neither is in use while another is */
    size_t comm_bytes;
    int lost_error; /* set when acknowledgements were lost: one may still arrive, and would be mistaken for that of a
                       later request */
};

extern struct pio_shared pio_shared;

/* Makes an idle transfer of the file. NULL: no memory. It must not be freed with requests under way. */
struct pio_transfer *pio_transfer_new(struct pio_file *file);
void pio_transfer_free(struct pio_transfer *t); /* NULL is allowed */

/* Gives the communication buffer at least room for acknowledgements of blocks of this size. -ENOMEM. */
int pio_transfer_reserve(int64_t block_bytes);

/* The work for blocks of a PIO call, which has stated costs (vertex/contract/stated.h), unless the file or the memory
 * is in pieces: returns whether it has, for pio_work_end. */
bool pio_work_begin(const struct pio_file *file, const struct pio_pieces *pieces);
void pio_work_end(bool works);

/* Begins a transfer to or from `pieces` at `start`, which must be within what a file can hold: of the bytes from .. n-1
 * of the pieces, and those before have been moved. */
void pio_transfer_begin(struct pio_transfer *t, enum pio_op op, struct pio_pieces pieces, int64_t start, int64_t from,
                        int64_t n);

/* Returns 0, or a negative errno when acknowledgements were lost; what happened to the data is then unknown. */
int pio_transfer_finish(struct pio_transfer *t);

/* Takes the acknowledgements that have arrived, without waiting for any. Errors as pio_transfer_finish. */
int pio_transfer_advance(void);

/* Finishes all transfers that the file has started and not ended, so that a call about the whole file sees what they
 * have done. They are still to be ended, and keep what went wrong. */
void pio_transfer_settle(struct pio_file *file);

/* Returns the open file for a transfer of n bytes that its mode must allow; sets *error: -EBADF, -EINVAL, and -EIO once
 * acknowledgements were lost. */
struct pio_file *pio_transfer_file(int pfd, enum pio_op op, size_t n, int *error);

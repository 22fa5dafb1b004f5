/*
 * Writes that are carried out as one [P1 section 2.6]: those to one file that wait at the same time, of one client or
 * of several, plain or through views.
 *
 *   waiting   A: 0 . . 3 . .      B: . 1 . . 4 .      C: . . 2 . . 5
 *   window    0 1 2 3 4 5                                one drive command, then the replies to A, B and C
 *
 * The oldest write that is not complete goes next, and with it whatever bytes of the others lie beside its own. A write
 * that arrives between two commands joins the others. So writes that do not touch are carried out in the order of their
 * arrival, each as if it were alone. Where two write the same byte, the later one's is what stays.
 *
 * Blocks that are in the volume's data cache are changed there, with the bytes that all have of them, without a window.
 *
 * Where a command fails, the group ends. The caller serves the writes that are not answered one after the other, so
 * each finds its own count or error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/view.h"
#include "vertex/contract/proto.h"

#define MERGE_WRITES 64u /* in a group */

struct merge_write {
    int64_t first, end;      /* its part of the file */
    int64_t next;            /* its lowest byte there that is not on the medium; `end`: it is complete */
    int64_t done;            /* its bytes below that */
    const struct view *view; /* NULL: plain */
    uint64_t offset;         /* of its bytes, in the view or the file */
    int64_t bytes;
    const uint8_t *data;
};

struct merge {
    /* the group */
    struct ext2_inode *inode; /* NULL: there is none */
    uint32_t writes, answered;
    struct merge_write write[MERGE_WRITES]; /* in order of arrival */
    int64_t error;                          /* of the command that failed, 0: it was short, or none failed */
    /* the window: some of the file as it will be */
    int64_t at, bytes_used;
    uint32_t window_bytes;
    uint8_t *window;
    uint64_t *covered; /* a bit for each byte of the window that some write has */
    uint8_t *sieve;    /* VIEW_SIEVE_BYTES: what the file has between short runs */
};

/* NULL: no memory. */
struct merge *merge_new(void);
void merge_free(struct merge *m); /* NULL is allowed */

/* Begins a group with a write, or adds one to it. The view and the data are the caller's until merge_end. False: the
 * write lies beyond what a file can have, or the group is full. */
bool merge_add(struct merge *m, struct ext2_inode *inode, const struct view *view, uint64_t offset, uint32_t bytes,
               const uint8_t *data);

struct merge_calls {
    void (*more)(void *ctx);                   /* adds what has arrived; NULL: nothing will */
    void (*answer)(void *ctx, uint32_t write); /* that write, all before it too, is on the medium; may be NULL */
    void *ctx;
};

/* Carries out the group. False: a command failed or was short; the writes from m->answered on may not be complete. */
bool merge_run(struct merge *m, const struct merge_calls *calls);
/* Ends the group: the next merge_add begins another. */
void merge_end(struct merge *m);

/* One write through a view. Returns the bytes written, all before the first that was not, or the error that stopped the
 * first: as ext2_write; -N_EFBIG: the file would have to be too large. */
int64_t merge_write_view(struct merge *m, const struct view *view, struct ext2_inode *inode, uint64_t offset,
                         const void *buf, uint32_t bytes);

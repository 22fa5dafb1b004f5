/*
 * An open parallel file, as one node has it. The table of all is in star_table.c.
 */
#pragma once

#include "libpio/star/meta.h"
#include "libpio/star/shape.h"
#include "libpio/star/star_behind.h"
#include "libpio/star/store.h"

#define STAR_FD_FIRST 64 /* [P4 5.1] */
#define STAR_FILES    192

struct cs_file {
    int fd;
    bool reads, writes, appends, is_trusted;
    bool is_external; /* there is no .meta, and its b_NB is not known yet */
    int64_t cut;      /* bytes of its last row, if that is cut; it is what VPs have behind the NB segment */
    char name[STAR_NAME_BYTES];
    struct pio_layout layout; /* whose names are the caller's */
    bool has_layout;
    const struct star_store *store;
    int handle;
    int64_t unit; /* B of the data */
    struct cs_shape *shape;
    struct cs_shape *own_shape; /* made by the file, and freed with it; or NULL */
    struct star_row_order order;
    bool is_one_run; /* each node's blocks of a row follow each other, in the order of local numbers: */
    long first;      /* this node's from that block on */
    struct star_segments segments;
    char reason[STAR_REASON_BYTES];
    enum cs_mode least, mode;
    enum cs_way way; /* that rows go whatever they are; CS_WAY_CHOSEN: as they are */
    int64_t at;      /* every VP's offset */
    bool is_at_end;  /* every VP's EOF */
    int error;       /* of this node, until cs_clearerr; 0, or a negative errno */
    int64_t good;    /* what this node has failed to write begins at that VP's offset */
    /* The collective buffer: a row's blocks of this node's VPs, one after the other. NULL: none yet. */
    char *buffer;
    int64_t buffer_block; /* bytes of a block that it has room for */
    char *spare;          /* as large: the row before, while it is written */
    struct star_behind behind;
    int64_t behind_at; /* VP's offset of that row */
    bool has_buffer;   /* all nodes have one that is large enough; in NB mode it is not asked */
    bool holds, is_dirty;
    bool is_bad;                    /* what it holds could not be read, so it is not written */
    struct star_row row;            /* that the buffer holds */
    struct star_exchange *exchange; /* of rows that do not go directly (row_move.c), or NULL */
    /* Independent buffers; star_ib.h. The numbers are those of the .meta */
    struct star_ib *ib; /* NULL: none yet */
    bool all_ib;        /* all nodes have gone to IB together */
    int64_t ib_block, ib_pointers, ib_superblock, superblocks, directory_superblocks;
    int first_handle, directory_handle; /* -1: not open */
    enum cs_mode noted;                 /* .meta says that the segments before that of this mode have ended */
    int read_buffers;
    FILE *stream; /* of one VP at a time (star_stdio.c), or NULL */
    long stream_vp;
    struct cs_counts counts;
};

/* The file, if it is one; else NULL, and errno is EBADF. */
struct cs_file *star_file(CS_FILE *f);

/* A new entry; NULL: errno is EMFILE or ENOMEM. Frees one. */
struct cs_file *star_file_new(void);
void star_file_free(struct cs_file *f);
struct cs_file *star_file_at(int index); /* 0 .. STAR_FILES - 1; NULL: none */

/* Sets errno from a negative errno, and returns -1. cs_perror then names this part of the file, or none. */
int star_fail(int error);
int star_fail_at(const char *name, const char *part, int error);
const char *star_failed_name(void);

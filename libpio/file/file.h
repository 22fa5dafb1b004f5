/*
 * An open PIO file: the entry of the PIO file table [P0 section 3], and the functions on it that the modules share.
 */
#pragma once

#include <stdint.h>

#include "libpio/file/layout.h"

#define PIO_OPEN_MAX       32
#define PIO_PATH_MAX_BYTES 1024 /* FILE_NAME_MAX_BYTES of vertex/contract/proto.h */

struct pio_subfile {
    int fd;            /* F_k; -1: not open */
    int node;          /* N_k */
    struct plan *plan; /* of a file with a map or a view: what the file, or the view's element (PLAN_A), and this
                        * subfile have in common */
};

struct pio_file {
    int flags;                          /* as given to open */
    int buffers;                        /* C */
    int64_t offset;                     /* of the next byte to read or write */
    int64_t known_bytes;                /* logical size as last seen; other processes may have changed it */
    struct pio_description description; /* D, B, volumes; owns its map.pattern */
    struct pio_view *view;              /* viewed.h; NULL: the file itself */
    struct pio_subfile *subfile;        /* D of them */
    struct pio_transfer *own;           /* for calls that return when their transfer is done */
    struct pio_transfer *started;       /* transfers started and not ended, the latest first (starts.c) */
    int moved;                          /* how many of those have moved the offset on */
    int64_t short_at;                   /* lowest end of those that came short and have ended, else INT64_MAX */
    char name[PIO_PATH_MAX_BYTES];      /* begins with '/', no volume */
};

/* The PIO file table, in table.c. */
int pio_file_find_empty(void);                       /* a free descriptor, or -EMFILE */
void pio_file_enter(int pfd, struct pio_file *file); /* NULL: the descriptor is free */
struct pio_file *pio_file_get(int pfd);              /* the open file of a descriptor, or NULL */

/* The result of a public call: for a negative one sets errno, tells nfailed, returns -1. Only in that call itself. */
#define PIO_RESULT(result) pio_result(result, __func__)
int64_t pio_result(int64_t result, const char *call);

/* "//volume" + name + suffix to path, of PIO_PATH_MAX_BYTES; a parsed name always fits. */
void pio_path(char *path, const char *volume, const char *name, const char *suffix);

/* The path for pio_failed_path; each call empties it first. In fail.c, below all that can fail. */
extern char pio_fail_path[PIO_PATH_MAX_BYTES];

/* Remembers the path, as of pio_path, or the volume whose subfile it is, at which the call fails, for pio_failed_path.
 * Returns `error`. */
int pio_fail_at(const char *volume, const char *name, const char *suffix, int error);
int pio_fail_at_volume(const struct pio_file *file, int volume, int error);

/* Asks every volume for its subfile's size. Returns the logical size, or a negative errno. */
int64_t pio_file_bytes(struct pio_file *file);

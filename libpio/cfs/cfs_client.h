/*
 * The client of the Concurrent File System: files, and moves of their blocks. From the top down:
 *
 *   cfs_calls.c    the calls of <cfs.h>
 *   cfs_modes.c    those of all nodes: I/O modes
 *   cfs_result.c   what calls begin and end with
 *   cfs_told.c     what reports say of nodes that wait in a call of all nodes
 *   cfs_device.c   the driver of the nDEVICES switch: names that begin with /cfs/
 *   cfs_moves.c    reads and writes: a request for each block
 *   cfs_async.c    several of them under way
 *   cfs_file.c     names, and opening files
 *   cfs_grow.c     how a file gets more blocks
 *   cfs_check.c    pointers that a machine without a shutdown has left, compared with the parts
 *   cfs_header.c   the header, and its pointers
 *   cfs_machine.c  the machine's disks, and requests to their servers
 *
 * Functions return >= 0, or a negative error (vertex/contract/errors.h; newlib's errno has the same numbers).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/servers/server_calls.h"
#include "libpio/servers/server_folders.h"
#include "libpio/servers/server_volumes.h"
#include "vertex/contract/cfs.h"

/* ---- cfs_machine.c ---- */

/* The disks in order. The number is that of requests which a node has under way. */
const struct server_volumes *cfs_machine(void);

/* A request to a disk: r.seq and r.disk are filled in. Returns its number. */
long cfs_start(uint32_t disk, int type, struct cfs_request r, const void *data, size_t bytes);
/* Waits for its reply. head and data: as requestend. */
long cfs_end(long number, void *head, size_t head_bytes, void *data, size_t bytes);
/* The same request, without a payload in the reply, to several disks at once. The first error but ESTALE, which says
 * that the disk has nothing of the file. */
int cfs_ask_all(const uint32_t *disk, uint32_t n, int type, struct cfs_request r);

/* ---- cfs_file.c, cfs_grow.c, cfs_header.c ---- */

struct cfs_open {
    uint64_t handle;
    uint32_t home;                        /* machine's disk */
    uint32_t disks;                       /* of the file, */
    uint32_t disk[CFS_DISKS_MAX];         /* and which of the machine's each is */
    struct cfs_header header;             /* as known */
    uint32_t *page[CFS_PAGES_MAX];        /* of pointers, fetched when first needed; NULL: not yet */
    struct file_stat stat;                /* of its name, when it was opened */
    uint32_t flags;                       /* N_O_ */
    uint64_t at;                          /* the pointer */
    void (*end_moves)(struct cfs_open *); /* those that are under way; NULL: there never were any */
    struct cfs_mode *mode;                /* I/O mode 1 to 3; NULL: 0 */
    char *name;                           /* below /cfs; NULL: there was no memory for it */
    uint32_t failed;                      /* 1 + the machine's disk at which its last move failed; 0: at none, */
    int error;                            /* and with what */
    char *folder;                         /* path of a folder, which has nothing of the above but the pointer */
};

static inline struct cfs_request cfs_request_of(const struct cfs_open *f, uint16_t op, uint64_t arg)
{
    return (struct cfs_request){.handle = f->handle, .op = op, .arg = arg};
}

/* What an I/O mode is to the calls of a descriptor (cfs_modes.c). */
struct cfs_mode {
    /* Where n bytes are read or written; the pointer moves on. */
    int (*take)(struct cfs_open *f, bool write, uint64_t n, uint64_t *at);
    /* Where the pointer is. */
    int (*place)(struct cfs_open *f, uint64_t *at);
    /* The last call of all nodes. Returns an error of the mode. */
    int (*close)(struct cfs_open *f);
};

/* name: begins with '/'. flags: N_O_. */
int cfs_file_open(const char *name, uint32_t flags, uint32_t mode, struct cfs_open **out);
void cfs_file_free(struct cfs_open *f);
/* A name's attributes, with the file's size. */
int cfs_file_stat(const char *name, struct file_stat *st);
/* Remove a name, or replace one, and what the disks have of its file. */
int cfs_file_unlink(const char *name);
int cfs_file_rename(const char *from, const char *to);
int cfs_file_mkdir(const char *name, uint32_t mode);
int cfs_file_rmdir(const char *name);
/* The folder's entry at *at, which moves on. 1; 0: there is no more. */
int cfs_file_list(const char *folder, uint64_t *at, struct file_dirent *entry, char name[256]);
/* A request about the header to the home disk, whose reply is the header as it is now. */
int cfs_file_header(struct cfs_open *f, int type, uint16_t op, uint64_t arg);
int cfs_file_sync(struct cfs_open *f);
/* The pointer of a block; 0: none. A 0 that is kept is fetched again before it is believed. */
int cfs_file_pointer(struct cfs_open *f, uint64_t block, uint32_t *pointer);
/* Kept pointers from a block's page on, or that page only, have turned out to be wrong. */
void cfs_file_forget(struct cfs_open *f, uint64_t block, bool all);

/* Gives a file at least so many blocks. all: or none, -N_ENOSPC. Else it has what there is room for then. */
int cfs_file_grow(struct cfs_open *f, uint64_t blocks, bool all);
/* Takes all its blocks. */
int cfs_file_truncate(struct cfs_open *f);

/* ---- cfs_check.c ---- */

/* Compares pointers that are in doubt with the parts, and cuts the file off before the first that is wrong. The caller
 * holds the growth. */
int cfs_file_compare(struct cfs_open *f);
/* The same, if nobody keeps it from it: a disk that is read-only, or dead, leaves them in doubt. */
void cfs_file_check(struct cfs_open *f);
/* The file has so many blocks, and its header says so durably before the others are freed. The caller holds the growth.
 */
int cfs_file_shorten(struct cfs_open *f, uint64_t blocks);

/* ---- cfs_moves.c, cfs_async.c ---- */

#define CFS_MOVES_MAX 32u

/* Moves n bytes at an offset, with one request under way. Returns the bytes moved, fewer at the end of the file or
 * where the disks are full; an error if there are none. */
int64_t cfs_move(struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at);
/* Begins the same, with several. *expected: how many bytes it will move, if nothing fails. Returns an id, above 0.
 * -N_EAGAIN. */
long cfs_move_start(struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at, uint64_t *expected);
/* Waits for its end, and frees the id. As cfs_move; -N_EINVAL: no such id. */
int64_t cfs_move_end(long id);
/* 1: it has ended; 0. */
int cfs_move_test(long id);

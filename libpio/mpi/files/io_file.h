/*
 * Files of MPI [13].
 *
 *   io_store   where the bytes are: a PIO file ("pio:NAME")
 *   io_plain   or a descriptor: a file on a volume, on striped volumes, or on the front end
 *   io_clusterfile   or a Clusterfile ("/clf/NAME")
 *   io_view    which bytes of the file a process sees, as a pattern of libpio/map
 *   io_move    data between the program's memory and the view
 *   io_collective   the same of all members together, by two phases
 *   io_open, io_errors, io_calls, io_split, io_shared   the calls
 *
 * Every process has the file open by itself. The communicator is a duplicate, for collective calls.
 */
#pragma once

#include <sys/types.h>

#include "libpio/map/pattern.h"
#include "libpio/mpi/communicators/comms.h"
#include "libpio/mpi/messages/request.h"

struct mpi_file;

/* Where the bytes are. Calls return what those of Unix do, and set errno. */
struct io_store {
    int (*open)(struct mpi_file *f, int flags);
    int (*close)(int fd);
    ssize_t (*read)(int fd, void *buf, size_t n, off_t at);
    ssize_t (*write)(int fd, const void *buf, size_t n, off_t at);
    off_t (*size)(int fd);
    int (*set_size)(int fd, off_t size);
    int (*preallocate)(int fd, off_t size);
    int (*sync)(int fd);
    int (*unlink)(const char *name);
    const char *(*failed_path)(void); /* where the last call failed, of several volumes; NULL: the name says it */
    int (*first)(int fd); /* opens another descriptor for the file's first part; NULL: as of any descriptor */
    /* Makes read and write see one element of a pattern, as pattern_pack has written it; no bytes: the file. NULL: it
     * cannot. */
    int (*set_view)(int fd, const void *packed, size_t n);
    /* Of a store whose members set views together, whatever they are, and have collective accesses; NULL: of others.
     * All call them; opened once. */
    int (*opened)(struct mpi_file *f);
    ssize_t (*move_together)(int fd, bool writes, void *buf, size_t n, off_t at);
};

struct io_view {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype; /* the program's */
    long etype_bytes, filetype_bytes, filetype_extent;
    struct pattern *pattern; /* where the view's bytes are; NULL: one after the other from the displacement on */
    struct plan *plan;       /* of it; NULL without one */
    bool by_server;          /* the store has the view */
};

struct mpi_file {
    MPI_File handle;
    MPI_Errhandler errhandler;
    struct mpi_comm *comm;
    const struct io_store *store;
    int fd, amode;
    struct io_view view;
    MPI_Offset position;              /* the individual pointer, in bytes of the view */
    bool is_split;                    /* a split collective call has begun */
    MPI_Status split;                 /* what it has moved */
    struct io_shared *shared;         /* the shared pointer (io_shared.c) */
    struct io_collective *collective; /* for collective accesses (io_collective.c); NULL: none since the view was set */
    int holders;                      /* of a collective access that the hint cb_nodes asks for; 0: none */
    MPI_Info info;
    char name[]; /* without the store's prefix */
};

/* ---- io_errors.c ---- */

/* NULL: no such file. */
struct mpi_file *io_find(MPI_File handle);
MPI_File io_new_handle(struct mpi_file *f); /* NULL: no memory */
void io_free_handle(MPI_File handle);

extern MPI_Errhandler io_errhandler_at_first; /* of files that are opened, and of MPI_FILE_NULL */

/* What a call with that error handler returns after an error: the way of all of them, as mpi_fail of inside.h. */
int io_fail(MPI_Errhandler handler, MPI_File handle, const struct mpi_comm *c, int class);

/* The ways out of a call, as those of communicators (inside.h). */
int io_leave(struct mpi_file *f, int class);
int io_no_file(MPI_File handle);
/* Begins a call on the file `fh`, which is `f` then. */
#define IO_ENTER(name)                                             \
    struct mpi_file *f = io_find(fh);                              \
                                                                   \
    MPI_ENTER(name, f ? f->comm : NULL, MPI_NO_PEER, MPI_NO_PEER); \
    if (!f)                                                        \
    return io_no_file(fh)
/* A class whose text is of a file: `why` has %s for the name. */
int io_error_of(int class, const char *why, const char *name);
/* What errno is, as a class; its text has the file's name, and where it failed. */
int io_error(const struct io_store *store, const char *name);

/* The way out of a call without a file. */
int io_fail_without_file(int class);

/* ---- io_store.c ---- */

/* The store of a name, and the name without its prefix. */
const struct io_store *io_store_of(const char *name, const char **rest);

/* ---- io_plain.c ---- */

extern const struct io_store io_plain;
off_t io_plain_size(int fd);
int io_plain_preallocate(int fd, off_t size);

/* io_clusterfile.c, in programs that are linked with it. */
extern const struct io_store io_clusterfile __attribute__((weak));

/* ---- io_view.c ---- */

/* Checks the types and sets the view; the old one stays after an error. A class. */
int io_set_view(struct mpi_file *f, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
void io_drop_view(struct mpi_file *f);
/* The byte of the file that is byte k of the view. */
MPI_Offset io_place(const struct io_view *v, MPI_Offset k);

/* ---- io_move.c ---- */

/* Moves elements of the program between its memory and the view, from that byte of the view on; *moved: bytes. A
 * class. */
int io_move(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes,
            long *moved);

/* All bytes from one on; NULL: no memory. */
struct pattern *io_dense_pattern(MPI_Offset displacement);
/* All members have come, and none waits for a message of MPI that another one would answer. A class. */
int io_meet(struct mpi_file *f);

/* ---- io_collective.c, if the program makes collective accesses ---- */

/* As io_move, for all members together, each of which makes the call, also after an error: then with no elements. */
int io_move_all(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes,
                long *moved);
/* Forgets what has been agreed on for a view. */
void io_collective_drop(struct mpi_file *f) __attribute__((weak));

/* ---- io_shared.c, if the program uses shared pointers ---- */

int io_shared_open(struct mpi_file *f) __attribute__((weak));
void io_shared_close(struct mpi_file *f) __attribute__((weak));
/* Sets the shared pointer of all to a byte of the view; all members call it. */
int io_shared_reset(struct mpi_file *f, MPI_Offset at) __attribute__((weak));

/* ---- io_calls.c, io_split.c ---- */

#define IO_INDIVIDUAL (-1ll) /* instead of an offset: the individual pointer */

/* An access by one of these movers, its offset in etypes. A class. */
typedef int io_mover(struct mpi_file *f, MPI_Offset at, void *buf, int count, const struct mpi_type *t, bool writes,
                     long *moved);
int io_access(struct mpi_file *f, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, bool writes,
              MPI_Status *status, io_mover *move);
/* A request for what is done already, unless it has failed. */
int io_give_request(struct mpi_file *f, int error, const MPI_Status *status, MPI_Request *request);
/* The place that a seek leads to, in bytes of the view. */
int io_seek(struct mpi_file *f, MPI_Offset offset, int whence, MPI_Offset current, MPI_Offset *at);
/* Halves of a split collective call. */
int io_begin_split(struct mpi_file *f);
int io_keep_split(struct mpi_file *f, int error); /* the first half's error, after which none has begun; returns it */
int io_end_split(struct mpi_file *f, MPI_Status *status);

/* Checks what every access checks: the file's mode, the buffer, and the place in etypes. A class. */
int io_check(const struct mpi_file *f, const void *buf, int count, MPI_Datatype datatype, bool writes,
             const struct mpi_type **t);

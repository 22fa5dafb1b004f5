/*
 * Clusterfile (Isaila, 2004): files that are laid out over the machine's volumes by any pattern, of which each node
 * sees a part of its own as a contiguous file [P3]. Their names begin with /clf/; the machine file's `metadata` names
 * the volume that keeps them. docs/clusterfile.md; manual page clf(3n).
 *
 *   layout   pattern   file bytes -> subfiles 0 .. n-1       subfile i -> volume i mod q, or striped over several
 *   view     pattern   file bytes -> this node's bytes, without gaps
 *
 * A program that names one of these calls may use open, close, read, write, lseek, fstat, stat, unlink, rename, mkdir,
 * rmdir and stdio on such names: descriptors are the C library's, and clf_read is read, but fails on any other file.
 * Offsets and counts are the view's; those of clf_ftruncate are the file's.
 *
 * Calls return -1 and set errno; clf_why says more in one line where there is more to say. Besides those listed: EBADF;
 * ENOTSUP: the descriptor is of another driver; ENODEV: the machine has no Clusterfile; EIO, EHOSTUNREACH, ETIMEDOUT: a
 * server; ENOMEM.
 */
#ifndef _CLF_H
#define _CLF_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pattern; /* <pattern.h> */

/* ---- Files ---- */

/*
 * Where a file's subfiles lie. `volumes` are its I/O servers' volumes in order, `servers` of them; NULL, with servers 0
 * or a number: all that the machine has, or the first of them. With at least as many subfiles as volumes, subfile i
 * lies whole on volume i mod servers. With fewer, subfile i is striped over volumes i*q/n to before (i+1)*q/n, in
 * blocks of `stripe` bytes; 0: 65536.
 */
struct clf_place {
    const char *const *volumes;
    int servers;
    int64_t stripe;
};

/* Opens a file, as open. One that O_CREAT makes has the default layout: one subfile, striped over all volumes. The view
 * is the whole file, from the layout's displacement on. */
int clf_open(const char *name, int flags, ...);
/* The same, where a file that is made (flags has O_CREAT in any case) is laid out by a pattern: NULL, and place NULL:
 * the default. The pattern stays the caller's. A file that is there keeps its layout. EINVAL: elements that leave a
 * byte out, or do not ascend (pattern_bits); a place that is none; E2BIG: a layout whose text has more than 8192 bytes.
 * */
int clf_create(const char *name, int flags, mode_t mode, const struct pattern *layout, const struct clf_place *place);
int clf_close(int fd);
int clf_unlink(const char *name);
/* Gives a file that nobody writes another layout, pattern and places as of clf_create; the pattern begins at the same
 * byte. One node calls it. The file is copied as NAME.new, which then takes the name: descriptors that are open keep
 * the old file, and what fails leaves it as it was. EEXIST: NAME.new is there. */
int clf_redistribute(const char *name, const struct pattern *layout, const struct clf_place *place);

/* The line about the last call that failed with EINVAL, E2BIG or ENODEV; "" if there is no more than errno. */
const char *clf_why(void);

/* ---- Data ---- */

ssize_t clf_read(int fd, void *buf, size_t n);
ssize_t clf_write(int fd, const void *buf, size_t n);
ssize_t clf_readv(int fd, const struct iovec *iov, int count);
ssize_t clf_writev(int fd, const struct iovec *iov, int count);
/* SEEK_END: the first byte of the view at or behind the end of the file. */
off_t clf_lseek(int fd, off_t offset, int whence);
int clf_fstat(int fd, struct stat *st);
/* The file's bytes, from its byte 0. Those below the layout's displacement do not exist: a file of at most as many
 * bytes is empty. */
int clf_ftruncate(int fd, off_t size);
int clf_fsync(int fd);

/* ---- Types and views ---- */

/* A selection of bytes, in ascending order. Its extent is its last byte + 1. */
typedef int clf_type;
#define CLF_BYTE ((clf_type)0)

/* FALLS (l,r,s,n), counted in `old`: n blocks of r-l+1 of them, the first behind l, each s behind the one before.
 * EINVAL: no type `old`, l > r, blocks that overlap, bytes in another order. ENOSPC: 256 types are there. */
clf_type clf_vector(int64_t l, int64_t r, int64_t s, int64_t n, clf_type old);
/* length[i] of type[i] at byte displ[i], for each i. Empty: of no bytes. */
clf_type clf_struct(int count, const int64_t *length, const int64_t *displ, const clf_type *type);
/* The extent of a type. */
int64_t clf_type_extent(clf_type type);
int clf_type_free(clf_type type);

/* Sets the descriptor's view: the type's bytes from file byte displ on, again after each period (0: its extent). The
 * offset becomes 0. EINVAL: an empty type, a period less than the extent, bytes below the layout's displacement, a
 * descriptor with O_APPEND. On any error the view is what it was. */
int clf_setview(int fd, clf_type view, int64_t displ, int64_t period);
/* The same with an element of a pattern; NULL: the whole file, as at first. The pattern stays the caller's. */
int clf_setpattern(int fd, const struct pattern *p, int element);

/* For CLF_F_SETVIEW. */
struct clf_view {
    clf_type type;
    int64_t displ, period;
};
#define CLF_F_SETVIEW 0x636c01 /* struct clf_view *: clf_setview */
/* struct group * (<group.h>): all its members call it, each on a descriptor of the same file. From then on views are
 * set by all members together. The group must live as long as the descriptor. EINVAL: it has a group. */
#define CLF_F_COLLECTIVE 0x636c02
/* The next clf_read or clf_write is collective: all members make it, each with as many bytes as it likes, or none. The
 * servers carry out what all members want of them at once, in the order of their volumes. EINVAL: no group. */
#define CLF_F_NEXT_COLLECTIVE 0x636c03
/* struct clf_method *: how accesses are made from here on. What they read and write is the same. Of a file with
 * a group, all members call it, with the same numbers. EINVAL, for all of them: no such way, different ways, no group,
 * more holders than members, no such nodes; a manager that has the file in other blocks. */
#define CLF_F_METHOD 0x636c04
int clf_fcntl(int fd, int request, ...);

enum clf_way {
    CLF_WAY_VIEW,      /* servers know the views, and carry out collective calls together; at first */
    CLF_WAY_TWO_PHASE, /* collective calls: members exchange their bytes with those that hold parts of the file */
    CLF_WAY_LIST,      /* requests name the places of bytes, 11 of the file in a call of it */
    CLF_WAY_SIEVE, /* reads by oneself take all from the first byte to the last, in pieces; writes are as at first */
    CLF_WAY_CACHE  /* cache managers have the file's blocks; collective calls have two phases, of which the managers
                    * make one: what they have read stays with them */
};

struct clf_method {
    int way;        /* enum clf_way */
    int holders;    /* CLF_WAY_TWO_PHASE: how many members hold parts, evenly among the ranks; 0: all */
    int64_t block;  /* CLF_WAY_TWO_PHASE, CLF_WAY_CACHE: bytes of the file that holders, or managers, have in turn; 0:
                     * 65536, 16384 */
    int64_t buffer; /* bytes that a holder, or sieving, has in memory at a time; 0: 256 KB, 4 MB */
    int managers;   /* CLF_WAY_CACHE: how many cache managers have blocks, */
    const int *manager; /* [managers]: and on which nodes; NULL: the job's last ones */
};

/* What the calls of this process have done, for studies. */
struct clf_counts {
    uint64_t requests;      /* reads and writes that were sent to servers, */
    uint64_t bytes;         /* and data that went with them */
    uint64_t gathered;      /* bytes copied from the program's memory to a message, or back, */
    uint64_t calls;         /* of list I/O, of CLF_LIST_CALL places each; of the others: rounds of an access, */
    uint64_t list_bytes;    /* and bytes of lists that were sent */
    uint64_t views;         /* views that were sent to servers, */
    uint64_t view_bytes;    /* and their bytes */
    uint64_t access_cycles; /* in which blocks that this node holds in two phases were read and written */
};
void clf_count(struct clf_counts *counts);

/* What a cache manager has done since it began, for all its files, in blocks of 4 KB. */
struct clf_manager_counts {
    uint64_t hits, misses;  /* blocks, or parts of them, that were there, and that were not */
    uint64_t forwarded;     /* blocks that went to another manager */
    uint64_t read, written; /* bytes that came from servers, and went there */
};
/* Asks manager `manager` of a descriptor in CLF_WAY_CACHE. EINVAL: there is none. */
int clf_manager_count(int fd, int manager, struct clf_manager_counts *counts);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Stream*: data-parallel files with automatic mode detection (Moore, Hatcher, Quinn; docs/papers.md, paper 004). This
 * header stands for the language C*, of which there is no compiler here.
 *
 * A shape is an array of virtual processors (VPs), which the nodes emulate; a parallel variable has an element for each
 * VP. A parallel file has one stream per VP, in which its calls mean what those of <stdio.h> mean in a file of its own.
 * The library finds out by itself in which mode it can work; the mode changes the speed, never the meaning:
 *
 *   CS_NB   no buffers: every call moves the same number of bytes of each VP, which lie together
 *   CS_CB   collective buffers: every call moves an equal number of bytes of each VP
 *   CS_IB   independent buffers: anything else
 *
 * All nodes run the same program and make the same calls of this header in the same order, unless a call is said to be
 * local. A call returns -1, EOF or NULL on failure, with errno; cs_perror says what, once. Where nodes make different
 * calls, or one of them is in exit(), all get EPROTO. An error that only one node has met (full volume, dead drive) is
 * a short count there, and the result of every node's next call for that file, until cs_clearerr. So a program acts on
 * -1, which all nodes get, or lets cs_fclose report it. The library prints nothing else. exit() closes what is open.
 * docs/cstar.md says how it works, and has the file formats.
 */
#ifndef NCUBE_CSTAR_H
#define NCUBE_CSTAR_H

#include <stdbool.h>
#include <stdio.h>

#if defined __riscv
#include <pio.h>
#else
#include "libpio/file/pio.h"
#endif

/* Begins: nodes first .. first + nodes - 1 emulate VPs; 0, 0: all nodes of the program. All nodes of the program call
 * it, once, before all else. If they are not all, it makes `nself` their domain. From here on the standard input and
 * output are global (nglobal of <nself.h>): printf prints once, but for CS_EACH.
 * Returns 0; 1 on a node that is not one of them, which may call nothing else of this header. Errors: EINVAL: no such
 * nodes, or called before; EAGAIN, ENOMEM, and those of messages. */
int cs_init(int first, int nodes);

/* ---- Shapes ---- */

struct cs_shape;
#define CS_RANK_MAX 31

/* shape [e0][e1]...: N = e0 * e1 * ... VPs, below 2^32. VP i is the row-major rank of its coordinates. ceil(N / P)
 * consecutive VPs lie on each node; the last nodes may have fewer, or none. Local. The caller frees it with
 * cs_shape_free. NULL: EINVAL: rank, an extent below 1, too many VPs, or no cs_init; ENOMEM. */
struct cs_shape *cs_shape(int rank, const long *extent);

/* The same, with cells of ceil(e / g) VPs in each dimension over a grid of nodes, whose numbers are in row-major order.
 * EINVAL, too: a grid with another number of nodes. */
struct cs_shape *cs_shape_grid(int rank, const long *extent, const int *grid);
void cs_shape_free(struct cs_shape *s); /* no file has it, and no `with` */

long cs_positionsof(const struct cs_shape *s);     /* N */
int cs_rankof(const struct cs_shape *s);           /* dimensions */
long cs_dimof(const struct cs_shape *s, int axis); /* the extent of one; -1: there is none */

/* VPs of this node; their local numbers are 0 .. n - 1. */
long cs_local(const struct cs_shape *s);
long cs_number(const struct cs_shape *s, long local);           /* of a local number: 0 .. N - 1 */
long cs_pcoord(const struct cs_shape *s, long local, int axis); /* its coordinate */

/* ---- Parallel code ----
 *
 * CS_WITH(s) {}          s is the current shape, all VPs are active
 * CS_WHERE(mask) {}      of the active VPs, those whose mask is set: bool[cs_local(s)], which stays as it is meanwhile
 * CS_WHERE_NOT(mask) {}  those whose mask is not set
 * CS_EVERYWHERE {}       all VPs
 * CS_EACH(i) {}          once for each active VP of this node, with its local number. The standard streams are local
 *
 * They nest; break, return and goto leave them as they leave a loop. In CS_EACH no call of this header is allowed but
 * the local ones. */
#define CS_WITH(s)         CS_SCOPE_(CS_SCOPE_WITH, s, NULL)
#define CS_WHERE(mask)     CS_SCOPE_(CS_SCOPE_WHERE, NULL, mask)
#define CS_WHERE_NOT(mask) CS_SCOPE_(CS_SCOPE_WHERE_NOT, NULL, mask)
#define CS_EVERYWHERE      CS_SCOPE_(CS_SCOPE_EVERYWHERE, NULL, NULL)
#define CS_EACH(i) \
    CS_SCOPE_(CS_SCOPE_EACH, NULL, NULL) for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i))

extern bool CS__everywhere; /* a CS_WITH is in effect, and no CS_WHERE (5.2) */
bool cs_active(long local); /* local: the VP is active */

enum cs_scope_kind_ { CS_SCOPE_WITH, CS_SCOPE_WHERE, CS_SCOPE_WHERE_NOT, CS_SCOPE_EVERYWHERE, CS_SCOPE_EACH };
struct cs_scope_ {
    enum cs_scope_kind_ kind;
    const struct cs_shape *shape;
    const bool *mask;
    struct cs_scope_ *outer;
};
struct cs_scope_ *cs_enter_(struct cs_scope_ *scope);
void cs_leave_(struct cs_scope_ *scope);
long cs_next_active_(long local);
#define CS_SCOPE_(kind, shape, mask)                                                                 \
    for (struct cs_scope_ cs_scope_ __attribute__((cleanup(cs_leave_))) = {kind, shape, mask, NULL}, \
                                    *cs_once_ = cs_enter_(&cs_scope_);                               \
         cs_once_; cs_once_ = NULL)

/* A parallel variable: local VP i's element begins at at + i * stride. */
struct cs_par {
    char *at;
    long stride;
    const struct cs_shape *shape;
};
/* An array with an element for each local VP; a field of each, or one element of an array that is a field. */
#define CS_PAR(s, array)            ((struct cs_par){(char *)(array), (long)sizeof *(array), s})
#define CS_MEMBER(s, array, member) ((struct cs_par){(char *)&(array)->member, (long)sizeof *(array), s})

/* ---- Files ----
 *
 * A name is a PIO file's (<pio.h>), or "unix:PATH", one ordinary file, "//volume/path" or the front end's. Names that
 * end in ".meta", ".meta.new", ".first" and ".dir" are the library's own: EINVAL. */

typedef struct cs_file CS_FILE;
enum cs_mode { CS_NB, CS_CB, CS_IB };
enum cs_way { CS_WAY_CHOSEN, CS_DIRECTLY, CS_VIEWED, CS_TWO_PHASES }; /* that rows go */

struct cs_options {     /* 0 or NULL: the default */
    int cb_block;       /* b_CB, bytes per VP of a collective buffer, 1 - 65536: 8 */
    enum cs_mode least; /* begins no faster than this, to measure CS_CB and CS_IB: CS_NB */
    /* Of CS_IB: bytes of a block: 64; blocks of an entry of the directory, 2, 6 or 14: 6; bytes of a superblock, at
     * most 1 MB, divided by those of a block and by the 4 * (dir_pointers + 2) of an entry: a block of the layout, or a
     * little more; pieces of that size that are kept when reading: 2. A file with an IB segment keeps its own. */
    int ib_block, dir_pointers, superblock, read_buffers;
    enum cs_way way; /* rows go this way, to measure it: CS_WAY_CHOSEN, as they are */
    bool trust; /* no detection, no reduction: the caller warrants that all is as for CS_NB, and that no node fails */
    /* Without a map; its names stay as they are until cs_fclose. NULL: of a new file 32768 bytes to a block, and the
     * defaults of <pio.h>; of one that exists its own. */
    const struct pio_layout *layout;
};

/* Opens a parallel file of the current shape: types r, w, a, r+, w+, a+ with their meaning in C, also with b. It
 * ignores CS_WHERE. A file without a .meta is an external one: an array of that shape, whose items have the size of
 * the first read; of a last row that is cut each VP reads what is there. One with a .meta that tells another order of
 * the VPs ("ncube star meta") is read and updated as any other, and keeps the order. While a file is open for writing
 * no other program can open it, and if that program does not come to cs_fclose, nobody can: EBUSY.
 *   ENOENT   r, r+ without the file         EBUSY    it is open for writing, or its last writer did not close it
 *   EPROTO   its .meta is damaged, or does not fit its size
 *   EINVAL   no CS_WITH, in CS_EACH, another shape than the file's, name, type or options; r+ or a without .meta
 *   EMFILE   192 parallel files, 32 of libpio, or no descriptors left
 *   ENOMEM, and those of pio_open or open */
CS_FILE *cs_fopen(const char *name, const char *type);
/* For reading (r, r+): any shape; *s becomes the file's, made as by cs_shape; the caller frees it after cs_fclose.
 * ENOENT, too: no .meta. For writing (w, a, with or without +): the shape is *s, which need not be current. */
CS_FILE *cs_fopen_shape(const char *name, const char *type, struct cs_shape **s);
/* s NULL: as cs_fopen. */
CS_FILE *cs_fopen_with(const char *name, const char *type, struct cs_shape **s, const struct cs_options *o);

/* Closes it, whatever the result. -1: the error that the file has met, or one in closing it. Then what some VP could
 * not write, and what follows it in any VP's stream, is not in the file. */
int cs_fclose(CS_FILE *f);
int cs_fflush(CS_FILE *f); /* writes what is in buffers */
int cs_remove(const char *name);

/* Write or read nitems items of `size` bytes of each active VP. Return the least number of whole items of this node's
 * active VPs, nitems on a node without such; -1: nothing has moved.
 *   EBADF    closed, or not open for that         EPROTO   the nodes make different calls
 *   EINVAL   a number below 0, more than 2^31 - 1 bytes for a VP, another shape than the current one; in CS_EACH
 *            the first read of an external file, and its VPs want different numbers of bytes
 *   EFBIG    beyond the highest offset            ENOMEM, ENOSPC, EIO ...: met now or before by a node */
long cs_fwrite(struct cs_par v, int size, int nitems, CS_FILE *f);
long cs_fread(struct cs_par v, int size, int nitems, CS_FILE *f);

/* The same with numbers for each local VP, which are compared VP by VP (5.2.1). items[local] becomes the number of
 * whole items of each active VP; items may be NULL. Return 0, or -1. */
int cs_fwrite_par(struct cs_par v, const int *size, const int *nitems, CS_FILE *f, int *items);
int cs_fread_par(struct cs_par v, const int *size, const int *nitems, CS_FILE *f, int *items);

/* One byte of each active VP, of an int. cs_fputc returns 0, or EOF; cs_fgetc makes the int EOF where the stream ends,
 * and returns EOF only where cs_fread returns -1. */
int cs_fputc(struct cs_par c, CS_FILE *f);
int cs_fgetc(struct cs_par c, CS_FILE *f);

/* A string of each active VP, in an array of characters: CS_PAR(s, array) of char array[][N]. cs_fputs writes it
 * without its NUL, and returns 0, or EOF. cs_fgets reads a line of each, up to and with a newline, but at most n - 1
 * bytes, and puts a NUL behind it; a VP at its end gets "". It goes to CS_IB, as each line has its own length.
 * Returns 0, or -1. EINVAL, too: n < 1, a stride below n, no NUL within the stride, an external file that has not been
 * read. */
int cs_fputs(struct cs_par s, CS_FILE *f);
int cs_fgets(struct cs_par s, int n, CS_FILE *f);

/* Move the place of each active VP, as fseek; cs_fseek_par by offset[local]. SEEK_END is each VP's own end. Return 0.
 * EINVAL: whence, or a place before the beginning. What is written beyond an end leaves zeros. */
int cs_fseek(CS_FILE *f, long offset, int whence);
int cs_fseek_par(CS_FILE *f, const long *offset, int whence);
int cs_rewind(CS_FILE *f); /* cs_fseek to 0, and cs_clearerr */

/* Local: at[local], is[local] of each VP, active or not. */
void cs_ftell(CS_FILE *f, long *at);
void cs_feof(CS_FILE *f, bool *is);
void cs_ferror(CS_FILE *f, bool *is);
void cs_clearerr(CS_FILE *f); /* of all VPs */

/* In CS_EACH: the stream of the VP whose turn it is, for all calls of <stdio.h>, but for seeks. Local. A node that
 * takes one goes to CS_IB, alone; the others follow with their next call for that file. It is one FILE for each file
 * and node: what a VP has pushed back by ungetc is lost when another one's turn comes. It ends with the file; fclose of
 * it does not close the file.
 * NULL: EBADF; EINVAL: not in CS_EACH, or an external file that has not been read yet; ENOMEM, EIO ... */
FILE *cs_vp(CS_FILE *f);

/* Prints "TEXT: FILE: what errno means" to the standard error, with the part of the file that the last failed call was
 * about: one line, by the first node; in CS_EACH by this one. Local. pio_failed_path of <pio.h> may say more, at the
 * node that has met the error. */
void cs_perror(const char *text);

/* A scalar file: fopen for all nodes at once, as node 0 has it (nglobal of <nself.h>); fclose ends it. In CS_EACH the
 * calls on it fail with EINVAL, at once and without a message; then it is as it was before. The same is true of each
 * FILE that fopen has opened in global mode, if there is more than one node. NULL: EINVAL: in CS_EACH, or no cs_init;
 * errors of fopen. */
FILE *cs_sfopen(const char *name, const char *type);

int cs_fileno(CS_FILE *f);         /* local: 64 - 255; -1: EBADF */
enum cs_mode cs_fmode(CS_FILE *f); /* local: this node's mode */

struct cs_counts {
    long calls[3];              /* transfers in each mode */
    long reductions;            /* of all nodes */
    long rows[2];               /* rows read, written: of blocks of all VPs */
    long requests[2];           /* of this node to the file: reads, writes */
    long superblocks[2];        /* of data and directory read, of data written, by this node */
    long directory_superblocks; /* written by it; and those that it has read back to link the entries in them */
    long linked_superblocks;
    long exchanged_rows; /* those that went in two phases, between the nodes first; and through views of the file */
    long viewed_rows;
};
const struct cs_counts *cs_fcounts(CS_FILE *f); /* local; of this node, since it was opened; valid until cs_fclose */

#endif

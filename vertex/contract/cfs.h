/*
 * Requests to the servers of the Concurrent File System [P2 section 3.0]: a family of nsdisk (nsdisk/serve/family.h),
 * 0x8060 to 0x807f, replies 0x80e0 to 0x80ff. docs/cfs.md tells how the parts work together.
 *
 *   request     tag type N_Cxxx            struct cfs_request, then a name or data
 *   reply       tag type N_REPLY(N_Cxxx)   struct file_reply, then the result's payload
 *
 * The client drives what needs several disks; no server waits for another. A file's parts have its handle's number:
 *
 *   disk 0        the name: a text file in the disk's tree
 *   home disk     /.cfs/N.h: size, blocks, and a pointer for each block, 1024 to a page
 *   every disk    /.cfs/N: its blocks there, in order; /.cfs/N.w: a bit for each that was ever written
 *
 *   request     fields                                             reply payload       status >= 0
 *   N_CNAME     op(enum cfs_name_op) bytes (of the name)           struct cfs_named,   0
 *               offset (of a second text, behind it) arg           names of its disks
 *   N_CHEADER   handle; op 1: made, of no bytes, if there is none  struct cfs_header   0
 *   N_CREAD     handle block offset bytes                          data                bytes
 *   N_CWRITE    handle block offset bytes data                                         bytes
 *   N_CSIZE     handle; op 1: the size is to be at least arg       struct cfs_header   0
 *               op 2: only the disks whose bits arg has may get
 *               blocks; -N_EBUSY: it has some already
 *   N_CPOINTER  handle block (page); op 0: all of it               1024 pointers       4096
 *               op 1: offset (first) bytes data: sets some; the                        bytes
 *               growth's holder only
 *   N_CSYNC     handle: all that this disk has of any file, and                        0
 *               its header, is on the medium
 *   N_CGROW     handle; op 0: waits until nobody else grows the    struct cfs_header   0
 *               file, and holds its growth; op 1: it has arg
 *               blocks now, pointers behind them are none, and
 *               its growth is free; op 2: the same, but the
 *               holder goes on, and has compared all pointers
 *               with the parts
 *   N_CALLOC    handle arg: so many more blocks at the end of the  {first, count},     blocks, at least 1: fewer than
 *               file's part on this disk                           of 32 bits each     arg where the disk is full
 *               op 1: nothing changes; the part's blocks from      the same            blocks, 0 behind the last
 *               place arg on, as many as the reply has room for
 *   N_CFREE     handle arg: its part keeps so many blocks; op 1:                       0
 *               nothing of the file is left on this disk
 *               op 2: the last arg blocks go
 *   N_CSTAT     (none)                                             struct cfs_counts   0
 *   N_CPLACE    handle; op 0: makes a common pointer [NX's             (none)              op 0: its number
 *               setiomode, mode 1], at 0, of this client; op 1:
 *               pointer `block` goes on by arg; op 2: but not         where it was,
 *               beyond the size; op 3: it is no more                  64 bits
 *   N_CDROP     (none): writes everything back, and empties the                        0
 *               disk's data cache
 *
 * `disk` is the drive's number at its I/O node. Errors: -N_EPROTO: a malformed request, a volume that cannot be a CFS
 * disk (other blocks than 4096 bytes, no data cache), a name that is no file of the CFS, a part that is another file's;
 * -N_EBADF: a handle of nothing; -N_ESTALE: of a file that is not there, or no longer; -N_EINVAL: a block that is not
 * the file's, an unknown op; -N_EPERM: the growth is another client's; -N_EACCES: a name under /.cfs; -N_ENOSPC;
 * -N_EROFS; -N_EIO: the drive, or damage; -N_ENOMEM; those of names are ext2's.
 */
#pragma once

#include "vertex/contract/drive_cache.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define CFS_OPS(X)        \
    X(N_CNAME, 0x8060)    \
    X(N_CHEADER, 0x8061)  \
    X(N_CREAD, 0x8062)    \
    X(N_CWRITE, 0x8063)   \
    X(N_CSIZE, 0x8064)    \
    X(N_CPOINTER, 0x8065) \
    X(N_CSYNC, 0x8066)    \
    X(N_CGROW, 0x8067)    \
    X(N_CALLOC, 0x8068)   \
    X(N_CFREE, 0x8069)    \
    X(N_CSTAT, 0x806a)    \
    X(N_CDROP, 0x806b)    \
    X(N_CPLACE, 0x806c)

#define CFS_OP_ENUM(name, number) name = number,
enum cfs_op { CFS_OPS(CFS_OP_ENUM) };
enum { CFS_OPERATIONS = 0 CFS_OPS(OP_ONE) };
#undef CFS_OP_ENUM

#define N_IS_CFS(type) ((uint32_t)(type) >= TYPES_CFS && (uint32_t)(type) <= TYPES_CFS_LAST)
_Static_assert(N_IS_CFS(0x8060) && N_IS_CFS(0x807f) && N_IS_FAMILY_REQUEST(0x8060) && N_IS_FILE_REQUEST(0x807f) &&
                   N_IS_FILE_REPLY(N_REPLY(0x8060)) && N_IS_FILE_REPLY(N_REPLY(0x807f)),
               "programs make them, and all who look at messages know them as requests");

#define CFS_DISKS_MAX      32u
#define CFS_BLOCK_BYTES    4096u
#define CFS_GROUP          8u /* blocks of one disk that are allocated, read and written together [P2 3.0] */
#define CFS_PAGE_POINTERS  1024u
#define CFS_PAGES_MAX      1024u /* so a file has at most 4 GB */
#define CFS_ALLOC_MAX      4096u /* blocks of one N_CALLOC, */
#define CFS_ALLOC_RUNS_MAX 512u  /* and pairs of its reply: it may end early, too */
#define CFS_DISKS_BYTES    512u  /* most of the text that names a file's disks */

/* Requests that a node has under way at most, of one transfer [P2 3.0] and [P2 6.1]; and the most of the key. */
#define CFS_ASYNC     2u
#define CFS_ASYNC_MAX 64u

/* A pointer: the disk in five bits, the block on it in 27. 0: none. Block 0 of a disk is never a file's. */
#define CFS_POINTER(disk, block) ((uint32_t)(disk) << 27 | (uint32_t)(block))
#define CFS_POINTER_DISK(p)      ((uint32_t)(p) >> 27)
#define CFS_POINTER_BLOCK(p)     ((uint32_t)(p)&0x07ffffffu)

/* A file, and its age: no other file with its number is as old. */
#define CFS_HANDLE(number, age)   ((uint64_t)(age) << 32 | (uint32_t)(number))
#define CFS_HANDLE_NUMBER(handle) ((uint32_t)(handle))
#define CFS_HANDLE_AGE(handle)    ((uint32_t)((uint64_t)(handle) >> 32))

struct cfs_request {
    uint32_t seq;
    uint16_t disk, op;
    uint64_t handle;
    uint32_t block;
    uint16_t offset, bytes;
    uint64_t arg;
};
_Static_assert(sizeof(struct cfs_request) == 32, "cfs_request layout");
#define CFS_REQUEST_MAX_BYTES (sizeof(struct cfs_request) + CFS_BLOCK_BYTES)

/* Operations of N_CNAME: what arg is, and the second text.
 *
 *   OPEN       N_O_CREAT and N_O_EXCL, mode << 32; the names of the disks with a space between, for a file that is made
 *   UNLINK     the reply is about the file that had the name: the client drops what it has on the disks
 *   RENAME     the new name; the reply is about the file that had it before, if there was one
 *   MKDIR      mode
 *   LIST       where to go on, 0 first; the reply is struct file_dirent, and the status their bytes */
enum cfs_name_op {
    CFS_NAME_OPEN,
    CFS_NAME_STAT,
    CFS_NAME_UNLINK,
    CFS_NAME_RENAME,
    CFS_NAME_MKDIR,
    CFS_NAME_RMDIR,
    CFS_NAME_LIST,
    CFS_NAME_OPS
};

struct cfs_named {
    struct file_stat stat; /* of the name: the size is not the file's */
    uint32_t number, age;  /* 0: a folder, or nothing */
    uint16_t home, disks;  /* home: the place among its disks of that with the header */
    uint32_t made;         /* 1: by this request */
};
_Static_assert(sizeof(struct cfs_named) == 88, "cfs_named layout");

struct cfs_header {
    uint64_t size_bytes;
    uint32_t blocks;     /* that have a pointer */
    uint32_t only_disks; /* bits of the file's disks that may have blocks; 0: all */
    uint32_t in_doubt;   /* 1: pointers may be ahead of the parts: they are to be compared before the file is used */
    uint32_t zero;
};
_Static_assert(sizeof(struct cfs_header) == 24, "cfs_header layout");

struct cfs_run {
    uint32_t first, count; /* disk blocks */
};
_Static_assert(sizeof(struct cfs_run) == 8, "cfs_run layout");

struct cfs_counts {
    uint64_t blocks, blocks_free; /* of the volume */
    struct drive_cache_counts cache;
};
_Static_assert(sizeof(struct cfs_counts) == 16 + sizeof(struct drive_cache_counts), "cfs_counts layout");

/* ---- On the disks ---- */

/* The head of N.w, before its bits, and of N.h, which fills its first page:
 *
 *   0       4      8        12    16           24       28
 *   +-------+------+--------+-----+------------+--------+----------+
 *   | magic | kind | number | age | size (N.h) | blocks | only     |
 *   +-------+------+--------+-----+------------+--------+----------+
 */
#define CFS_HEAD_BYTES 32u
#define CFS_HEAD_MAGIC 0x31736663u /* "cfs1" */
enum cfs_head_kind { CFS_HEAD_WRITTEN = 'w', CFS_HEAD_HEADER = 'h' };

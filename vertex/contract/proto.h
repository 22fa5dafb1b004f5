/*
 * The file protocol: requests from Vertex to an nsdisk or to the front end, and their replies, one message each.
 * Both ends are little-endian; every structure is naturally aligned.
 *
 *   request   tag type N_Fxxx            struct file_request, name, second name, data
 *   reply     tag type N_REPLY(N_Fxxx)   struct file_reply, then the result's payload
 *
 * A server answers each request exactly once, and those of one client process in order of arrival, but N_O_LOCK when
 * the lock is free. A client is
 * identified by the sender's node address and the procid in the tag (vertex/contract/system.h). The client keeps file
 * offsets: every read and write names its own.
 *
 *   request     fields                                           reply payload        status >= 0
 *   N_FOPEN     drive name flags(N_O_*) mode                     struct file_opened   0
 *   N_FCLOSE    sfid                                                                  0
 *   N_FREAD     sfid offset bytes                                data                 bytes read, 0 = end of file
 *   N_FWRITE    sfid offset bytes data; N_O_APPEND in flags  struct file_appended     bytes written
 *               means: at the end of the file, offset ignored; if N_O_APPEND
 *               a short count means that the volume is full
 *   N_FSTAT     sfid                                             struct file_stat     0
 *   N_FTRUNCATE sfid offset (the new size)                                            0
 *               bytes (not 0: only if the file now has `offset` + `bytes`; else -N_EAGAIN, nothing changes)
 *   N_FSYNC     sfid                                                                  0
 *   N_FSTATNAME drive name flags(N_O_NOFOLLOW)                   struct file_stat     0
 *   N_FUNLINK   drive name mode (not 0: then all of the volume                        0
 *               is durable, also where there is no such name)
 *   N_FRENAME   drive name name2                                                      0
 *   N_FLINK     drive name name2 (name2 = the new link)                               0
 *   N_FMKDIR    drive name mode                                                       0
 *   N_FRMDIR    drive name                                                            0
 *   N_FREADDIR  sfid offset (0, or a record's next) bytes        struct file_dirent   bytes of records, 0 = end
 *   N_FACCESS   drive name mode (R_OK 4, W_OK 2, X_OK 1)                              0
 *   N_FEXIT     (none): drop every file of this client                                0
 *   N_FFORK     mode (a procid): every file of this client is                         0
 *               also that process's, of the same node, with its SFID
 *   N_FPOLL     sfid mode (enum file_poll) bytes: would a read                        1: no; 0: yes
 *               of so many bytes wait?
 *   N_FSTATFS   drive                                            struct file_statfs   0
 *   N_FSYMLINK  drive name (the new link) data (its target)                           0
 *   N_FREADLINK drive name bytes                                 the link's target    bytes of it
 *   N_FSYNCALL  (none): write everything back                                         0
 *   N_FSETATTR  sfid data (struct file_attr)                                          0
 *   N_FSETATTRNAME drive name flags(N_O_NOFOLLOW) data (struct file_attr)             0
 *   N_FVIEW     sfid view data (its bytes; none: drop it)                             0
 *   N_FREADNAME drive name bytes                                 data                 bytes read, from the file's start
 *   N_FMAKE     drive name mode data: make the file with this                         0
 *               content. It appears whole, and is durable then
 *   N_FOPENREAD drive name flags mode, as N_FOPEN; name2 bytes:  struct file_opened,  bytes of name2
 *               read name2's start first, as N_FREADNAME         data
 *   N_FADD      sfid data (struct file_counter)                  struct file_counter  0
 *
 * A view shows some of an open file's bytes without gaps: those of one element of a pattern [P3 section 6.3.1]. N_FVIEW
 * makes view 1 to FILE_VIEWS of the file, in place of one with that number; it is dropped with the file. Where N_FREAD
 * or N_FWRITE names it, `offset` is in the view, and `bytes` are the view's, wherever they lie in the file. The data
 * of N_FVIEW are what pattern_pack writes (libpio/map/pattern_wire.c), checked whole before anything changes:
 *
 *     0              8              16             24                                          24 + 40 n
 *   +--------------+--------------+--------------+------------------------------------------+-- ... --+
 *   | displacement | period       | n: nodes     | left 8, length 8, stride 8, count 8,     | the     |
 *   |              |              |              | children 4, zero 4       (in preorder)   | others  |
 *   +--------------+--------------+--------------+------------------------------------------+-- ... --+
 *
 * -N_EINVAL: a number out of its bounds or order, no byte in the view, no such view, N_O_APPEND with a view; -N_E2BIG:
 * more than FILE_VIEW_MAX_BYTES, or too deep; -N_EOVERFLOW; -N_ENOMEM. The front end has no views: -N_ENOTSUP.
 *
 * N_FREADNAME and N_FMAKE need no open file: one request reads a small file, one makes it, or finds it there
 * (-N_EEXIST, nothing changes). N_FOPENREAD opens a file and reads another that describes it, at the same moment; where
 * either fails, nothing is open. The front end has none of the three: -N_ENOTSUP.
 *
 * An open file may have a counter, which lives as long as it is open. N_FADD without an owner makes it, or gives it
 * another value; the reply's owner names it, to anybody who has the same file open: with that owner, N_FADD adds to it.
 * The reply's value is what it was before. -N_EINVAL: the value is negative; -N_EOVERFLOW: the sum is too large;
 * -N_ESTALE: the owner is not open, or has no counter; -N_EBADF: it is of another file; -N_ENOMEM.
 *
 * A malformed request gets -N_EPROTO, an unknown type -N_ENOSYS; neither changes anything.
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/round.h"
#include "vertex/contract/system.h"

#define FILE_OPS(X)           \
    X(N_FOPEN, 0x8021)        \
    X(N_FCLOSE, 0x8022)       \
    X(N_FREAD, 0x8023)        \
    X(N_FWRITE, 0x8024)       \
    X(N_FSTAT, 0x8025)        \
    X(N_FTRUNCATE, 0x8026)    \
    X(N_FSYNC, 0x8027)        \
    X(N_FSTATNAME, 0x8028)    \
    X(N_FUNLINK, 0x8029)      \
    X(N_FRENAME, 0x802a)      \
    X(N_FLINK, 0x802b)        \
    X(N_FMKDIR, 0x802c)       \
    X(N_FRMDIR, 0x802d)       \
    X(N_FREADDIR, 0x802e)     \
    X(N_FACCESS, 0x802f)      \
    X(N_FEXIT, 0x8030)        \
    X(N_FSTATFS, 0x8031)      \
    X(N_FSYMLINK, 0x8032)     \
    X(N_FREADLINK, 0x8033)    \
    X(N_FSETATTR, 0x8034)     \
    X(N_FSETATTRNAME, 0x8035) \
    X(N_FSYNCALL, 0x8036)     \
    X(N_FVIEW, 0x8037)        \
    X(N_FREADNAME, 0x8038)    \
    X(N_FMAKE, 0x8039)        \
    X(N_FFORK, 0x803a)        \
    X(N_FPOLL, 0x803b)        \
    X(N_FOPENREAD, 0x803c)    \
    X(N_FADD, 0x803d)

#define FILE_OP_ENUM(name, number) name = number,
enum file_op { FILE_OPS(FILE_OP_ENUM) };
#undef FILE_OP_ENUM
#define OP_ONE(name, number) +1
enum { FILE_OPERATIONS = 0 FILE_OPS(OP_ONE) };
#define FILE_OP_IN_RANGE(name, number) \
    _Static_assert((number) >= N_FOPEN && (number) < N_FOPEN + FILE_OPERATIONS, "the numbers have no gaps");
FILE_OPS(FILE_OP_IN_RANGE)
#undef FILE_OP_IN_RANGE
_Static_assert((int)N_FOPEN == (int)TYPES_FILES && N_FOPEN + FILE_OPERATIONS - 1 <= TYPES_FILES_LAST, "in their range");
/* N_FOPEN's number is the original's [P0 section 3]. */

enum file_poll {                  /* N_FPOLL; files are always ready, the standard input may not be */
                 FILE_POLL_NOW,   /* answer at once */
                 FILE_POLL_HOLD,  /* answer once it is ready */
                 FILE_POLL_FORGET /* drop the request to answer later; the answer is 0 */
};

#define FILE_IO_MAX_BYTES (1u << 20) /* most data in one read or write message */
/* The most data in one message to or from an nsdisk: FILE_IO_MAX_BYTES, or a sixteenth of a node's memory if that is
 * less. nsdisk reserves this much. All nodes have equal memory, so both ends compute the same. */
static inline uint32_t file_io_bytes(uint64_t ram_bytes)
{
    return ram_bytes / 16 < FILE_IO_MAX_BYTES ? (uint32_t)(ram_bytes / 16) : FILE_IO_MAX_BYTES;
}
#define FILE_NAME_MAX_BYTES 1024u /* a whole path */
#define FILE_VIEWS          16u   /* of an open file, numbered from 1 */
#define FILE_VIEW_MAX_BYTES (24u + 40u * 400u)

/* flags of N_FOPEN */
enum {
    N_O_RDONLY = 0,
    N_O_WRONLY = 1,
    N_O_RDWR = 2,
    N_O_ACCMODE = 3,
    N_O_LOCK = 3, /* of a folder: not to read or write, but to have the lock of its volume that `mode` numbers, until
                   * the close; 0 and any other exclude each other. Those who wait get it in order of arrival.
                   * -N_EAGAIN: the server has no place for one who waits. With N_O_EXCL: the client no longer waits
                   * for it, and has it no longer; -N_EAGAIN */
    N_O_APPEND = 0x8,
    N_O_CREAT = 0x200,
    N_O_TRUNC = 0x400,
    N_O_EXCL = 0x800,
    N_O_SYNC = 0x2000,       /* handled by Vertex, which sends N_FSYNC after each write */
    N_O_NOFOLLOW = 0x100000, /* not in N_FOPEN: act on the link itself */
    N_O_DIRECTORY = 0x200000,
}; /* newlib's values */

struct file_request {
    uint32_t seq; /* chosen by the client; the reply repeats it */
    uint16_t drive;
    uint16_t view; /* of N_FREAD, N_FWRITE, N_FVIEW; 0: the file itself */
    uint32_t flags;
    uint32_t mode;
    uint64_t sfid; /* system file identifier: opaque to the client */
    uint64_t offset;
    uint32_t bytes;
    uint16_t name_bytes; /* the name follows the header, without NUL; on a volume it begins with '/' */
    uint16_t name2_bytes;
};
_Static_assert(sizeof(struct file_request) == 40, "file_request layout");

struct file_reply { /* "a returned status = 8 bytes" [P0 section 3] */
    uint32_t seq;
    int32_t status; /* >= 0, or a negative n_error */
};
_Static_assert(sizeof(struct file_reply) == 8, "file_reply layout");

struct file_stat {
    uint64_t size_bytes;
    uint64_t blocks_512;
    uint64_t ino;
    uint32_t mode; /* type and permissions, as in POSIX: S_IFREG 0100000, S_IFDIR 0040000, S_IFCHR 0020000 */
    uint32_t nlink;
    uint32_t uid, gid;
    uint32_t block_bytes;
    uint32_t dev; /* I/O node address << 8 | drive; the front end: NODE_HOST << 8 */
    int64_t atime_s, mtime_s, ctime_s;
};
_Static_assert(sizeof(struct file_stat) == 72, "file_stat layout");

struct file_opened {
    uint64_t sfid;
    struct file_stat stat;
};
_Static_assert(sizeof(struct file_opened) == 80, "file_opened layout");

struct file_appended {
    uint64_t end; /* file offset just after the written bytes */
};
_Static_assert(sizeof(struct file_appended) == 8, "file_appended layout");

struct file_counter { /* of N_FADD and its reply */
    uint64_t owner;   /* the SFID of the open file whose counter it is; 0: the request's own */
    int64_t value;    /* to add, or, without an owner, to begin with; reply: before */
};
_Static_assert(sizeof(struct file_counter) == 16, "file_counter layout");

struct file_dirent { /* name_bytes bytes of name follow, then zeros to a multiple of 8 */
    uint64_t ino;
    uint64_t next; /* offset at which N_FREADDIR continues after this record */
    uint16_t record_bytes;
    uint16_t name_bytes;
    uint32_t type; /* 0 unknown, 1 regular, 2 directory, 7 symbolic link: ext2's numbers */
};
_Static_assert(sizeof(struct file_dirent) == 24, "file_dirent layout");

/* The length of a record, its name included. */
static inline uint32_t file_dirent_bytes(uint32_t name_bytes)
{
    return (uint32_t)round_up(sizeof(struct file_dirent) + name_bytes, 8);
}

struct file_statfs {
    uint64_t blocks, blocks_free, inodes, inodes_free;
    uint32_t block_bytes;
    uint32_t pad;
};
_Static_assert(sizeof(struct file_statfs) == 40, "file_statfs layout");

#define FILE_MODE_TYPE      0170000u
#define FILE_MODE_REGULAR   0100000u
#define FILE_MODE_DIRECTORY 0040000u

enum { /* file_attr.what: the attributes to set */
       FILE_ATTR_MODE = 1,
       FILE_ATTR_UID = 2,
       FILE_ATTR_GID = 4,
       FILE_ATTR_ATIME = 8,
       FILE_ATTR_MTIME = 16,
       FILE_ATTR_ALL = 31,
};

struct file_attr {
    uint32_t what;
    uint32_t mode; /* permissions */
    uint32_t uid, gid;
    int64_t atime_s, mtime_s;
};
_Static_assert(sizeof(struct file_attr) == 32, "file_attr layout");

/* The front end's standard streams are open from the start under these identifiers. */
#define SFID_STDIN  0ull
#define SFID_STDOUT 1ull
#define SFID_STDERR 2ull
/* Their `mode` says whether a stream is a terminal; a program learns nothing else about the host's stream. */
#define FILE_TERMINAL_MODE 0020620u
#define FILE_STREAM_MODE   0020600u

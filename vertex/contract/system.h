/*
 * System messages between Vertex, the front end and nsdisk: the tag, loading, ends.
 * Little-endian, naturally aligned. The file protocol is in vertex/contract/proto.h.
 *
 * Tag, 32 bits, in the 8-byte header that the NCU carries:
 *
 *    31        24 23     19 18         16 15                     0
 *   +------------+---------+-------------+------------------------+
 *   | to procid  | context | from procid |  type                  |
 *   +------------+---------+-------------+------------------------+
 *
 * procid numbers the processes of a node, 0 .. procs-1. Each context has types of its own: a message sent in one
 * context is never received in another. In context 0, types 0-32767 belong to programs, the rest to the system.
 *
 *   0  CONTEXT_PROGRAM   nwrite and nread, types to 0x7fff; the system's messages, types from 0x8000
 *   1  CONTEXT_HIGH      nwrite and nread, types from 0x8000, kept apart from the system's
 *   2  CONTEXT_SYNC      nsync; the type is its caller's
 *   3  CONTEXT_GROUP     the library's other global operations (libpio/group/group.h)
 *   4  CONTEXT_PIPE      pipes between the programs of a job; nodes are numbered in the job's subcube
 *   5  .. CONTEXT_MOST   free, for libraries
 *
 * A program's wildcard matches contexts 0 and 1 except the system's types. Only the traps cwrite and cread reach
 * contexts from 2 on.
 *
 * Loading. A program is loaded on a part of a subcube, often all of it: the logical nodes part_first ..
 * part_first + part_nodes - 1. The front end sends each message of a load to the first node of the part. If the part
 * is itself a subcube and the machine can broadcast, that node broadcasts the message before it acts on it. Otherwise
 * each node forwards it along a binomial spanning tree before it acts: node r of the part to nodes r + 2^k of the part,
 * for each k with 2^k > r. Messages of one load arrive in order. Every part of a job gets its N_LOAD_BEGIN before any
 * part gets its first N_LOAD_DATA, and all N_LOAD_DATA come before any N_LOAD_START.
 *
 *   N_LOAD_BEGIN  struct load_begin, arguments (each with its NUL), struct load_volume[], text of striped volumes,
 *                 pipes_bytes of struct load_pipes and what follows it, from the next multiple of 8
 *   N_LOAD_DATA   struct load_data, bytes
 *   N_LOAD_START  struct load_job
 *   N_EXIT        node -> front end: struct job_exit, if it was a fault struct exit_fault and its exit_return[], text
 *                                                              exactly once per node and life, when its last
 *                                                              process has ended; from an I/O node, when nsdisk has
 *                                                              ended other than by N_SHUTDOWN
 *   N_STARTED     node -> front end: struct job_exit (status is the life): a program of a life above 0 will run
 *   N_KILL        front end -> each node: struct load_job      the node answers with N_EXIT
 *   N_SIGNAL      node -> node of its job: struct signal_message; or front end -> node, with `from` = NODE_HOST
 *   N_LOST        node -> node: struct lost_notice             messages that will not arrive (vertex/message/lost.h);
 *                                                              or front end -> node, about a file reply
 *
 * A program may load another one on nodes whose program has ended, or in its own place (process/exec.c). The front end
 * grants the nodes and gives each such load a number, its `life`, unique in the job; the programs with which a job
 * begins are life 0. The caller's node then sends the messages of the load as the front end would. The requests for
 * this use struct file_request and struct file_reply (vertex/contract/proto.h):
 *
 *   N_RCLAIM      sfid first node, offset number of nodes, bytes 1: the program numbers them from 0, name of the
 *                 program                  status: the life. N_EBUSY, N_EINVAL
 *   N_RBEGUN      sfid life                status, once all its nodes have answered: 0, or the error of one of them
 *   N_RWAIT       sfid node                status, once the node's program has ended: its exit status
 *
 * Nodes in these requests are numbered in the job's subcube. Pipes between programs have numbers of the machine:
 *
 *   N_PIPE        (empty)                  status: a number that no pipe has had for long
 *   N_PIPE        sfid address of the program's first node, offset number of its nodes, flags 1: writes, name
 *                                          status: such a number, data: struct load_peer, the address of the first
 *                                          node of the program at the other end. Answered when there is one
 *
 * I/O nodes.
 *   N_MOUNTED     nsdisk -> front end: struct file_reply (seq = drive), text on failure. Once per drive. status: an
 *                 error; or where nsdisk's memory has the drive's struct drive_cache_counts, 0 without a data cache
 *   N_SHUTDOWN    front end -> nsdisk: (empty); write everything back, mark clean;
 *                 N_REPLY(N_SHUTDOWN) with struct file_reply, after which nsdisk serves no request; after status 0
 *                 a struct drive_cache_counts for each drive with a data cache, after an error text
 *   N_PROBE       node -> Vertex of an I/O node: struct server_count   does the server work? (vertex/file/watch.h)
 *   N_PROGRESS    Vertex of an I/O node -> node: struct server_count   the answer
 *   N_CONSOLE     nsdisk or Vertex -> front end: text for the front end's standard error
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/round.h"

#define N_TYPE_USER_MAX 0x7fffu /* in context 0 */
#define N_DEST_ALL      0xffff

#define TAG(type, from, to) ((uint32_t)(type) | (uint32_t)(from) << 16 | (uint32_t)(to) << 24)
#define TAG_TO(tag)         (((tag) >> 24) & 0xffu)
#define TAG_CONTEXT(tag)    (((tag) >> 19) & 0x1fu)
#define TAG_FROM(tag)       (((tag) >> 16) & 0x7u)
#define TAG_NUMBER(tag)     ((tag)&0xffffu) /* the type, without its context */

/* Type and context in one number, as TAG_TYPE returns it. In context 0 it is the type itself. */
#define IN_CONTEXT(context, type) ((uint32_t)(context) << 19 | (uint32_t)(type))
#define TAG_TYPE(tag)             ((tag)&IN_CONTEXT(0x1f, 0xffff))
#define TAG_ALL_TO                (0xffu << 24) /* masks */
#define TAG_ALL_FROM              (0x7u << 16)
#define TAG_ALL_CONTEXTS          IN_CONTEXT(0x1f, 0)
#define TAG_NOT_PROGRAM           IN_CONTEXT(0x1e, 0) /* none of these bits in a program's own contexts */

enum context {
    CONTEXT_PROGRAM,
    CONTEXT_HIGH,
    CONTEXT_SYNC,
    CONTEXT_GROUP,
    CONTEXT_PIPE,
    CONTEXT_LIBRARIES,
    CONTEXT_MOST = 31
};

/* The types of CONTEXT_GROUP: the calls of <npara_prt.h> and the making of a group, 0 and up. */
#define GROUP_CALLS(X)        X(isumn) X(imaxn) X(iminn) X(dsumn) X(dmaxn) X(dminn) X(nbrdcst) X(group_make)
#define GROUP_CALL_TYPE(name) TYPE_##name,
enum group_call { GROUP_CALLS(GROUP_CALL_TYPE) GROUP_CALL_COUNT };
#undef GROUP_CALL_TYPE

/* Calls in global mode (docs/global.md) have the types behind those. */
#define GLOBAL_CALLS(X) \
    X(open)             \
    X(close)            \
    X(read)             \
    X(write)            \
    X(pread)            \
    X(pwrite)           \
    X(lseek)            \
    X(fstat)            \
    X(fstatfs)          \
    X(ftruncate)        \
    X(fsync)            \
    X(fsetattr)         \
    X(readstart)        \
    X(readend)          \
    X(writestart)       \
    X(writeend)         \
    X(iochannel)        \
    X(stat)             \
    X(lstat)            \
    X(access)           \
    X(unlink)           \
    X(rename)           \
    X(link)             \
    X(mkdir)            \
    X(rmdir)            \
    X(symlink)          \
    X(readlink)         \
    X(setattr)          \
    X(nredist)
#define GLOBAL_CALL_TYPE(name) GLOBAL_##name,
enum global_call_type { GLOBAL_FIRST = GROUP_CALL_COUNT - 1, GLOBAL_CALLS(GLOBAL_CALL_TYPE) GLOBAL_CALL_END };
#undef GLOBAL_CALL_TYPE

/* Then, from round numbers on, requests to Clusterfile's cache managers and their replies (clusterfile.h). */
#define CLF_TYPE_REQUEST 0x1000
#define CLF_TYPE_REPLY   0x1001
_Static_assert(GLOBAL_CALL_END <= CLF_TYPE_REQUEST, "types of CONTEXT_GROUP");

/* Types in the contexts of groups (<group.h>): below TYPE_COLLECTIVE they are the program's; from it on they are those
 * of the group's operations, which a wildcard does not match. */
#define TYPE_COLLECTIVE 0x8000u
#define GROUP_OPERATIONS(X) \
    X(group_free)           \
    X(group_barrier)        \
    X(group_broadcast)      \
    X(group_reduce)         \
    X(group_all_reduce)     \
    X(group_gather)         \
    X(group_scatter)        \
    X(group_exchange)       \
    X(group_scan)           \
    X(group_scan_before)    \
    X(group_all_gather)
/* In the context of a domain (ndomain), these are followed by the calls of CONTEXT_GROUP, and nsync. */
#define TYPE_OF_DOMAIN(type) ((int)(TYPE_COLLECTIVE + 0x100u + (unsigned)(type)))
#define TYPE_OF_SYNC(type)   ((int)((unsigned)(type)&0x3fffu) + 0x4000 - 0x100) /* for TYPE_OF_DOMAIN */
#define GROUP_NUMBER(name)   NUMBER_##name,
enum group_number { GROUP_OPERATIONS(GROUP_NUMBER) GROUP_OPERATION_COUNT };
#undef GROUP_NUMBER
#define GROUP_TYPE(name) ((int)(TYPE_COLLECTIVE + NUMBER_##name))

/* Types in CONTEXT_PIPE: kinds of messages of each pipe of a job (libpio/pipes/pipe.h). */
enum pipe_kind {
    PIPE_MAP,     /* how the nodes at the sender's end share the bytes */
    PIPE_DATA,    /* to a reader; where it is behind, Vertex makes one message of several short ones, each from a */
                  /* multiple of PIPE_ALIGN on */
    PIPE_ROOM,    /* to a writer: a reader takes more, or no more */
    PIPE_MESSAGE, /* of putmsg */
    PIPE_PEER,    /* which nodes the other end has: struct load_peer */
    PIPE_KINDS
};
#define PIPE_ALIGN            8u
#define PIPE_ALIGN_UP(n)      (((n) + PIPE_ALIGN - 1) / PIPE_ALIGN * PIPE_ALIGN)
#define PIPE_ABROAD           0x4000u
#define PIPES_MAX             64u    /* of a pipeline, numbered from 0; N_PIPE gives the numbers above */
#define PIPE_NUMBERS          13000u /* so that a type has room for them */
#define PIPE_TYPE(pipe, kind) ((int)((pipe)*PIPE_KINDS + (kind)))

/* The type of a program's own message, 0 .. 0xffff, with its context. */
#define TYPE_OF_PROGRAM(type) ((uint32_t)(type) > N_TYPE_USER_MAX ? IN_CONTEXT(CONTEXT_HIGH, type) : (uint32_t)(type))
/* The message was sent by Vertex, a server or the front end. */
#define TAG_IS_SYSTEM(tag) (((tag)&IN_CONTEXT(0x1f, 0x8000)) == 0x8000u)
/* The message was sent by a program's nwrite: bit 15 and CONTEXT_HIGH are both set, or both clear. */
#define TAG_IS_PROGRAM(tag) (((tag)&TAG_NOT_PROGRAM) == 0 && ((((tag) >> 15) ^ ((tag) >> 19)) & 1) == 0)

/* Types of the system's messages, ascending: whose they are, the first and the last. From TYPES_FILES on they are
 * requests, which begin with a sequence number; a reply has its request's type with bit 0x80 (N_REPLY). */
#define TYPE_RANGES(X)                                                                \
    X(SYSTEM, 0x8001, 0x801f)      /* of Vertex, servers and the front end */         \
    X(FILES, 0x8021, 0x804b)       /* to file servers and the front end (FILE_OPS) */ \
    X(PROGRAMS, 0x804c, 0x804f)    /* to the front end: loads and pipes */            \
    X(CLUSTERFILE, 0x8050, 0x805f) /* to servers of paper 003's files */              \
    X(CFS, 0x8060, 0x807f)         /* to servers of paper 002's files */
#define TYPES_ENUM(name, first, last) TYPES_##name = first, TYPES_##name##_LAST = last,
enum { TYPE_RANGES(TYPES_ENUM) };
#undef TYPES_ENUM

/* Nobody calls this: a switch with a case that is there twice does not compile, so no two ranges overlap. */
static inline void type_ranges_are_disjoint(uint32_t type)
{
#define TYPES_CASE(name, first, last) case first ... last:
    switch (type) {
        TYPE_RANGES(TYPES_CASE)
    default:
        break;
    }
#undef TYPES_CASE
}

#define N_REPLY(type) ((type) | 0x80u)
#define N_IS_FILE_REQUEST(type) \
    ((uint32_t)(type) >= TYPES_FILES && (uint32_t)(type) <= TYPES_CFS_LAST) /* unused numbers, too */
#define N_IS_FILE_REPLY(type) ((uint32_t)(type) >= N_REPLY(TYPES_FILES) && (uint32_t)(type) <= N_REPLY(TYPES_CFS_LAST))
/* Requests that programs make themselves, by requeststart: of the families of Clusterfile and the CFS. */
#define N_IS_FAMILY_REQUEST(type) ((uint32_t)(type) >= TYPES_CLUSTERFILE && (uint32_t)(type) <= TYPES_CFS_LAST)

struct request_head { /* what every request begins with, as every reply with struct file_reply (proto.h) */
    uint32_t seq;     /* chosen by the client's Vertex; the reply repeats it */
};
_Static_assert(sizeof(struct request_head) == 4, "request_head layout");
#define REQUEST_HEAD_MAX_BYTES 4096u /* of a head of requeststart */

enum system_type {
    N_LOAD_BEGIN = 0x8001,
    N_LOAD_DATA = 0x8002,
    N_LOAD_START = 0x8003,
    N_EXIT = 0x8004,
    N_KILL = 0x8005,
    N_MOUNTED = 0x8006,
    N_SHUTDOWN = 0x8007,
    N_CONSOLE = 0x8008,
    N_SIGNAL = 0x8009,
    N_LOST = 0x800a,
    N_STARTED = 0x800b,
    N_PROBE = 0x800c,
    N_PROGRESS = 0x800d,
    N_RCLAIM = 0x804c,
    N_RBEGUN = 0x804d,
    N_RWAIT = 0x804e,
    N_PIPE = 0x804f,
};
_Static_assert((int)N_PROGRESS <= TYPES_SYSTEM_LAST && (int)N_RCLAIM >= TYPES_PROGRAMS &&
                   (int)N_PIPE <= TYPES_PROGRAMS_LAST,
               "in their ranges");

/* Messages for Vertex itself; all others are for processes. */
#define N_IS_LOAD(type) ((type) >= N_LOAD_BEGIN && (type) <= N_LOAD_START)
#define N_IS_FOR_KERNEL(type)                                                                                      \
    ((type) > N_TYPE_USER_MAX && (N_IS_LOAD(type) || (type) == N_KILL || (type) == N_SIGNAL || (type) == N_LOST || \
                                  (type) == N_PROBE || (type) == N_PROGRESS))

struct server_count {
    uint32_t procid; /* of the process that waits */
    uint32_t idle;   /* 1: the server has nothing to do until a message comes */
    uint64_t count;  /* messages that the server has taken, and commands of its drives that have ended */
};
_Static_assert(sizeof(struct server_count) == 16, "server_count layout");

struct load_job {
    uint32_t job;
    uint32_t base;          /* N_KILL: address of logical node 0 */
    uint32_t data_messages; /* N_LOAD_START: number of N_LOAD_DATA in the load */
    uint32_t life;          /* N_KILL */
};
_Static_assert(sizeof(struct load_job) == 16, "load_job layout");

struct load_begin {
    uint32_t job;
    uint32_t base;                   /* node address of logical node 0; the subcube is base .. base + 2^dim - 1 */
    uint16_t dim;                    /* of the subcube */
    uint16_t idle;                   /* its last nodes, which no program has: fewer than half */
    uint32_t part_first, part_nodes; /* logical nodes that get this program */
    uint32_t argc;
    uint32_t arg_bytes;     /* all arguments with their NULs */
    uint16_t volumes;       /* number of struct load_volume after the arguments, from the next multiple of 8 */
    uint16_t striped_bytes; /* of the text of striped volumes behind them */
    uint64_t entry;
    uint64_t stack_bytes;
    uint64_t heap_bytes;  /* limit; 0: all free memory */
    uint64_t comm_bytes;  /* memory that heap and stack leave for messages; 0: the default */
    uint16_t procs;       /* processes on each node, 1 .. PROCS_MAX: copies of the program */
    uint16_t pipes_bytes; /* 0: there is no struct load_pipes */
    uint32_t life;
};
_Static_assert(sizeof(struct load_begin) == 72, "load_begin layout");

#define PROCS_MAX 8u /* processes on a node */
_Static_assert(TAG_FROM(~0u) == PROCS_MAX - 1, "a tag has room for each of them");

/* ncc -Ncomm, -Nheap, -Nstack, -Nprocs, -Nserves and -dN write an ELF note "ncube" of type PROGRAM_NOTE into the
 * executable. Options of `ncube run` and xnc override it. */
#define PROGRAM_NOTE_NAME "ncube"
#define PROGRAM_NOTE      1

struct program_note { /* 0: not given */
    uint64_t stack_bytes, heap_bytes, comm_bytes;
    uint16_t procs;
    uint16_t serves; /* 1: a job ends when its other programs have */
    uint32_t dim_plus_1;
};
_Static_assert(sizeof(struct program_note) == 32, "program_note layout");

struct load_volume {
    char name[16]; /* with NUL */
    uint32_t node; /* I/O node's address */
    uint32_t drive;
};
_Static_assert(sizeof(struct load_volume) == 24, "load_volume layout");

/* The text of striped volumes has a line for each, which the driver of striped files reads (libpio/ndevices/striped.c);
 * Vertex only keeps it: the name, the volumes over which its files are spread, and which of them has which byte.
 *
 * The first line may be the Concurrent File System's and the last one Clusterfile's, which their libraries read:
 * volumes, a number, and each volume's I/O node and drive there. The Concurrent File System's number is that of the
 * requests which a node has under way; Clusterfile's that of the volume with the names, from 0 on.
 *
 *     /cfs cf00 cf01: 2 16384.0 16385.0
 *     big df00 df01: cyclic 16384 2
 *     /clf df00 df01: 0 16384.0 16385.0
 */
#define LOAD_STRIPED_MAX_BYTES 65535u
#define LOAD_STRIPED_CFS       "/cfs " /* with which it begins */

/* For programs that have a subcube of their own in that of their job, and descriptors other than the standard streams:
 * those of a pipeline, and those that rexecvf loads. Nodes are numbered in the job's subcube. The program gets this at
 * its start (vertex/contract/abi.h).
 *
 *    struct load_pipes | struct load_fd[fds] | paths of those that have one, each with its NUL
 */
struct load_pipes {
    uint32_t job_base, job_dim; /* the job's subcube; job_base is an address */
    uint32_t first, nodes;      /* of the program itself */
    uint32_t has_driver;        /* 1: the driver of pipes is loaded */
    uint32_t fds, path_bytes;
    uint32_t pad;
};
_Static_assert(sizeof(struct load_pipes) == 32, "load_pipes layout");

enum load_fd_kind { LOAD_FD_READS, LOAD_FD_WRITES, LOAD_FD_PATH };

struct load_peer {  /* the program at the other end of a pipe */
    uint32_t first; /* in the job's subcube; or with PIPE_ABROAD an address in another job's */
    uint32_t nodes; /* 0: nobody has, or will have, that end */
};

struct load_fd {
    uint32_t fd, kind;
    uint32_t number;       /* of a pipe */
    uint32_t peer_unknown; /* 1: a message PIPE_PEER tells it */
    struct load_peer peer;
    int32_t flags; /* of a path: for open */
    uint32_t pad;
};
_Static_assert(sizeof(struct load_fd) == 32, "load_fd layout");

/* Flags of an ELF segment, beside PF_R, PF_W and PF_X: which drivers it is for. It is loaded only where one of them is:
 * that of striped files where the machine has striped volumes, that of pipes in programs of a pipeline, that of the
 * Concurrent File System where the machine has one. A segment without such a flag is always loaded (images/program.ld).
 */
#define PROGRAM_SEGMENT_STRIPED 0x00100000u
#define PROGRAM_SEGMENT_PIPES   0x00200000u
#define PROGRAM_SEGMENT_CFS     0x00400000u
#define PROGRAM_SEGMENT_DRIVERS (PROGRAM_SEGMENT_STRIPED | PROGRAM_SEGMENT_PIPES | PROGRAM_SEGMENT_CFS)

#define LOAD_CHUNK_BYTES 16384u /* most bytes of program in one N_LOAD_DATA */

struct load_data {
    uint32_t job;
    uint32_t writable;   /* 0: text and constants; 1: data */
    uint64_t va;         /* any alignment; ascending within a load */
    uint64_t bytes;      /* program bytes after this structure */
    uint64_t zero_bytes; /* bytes of zero after those, in memory */
};
_Static_assert(sizeof(struct load_data) == 32, "load_data layout");

enum {
    EXIT_NORMAL = 0,
    EXIT_FAULT = 1,  /* the processor faulted; text gives node, pc, cause, address */
    EXIT_KILLED = 2, /* ended by N_KILL */
    EXIT_LOAD = 3,   /* could not be loaded; status is a negative n_error */
    EXIT_SIGNAL = 4, /* ended by a signal without a handler; status is 128 + signal, text names the sender */
};

struct job_exit {
    uint32_t job;
    uint32_t node; /* logical */
    int32_t status;
    uint32_t how;
};
_Static_assert(sizeof(struct job_exit) == 16, "job_exit layout");
#define PROC_DEATH_OFFSET 16u /* of it in Vertex's struct proc: ncube --core reads it when a process ends */
/* What a report about a stuck program reads: in struct proc, the first message of the inbox and their number; in struct
 * message, which begins with the distance to the next one in bytes (int32_t, 0: none), the payload's
 * bytes, the tag and the sender's address. */
#define PROC_INBOX_OFFSET       952u
#define PROC_INBOX_COUNT_OFFSET 976u
#define PROC_SUCCESSOR_OFFSET   472u  /* 0: no other program takes its place; what --check reads, as the files */
#define PROC_READ_SENT_OFFSET   1112u /* when the message was sent that it has taken last; 0: none */
#define PROC_FILES_OFFSET       1352u
#define PROC_FILES              256u
#define FRAME_ARGUMENTS_OFFSET  80u  /* in Vertex's struct trap_frame: of a call's arguments, a0-a5 */
#define FRAME_RETURN_OFFSET     8u   /* ra, and then sp; before it, at 0, the pc */
#define FRAME_BYTES             144u /* it lies at the end of a page */
/* Where it waits: `replaced`, a bool; and the place in the window of its struct abi_call (abi.h), uint32_t, whose bit 0
 * is what `replaced` was then: another program that has told nothing may have taken its place since. */
#define PROC_REPLACED_OFFSET 6u
#define PROC_CALL_OFFSET     892u
#define PROC_ROOT_OFFSET     536u /* of its page table, which lies in the window */
#define MESSAGE_BYTES_OFFSET 32u
#define MESSAGE_TAG_OFFSET   44u
#define MESSAGE_NODE_OFFSET  48u

struct exit_fault {              /* the registers at the fault */
    uint64_t pc, address, cause; /* cause: scause */
    uint32_t replaced;           /* 1: exec has put another program in the place of the one that was loaded */
    uint32_t returns;            /* of struct exit_return, which follow, by ascending place */
    uint64_t x[31];              /* x1-x31: x[0] is ra, x[1] is sp */
};
_Static_assert(sizeof(struct exit_fault) == 280, "exit_fault layout");

struct exit_return { /* an address to return to, and where it lies on the stack; it may be left from an older call */
    uint64_t at, to;
};
#define EXIT_RETURNS_MOST 16u

struct signal_message {
    uint32_t job;
    uint32_t signal; /* newlib's number */
    uint32_t procid; /* of the destination */
    uint32_t from;   /* the sender: logical node | procid << 16, or NODE_HOST */
};
_Static_assert(sizeof(struct signal_message) == 16, "signal_message layout");

struct lost_notice {
    uint32_t tag; /* of the lost messages, which have one source and one destination */
    uint32_t count;
    uint32_t sequence; /* of a lost file reply */
    uint32_t pad;
};
_Static_assert(sizeof(struct lost_notice) == 16, "lost_notice layout");

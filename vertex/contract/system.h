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
 * procid tells the processes of a node apart, 0 .. procs-1. A context is a space of types of its own: what is sent in
 * one is never received in another. In context 0, types 0-32767 belong to programs, the rest to the system.
 *
 *   0  CONTEXT_PROGRAM   nwrite, nread: types to 0x7fff; and the system's messages, from 0x8000 on
 *   1  CONTEXT_HIGH      the program's types from 0x8000 on, which so never meet the system's
 *   2  CONTEXT_SYNC      nsync; its type is the caller's
 *   3  CONTEXT_GROUP     the library's other calls of all nodes (images/lib/group.h)
 *   4  .. CONTEXT_MOST   free, for libraries
 *
 * A wildcard of a program sees 0 and 1, but for the system's types. Contexts from 2 on are for the traps cwrite and
 * cread only.
 *
 * Loading. A program is loaded on a part of a subcube, often all of it: the logical nodes part_first ..
 * part_first + part_nodes - 1. The front end sends each message of a load to the first of them. If the part is a
 * subcube itself, that node broadcasts it before it acts. Else, and on a machine with faults, without broadcasts, every
 * node passes it on to its children before it acts: the r-th node of the part to the (r + 2^k)-th for each k with 2^k
 * > r, as far as there are any. (A binomial spanning tree.) Messages of one load come in order. All parts of a job
 * get their N_LOAD_BEGIN before any gets its first N_LOAD_DATA, and those before any N_LOAD_START.
 *
 *   N_LOAD_BEGIN  struct load_begin, arguments (each with its NUL), struct load_volume[]
 *   N_LOAD_DATA   struct load_data, bytes
 *   N_LOAD_START  struct load_job
 *   N_EXIT        node -> front end: struct job_exit, struct exit_fault if it was a fault, text
 *                                                              exactly once per node and life, when its last
 *                                                              process has ended; of an I/O node, when nsdisk has
 *                                                              ended but by N_SHUTDOWN
 *   N_STARTED     node -> front end: struct job_exit (status is the life): a program of a life above 0 will run
 *   N_KILL        front end -> each node: struct load_job      the node answers with N_EXIT
 *   N_SIGNAL      node -> node of its job: struct signal_message; or front end -> node, `from` is then NODE_HOST
 *   N_LOST        node -> node: struct lost_notice             messages that do not come any more (vertex/message/lost.h);
 *                                                              or front end -> node, of a file reply
 *
 * A program may load another one on nodes whose program has ended, or in its own place (rexec.c). The front end says
 * which nodes those are, and gives each such load a number, its `life`, unique in the job; what a job begins with is
 * life 0. The process's own node then sends the messages of the load, as the front end does. These are requests, with
 * struct file_request and struct file_reply (vertex/contract/proto.h):
 *
 *   N_RCLAIM      sfid first node, offset how many, name of the program    status: the life. N_EBUSY, N_EINVAL
 *   N_RBEGUN      sfid life                status, when all its nodes have answered: 0, or why one could not be loaded
 *   N_RWAIT       sfid node                status, when it has ended: that of its program
 *
 * I/O nodes.
 *   N_MOUNTED     nsdisk -> front end: struct file_reply (seq = drive), text on failure. Once per drive.
 *   N_SHUTDOWN    front end -> nsdisk: (empty); write everything back, mark clean;
 *                 N_REPLY(N_SHUTDOWN) with struct file_reply; nsdisk then serves no more
 *   N_CONSOLE     nsdisk or Vertex -> front end: text for the front end's standard error
 */
#ifndef NCUBE_SYSTEM_H
#define NCUBE_SYSTEM_H

#include <stdint.h>

#define N_TYPE_USER_MAX 0x7fffu /* in context 0 */
#define N_DEST_ALL      0xffff

#define TAG(type, from, to) ((uint32_t)(type) | (uint32_t)(from) << 16 | (uint32_t)(to) << 24)
#define TAG_TO(tag)         (((tag) >> 24) & 0xffu)
#define TAG_CONTEXT(tag)    (((tag) >> 19) & 0x1fu)
#define TAG_FROM(tag)       (((tag) >> 16) & 0x7u)
#define TAG_NUMBER(tag)     ((tag)&0xffffu) /* the type as its sender calls it */

/* Type and context in one: equal for no two messages that must be told apart. For context 0 it is the type itself. */
#define IN_CONTEXT(context, type) ((uint32_t)(context) << 19 | (uint32_t)(type))
#define TAG_TYPE(tag)             ((tag)&IN_CONTEXT(0x1f, 0xffff))
#define TAG_ALL_TO                (0xffu << 24) /* masks */
#define TAG_ALL_FROM              (0x7u << 16)
#define TAG_ALL_CONTEXTS          IN_CONTEXT(0x1f, 0)
#define TAG_NOT_PROGRAM           IN_CONTEXT(0x1e, 0) /* none of these bits in a program's own contexts */

enum context { CONTEXT_PROGRAM, CONTEXT_HIGH, CONTEXT_SYNC, CONTEXT_GROUP, CONTEXT_MOST = 31 };

/* The types of CONTEXT_GROUP: the calls of <npara_prt.h>, 0 and up. */
#define GROUP_CALLS(X) X(isumn) X(imaxn) X(iminn) X(dsumn) X(dmaxn) X(dminn) X(nbrdcst)

/* The type of a program's own message, 0 .. 0xffff, with its context. */
#define TYPE_OF_PROGRAM(type) ((uint32_t)(type) > N_TYPE_USER_MAX ? IN_CONTEXT(CONTEXT_HIGH, type) : (uint32_t)(type))
/* A message of Vertex, of a server or the front end; */
#define TAG_IS_SYSTEM(tag) (((tag)&IN_CONTEXT(0x1f, 0x8000)) == 0x8000u)
/* or what a program has sent by nwrite: the high types have both bits, the others none. */
#define TAG_IS_PROGRAM(tag) (((tag)&TAG_NOT_PROGRAM) == 0 && ((((tag) >> 15) ^ ((tag) >> 19)) & 1) == 0)

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
    N_RCLAIM = 0x803c,
    N_RBEGUN = 0x803d,
    N_RWAIT = 0x803e,
};

/* Messages for Vertex itself; all others are for processes. */
#define N_IS_LOAD(type) ((type) >= N_LOAD_BEGIN && (type) <= N_LOAD_START)
#define N_IS_FOR_KERNEL(type) \
    ((type) > N_TYPE_USER_MAX && (N_IS_LOAD(type) || (type) == N_KILL || (type) == N_SIGNAL || (type) == N_LOST))

struct load_job {
    uint32_t job;
    uint32_t base;          /* N_KILL: address of logical node 0 */
    uint32_t data_messages; /* N_LOAD_START: so many N_LOAD_DATA belong to the load */
    uint32_t life;          /* N_KILL */
};
_Static_assert(sizeof(struct load_job) == 16, "load_job layout");

struct load_begin {
    uint32_t job;
    uint32_t base;                   /* node address of logical node 0; the subcube is base .. base + 2^dim - 1 */
    uint32_t dim;                    /* of the subcube */
    uint32_t part_first, part_nodes; /* logical nodes that get this program */
    uint32_t argc;
    uint32_t arg_bytes; /* all arguments with their NULs */
    uint32_t volumes;   /* struct load_volume that follow the arguments, at the next multiple of 8 */
    uint64_t entry;
    uint64_t stack_bytes;
    uint64_t heap_bytes; /* most; 0: as far as memory goes */
    uint64_t comm_bytes; /* of memory that heap and stack leave to messages; 0: the default */
    uint32_t procs;      /* processes on each node, 1 .. PROCS_MAX: copies of the program */
    uint32_t life;
};
_Static_assert(sizeof(struct load_begin) == 72, "load_begin layout");

#define PROCS_MAX 8u /* processes on a node */
_Static_assert(TAG_FROM(~0u) == PROCS_MAX - 1, "a tag has room for each of them");

/* What ncc -Ncomm, -Nheap, -Nstack, -Nprocs and -dN leave in the executable: an ELF note "ncube" of type
 * PROGRAM_NOTE. The front end's user may say otherwise. */
#define PROGRAM_NOTE_NAME "ncube"
#define PROGRAM_NOTE      1

struct program_note { /* 0: not said */
    uint64_t stack_bytes, heap_bytes, comm_bytes;
    uint32_t procs;
    uint32_t dim_plus_1;
};
_Static_assert(sizeof(struct program_note) == 32, "program_note layout");

struct load_volume {
    char name[16]; /* with NUL */
    uint32_t node; /* I/O node's address */
    uint32_t drive;
};
_Static_assert(sizeof(struct load_volume) == 24, "load_volume layout");

#define LOAD_CHUNK_BYTES 16384u /* most bytes of program in one N_LOAD_DATA */

struct load_data {
    uint32_t job;
    uint32_t writable;   /* 0: text and constants; 1: data */
    uint64_t va;         /* any alignment; ascending within a load */
    uint64_t bytes;      /* that follow */
    uint64_t zero_bytes; /* after them, to be zero */
};
_Static_assert(sizeof(struct load_data) == 32, "load_data layout");

enum {
    EXIT_NORMAL = 0,
    EXIT_FAULT = 1,  /* the program did what the machine forbids; text says node, pc, cause, address */
    EXIT_KILLED = 2, /* by N_KILL */
    EXIT_LOAD = 3,   /* could not be loaded; status is a negative n_error */
    EXIT_SIGNAL = 4, /* by a signal that it does not handle; status is 128 + signal, text says from whom */
};

struct job_exit {
    uint32_t job;
    uint32_t node; /* logical */
    int32_t status;
    uint32_t how;
};
_Static_assert(sizeof(struct job_exit) == 16, "job_exit layout");

struct exit_fault {              /* as it was at the fault */
    uint64_t pc, address, cause; /* cause: scause */
    uint64_t x[31];              /* x1-x31: x[0] is ra, x[1] is sp */
};
_Static_assert(sizeof(struct exit_fault) == 272, "exit_fault layout");

struct signal_message {
    uint32_t job;
    uint32_t signal; /* newlib's number */
    uint32_t procid; /* of the process that it is for */
    uint32_t from;   /* who sent it: logical node, procid << 16; or NODE_HOST */
};
_Static_assert(sizeof(struct signal_message) == 16, "signal_message layout");

struct lost_notice {
    uint32_t tag; /* of the messages, all with one source and one destination */
    uint32_t count;
    uint32_t sequence; /* of a file reply */
    uint32_t pad;
};
_Static_assert(sizeof(struct lost_notice) == 16, "lost_notice layout");

#endif

/*
 * The traps of Vertex in one list of names and numbers, from which the kernel's dispatch table and the library's stubs
 * are generated.
 *
 * A program executes `ecall` with the number in a7 and the arguments in a0-a5. The result is in a0: >= 0, or a negative
 * n_error (vertex/contract/errors.h). nread, cread, ntest, ctest, nreadp and disk_or_read also return values in a1-a3.
 * Other registers change as in a function call. The kernel checks every pointer.
 *
 * A destination or source is a logical node number, with the procid in bits 16 and up; source -1 is any source.
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/drive_cache.h"
#include "vertex/include/nmon.h"

/*  name        arguments                                    result                                    */
#define TRAP_LIST(X)                                                                                        \
    X(exit, 0)          /* status                               does not return                          */ \
    X(whoami, 1)        /* struct abi_whoami *                  0                                        */ \
    X(nwrite, 2)        /* buf bytes dest type                  0                                        */ \
    X(nread, 3)         /* buf bytes src type                   bytes, a1 = src, a2 = type; waits.       */ \
                        /*                                      EMSGSIZE keeps the message               */ \
    X(ntest, 4)         /* - - src type                         bytes, a1, a2 as nread; -EAGAIN if none  */ \
    X(nrange, 5)        /* low high                             0                                        */ \
    X(cycles, 6)        /*                                      virtual time, in cycles                  */ \
    X(sbrk, 7)          /* increment                            old break                                */ \
    X(open, 8)          /* path flags mode                      UFID                                     */ \
    X(close, 9)         /* ufid                                 0                                        */ \
    X(read, 10)         /* ufid buf bytes                       bytes                                    */ \
    X(write, 11)        /* ufid buf bytes                       bytes                                    */ \
    X(lseek, 12)        /* ufid offset whence                   new offset                               */ \
    X(fstat, 13)        /* ufid struct file_stat *              0                                        */ \
    X(stat, 14)         /* path struct file_stat *              0                                        */ \
    X(ftruncate, 15)    /* ufid size by (N_FTRUNCATE's bytes)   0                                        */ \
    X(fsync, 16)        /* ufid                                 0                                        */ \
    X(unlink, 17)       /* path                                 0                                        */ \
    X(rename, 18)       /* path path                            0                                        */ \
    X(link, 19)         /* path path                            0                                        */ \
    X(mkdir, 20)        /* path mode                            0                                        */ \
    X(rmdir, 21)        /* path                                 0                                        */ \
    X(readdir, 22)      /* ufid buf bytes                       bytes of struct file_dirent records      */ \
    X(access, 23)       /* path mode                            0                                        */ \
    X(readstart, 24)    /* ufid bytes                           0                                        */ \
    X(readend, 25)      /* ufid buf                             bytes; of the most recent readstart      */ \
    X(writestart, 26)   /* ufid buf bytes                      0; buf may be reused at once             */  \
    X(writeend, 27)     /* ufid                                 bytes; of the most recent writestart     */ \
    X(ionode, 28)       /* ufid                                 address of the file's server (N_k)       */ \
    X(monitor, 29)      /* struct nmonitor *                    0                                        */ \
    X(statfs, 30)       /* ufid struct file_statfs *            0                                        */ \
    X(disk_info, 31)    /* drive struct abi_drive *             0            I/O nodes only              */ \
    X(disk_io, 32)      /* drive write? sector buf sectors      messages that wait;     I/O nodes only   */ \
    X(iochannel, 33)    /* ufid channel                         0; channel -1: the nearest               */ \
    X(ngetp, 34)        /* bytes                                address of a buffer                      */ \
    X(nwritep, 35)      /* buffer bytes dest type context       0; the caller no longer has the buffer  */  \
    X(nreadp, 36)       /* - bytes src type context             as nread, and a3 = address of a buffer   */ \
    X(nrelp, 37)        /* buffer                               0                                        */ \
    X(sleep, 38)        /* cycles, absolute; ~0: for a signal   0; -EINTR when a handler is to run       */ \
    X(sigaction, 39)    /* signal, enum abi_action, signals     the action before; a caught signal       */ \
                        /* to block meanwhile, dispatcher       calls the dispatcher                     */ \
    X(sigblock, 40)     /* signals to block, to unblock         the signals blocked before               */ \
    X(sigreturn, 41)    /* struct abi_signal *                  resumes where the signal interrupted     */ \
    X(kill, 42)         /* node, procid << 16; signal           0                                        */ \
    X(pread, 43)        /* ufid buf bytes offset                bytes; the file's offset does not move   */ \
    X(pwrite, 44)       /* ufid buf bytes offset                bytes; the file's offset does not move   */ \
    X(rexec, 45)        /* node nodes struct abi_program *      0; on the caller's node: does not return */ \
    X(rwait, 46)        /* node                                 exit status of its program, once ended   */ \
    X(sigpending, 47)   /*                                     signals that are pending                 */  \
    X(sigsuspend, 48)   /* signals blocked instead             -EINTR, after a handler                  */  \
    X(sigwait, 49)      /* signals, until cycles; ~0: for ever  the signal taken; -EAGAIN: time is over  */ \
    X(chdir, 50)        /* path                                 0                                        */ \
    X(fdpath, 51)       /* ufid of a directory, or -1: the      bytes, without the NUL; the path by      */ \
                        /* working directory; buf bytes         which it was opened                      */ \
    X(lstat, 52)        /* path struct file_stat *              0                                        */ \
    X(symlink, 53)      /* target path                          0                                        */ \
    X(readlink, 54)     /* path buf bytes                       bytes                                    */ \
    X(setattr, 55)      /* path flags struct file_attr *        0; flags: 0 or N_O_NOFOLLOW              */ \
    X(fsetattr, 56)     /* ufid struct file_attr *              0                                        */ \
    X(itimer, 57)       /* struct abi_itimer *, its old one *   0; either may be 0                       */ \
    X(sync, 58)         /*                                      0; every volume has written back         */ \
    X(cwrite, 59)       /* buf bytes dest type context          as nwrite, in a library's context, where */ \
                        /*                                      N_DEST_ALL leaves out the sender         */ \
    X(cread, 60)        /* buf bytes src type context           as nread; contexts: system.h             */ \
    X(disk_start, 61)   /* drive write? sector buf sectors type number of a command, which is now under  */ \
                        /*                                      way, for a request of that type, with    */ \
                        /*                                      DISK_CHANGES if it has not written yet;  */ \
                        /*                                      -EAGAIN if DISK_COMMANDS_MAX are         */ \
    X(disk_end, 62)     /* struct abi_disk_done * wait?         0, and a command that is done;           */ \
                        /*                                      -EAGAIN if none is, and no wait          */ \
    X(disk_or_read, 63) /* buf bytes src type                 as nread; -EAGAIN once a command that    */   \
                        /*                                      disk_start began is done                 */ \
    X(ctest, 64)        /* - - src type context                 as ntest                                 */ \
    X(mark, 66)         /* text bytes                           0; a phase for the trace (machine.h)     */ \
    X(askstart, 67)     /* path type mode buf bytes             number of a question, which its server   */ \
                        /*                                      has now: N_FSTATNAME, N_FUNLINK,         */ \
                        /*                                      N_FREADNAME of at most so many bytes,    */ \
                        /*                                      N_FMAKE with these, N_FOPENREAD of mode  */ \
                        /*                                      N_O_ACCMODE and the path at buf;         */ \
                        /*                                      -EAGAIN: too many. N_FVIEW: of a UFID in */ \
                        /*                                      place of path, view `mode`, no bytes:    */ \
                        /*                                      none; 0: it had none                     */ \
    X(askend, 68)       /* number buf                           waits for its answer: the request's      */ \
                        /*                                      status; buf: what the request returns,   */ \
                        /*                                      N_FOPENREAD: struct abi_opened, data;    */ \
                        /*                                      N_FVIEW: offsets are in this view now    */ \
    X(striped, 69)      /* buf bytes                            length of the text of striped volumes    */ \
                        /*                                      (system.h), as much of it as fits        */ \
    X(preadstart, 70)   /* ufid bytes offset                    0; the file's offset does not move       */ \
    X(pwritestart, 71)  /* ufid buf bytes offset                0; the same                              */ \
    X(fork, 72)         /*                                      procid of a copy of the caller; 0 in it  */ \
    X(wait, 73)         /* procid of a child, or -1; wait?      a child that has ended: procid, and its  */ \
                        /*                                      status of <sys/wait.h> from bit 16 up;   */ \
                        /*                                      0: none has, and no wait                 */ \
    X(parent, 74)       /*                                      procid of the caller's parent;           */ \
                        /*                                      -ESRCH: has none, or it has ended        */ \
    X(exec, 75)         /* struct abi_program *                 does not return: it replaces the caller  */ \
    X(pipe, 76)         /* int32_t ufid[2]                      0; bytes of ufid[1] come out of ufid[0]  */ \
    X(pipe_state, 77)   /* ufid, enum abi_pipe_request          its result; only of a pipe's end         */ \
    X(poll, 78)         /* struct abi_poll *, number, until     how many are ready; waits until one is,  */ \
                        /* cycles, 0: no wait, ~0: for ever;    or that time; -EINTR after a handler     */ \
                        /* ABI_POLL_MASK | signals to block     meanwhile, or 0                          */ \
    X(pipenumber, 80)   /*                                      number of a new pipe (N_PIPE)            */ \
    X(rexecf, 81)       /* node nodes struct abi_program *      0; the program has a subcube of its own, */ \
                        /* descriptors bytes                    and struct load_pipes and so on          */ \
    X(pipeopen, 82)     /* name writes? struct load_peer *      number of a named pipe, once a program   */ \
                        /*                                      has its other end                        */ \
    X(cwrite_read, 83)  /* buf bytes dest type context src      cwrite, then cread from src into buf;    */ \
                        /*                                      a3 = -1: the cwrite has failed           */ \
    X(csync, 84)        /* int64_t from[] n dest type context   messages without bytes: cread from each  */ \
                        /* src                                  of n processes, cwrite to dest, cread    */ \
                        /*                                      from src; -1: leaves that out. An error: */ \
                        /*                                      a1 = creads left, a2 = -1: has written   */ \
    X(work, 85)         /* 1 or 0                               0; a call works for files from here on,  */ \
                        /*                                      at stated costs, or no longer            */ \
    X(endjob, 86)       /* status                               does not return: the job ends with it    */ \
    X(tell, 87)         /* struct abi_call *, or 0: none, or    bytes of the node's memory, and in bits  */ \
                        /* ABI_CALL_SAME: as before             0 to 3 the program's processes on it;    */ \
                        /*                                      reports have what it says of a wait      */ \
    X(requeststart, 88) /* node type head bytes data bytes      number of a request, which the server of */ \
                        /*                                      that I/O node's address has now: of a    */ \
                        /*                                      family (system.h), the head begins with  */ \
                        /*                                      struct request_head; -EAGAIN: ASK_MAX    */ \
                        /*                                      of it and of askstart are under way      */ \
    X(requestend, 89)   /* number head bytes data bytes         waits for the reply: its status; head:   */ \
                        /*                                      what follows struct file_reply, exactly  */ \
                        /*                                      as long; data: the rest, at most so long */ \
    X(requesttest, 90)  /* number                               1: requestend need not wait, or the      */ \
                        /*                                      server's time limit has passed, and it   */ \
                        /*                                      does not just hold the request; 0. Of    */ \
                        /*                                      number 0: how many more may be started   */ \
    X(reply, 91)        /* head bytes data bytes dest type      as nwrite, of both in one message; I/O   */ \
                        /*                                      nodes only                               */ \
    X(pay, 92)          /* bytes                                when all that nsdisk sends has left: 0;  */ \
                        /*                                      charged as a reply and the request, of   */ \
                        /*                                      so many bytes (charge.h); I/O nodes only */ \
    X(fadd, 93)         /* ufid struct file_counter *           0; N_FADD, whose reply replaces it       */

#define TRAP_ENUM(name, number) TRAP_##name = number,
enum trap_number { TRAP_LIST(TRAP_ENUM) TRAPS };
#undef TRAP_ENUM

#define ABI_MARK_BYTES     48u   /* most that mark takes: the arguments of an NCU instruction */
#define ASK_DATA_MAX_BYTES 8192u /* of a question, or of its answer */

/* What N_FOPENREAD has opened. An open that is not asked for by askend lasts as long as the process. */
struct abi_opened {
    int32_t ufid;
    uint32_t node; /* address of the server */
    uint64_t size_bytes;
};
_Static_assert(sizeof(struct abi_opened) == 16, "abi_opened layout");

struct abi_whoami {
    int32_t node; /* logical */
    int32_t proc;
    int32_t host;       /* usable as a destination */
    int32_t dim;        /* of the subcube */
    int32_t broadcasts; /* 1: the network can broadcast to it (machine.h) */
    int32_t nodes;      /* of the subcube; fewer if a number was given (ncube run -n) */
};

/* For tell: the library's call that a process waits in, which the library keeps here, aligned to ABI_CALL_BYTES. */
#define ABI_CALL_BYTES 128u
#define ABI_CALL_SAME  UINT64_MAX
struct abi_call {
    char call[32];         /* "MPI_Recv"; "": none */
    char communicator[64]; /* its name; or of a file, with is_file */
    int32_t rank;          /* of the process there, ABI_CALL_NONE */
    int32_t peer, tag;     /* ABI_CALL_ANY, ABI_CALL_NONE; a peer without a tag is a root */
    uint32_t sends;        /* 1: the peer is to receive */
    uint32_t context;      /* of the messages that it waits for */
    uint32_t is_file;      /* 1: for a file, and the wait itself is told, too */
    uint32_t counts;       /* bytes of a struct manager_counts (drive_cache.h) behind it, in the same page; 0: none */
    uint32_t pad;
};
_Static_assert(sizeof(struct abi_call) == ABI_CALL_BYTES, "abi_call layout");
#define ABI_CALL_ANY  (-1)
#define ABI_CALL_NONE (-100)

/* SIGALRM arrives at at_cycles, then every interval_cycles. */
struct abi_itimer {
    uint64_t at_cycles;       /* absolute; ~0: never */
    uint64_t interval_cycles; /* 0: once */
};

enum abi_action { SIGNAL_DEFAULT, SIGNAL_IGNORE, SIGNAL_CATCH, SIGNAL_ASK }; /* for sigaction; ASK changes nothing */

/* The context that a signal interrupted. The kernel pushes it onto the process's stack and calls the signal dispatcher
 * with the signal in a0, this structure's address in a1 and, for a fault, the faulting address in a2. sigreturn
 * restores it. The dispatcher must also preserve the FP registers. */
struct abi_signal {
    uint64_t pc, ra, sp, t[7], a[8];
    uint64_t blocked; /* the signals blocked before, which sigreturn restores */
    uint64_t pad;
};

#define ABI_SEGMENTS_MAX        16u
#define ABI_ARGUMENTS_MAX_BYTES (64u << 10)

struct abi_segment {
    uint64_t va, data;              /* data: address of the bytes in the caller's memory */
    uint64_t file_bytes, mem_bytes; /* the last mem_bytes - file_bytes are zero */
    uint64_t writable;
};

/* A descriptor of the program that exec replaces, for the one that it starts. */
struct abi_inherited {
    int32_t fd, ufid; /* of the library, of the kernel; -1: none */
    int32_t flags;    /* of open */
};

#define ABI_INHERITED_MAX 257u

struct abi_program { /* for rexec and exec */
    uint64_t entry;
    uint64_t segment;   /* address of struct abi_segment[segments], ascending */
    uint64_t arguments; /* address of argc consecutive strings, each with its NUL */
    uint64_t name;      /* address of a string, for messages to the user */
    uint32_t segments, argc, arg_bytes;
    uint32_t procs;                               /* processes on each node */
    uint64_t stack_bytes, heap_bytes, comm_bytes; /* as in struct load_begin */
    uint64_t inherit;                             /* exec: address of struct abi_inherited[inherited] */
    uint64_t inherited;
};

struct abi_drive {
    uint64_t sectors;
    uint64_t ram_bytes; /* of the node */
    uint64_t boot_number;
    char volume[16];
    struct drive_cache cache;
    uint64_t concurrent; /* 1: the drives work at the same time, and nsdisk serves several requests at once; 2: the
                          * same, and it pays for those of families after its replies (pay) */
};

/* ---- Pipes between the processes of a node, and poll ---- */

#define ABI_PIPE_UFID   256   /* the UFIDs of pipes' ends are those from here on */
#define ABI_PIPE_BYTES  8192u /* that a pipe holds */
#define ABI_PIPE_ATOMIC 4096u /* a write of at most so many is never mixed with others' */

enum abi_pipe_request {                     /* of pipe_state; its result */
                        ABI_PIPE_END,       /* 0: bytes come out of it, 1: they go into it */
                        ABI_PIPE_UNUSED,    /* 1: nobody has read or written at either end, or waits to; else 0 */
                        ABI_PIPE_NUMBER,    /* above 0, the same for both ends, no other pipe's of this node */
                        ABI_PIPE_IS_DIRECT, /* 1: a read or write that would wait fails with -EAGAIN */
                        ABI_PIPE_DIRECT,    /* makes it so, for all that share the end */
                        ABI_PIPE_WAITING,   /* makes it wait */
};

enum { ABI_POLL_IN = 1, ABI_POLL_OUT = 2, ABI_POLL_ERROR = 4, ABI_POLL_HANGUP = 8, ABI_POLL_INVALID = 16 };
#define ABI_POLL_MASK (1ull << 32)
enum abi_poll_kind { ABI_POLL_NOTHING, ABI_POLL_UFID, ABI_POLL_MESSAGE };

struct abi_poll {
    uint16_t kind;
    uint16_t events;  /* wanted: ABI_POLL_IN, ABI_POLL_OUT */
    uint16_t ready;   /* out */
    uint16_t context; /* of a message, as for ctest */
    int32_t ufid;     /* or a message's source, -1: any */
    int32_t type;     /* of a message, -1: any */
};

#define DISK_COMMANDS_MAX   64u      /* under way, or done and not yet taken by disk_end */
#define DISK_IO_MAX_SECTORS 2048u    /* in one command: 1 MB */
#define DISK_CHANGES        0x10000u /* of disk_start, with the type of a request: its first command that writes */

/* For disk_end. The oldest that is done comes first. Until then neither the command's number is used again, nor may its
 * buffer be. Commands of one drive are executed in the order of their starts. */
struct abi_disk_done {
    uint32_t number;
    int32_t status; /* 0 or a negative n_error */
};

/* Layout of a program: text from USER_TEXT_VA; the heap follows bss; the stack ends below USER_STACK_TOP.
 * At entry a0 = argc, a1 = argv, sp is 16-byte aligned; argv and its strings lie above sp, and so do the struct
 * load_pipes at a2, with what follows it, or 0, and the descriptors that it has inherited by exec: struct
 * abi_inherited[a4] at a3, which is 0 for a program that was loaded. */
#define USER_TEXT_VA             0x10000ull
#define USER_STACK_TOP           0x70000000ull
#define USER_STACK_DEFAULT_BYTES (256u << 10)

/* nread of type N_REPLY(N_FREAD) or N_REPLY(N_FWRITE), named explicitly, receives the reply to the process's own
 * readstart or writestart, from a given server or, while a reply is outstanding, from any. The buffer gets struct
 * file_reply and the data, src the I/O node's address; the operation has then ended as by readend or writeend.
 * nsdisk may receive every type. */

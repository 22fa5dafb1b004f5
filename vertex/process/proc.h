/*
 * The process.
 *
 *   (none) --proc_new--> LOADING --proc_start--> READY --proc_run--> RUNNING
 *                           |                                           |  exit, fault, N_KILL
 *                           |                                        ENDING   closes files, waits for its sends
 *                           +---------------> ENDED <-------------------+
 *                                               |  proc_reap: memory back, N_EXIT
 *                                             (none)
 *
 * A node has up to PROCS_MAX processes, all of one job, each with its own address space, kernel stack, inbox and table
 * of files, all reached from its struct proc: copies of one program, made when it is loaded, with the procids below
 * `procs`; and those that these have forked (fork.c). Only one runs at a time (dispatch.h): proc_current. The node's
 * last process to end sends the report to the front end, which says how the first kind ended.
 * An I/O node runs the built-in program, nsdisk, which sees raw node addresses, all message types and the drives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/memory/vm.h"
#include "vertex/message/buffers.h"
#include "vertex/message/queue.h"
#include "vertex/trap/trap.h"

#define PROC_STACK_PAGES  2u /* kernel stack */
#define PROC_FILES_MAX    256u
#define PROC_PEERS_MAX    16u
#define PROC_FP_REGISTERS 33u /* f0-f31, fcsr */
#define PROC_VIA_MAX      16u /* I/O nodes with a chosen channel */

enum proc_state { PROC_LOADING, PROC_READY, PROC_RUNNING, PROC_ENDING, PROC_ENDED };

struct file;
struct local_end;
struct ask;
struct async;
struct lost;

enum reader_state {
    READER_CLOSED,
    READER_OPEN,
    READER_LANDING,   /* the NCU writes into the process's memory */
    READER_OVERTAKEN, /* the message will be in the queue; none that arrives later may come before it */
};

/* An nread in progress. When a message has been received it is closed, and the fields describe the message. */
struct reader {
    enum reader_state state;
    int64_t short_bytes;            /* the longest message that delivery_take_short may copy; -1: none */
    struct message_pattern pattern; /* wanted; then .node is the sender */
    uint64_t va, bytes;             /* the buffer; then the message's length */
    uint32_t tag;                   /* the message's */
};

struct proc_wait { /* the arguments of sched_wait */
    enum ncu_wait why;
    uint64_t node, type;
};

/* Each group names the files that write it, a field those that alone do. All may read; fork.c copies a whole one. */
struct proc {
    /* life: proc_end.c; kin.c and trap.c set the cause of an end */
    enum proc_state state;
    bool killed;   /* its next return to user mode, or wait, ends it with `death` */
    bool builtin;  /* nsdisk */
    bool replaced; /* exec_here.c; by exec: the front end does not know the program's name */
    uint32_t procid;
    uint32_t job;
    struct job_exit death;   /* when killed or ENDED */
    struct exit_fault fault; /* if a fault ended it */
    char exit_text[160];
    struct message_queue successor; /* delivery.c; messages that load the program which replaces it; empty: none */

    /* the subcube: proc.c, when the program is loaded */
    uint32_t base;                  /* address of logical node 0 */
    uint32_t whole_dim;             /* the nodes below 1 << whole_dim are there: a fast test */
    uint32_t dim, nodes;            /* the nodes from `nodes` on have no program */
    uint32_t procs;                 /* of this job on each node */
    uint32_t logical;               /* its node's logical number; in the built-in program, the node's address */
    const struct load_pipes *pipes; /* in `begin`; NULL: its subcube is the job's */

    /* memory and registers: proc.c; at a switch dispatch.c */
    struct vm vm;
    void *stack;              /* kernel stack, PROC_STACK_PAGES */
    struct trap_frame *frame; /* at its top */
    uint64_t saved_stack;     /* while another process runs */
    uint64_t fp[PROC_FP_REGISTERS];

    /* waiting: dispatch.c, timer.c */
    bool waiting;
    uint32_t call; /* syscall.c; PROC_CALL_OFFSET of system.h; 0: none */
    struct proc_wait wait;
    uint64_t deadline_cycles; /* NCU_TIMER_NONE: none */
    bool timed_out;           /* the deadline has passed */
    struct abi_itimer alarm;  /* SIGALRM */

    /* messages: delivery.c */
    struct message_queue inbox;
    struct reader reader;
    struct message *buffers;         /* calls_buffers.c; mapped into the program by ngetp and nreadp */
    uint32_t range_low, range_high;  /* calls_read.c; nrange */
    const struct message *last_sent; /* its times are not in `monitor` yet; NULL: they are */
    struct lost *lost;               /* messages that did not arrive, oldest first: lost.c */
    int32_t lost_status;             /* lost.c; error of a loss that there was no memory to record; 0: none */
    bool long_way;                   /* there are such losses, or messages have a charge (charge.h) */
    struct nmonitor monitor;

    /* signals: signal.c; bit s is signal s */
    uint32_t sig_pending, sig_caught, sig_ignored, sig_blocked;
    uint32_t sig_before;   /* the signals blocked before sigsuspend */
    bool sig_suspended;    /* in sigsuspend, until the handler that ends it is called */
    uint32_t sig_mask[32]; /* the signals that are also blocked while this signal's handler runs */
    uint64_t sig_entry;    /* address of the program's dispatcher */

    /* files */
    struct file *file[PROC_FILES_MAX]; /* file.c; by UFID; NULL: free */
    struct proc_via {
        uint32_t node, channel;
    } via[PROC_VIA_MAX];          /* request.c; iochannel; node 0: free */
    struct local_end **local_end; /* ends of pipes: node_pipe.c; NULL: none */
    struct async *async;          /* async.c; readstarts and writestarts under way, newest first */
    struct ask *ask;              /* ask.c; questions whose answers are awaited, newest first */
    uint32_t watched_node;        /* of the request that the process waits for (watch.h), 0: none */
    bool server_answered;         /* watch.c; the last probe: */
    bool server_idle;
    uint64_t server_count;
    bool works;       /* for files all the time: stated.h */
    uint32_t awaited; /* request.c; sequence of the request that the process waits for, 0: none */
    struct load_peer
        peer[PROC_PEERS_MAX]; /* pipe_open.c; programs outside the job that it has met; first: an address */
    uint32_t peers;
    char path[2][FILE_NAME_MAX_BYTES + 1]; /* name.c, exec.c; of the call being served */
    char *directory;                       /* name.c; the working directory; NULL: "/" */
    struct message
        *begin; /* load.c, as the next ones; N_LOAD_BEGIN, which contains the volumes; one hold is the process's */
    const struct load_volume *volume;
    uint32_t volumes;
    uint32_t striped_bytes; /* of the text of striped volumes, behind the volumes */
};

/* Private to proc.c, proc_end.c and the functions below. */
extern struct proc *proc_running;
extern struct proc *proc_table[PROCS_MAX]; /* by procid */
extern uint32_t proc_number;

static inline struct proc *proc_current(void) /* the process that runs, or that ran last; NULL: none */
{
    return proc_running;
}

static inline struct proc *proc_find(uint32_t procid) /* NULL: none */
{
    return procid < PROCS_MAX ? proc_table[procid] : NULL;
}

static inline uint32_t proc_count(void)
{
    return proc_number;
}

void proc_set_current(struct proc *p); /* also activates its address space */
/* The job's subcube: address of its first node. */
static inline uint32_t proc_job_base(const struct proc *p)
{
    return p->pipes ? p->pipes->job_base : p->base;
}

static inline uint32_t proc_job_dim(const struct proc *p)
{
    return p->pipes ? p->pipes->job_dim : p->dim;
}

bool proc_has_job(uint32_t job); /* true if a process of the job is on this node; nsdisk has no job */
bool proc_job_has_run(void);     /* true if any job has run since boot */

struct proc_sizes {
    uint64_t stack_bytes;
    uint64_t heap_bytes; /* limit; 0: all free memory */
    uint64_t comm_bytes; /* left free for messages; 0: the default */
};

struct proc_place { /* a subcube, as in struct load_begin */
    uint32_t base, dim, idle;
};

/* Returns a process in state LOADING with its standard files open and its stack promised. NULL: no memory. */
struct proc *proc_new(uint32_t procid, uint32_t job, const struct proc_place *place, const struct proc_sizes *sizes);
struct proc_start {
    uint64_t entry;
    uint32_t argc, bytes;
    const char *arguments;                 /* consecutive strings, each with its NUL, of `bytes` in all */
    const struct abi_inherited *inherited; /* [n_inherited]; NULL: the program does not replace another by exec */
    uint32_t n_inherited;
};

/* Makes p READY to run from its entry. N_E2BIG, N_EPROTO (the text is not argc strings). */
int proc_start(struct proc *p, const struct proc_start *start);
/* Adds a process to p's job: a copy of p, which is READY. N_ENOMEM. */
int proc_clone(struct proc *p, uint32_t procid, const struct proc_sizes *sizes);
/* Frees a process that has never run, or that has ended, and all that it has. */
void proc_free(struct proc *p);
/* Makes an empty address space with a stack of that size promised. N_ENOMEM. */
int proc_make_space(struct vm *vm, uint64_t stack_bytes, uint64_t heap_bytes);
_Noreturn void proc_run(struct proc *p);

/* Ends the running process with `death`: closes its files, waits for its sends, and leaves the rest to proc_reap. */
_Noreturn void proc_exit(struct proc *p);
void proc_set_death(struct proc *p, uint32_t how, int32_t status);
/* Ends the running process because of p->fault; x points to x1-x31. */
_Noreturn void proc_fault(struct proc *p, const uint64_t *x);
/* Marks any process of this node to end at its next return to user mode or wait. No effect on one that is ending. */
void proc_kill(struct proc *p, uint32_t how, int32_t status);
/* Frees an ENDED process, and sends N_EXIT after the node's last one. */
void proc_reap(struct proc *p);
/* Ends the running process, the only one on its node, and replaces it with the program that these messages load, which
 * inherits its unread messages. Takes over the messages. */
_Noreturn void proc_become(struct proc *p, struct message_queue *messages);
/* Returns true if the text is exactly `count` consecutive strings, each with its NUL. */
bool proc_arguments_are_sound(const char *text, uint32_t bytes, uint32_t count);

/* As sched_wait; returns -N_EINTR if the process is to die, else 0. */
int proc_wait(struct proc *p, enum ncu_wait why, uint64_t node, uint64_t type);
/* As vm_copy_user, for the running process, in pieces, handling due causes between them: a header that waits blocks the
 * channels of its whole path. -N_EFAULT. */
int proc_copy_pieces(struct proc *p, void *kernel, uint64_t va, uint64_t bytes, pte_t right);

static inline int proc_copy_in(struct proc *p, void *to, uint64_t from, uint64_t bytes)
{
    if (vm_is_short_here(&p->vm, from, bytes) && vm_touch(to, from, bytes, PTE_R))
        return 0;
    return proc_copy_pieces(p, to, from, bytes, PTE_R);
}

static inline int proc_copy_out(struct proc *p, uint64_t to, const void *from, uint64_t bytes)
{
    if (vm_is_short_here(&p->vm, to, bytes) && vm_touch((void *)from, to, bytes, PTE_W))
        return 0;
    return proc_copy_pieces(p, (void *)from, to, bytes, PTE_W);
}

/* Allocate a message of that capacity, with its payload in pages of its own if `pages`. Wait for memory while sends
 * under way will free some. -N_ENOMEM, -N_EINTR. */
int proc_new_message_late(struct proc *p, uint64_t capacity, bool pages, struct message **m);

static inline int proc_new_message(struct proc *p, uint64_t capacity, bool pages, struct message **m)
{
    *m = pages ? message_new_pages(capacity) : message_new(capacity);
    return *m ? 0 : proc_new_message_late(p, capacity, pages, m);
}

void proc_free_buffers(struct proc *p); /* those that ngetp and nreadp have given */
void proc_wake_for_memory(void);        /* wakes the processes that wait for memory */

/* Sets mailbox.exact after a change in whether user code may run ahead. */
void proc_update_exact(void);

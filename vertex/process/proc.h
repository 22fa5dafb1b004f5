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
 * A node has up to PROCS_MAX, all of one job: copies of one program, told apart by their procid, each with its own
 * address space, kernel stack, inbox and files. Everything a process owns hangs from its struct proc. Only one runs at
 * a time (sched.h): proc_current. The node's last process to end brings the answer to the front end.
 * On an I/O node there is the built-in program, nsdisk, which sees raw node addresses, all message types
 * and the drives.
 */
#ifndef VERTEX_PROC_H
#define VERTEX_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/memory/vm.h"
#include "vertex/message/msg.h"
#include "vertex/message/queue.h"
#include "vertex/trap/trap.h"

#define PROC_STACK_PAGES  2u /* kernel stack */
#define PROC_FILES_MAX    256u
#define PROC_FP_REGISTERS 33u /* f0-f31, fcsr */
#define PROC_VIA_MAX      16u /* I/O nodes with a chosen channel */

enum proc_state { PROC_LOADING, PROC_READY, PROC_RUNNING, PROC_ENDING, PROC_ENDED };

struct file;
struct async;
struct lost;

enum reader_state {
    READER_CLOSED,
    READER_OPEN,
    READER_OVERTAKEN, /* a message for it was queued, and comes before any that might be given to it now */
};

/* nread in progress. When it has been served, it is closed again and what it got is in the fields. */
struct reader {
    enum reader_state state;
    bool landing;               /* the NCU writes into the process's memory */
    int64_t short_bytes;        /* mail_take_short may copy so many; -1: none */
    struct msg_pattern pattern; /* wanted; then, in .node, the sender */
    uint64_t va, bytes;         /* the buffer; then the message's length */
    uint32_t tag;               /* the message's */
};

struct proc_wait { /* of sched_wait */
    enum ncu_wait why;
    uint64_t node, type;
};

struct proc {
    /* life */
    enum proc_state state;
    bool killed;  /* the next return to user mode, or wait, ends it, as `death` says */
    bool builtin; /* nsdisk */
    uint32_t procid;
    uint32_t job;
    struct job_exit death;   /* when killed or ENDED */
    struct exit_fault fault; /* when it ended by one */
    char exit_text[160];
    struct msg_queue successor; /* messages that load the program which takes its place; empty: none */

    /* the subcube */
    uint32_t base; /* address of logical node 0 */
    uint32_t dim;
    uint32_t procs;   /* of this job on each node */
    uint32_t logical; /* own number; of the built-in program: own address */

    /* memory and registers */
    struct vm vm;
    void *stack;              /* kernel stack, PROC_STACK_PAGES */
    struct trap_frame *frame; /* at its top */
    uint64_t saved_stack;     /* sched.c, while another runs */
    uint64_t fp[PROC_FP_REGISTERS];

    /* waiting: sched.c, timer.c */
    bool waiting;
    struct proc_wait wait;
    uint64_t deadline_cycles; /* NCU_TIMER_NONE: none */
    bool timed_out;           /* the deadline has passed */
    struct abi_itimer alarm;  /* SIGALRM */

    /* messages */
    struct msg_queue inbox;
    struct reader reader;
    struct message *buffers;         /* that the program has: ngetp, nreadp */
    uint32_t range_low, range_high;  /* nrange */
    const struct message *last_sent; /* of which `monitor` will tell when it is done; NULL: it does */
    struct lost *lost;               /* messages that did not arrive, oldest first: lost.c */
    int32_t lost_status;             /* of one for which there was no memory to note it there; 0: none */
    bool has_lost;                   /* either; the next nwrite looks at them */
    bool long_way;                   /* it has, or messages have a charge: none goes the short way of sys_nwrite */
    struct abi_monitor monitor;

    /* signals: signal.c; bit s is signal s */
    uint32_t sig_pending, sig_caught, sig_ignored, sig_blocked;
    uint32_t sig_before;   /* blocked before sigsuspend, */
    bool sig_suspended;    /* until the handler that ends it is called */
    uint32_t sig_mask[32]; /* blocked, too, while the signal's handler runs */
    uint64_t sig_entry;    /* of the program's dispatcher */

    /* files: file.c, async.c */
    struct file *file[PROC_FILES_MAX]; /* by UFID; NULL: free */
    struct proc_via {
        uint32_t node, channel;
    } via[PROC_VIA_MAX];                   /* iochannel; node 0: free */
    struct async *async;                   /* readstarts and writestarts under way, newest first */
    uint32_t awaited;                      /* sequence of the request that the process waits for, 0: none */
    char path[2][FILE_NAME_MAX_BYTES + 1]; /* of the call being served */
    char *directory;                       /* names begin there; NULL: at "/" */
    struct message *begin;                 /* N_LOAD_BEGIN, held: the volumes are in it */
    const struct load_volume *volume;
    uint32_t volumes;
};

/* proc.c's, for the functions below only. */
extern struct proc *proc_running;
extern struct proc *proc_table[PROCS_MAX]; /* by procid */
extern uint32_t proc_number;

static inline struct proc *proc_current(void) /* the one that runs, or was the last to; NULL: none */
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

void proc_set_current(struct proc *p); /* and its address space */
bool proc_has_job(uint32_t job);       /* a process of it is here; the built-in program is of none */
bool proc_job_has_run(void);           /* since boot */

struct proc_sizes {
    uint64_t stack_bytes;
    uint64_t heap_bytes; /* most; 0: what there is */
    uint64_t comm_bytes; /* kept free for messages; 0: the default */
};

/* A process in state LOADING, its standard files open, its stack promised. NULL: no memory. */
struct proc *proc_new(uint32_t procid, uint32_t job, uint32_t base, uint32_t dim, const struct proc_sizes *sizes);
/* It will run from `entry` with these arguments (strings with their NULs, one after the other).
 * N_E2BIG, N_EPROTO (the text is not argc strings). */
int proc_start(struct proc *p, uint64_t entry, uint32_t argc, const char *arguments, uint32_t bytes);
/* Another process of the same job, a copy of p, which is READY. N_ENOMEM. */
int proc_clone(struct proc *p, uint32_t procid, const struct proc_sizes *sizes);
_Noreturn void proc_run(struct proc *p);

/* Ends the process that runs, as `death` says: closes its files, lets its sends end, and leaves the rest to
 * proc_reap. */
_Noreturn void proc_exit(struct proc *p);
void proc_set_death(struct proc *p, uint32_t how, int32_t status);
/* Ends it because of what it did: p->fault says what, x are x1-x31. */
_Noreturn void proc_fault(struct proc *p, const uint64_t *x);
/* Ends a process, soon; it may be any on this node. Without effect on one that is about to end. */
void proc_kill(struct proc *p, uint32_t how, int32_t status);
void proc_reap(struct proc *p);
/* Ends the process that runs; the program that these messages load then has its place, and its unread messages. Takes
 * them over. It is the only one on its node. */
_Noreturn void proc_become(struct proc *p, struct msg_queue *load);
/* The text is so many strings with their NULs, one after the other. */
bool proc_arguments_are_sound(const char *text, uint32_t bytes, uint32_t count);

/* sched_wait for a process: -N_EINTR when it is to die. */
int proc_wait(struct proc *p, enum ncu_wait why, uint64_t node, uint64_t type);
/* vm_copy_in and vm_copy_out for the process that runs, in pieces between which what is due is handled: a header that
 * waits holds channels on its whole path. -N_EFAULT. */
int proc_copy_in_pieces(struct proc *p, void *to, uint64_t from, uint64_t bytes);
int proc_copy_out_pieces(struct proc *p, uint64_t to, const void *from, uint64_t bytes);

static inline int proc_copy_in(struct proc *p, void *to, uint64_t from, uint64_t bytes)
{
    if (vm_is_short_here(&p->vm, from, bytes) && vm_touch_user(to, (const void *)from, bytes))
        return 0;
    return proc_copy_in_pieces(p, to, from, bytes);
}

static inline int proc_copy_out(struct proc *p, uint64_t to, const void *from, uint64_t bytes)
{
    if (vm_is_short_here(&p->vm, to, bytes) && vm_touch_user((void *)to, from, bytes))
        return 0;
    return proc_copy_out_pieces(p, to, from, bytes);
}

/* A message of that capacity (in pages of its own: `pages`), waiting for memory as long as sends are to give some back.
 * -N_ENOMEM, -N_EINTR. */
int proc_new_message_late(struct proc *p, uint64_t capacity, bool pages, struct message **m);

static inline int proc_new_message(struct proc *p, uint64_t capacity, bool pages, struct message **m)
{
    *m = pages ? msg_new_pages(capacity) : msg_new(capacity);
    return *m ? 0 : proc_new_message_late(p, capacity, pages, m);
}

void proc_wake_for_memory(void);

/* Whether user code may run ahead has changed. */
void proc_update_exact(void);

#endif

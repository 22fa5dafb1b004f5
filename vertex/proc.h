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
 * A node has at most one; `proc_current` is the only way to it, and everything a process owns hangs from struct proc.
 * On an I/O node it is the built-in program, nsdisk, which sees raw node addresses, all message types
 * and the drives.
 */
#ifndef VERTEX_PROC_H
#define VERTEX_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "nsdisk/proto.h"
#include "vertex/abi.h"
#include "vertex/ncu.h"
#include "vertex/queue.h"
#include "vertex/system.h"
#include "vertex/trap.h"
#include "vertex/vm.h"

#define PROC_STACK_PAGES 2u /* kernel stack */
#define PROC_FILES_MAX 256u
#define PROC_VIA_MAX 16u /* I/O nodes with a chosen channel */

enum proc_state { PROC_LOADING, PROC_READY, PROC_RUNNING, PROC_ENDING, PROC_ENDED };

struct file;
struct async;

struct proc {
    /* life */
    enum proc_state state;
    bool killed;             /* N_KILL came; the next return to user mode, or wait, ends it */
    bool builtin;            /* nsdisk */
    uint32_t job;
    struct job_exit exit;    /* when ENDED */
    struct exit_fault fault; /* when it ended by one */
    char exit_text[160];

    /* the subcube */
    uint32_t base;           /* address of logical node 0 */
    uint32_t dim;
    uint32_t logical;        /* own number; of the built-in program: own address */

    /* memory and registers */
    struct vm vm;
    void *stack;             /* kernel stack, PROC_STACK_PAGES */
    struct trap_frame *frame; /* at its top */

    /* messages */
    struct msg_queue inbox;
    uint32_t range_low, range_high;  /* nrange */
    const struct message *last_sent; /* of which `monitor` tells when it is done */
    int32_t send_status;             /* of a send that failed; for the next nwrite */
    struct abi_monitor monitor;

    /* files: file.c, async.c */
    struct file *file[PROC_FILES_MAX]; /* by UFID; NULL: free */
    struct proc_via {
        uint32_t node, channel;
    } via[PROC_VIA_MAX];               /* iochannel; node 0: free */
    struct async *async;               /* readstarts and writestarts under way, newest first */
    char path[2][FILE_NAME_MAX_BYTES + 1]; /* of the call being served */
    struct message *begin;             /* N_LOAD_BEGIN, held: the volumes are in it */
    const struct load_volume *volume;
    uint32_t volumes;
};

struct proc *proc_current(void); /* NULL: none */

/* A process in state LOADING, its standard files open, its stack promised. NULL: no memory. */
struct proc *proc_new(uint32_t job, uint32_t base, uint32_t dim, uint64_t stack_bytes);
/* It will run from `entry` with these arguments (strings with their NULs, one after the other).
 * N_E2BIG, N_EPROTO (the text is not argc strings). */
int proc_start(struct proc *p, uint64_t entry, uint32_t argc, const char *arguments, uint32_t bytes);
_Noreturn void proc_run(struct proc *p);

/* Ends the process that runs: closes its files, lets its sends end, and leaves the rest to proc_reap. */
_Noreturn void proc_exit(struct proc *p, uint32_t how, int32_t status);
/* Ends it because of what it did. */
_Noreturn void proc_fault(struct proc *p, uint64_t scause, uint64_t pc, uint64_t address);
/* Ends a process that does not run yet. */
void proc_abandon(struct proc *p, uint32_t how, int32_t status);
void proc_reap(struct proc *p);
/* The answer to the front end, exactly once per node and job; fault: NULL unless it was one. */
void proc_report_exit(const struct job_exit *exit, const struct exit_fault *fault, const char *text);

/* sched_wait for a process: -N_EINTR when it is to die. */
int proc_wait(struct proc *p, enum ncu_wait why, uint64_t node, uint64_t type);
/* A message of that capacity, waiting for memory as long as sends are to give some back.
 * -N_ENOMEM, -N_EINTR. */
int proc_new_message(struct proc *p, uint64_t capacity, struct message **m);

/* A message arrived that is not for the kernel. Takes it over. */
void proc_deliver(struct message *m);
/* A send is done; m is still the caller's. */
void proc_sent(const struct message *m, const struct ncu_cause *cause);
/* The process sends m, or takes m, for `monitor` to tell. */
void proc_note_sent(struct proc *p, const struct message *m);
void proc_note_taken(struct proc *p, const struct message *m);

#endif

/*
 * fork and wait [P1 section 1.1]. A child is a copy of its parent: memory, signals, working directory, channels; the
 * open files are shared, so that both move one offset, and so are the ends of pipes. Messages, alarms, readstarts and
 * message buffers stay with the parent. The library keeps the registers on the stack that is copied
 * (images/lib/posix/forkentry.S).
 *
 * The child begins in begin_child, on its own kernel stack, once the servers know that it has its parent's files.
 */
#include <stddef.h>

#include "vertex/base/asm.h"
#include "vertex/contract/errors.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

/* ---- The servers ---- */

/* Returns true if an earlier file of p has the same server as this one. */
static bool is_noted(const struct proc *p, uint32_t ufid)
{
    for (uint32_t i = 0; i < ufid; i++)
        if (p->file[i] && !p->file[i]->standard && p->file[i]->node == p->file[ufid]->node)
            return true;
    return false;
}

/* Makes a request for each server of p's files, with the server in `node`: after this, nothing can fail. */
static int make_requests(struct proc *p, uint32_t procid, struct message_queue *requests)
{
    const struct file_request fields = {.mode = procid};
    struct message *m;
    int error = 0;

    for (uint32_t i = 0; i < PROC_FILES_MAX && !error; i++)
        if (p->file[i] && !p->file[i]->standard && !is_noted(p, i)) {
            error = request_new(p, &fields, 0, &m);
            if (!error) {
                m->node = p->file[i]->node;
                m->tag = N_FFORK;
                queue_add(requests, m);
            }
        }
    if (error)
        message_release_all(requests);
    return error;
}

/* A server that does not answer fails every later call on the file, for both. */
static void tell_servers(struct proc *p, struct message_queue *requests, const struct proc *child)
{
    struct message *m;

    while ((m = queue_take_first(requests)))
        if (proc_find(child->procid) == child && !child->killed && !p->killed)
            request_call(p, m, m->node, N_FFORK, NULL);
        else
            message_release(m);
}

/* ---- The child ---- */

/* The child's first steps, where sched_enter resumes it. */
static void begin_child(void)
{
    struct proc *p = proc_current();

    if (p->killed)
        proc_exit(p);
    asm volatile("fence.i" : : : "memory"); /* its text was written by stores */
    trap_enter_program(p->frame);
}

static void prepare_start(struct proc *child)
{
    uint64_t *saved = (uint64_t *)child->frame - ASM_SAVED_BYTES / sizeof(uint64_t);

    saved[0] = (uint64_t)begin_child;
    child->saved_stack = (uint64_t)saved;
    child->frame->a[0] = 0;
    child->state = PROC_RUNNING;
    child->waiting = true;
    child->wait = (struct proc_wait){NCU_WAIT_TIME, NCU_WAIT_ANY, NCU_WAIT_ANY};
}

static void copy_signals(struct proc *child, const struct proc *p)
{
    child->sig_caught = p->sig_caught;
    child->sig_ignored = p->sig_ignored;
    child->sig_blocked = p->sig_blocked;
    copy_bytes(child->sig_mask, p->sig_mask, sizeof p->sig_mask);
    child->sig_entry = p->sig_entry;
}

static struct proc_sizes sizes_of(const struct proc *p)
{
    const struct load_begin *b = (const struct load_begin *)p->begin->payload;

    return (struct proc_sizes){USER_STACK_TOP - p->vm.stack_low, p->vm.heap_bytes, b->comm_bytes};
}

static int make_child(struct proc *p, uint32_t procid)
{
    const struct proc_sizes sizes = sizes_of(p);
    int error = proc_clone(p, procid, &sizes);

    if (error)
        return error;
    struct proc *child = proc_find(procid);
    prepare_start(child);
    error = file_share_all(child, p);
    if (!error)
        error = node_pipe_share_all(child, p);
    if (error) {
        proc_free(child);
        return error;
    }
    vm_move_text(&child->vm);
    copy_signals(child, p);
    copy_bytes(child->via, p->via, sizeof p->via);
    child->replaced = p->replaced;
    child->range_low = p->range_low;
    child->range_high = p->range_high;
    kin_add(procid, p);
    proc_update_exact();
    return 0;
}

/* ---- Calls ---- */

int64_t sys_fork(struct proc *p, const uint64_t *arg)
{
    struct message_queue requests = {0};
    int procid = p->builtin ? -N_EPERM : kin_find_procid(p);

    (void)arg;
    if (procid < 0)
        return procid;
    event_reap(); /* sends that have ended may hold the memory that the copy needs */
    int error = make_requests(p, (uint32_t)procid, &requests);
    if (error)
        return error;
    error = make_child(p, (uint32_t)procid);
    if (error) {
        message_release_all(&requests);
        return error;
    }
    struct proc *child = proc_find((uint32_t)procid);
    tell_servers(p, &requests, child);
    sched_begin_slice(p);
    if (proc_find((uint32_t)procid) == child)
        sched_wake(child);
    return procid;
}

int64_t sys_wait(struct proc *p, const uint64_t *arg)
{
    int32_t wanted = (int32_t)arg[0];
    int64_t result;

    for (;;) {
        result = kin_take_ended(p, wanted);
        if (result != 0)
            return result;
        if (!kin_has_child(p, wanted))
            return -N_ECHILD;
        if (!arg[1])
            return 0;
        if (signal_is_due(p))
            return SYSCALL_AGAIN;
        if (proc_wait(p, NCU_WAIT_CHILD, NCU_WAIT_ANY, NCU_WAIT_ANY) != 0)
            return -N_EINTR;
    }
}

int64_t sys_parent(struct proc *p, const uint64_t *arg)
{
    int32_t parent = kin_parent(p);

    (void)arg;
    return parent == KIN_NONE ? -N_ESRCH : parent;
}

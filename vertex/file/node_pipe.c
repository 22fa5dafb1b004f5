/*
 * The rings of pipes, their ends, and the calls on them (node_pipe.h).
 */
#include "vertex/file/node_pipe.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

#define PIPE_MODE 0010600u

_Static_assert(PROC_FILES_MAX == ABI_PIPE_UFID, "files have the UFIDs below");
_Static_assert(ABI_PIPE_BYTES % PAGE_BYTES == 0, "a ring is whole pages");

struct pipe {
    char *ring;
    uint32_t at, bytes; /* of the ring: the first byte, how many */
    uint32_t open[2];   /* ends, by struct local_end.writes */
    uint32_t number;
    bool used; /* a process has read or written, or tried to */
};

struct local_end {
    struct pipe *pipe;
    uint32_t holders; /* processes */
    bool writes;
    bool direct; /* O_NONBLOCK */
};

static uint32_t last_number RARE_DATA;

/* ---- Tables ---- */

static struct local_end **slot_of(const struct proc *p, uint64_t ufid)
{
    return p->local_end && ufid - PROC_FILES_MAX < NODE_PIPE_ENDS_MAX ? &p->local_end[ufid - PROC_FILES_MAX] : NULL;
}

static struct local_end *end_of(const struct proc *p, uint64_t ufid)
{
    struct local_end **slot = slot_of(p, ufid);

    return slot ? *slot : NULL;
}

static int make_table(struct proc *p)
{
    if (p->local_end)
        return 0;
    p->local_end = kmem_alloc(MEM_PROCESS, NODE_PIPE_ENDS_MAX * sizeof *p->local_end);
    if (!p->local_end)
        return -N_ENOMEM;
    copy_zero(p->local_end, NODE_PIPE_ENDS_MAX * sizeof *p->local_end);
    return 0;
}

static int find_free(const struct proc *p, uint32_t from)
{
    for (uint32_t i = from; i < NODE_PIPE_ENDS_MAX; i++)
        if (!p->local_end[i])
            return (int)i;
    return -N_EMFILE;
}

/* All that wait at pipes: a node has few processes. */
static void wake_all(void)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++) {
        struct proc *p = proc_find(i);

        if (p && p->waiting && (p->wait.why == NCU_WAIT_PIPE || p->wait.why == NCU_WAIT_POLL))
            sched_wake(p);
    }
}

static void pipe_free(struct pipe *pipe)
{
    if (pipe->ring)
        page_free(MEM_PROCESS, pipe->ring, ABI_PIPE_BYTES / PAGE_BYTES);
    kmem_free(MEM_PROCESS, pipe, sizeof *pipe);
}

static void end_release(struct local_end *e)
{
    struct pipe *pipe = e->pipe;

    if (--e->holders > 0)
        return;
    pipe->open[e->writes]--;
    if (pipe->open[false] + pipe->open[true] == 0)
        pipe_free(pipe);
    kmem_free(MEM_PROCESS, e, sizeof *e);
    wake_all();
}

int node_pipe_share_all(struct proc *child, const struct proc *parent)
{
    if (!parent->local_end)
        return 0;
    int error = make_table(child);
    for (uint32_t i = 0; i < NODE_PIPE_ENDS_MAX && !error; i++)
        if (parent->local_end[i]) {
            child->local_end[i] = parent->local_end[i];
            child->local_end[i]->holders++;
        }
    return error;
}

void node_pipe_close_all(struct proc *p)
{
    for (uint32_t i = 0; p->local_end && i < NODE_PIPE_ENDS_MAX; i++)
        if (p->local_end[i])
            end_release(p->local_end[i]);
    if (p->local_end)
        kmem_free(MEM_PROCESS, p->local_end, NODE_PIPE_ENDS_MAX * sizeof *p->local_end);
    p->local_end = NULL;
}

/* ---- Making ---- */

static struct pipe *pipe_new(void)
{
    struct pipe *pipe = kmem_alloc(MEM_PROCESS, sizeof *pipe);

    if (!pipe)
        return NULL;
    *pipe = (struct pipe){.ring = page_alloc(MEM_PROCESS, ABI_PIPE_BYTES / PAGE_BYTES)};
    if (!pipe->ring) {
        pipe_free(pipe);
        return NULL;
    }
    pipe->number = last_number = last_number == INT32_MAX ? 1 : last_number + 1;
    return pipe;
}

static struct local_end *end_new(struct pipe *pipe, bool writes)
{
    struct local_end *e = kmem_alloc(MEM_PROCESS, sizeof *e);

    if (e) {
        *e = (struct local_end){.pipe = pipe, .holders = 1, .writes = writes};
        pipe->open[writes]++;
    }
    return e;
}

/* Makes a pipe with its two ends. -N_ENOMEM. */
static int make(struct local_end *end[2])
{
    struct pipe *pipe = pipe_new();

    if (!pipe)
        return -N_ENOMEM;
    end[0] = end_new(pipe, false);
    end[1] = end[0] ? end_new(pipe, true) : NULL;
    if (end[1])
        return 0;
    if (end[0])
        end_release(end[0]);
    else
        pipe_free(pipe);
    return -N_ENOMEM;
}

int64_t sys_pipe(struct proc *p, const uint64_t *arg)
{
    struct local_end *end[2];
    int32_t ufid[2];

    event_reap(); /* sends that have ended may hold the memory */
    if (make_table(p) != 0)
        return -N_ENOMEM;
    int first = find_free(p, 0), second = first < 0 ? first : find_free(p, (uint32_t)first + 1);
    if (second < 0)
        return second;
    ufid[0] = (int32_t)PROC_FILES_MAX + first;
    ufid[1] = (int32_t)PROC_FILES_MAX + second;
    if (vm_copy_out(&p->vm, arg[0], ufid, sizeof ufid) != 0)
        return -N_EFAULT;
    int error = make(end);
    if (error)
        return error;
    p->local_end[first] = end[0];
    p->local_end[second] = end[1];
    return 0;
}

int64_t node_pipe_close(struct proc *p, const uint64_t *arg)
{
    struct local_end **slot = slot_of(p, arg[0]), *e = slot ? *slot : NULL;

    if (!e)
        return -N_EBADF;
    *slot = NULL;
    end_release(e);
    return 0;
}

/* ---- Reading and writing ---- */

/* Waits for the other end. Returns 0 to test again; else the result of the call, of which `done` bytes are done. */
static int64_t wait_at(struct proc *p, const struct local_end *e, uint64_t done)
{
    if (e->direct)
        return done ? (int64_t)done : -N_EAGAIN;
    if (signal_is_due(p))
        return done ? (int64_t)done : SYSCALL_AGAIN;
    return proc_wait(p, NCU_WAIT_PIPE, e->writes, NCU_WAIT_ANY);
}

/* Copies n bytes between the program and the ring at `at`, round its end. */
static int copy_ring(struct proc *p, struct pipe *pipe, uint32_t at, uint64_t va, uint64_t n, bool writes)
{
    uint64_t first = ABI_PIPE_BYTES - at < n ? ABI_PIPE_BYTES - at : n;
    int error = writes ? proc_copy_in(p, pipe->ring + at, va, first) : proc_copy_out(p, va, pipe->ring + at, first);

    if (error || first == n)
        return error;
    return writes ? proc_copy_in(p, pipe->ring, va + first, n - first)
                  : proc_copy_out(p, va + first, pipe->ring, n - first);
}

static int64_t take(struct proc *p, struct pipe *pipe, uint64_t to, uint64_t bytes)
{
    uint64_t n = bytes < pipe->bytes ? bytes : pipe->bytes;

    if (copy_ring(p, pipe, pipe->at, to, n, false) != 0)
        return -N_EFAULT;
    pipe->at = (pipe->at + n) % ABI_PIPE_BYTES;
    pipe->bytes -= n;
    wake_all();
    return n;
}

int64_t node_pipe_read(struct proc *p, const uint64_t *arg)
{
    struct local_end *e = end_of(p, arg[0]);
    int64_t result = 0;

    if (!e || e->writes)
        return -N_EBADF;
    e->pipe->used = true;
    if (arg[2] == 0)
        return 0;
    while (result == 0) {
        if (e->pipe->bytes > 0)
            return take(p, e->pipe, arg[1], arg[2]);
        if (e->pipe->open[true] == 0)
            return 0;
        result = wait_at(p, e, 0);
    }
    return result;
}

static int64_t put(struct proc *p, struct pipe *pipe, uint64_t from, uint64_t bytes)
{
    uint64_t room = ABI_PIPE_BYTES - pipe->bytes, n = bytes < room ? bytes : room;

    if (copy_ring(p, pipe, (pipe->at + pipe->bytes) % ABI_PIPE_BYTES, from, n, true) != 0)
        return -N_EFAULT;
    pipe->bytes += n;
    wake_all();
    return n;
}

int64_t node_pipe_break_off(struct proc *p, uint64_t done, int64_t error)
{
    if (done)
        return done;
    if (error == -N_EPIPE)
        signal_broken_pipe(p);
    return error;
}

int64_t node_pipe_write(struct proc *p, const uint64_t *arg)
{
    struct local_end *e = end_of(p, arg[0]);
    uint64_t bytes = arg[2], least = bytes <= ABI_PIPE_ATOMIC ? bytes : 1, done = 0;
    int64_t result = 0;

    if (!e || !e->writes)
        return -N_EBADF;
    e->pipe->used = true;
    while (done < bytes) {
        if (e->pipe->open[false] == 0)
            return node_pipe_break_off(p, done, -N_EPIPE);
        if (ABI_PIPE_BYTES - e->pipe->bytes >= least) {
            result = put(p, e->pipe, arg[1] + done, bytes - done);
            if (result < 0)
                return node_pipe_break_off(p, done, result);
            done += result;
        } else if ((result = wait_at(p, e, done)) != 0) {
            return result;
        }
    }
    return done;
}

/* ---- State ---- */

int node_pipe_poll(struct proc *p, uint64_t ufid)
{
    const struct local_end *e = end_of(p, ufid);

    if (!e)
        return -N_EBADF;
    const struct pipe *pipe = e->pipe;
    if (e->writes)
        return (pipe->open[false] == 0 ? ABI_POLL_ERROR : 0) |
               (ABI_PIPE_BYTES - pipe->bytes >= ABI_PIPE_ATOMIC || pipe->open[false] == 0 ? ABI_POLL_OUT : 0);
    return (pipe->bytes > 0 ? ABI_POLL_IN : 0) | (pipe->open[true] == 0 ? ABI_POLL_HANGUP : 0);
}

int64_t node_pipe_fstat(struct proc *p, const uint64_t *arg)
{
    const struct local_end *e = end_of(p, arg[0]);

    if (!e)
        return -N_EBADF;
    const struct file_stat stat = {.size_bytes = e->writes ? 0 : e->pipe->bytes,
                                   .ino = e->pipe->number,
                                   .mode = PIPE_MODE,
                                   .nlink = 1,
                                   .block_bytes = ABI_PIPE_ATOMIC};
    return vm_copy_out(&p->vm, arg[1], &stat, sizeof stat);
}

int64_t node_pipe_refuse(struct proc *p, const uint64_t *arg, int64_t error)
{
    return end_of(p, arg[0]) ? error : -N_EBADF;
}

int64_t sys_pipe_state(struct proc *p, const uint64_t *arg)
{
    struct local_end *e = end_of(p, arg[0]);

    if (!e)
        return -N_EBADF;
    switch (arg[1]) {
    case ABI_PIPE_END:
        return e->writes;
    case ABI_PIPE_UNUSED:
        return !e->pipe->used;
    case ABI_PIPE_NUMBER:
        return e->pipe->number;
    case ABI_PIPE_IS_DIRECT:
        return e->direct;
    case ABI_PIPE_DIRECT:
    case ABI_PIPE_WAITING:
        e->direct = arg[1] == ABI_PIPE_DIRECT;
        return 0;
    default:
        return -N_EINVAL;
    }
}

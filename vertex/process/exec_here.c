/*
 * exec: a program in the caller's place, from the caller's memory, without the front end. The process keeps its procid,
 * parent and children, inbox, alarm, working directory, the signals that it blocks or ignores, and the files and pipes
 * that the library names; the rest of them is closed.
 *
 * The new space is built beside the old one, so that a call that fails changes nothing.
 */
#include <stdbool.h>
#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/ask.h"
#include "vertex/file/async.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/memory/kmem.h"
#include "vertex/process/exec.h"
#include "vertex/process/load.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

#define UFIDS (PROC_FILES_MAX + NODE_PIPE_ENDS_MAX)

struct replacement {
    struct exec_program image;
    char *page;      /* through which the program's bytes go */
    char *arguments; /* of image.program.arg_bytes */
    struct abi_inherited *inherited;
    struct vm space;
};

/* ---- Memory ---- */

static uint64_t inherited_bytes(const struct replacement *r)
{
    return r->image.program.inherited * sizeof *r->inherited;
}

static int allocate(struct replacement *r)
{
    r->page = page_alloc(MEM_PROCESS, 1);
    r->arguments = kmem_alloc(MEM_PROCESS, r->image.program.arg_bytes + 1);
    r->inherited = kmem_alloc(MEM_PROCESS, inherited_bytes(r) + 1);
    return r->page && r->arguments && r->inherited ? 0 : -N_ENOMEM;
}

static void release(struct replacement *r)
{
    if (r->page)
        page_free(MEM_PROCESS, r->page, 1);
    if (r->arguments)
        kmem_free(MEM_PROCESS, r->arguments, r->image.program.arg_bytes + 1);
    if (r->inherited)
        kmem_free(MEM_PROCESS, r->inherited, inherited_bytes(r) + 1);
    if (r->space.root)
        vm_free(&r->space);
}

static int copy_lists(struct proc *p, struct replacement *r)
{
    const struct abi_program *a = &r->image.program;
    int error = proc_copy_in(p, r->arguments, a->arguments, a->arg_bytes);

    return error ? error : proc_copy_in(p, r->inherited, a->inherit, inherited_bytes(r));
}

/* ---- The new space ---- */

static int place_bytes(struct proc *p, struct replacement *r, const struct abi_segment *s)
{
    pte_t rights = s->writable ? PTE_R | PTE_W : PTE_R | PTE_X;
    int error = 0;

    for (uint64_t at = 0, n; at < s->file_bytes && !error; at += n) {
        n = s->file_bytes - at < PAGE_BYTES ? s->file_bytes - at : PAGE_BYTES;
        error = proc_copy_in(p, r->page, s->data + at, n);
        if (!error)
            error = vm_load(&r->space, s->va + at, r->page, n, rights);
    }
    if (!error && s->mem_bytes > s->file_bytes)
        error = vm_add_zero(&r->space, s->va + s->file_bytes, s->va + s->mem_bytes, rights);
    return error;
}

static int build_space(struct proc *p, struct replacement *r)
{
    const struct abi_program *a = &r->image.program;
    int error = proc_make_space(&r->space, a->stack_bytes, a->heap_bytes);

    for (uint32_t i = 0; i < a->segments && !error; i++) {
        const struct abi_segment *s = &r->image.segment[i];

        error = place_bytes(p, r, s);
        load_extend_break(&r->space, s->va + s->mem_bytes);
    }
    return error;
}

/* ---- The change ---- */

static bool is_kept(const struct replacement *r, int32_t ufid)
{
    for (uint32_t i = 0; i < r->image.program.inherited; i++)
        if (r->inherited[i].ufid == ufid)
            return true;
    return false;
}

/* A transfer under way would end in memory that is no more. */
static void close_rest(struct proc *p, const struct replacement *r)
{
    ask_drop_all(p);
    for (uint64_t ufid = 0; ufid < UFIDS && !p->killed; ufid++) {
        if (file_get(p, ufid))
            async_drop(p, ufid);
        if (!is_kept(r, (int32_t)ufid))
            sys_close(p, &ufid);
    }
}

static void reset_signals(struct proc *p)
{
    p->sig_caught = 0;
    p->sig_entry = 0;
}

/* Swaps the spaces, unless the arguments do not fit the new stack; r->space is then the other one. */
static int change_space(struct proc *p, struct replacement *r)
{
    const struct abi_program *a = &r->image.program;
    const struct proc_start start = {.entry = a->entry,
                                     .argc = a->argc,
                                     .arguments = r->arguments,
                                     .bytes = a->arg_bytes,
                                     .inherited = r->inherited,
                                     .n_inherited = a->inherited};
    struct vm old = p->vm;

    p->vm = r->space;
    int error = proc_start(p, &start);
    p->state = PROC_RUNNING;
    if (error) {
        p->vm = old;
        return error;
    }
    r->space = old;
    proc_set_current(p);
    return 0;
}

static int check(const struct proc *p, const struct replacement *r)
{
    bool has_ends = p->pipes && p->pipes->fds > 0 && p->procid == 0;

    if (has_ends || r->image.program.procs != 1)
        return -N_ENOTSUP;
    return r->image.program.inherited > ABI_INHERITED_MAX ? -N_EINVAL : 0;
}

static int replace(struct proc *p, uint64_t address, struct replacement *r)
{
    int error = exec_read_program(p, address, &r->image);

    if (!error)
        error = check(p, r);
    if (error)
        return error;
    event_reap(); /* sends that have ended may hold the memory */
    error = allocate(r);
    if (!error)
        error = copy_lists(p, r);
    if (!error && !proc_arguments_are_sound(r->arguments, r->image.program.arg_bytes, r->image.program.argc))
        error = -N_EINVAL;
    if (!error)
        error = build_space(p, r);
    if (error)
        return error;
    vm_move_text(&r->space);
    return change_space(p, r);
}

int64_t sys_exec(struct proc *p, const uint64_t *arg)
{
    struct replacement r = {.page = NULL};
    int error = replace(p, arg[0], &r);

    if (!error) {
        p->replaced = true;
        proc_free_buffers(p);
        reset_signals(p);
        proc_update_exact();
        close_rest(p, &r);
    }
    release(&r);
    if (error)
        return error;
    if (p->killed)
        proc_exit(p);
    proc_run(p);
}

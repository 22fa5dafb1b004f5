/*
 * The life of a process: how it begins, and its waits (proc.h). How it ends is in proc_end.c.
 */
#include "vertex/process/proc.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/message/charge.h"
#include "vertex/message/delivery.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"

#define COPY_PIECE_BYTES 2048u /* takes 0.1 ms, half of which a header waits on average */

_Static_assert(offsetof(struct proc, death) == PROC_DEATH_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, inbox.first) == PROC_INBOX_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, inbox.count) == PROC_INBOX_COUNT_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, monitor.recv_start_cycles) == PROC_READ_SENT_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, call) == PROC_CALL_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, vm.root) == PROC_ROOT_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, replaced) == PROC_REPLACED_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, successor.first) == PROC_SUCCESSOR_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, file) == PROC_FILES_OFFSET && PROC_FILES == PROC_FILES_MAX, "system.h");
_Static_assert(offsetof(struct message, link[QUEUE_ARRIVAL].next) == 0, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, bytes) == MESSAGE_BYTES_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, tag) == MESSAGE_TAG_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, node) == MESSAGE_NODE_OFFSET, "vertex/contract/system.h");

struct proc *proc_running;
struct proc *proc_table[PROCS_MAX];
uint32_t proc_number;

void proc_set_current(struct proc *p)
{
    proc_running = p;
    vm_activate(p ? &p->vm : NULL);
}

bool proc_has_job(uint32_t job_number)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (proc_table[i] && !proc_table[i]->builtin && proc_table[i]->job == job_number)
            return true;
    return false;
}

/* A program can see where an interrupt falls if another process, or a handler, starts there. A handler of SIGIO takes
 * messages, so it must not wait for the end of a quantum. */
void proc_update_exact(void)
{
    uint32_t caught = 0;

    for (uint32_t i = 0; i < PROCS_MAX; i++)
        caught |= proc_table[i] ? proc_table[i]->sig_caught : 0;
    if (caught & 1u << SIGNAL_IO)
        MAILBOX->exact = NCU_EXACT_AT_ONCE;
    else
        MAILBOX->exact = caught || proc_count() > 1 ? NCU_EXACT_IN_QUANTA : NCU_EXACT_NOT;
}

/* ---- Beginning ---- */

int proc_make_space(struct vm *vm, uint64_t stack_bytes, uint64_t heap_bytes)
{
    if (vm_init(vm) != 0)
        return -N_ENOMEM;
    vm->stack_low = USER_STACK_TOP - PAGE_ROUND_UP(stack_bytes);
    vm->break_low = vm->break_now = USER_TEXT_VA;
    vm->heap_bytes = heap_bytes ? heap_bytes : UINT64_MAX;
    return vm_add_zero(vm, vm->stack_low, USER_STACK_TOP, PTE_R | PTE_W);
}

static int build(struct proc *p, const struct proc_sizes *sizes)
{
    p->stack = page_alloc(MEM_PROCESS, PROC_STACK_PAGES);
    if (!p->stack)
        return -N_ENOMEM;
    p->frame = (struct trap_frame *)((char *)p->stack + PROC_STACK_PAGES * PAGE_BYTES) - 1;
    int error = proc_make_space(&p->vm, sizes->stack_bytes, sizes->heap_bytes);
    return error ? error : file_open_standard(p);
}

void proc_free_buffers(struct proc *p)
{
    while (p->buffers) {
        struct message *m = p->buffers;

        p->buffers = m->next;
        message_release(m);
    }
}

void proc_free(struct proc *p)
{
    if (p->builtin)
        message_unreserve();
    delivery_drop_inbox(p);
    proc_free_buffers(p);
    file_free_all(p);
    node_pipe_close_all(p);
    if (p->vm.root)
        vm_free(&p->vm);
    if (p->stack)
        page_free(MEM_PROCESS, p->stack, PROC_STACK_PAGES);
    if (p->begin)
        message_release(p->begin);
    proc_table[p->procid] = NULL;
    proc_number--;
    kmem_free(MEM_PROCESS, p, sizeof *p);
    proc_update_exact();
}

struct proc *proc_new(uint32_t procid, uint32_t job_number, const struct proc_place *place,
                      const struct proc_sizes *sizes)
{
    struct proc *p = kmem_alloc(MEM_PROCESS, sizeof *p);

    if (!p)
        return NULL;
    copy_zero(p, sizeof *p);
    page_keep(sizes->comm_bytes);
    p->state = PROC_LOADING;
    p->procid = procid;
    p->job = job_number;
    p->base = place->base;
    p->dim = place->dim;
    p->nodes = (1u << place->dim) - place->idle;
    p->whole_dim = place->idle ? place->dim - 1 : place->dim;
    p->procs = 1;
    p->logical = MAILBOX->node - place->base;
    p->range_high = 0xffff;
    p->reader.short_bytes = -1;
    p->long_way = charge_is_due();
    p->deadline_cycles = p->alarm.at_cycles = NCU_TIMER_NONE;
    proc_table[procid] = p;
    proc_number++;
    proc_update_exact();
    if (build(p, sizes) != 0) {
        proc_free(p);
        return NULL;
    }
    delivery_give_early(p);
    return p;
}

int proc_clone(struct proc *p, uint32_t procid, const struct proc_sizes *sizes)
{
    const struct proc_place place = {p->base, p->dim, (1u << p->dim) - p->nodes};
    struct proc *copy = proc_new(procid, p->job, &place, sizes);

    if (!copy)
        return -N_ENOMEM;
    copy->begin = p->begin;
    copy->begin->holds++;
    copy->pipes = p->pipes;
    copy->volume = p->volume;
    copy->volumes = p->volumes;
    copy->striped_bytes = p->striped_bytes;
    copy->procs = p->procs;
    *copy->frame = *p->frame;
    int error = vm_copy(&copy->vm, &p->vm);
    if (error)
        proc_free(copy);
    else
        copy->state = PROC_READY;
    return error;
}

bool proc_arguments_are_sound(const char *text, uint32_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < bytes; i++)
        count -= text[i] == '\0';
    return count == 0 && (bytes == 0 || text[bytes - 1] == '\0');
}

/* argv[0..argc-1] and NULL at `argv`; the strings lie at `strings`. */
static int write_argv(struct proc *p, uint64_t argv, uint64_t strings, uint32_t argc, const char *text)
{
    uint64_t pointer = strings, at = argv;

    for (uint32_t i = 0; i <= argc; i++, at += sizeof pointer) {
        if (i == argc)
            pointer = 0;
        int error = vm_copy_out(&p->vm, at, &pointer, sizeof pointer);
        if (error)
            return error;
        while (i < argc && (pointer++, *text++))
            ;
    }
    return 0;
}

/* Sets *head, and returns how many bytes of descriptors and paths the program gets with it: none by exec, whose image
 * is without the driver of pipes. */
static uint64_t give_pipes(const struct proc *p, const struct proc_start *start, struct load_pipes *head)
{
    *head = *p->pipes;
    if (!start->inherited)
        return ((const struct load_begin *)p->begin->payload)->pipes_bytes;
    head->has_driver = head->fds = head->path_bytes = 0;
    return sizeof *head;
}

int proc_start(struct proc *p, const struct proc_start *start)
{
    const uint32_t argc = start->argc, bytes = start->bytes;
    const uint64_t inherited_bytes = start->n_inherited * sizeof *start->inherited;
    uint64_t strings = (USER_STACK_TOP - bytes) & ~15ull;
    uint64_t argv = (strings - (argc + 1ull) * sizeof(uint64_t)) & ~15ull;
    struct load_pipes head;
    uint64_t pipes_bytes = p->pipes ? give_pipes(p, start, &head) : 0;
    uint64_t pipes = p->pipes ? (argv - pipes_bytes) & ~15ull : 0, sp = p->pipes ? pipes : argv;
    uint64_t inherited = start->inherited ? (sp - inherited_bytes) & ~15ull : 0;

    if (inherited)
        sp = inherited;
    if (!proc_arguments_are_sound(start->arguments, bytes, argc))
        return -N_EPROTO;
    if (sp < p->vm.stack_low + (USER_STACK_TOP - p->vm.stack_low) / 2)
        return -N_E2BIG;
    int error = vm_copy_out(&p->vm, strings, start->arguments, bytes);
    if (!error)
        error = write_argv(p, argv, strings, argc, start->arguments);
    if (!error && pipes)
        error = vm_copy_out(&p->vm, pipes, &head, sizeof head);
    if (!error && pipes)
        error = vm_copy_out(&p->vm, pipes + sizeof head, p->pipes + 1, pipes_bytes - sizeof head);
    if (!error && inherited)
        error = vm_copy_out(&p->vm, inherited, start->inherited, inherited_bytes);
    if (error)
        return error;
    *p->frame =
        (struct trap_frame){.pc = start->entry, .sp = sp, .a = {argc, argv, pipes, inherited, start->n_inherited}};
    p->state = PROC_READY;
    return 0;
}

/* The program's text was written by stores: fence.i drops the old instructions. */
void proc_run(struct proc *p)
{
    p->state = PROC_RUNNING;
    proc_set_current(p);
    asm volatile("fence.i" : : : "memory");
    event_reap(); /* the load's buffers, if it was passed on */
    trap_enter_program(p->frame);
}

/* ---- Waiting ---- */

int proc_wait(struct proc *p, enum ncu_wait why, uint64_t node, uint64_t type)
{
    if (!p->killed)
        sched_wait(why, node, type);
    return p->killed ? -N_EINTR : 0;
}

/* Out of line, which keeps the loop below short of registers to save. */
static RARE int copy_piece(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    return vm_copy_user(vm, kernel, va, bytes, right);
}

RARE int proc_copy_pieces(struct proc *p, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    int error = 0;

    for (uint64_t at = 0, n; at < bytes && !error; at += n) {
        n = bytes - at < COPY_PIECE_BYTES ? bytes - at : COPY_PIECE_BYTES;
        error = copy_piece(&p->vm, (char *)kernel + at, va + at, n, right);
        if (at + n < bytes)
            event_fetch();
    }
    return error;
}

/* The built-in program always gets memory for a message, as all of its clients wait for it. */
static struct message *new_message(const struct proc *p, uint64_t capacity, bool pages)
{
    struct message *m = pages ? message_new_pages(capacity) : message_new(capacity);

    return m || !p->builtin ? m : message_use_reserved(capacity);
}

RARE int proc_new_message_late(struct proc *p, uint64_t capacity, bool pages, struct message **m)
{
    while (!(*m = new_message(p, capacity, pages))) {
        if (!sends_under_way())
            return -N_ENOMEM;
        sched_wait_for_sends();
        if (p->killed)
            return -N_EINTR;
    }
    return 0;
}

void proc_wake_for_memory(void)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (proc_table[i] && proc_table[i]->waiting && proc_table[i]->wait.why == NCU_WAIT_MEMORY)
            sched_wake(proc_table[i]);
}

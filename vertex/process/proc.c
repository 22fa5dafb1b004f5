/*
 * The life of a process, from proc_new to proc_reap (proc.h).
 */
#include "vertex/process/proc.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/csr.h"
#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/file/drive_traps.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/charge.h"
#include "vertex/message/delivery.h"
#include "vertex/message/lost.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/load.h"
#include "vertex/process/report.h"
#include "vertex/process/returns.h"
#include "vertex/shared/text.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/timer.h"

#define NO_JOB           UINT32_MAX
#define COPY_PIECE_BYTES 2048u /* takes 0.1 ms, half of which a header waits on average */

_Static_assert(offsetof(struct proc, death) == PROC_DEATH_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, inbox.first) == PROC_INBOX_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, inbox.count) == PROC_INBOX_COUNT_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, successor.first) == PROC_SUCCESSOR_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct proc, file) == PROC_FILES_OFFSET && PROC_FILES == PROC_FILES_MAX, "system.h");
_Static_assert(offsetof(struct message, link[QUEUE_ARRIVAL].next) == 0, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, bytes) == MESSAGE_BYTES_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, tag) == MESSAGE_TAG_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct message, node) == MESSAGE_NODE_OFFSET, "vertex/contract/system.h");

struct proc *proc_running;
struct proc *proc_table[PROCS_MAX];
uint32_t proc_number;
static bool job_has_run;

static struct { /* the worst end of the processes of the job that have ended */
    struct job_exit exit;
    struct exit_fault fault;
    char text[sizeof proc_running->exit_text];
} job = {.exit.job = NO_JOB};
static struct { /* the fault with what follows it in N_EXIT; not in `job`, whose bytes the boot copies */
    struct exit_fault fault;
    struct exit_return returns[EXIT_RETURNS_MOST];
} told __attribute__((section(".bss.told"))); /* behind the others, whose distances stay as they are */

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

bool proc_job_has_run(void)
{
    return job_has_run;
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

static void check_memory(void)
{
    if (page_owned(MEM_PROCESS) || kmem_owned(MEM_PROCESS))
        panic("process: %u pages and %lu bytes are left over", page_owned(MEM_PROCESS), kmem_owned(MEM_PROCESS));
}

static void check_messages(void)
{
    event_reap();
    if (job_has_run && !sends_under_way() && !report_is_kept() && channels_other_messages() > 0)
        panic("process: %u messages are left over", channels_other_messages());
}

static void free_all(struct proc *p)
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
        free_all(p);
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
        free_all(copy);
    else
        copy->state = PROC_READY;
    return error;
}

void proc_discard(struct proc *p)
{
    free_all(p);
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

/* ---- Ending ---- */

void proc_set_death(struct proc *p, uint32_t how, int32_t status)
{
    p->death = (struct job_exit){.job = p->job, .node = p->logical, .status = status, .how = how};
}

void proc_kill(struct proc *p, uint32_t how, int32_t status)
{
    if (p->killed || p->state == PROC_ENDING || p->state == PROC_ENDED)
        return;
    proc_set_death(p, how, status);
    if (p->state == PROC_RUNNING) {
        p->killed = true;
        trap_attention = true;
        sched_wake(p);
    } else {
        p->state = PROC_ENDED;
    }
}

static void await_sends(const struct proc *p)
{
    while (sends_of(p->procid))
        sched_wait_for_sends();
}

/* The messages in the inbox are freed unless a successor reads them. Their memory lets waiting messages arrive, those
 * that this process has sent to itself included. */
void proc_exit(struct proc *p)
{
    p->state = PROC_ENDING;
    p->killed = false;
    p->alarm.at_cycles = NCU_TIMER_NONE;
    timer_clear(p);
    while (p->reader.state == READER_LANDING)
        sched_wait(NCU_WAIT_MESSAGE, NCU_WAIT_ANY, NCU_WAIT_ANY);
    if (!p->successor.first)
        delivery_drop_inbox(p);
    node_pipe_close_all(p);
    file_close_all(p);
    await_sends(p);
    lost_pay(p);
    await_sends(p);
    lost_end(p);
    p->state = PROC_ENDED;
    sched_restart();
}

static const char *const fault_names[] = {
    [SCAUSE_FETCH_MISALIGNED] = "misaligned jump",
    [SCAUSE_FETCH_ACCESS] = "jump outside memory",
    [SCAUSE_ILLEGAL] = "illegal instruction",
    [SCAUSE_BREAKPOINT] = "breakpoint",
    [SCAUSE_LOAD_MISALIGNED] = "misaligned load",
    [SCAUSE_LOAD_ACCESS] = "load outside memory",
    [SCAUSE_STORE_MISALIGNED] = "misaligned store",
    [SCAUSE_STORE_ACCESS] = "store outside memory",
    [SCAUSE_FETCH_PAGE] = "jump to an address that is not program text",
    [SCAUSE_LOAD_PAGE] = "load from an address that is not mapped",
    [SCAUSE_STORE_PAGE] = "store to an address that is not writable",
};

static bool is_stack_overflow(const struct vm *vm, uint64_t scause, uint64_t address)
{
    return (scause == SCAUSE_LOAD_PAGE || scause == SCAUSE_STORE_PAGE) && address < vm->stack_low &&
           address >= vm->stack_low - VM_GUARD_BYTES;
}

static const char *fault_name(const struct vm *vm, uint64_t scause, uint64_t address)
{
    uint64_t known = sizeof fault_names / sizeof fault_names[0];

    if (is_stack_overflow(vm, scause, address))
        return scause == SCAUSE_LOAD_PAGE ? "load below the stack (stack overflow)"
                                          : "store below the stack (stack overflow)";
    return scause < known && fault_names[scause] ? fault_names[scause] : "unknown trap";
}

void proc_fault(struct proc *p, const uint64_t *x)
{
    const struct exit_fault *f = &p->fault;

    copy_bytes(p->fault.x, x, sizeof p->fault.x);
    text_print(p->exit_text, sizeof p->exit_text, "node %u (address 0x%x): %s, pc 0x%lx, address 0x%lx", p->logical,
               MAILBOX->node, fault_name(&p->vm, f->cause, f->address), f->pc, f->address);
    proc_set_death(p, EXIT_FAULT, 1);
    if (p->builtin)
        disk_drop_all(); /* an nsdisk that exits by itself has no commands under way */
    proc_exit(p);
}

static bool is_worse(const struct job_exit *a, const struct job_exit *b)
{
    static const uint8_t rank[] = {
        [EXIT_NORMAL] = 0, [EXIT_KILLED] = 1, [EXIT_SIGNAL] = 2, [EXIT_FAULT] = 3, [EXIT_LOAD] = 4};

    return rank[a->how] != rank[b->how] ? rank[a->how] > rank[b->how] : a->status > b->status;
}

/* After a bad end. Of the faults, the first is kept; its stack is still there. */
static RARE void end_others(struct proc *p)
{
    if (p->death.how == EXIT_FAULT && job.fault.returns == 0)
        job.fault.returns = returns_find(&p->vm, job.fault.x[1], told.returns);
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (proc_table[i])
            proc_kill(proc_table[i], EXIT_KILLED, 0);
}

/* Keeps the worst way to end, or for equal ways the highest status. A fault ends the job's other processes on this
 * node; the front end ends those on other nodes. */
static void add_to_job(struct proc *p)
{
    if (job.exit.job != p->job || is_worse(&p->death, &job.exit)) {
        job.exit = p->death;
        job.fault = p->fault;
        copy_bytes(job.text, p->exit_text, sizeof job.text);
    }
    if (p->death.how != EXIT_NORMAL)
        end_others(p);
}

void proc_become(struct proc *p, struct message_queue *messages)
{
    p->successor = *messages;
    proc_set_death(p, EXIT_NORMAL, 0);
    proc_exit(p);
}

static RARE const struct exit_fault *tell_fault(void)
{
    told.fault = job.fault;
    return &told.fault;
}

/* If the load fails, load.c reports that to the front end, and the early messages have no reader. */
static void replace(struct proc *p)
{
    struct message_queue messages = p->successor;

    delivery_leave_inbox(p);
    kin_forget_all(); /* it is alone, and nobody will wait for its children */
    free_all(p);
    check_memory();
    load_here(&messages);
    if (proc_count() == 0)
        delivery_drop_early();
}

void proc_reap(struct proc *p)
{
    bool builtin = p->builtin;

    proc_set_current(NULL);
    job_has_run = true;
    if (p->successor.first) {
        replace(p);
        return;
    }
    if (!kin_end(p))
        add_to_job(p);
    free_all(p);
    if (proc_count() > 0)
        return;
    kin_forget_all();
    check_memory();
    check_messages();
    if (!builtin || job.exit.how != EXIT_NORMAL || job.exit.status != 0)
        report_exit(&job.exit, job.exit.how == EXIT_FAULT ? tell_fault() : NULL, job.text);
    job.exit.job = NO_JOB;
    page_keep(0);
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

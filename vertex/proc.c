#include "vertex/proc.h"

#include <stddef.h>

#include "nsdisk/errors.h"
#include "vertex/console.h"
#include "vertex/copy.h"
#include "vertex/csr.h"
#include "vertex/file.h"
#include "vertex/kmem.h"
#include "vertex/msg.h"
#include "vertex/request.h"
#include "vertex/sched.h"
#include "vertex/text.h"

static struct proc *current;

/* Messages that overtook the load of the process they are for. Once a job has run here, what comes without a
 * process is late, not early, and is dropped. */
static struct msg_queue early;
static bool job_has_run;

struct proc *proc_current(void)
{
    return current;
}

/* ---- Beginning ---- */

static int build(struct proc *p, uint64_t stack_bytes)
{
    uint64_t stack = PAGE_ROUND_UP(stack_bytes);

    p->stack = page_alloc(MEM_PROCESS, PROC_STACK_PAGES);
    if (!p->stack || vm_init(&p->vm) != 0)
        return -N_ENOMEM;
    p->frame = (struct trap_frame *)((char *)p->stack + PROC_STACK_PAGES * PAGE_BYTES) - 1;
    p->vm.stack_low = USER_STACK_TOP - stack;
    p->vm.break_low = p->vm.break_now = USER_TEXT_VA;
    int error = vm_add_zero(&p->vm, p->vm.stack_low, USER_STACK_TOP, PTE_R | PTE_W);
    return error ? error : file_open_standard(p);
}

static void free_all(struct proc *p)
{
    struct message *m;

    while ((m = queue_take_first(&p->inbox)))
        msg_release(m);
    file_free_all(p);
    if (p->vm.root)
        vm_free(&p->vm);
    if (p->stack)
        page_free(MEM_PROCESS, p->stack, PROC_STACK_PAGES);
    if (p->begin)
        msg_release(p->begin);
    kmem_free(MEM_PROCESS, p, sizeof *p);
    if (page_owned(MEM_PROCESS) || kmem_owned(MEM_PROCESS))
        panic("process: %u pages and %lu bytes are left over", page_owned(MEM_PROCESS), kmem_owned(MEM_PROCESS));
}

struct proc *proc_new(uint32_t job, uint32_t base, uint32_t dim, uint64_t stack_bytes)
{
    struct proc *p = kmem_alloc(MEM_PROCESS, sizeof *p);

    if (!p)
        return NULL;
    copy_zero(p, sizeof *p);
    p->state = PROC_LOADING;
    p->job = job;
    p->base = base;
    p->dim = dim;
    p->logical = MAILBOX->node - base;
    p->range_high = N_TYPE_USER_MAX;
    if (build(p, stack_bytes) != 0) {
        free_all(p);
        return NULL;
    }
    p->inbox = early;
    early = (struct msg_queue){0};
    current = p;
    return p;
}

static bool is_list_of_strings(const char *text, uint32_t bytes, uint32_t count)
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

int proc_start(struct proc *p, uint64_t entry, uint32_t argc, const char *arguments, uint32_t bytes)
{
    uint64_t strings = (USER_STACK_TOP - bytes) & ~15ull;
    uint64_t argv = (strings - (argc + 1ull) * sizeof(uint64_t)) & ~15ull;

    if (!is_list_of_strings(arguments, bytes, argc))
        return -N_EPROTO;
    if (argv < p->vm.stack_low + (USER_STACK_TOP - p->vm.stack_low) / 2)
        return -N_E2BIG;
    int error = vm_copy_out(&p->vm, strings, arguments, bytes);
    if (!error)
        error = write_argv(p, argv, strings, argc, arguments);
    if (error)
        return error;
    *p->frame = (struct trap_frame){.pc = entry, .sp = argv, .a = {argc, argv}};
    p->state = PROC_READY;
    return 0;
}

/* The program's text was written by stores: no old instruction may be left. */
void proc_run(struct proc *p)
{
    p->state = PROC_RUNNING;
    vm_activate(&p->vm);
    asm volatile("fence.i" : : : "memory");
    trap_enter_program(p->frame);
}

/* ---- Ending ---- */

static void record_exit(struct proc *p, uint32_t how, int32_t status)
{
    p->exit = (struct job_exit){.job = p->job, .node = p->logical, .status = status, .how = how};
    p->state = PROC_ENDED;
}

void proc_abandon(struct proc *p, uint32_t how, int32_t status)
{
    record_exit(p, how, status);
}

/* What is queued is of no more use; its room lets senders go on, this process's own sends included. */
static void drop_inbox(struct proc *p)
{
    struct message *m;

    while ((m = queue_take_first(&p->inbox)))
        msg_release(m);
}

/* There is no next nwrite to return it. */
static void tell_lost_message(const struct proc *p)
{
    if (p->send_status)
        console_print("the last messages of the program did not all arrive: error %d", -p->send_status);
}

void proc_exit(struct proc *p, uint32_t how, int32_t status)
{
    p->state = PROC_ENDING;
    p->killed = false;
    drop_inbox(p);
    file_close_all(p);
    while (msg_sends_under_way())
        sched_wait(NCU_WAIT_MEMORY, NCU_WAIT_ANY, NCU_WAIT_ANY);
    tell_lost_message(p);
    record_exit(p, how, status);
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

static void record_fault(struct proc *p, uint64_t scause, uint64_t address)
{
    const struct trap_frame *f = p->frame;

    p->fault = (struct exit_fault){.pc = f->pc, .address = address, .cause = scause, .ra = f->ra, .sp = f->sp};
    copy_bytes(p->fault.t, f->t, sizeof f->t);
    copy_bytes(p->fault.a, f->a, sizeof f->a);
}

void proc_fault(struct proc *p, uint64_t scause, uint64_t pc, uint64_t address)
{
    text_print(p->exit_text, sizeof p->exit_text, "node %u (address 0x%x): %s, pc 0x%lx, address 0x%lx", p->logical,
               MAILBOX->node, fault_name(&p->vm, scause, address), pc, address);
    record_fault(p, scause, address);
    proc_exit(p, EXIT_FAULT, 1);
}

static uint32_t text_length(const char *text)
{
    uint32_t n = 0;

    while (text[n])
        n++;
    return n;
}

void proc_report_exit(const struct job_exit *exit, const struct exit_fault *fault, const char *text)
{
    uint32_t n = text_length(text), fault_bytes = fault ? sizeof *fault : 0;
    struct message *m = msg_new(sizeof *exit + fault_bytes + n);

    if (!m)
        panic("no memory to report an exit: %u pages free", page_free_count());
    m->bytes = sizeof *exit + fault_bytes + n;
    copy_bytes(m->payload, exit, sizeof *exit);
    copy_bytes((char *)m->payload + sizeof *exit, fault, fault_bytes);
    copy_bytes((char *)m->payload + sizeof *exit + fault_bytes, text, n);
    msg_post(m, NODE_HOST, TAG(N_EXIT, 0, 0));
}

static void report_builtin(const struct job_exit *exit, const char *text)
{
    if (exit->how == EXIT_FAULT)
        console_print("the built-in program is lost: %s", text);
    else if (exit->status != 0)
        console_print("the built-in program has ended with status %d", exit->status);
}

void proc_reap(struct proc *p)
{
    struct job_exit exit = p->exit;
    bool builtin = p->builtin;
    struct exit_fault fault = p->fault;
    char text[sizeof p->exit_text];

    copy_bytes(text, p->exit_text, sizeof text);
    vm_activate(NULL);
    current = NULL;
    job_has_run = true;
    free_all(p);
    if (builtin)
        report_builtin(&exit, text);
    else
        proc_report_exit(&exit, exit.how == EXIT_FAULT ? &fault : NULL, text);
}

/* ---- Waiting ---- */

int proc_wait(struct proc *p, enum ncu_wait why, uint64_t node, uint64_t type)
{
    if (!p->killed)
        sched_wait(why, node, type);
    return p->killed ? -N_EINTR : 0;
}

int proc_new_message(struct proc *p, uint64_t capacity, struct message **m)
{
    while (!(*m = msg_new(capacity))) {
        if (!msg_sends_under_way())
            return -N_ENOMEM;
        int error = proc_wait(p, NCU_WAIT_MEMORY, NCU_WAIT_ANY, NCU_WAIT_ANY);
        if (error)
            return error;
    }
    return 0;
}

/* ---- Messages in and out ---- */

static bool wanted(const struct proc *p, const struct message *m)
{
    return p->state != PROC_ENDING && p->state != PROC_ENDED ? true : TAG_TYPE(m->tag) == N_REPLY(N_FEXIT);
}

void proc_deliver(struct message *m)
{
    if (current && wanted(current, m))
        queue_add(&current->inbox, m);
    else if (!current && NODE_IS_IO(MAILBOX->node))
        request_refuse(m);
    else if (!current && !job_has_run)
        queue_add(&early, m);
    else
        msg_release(m);
}

void proc_note_sent(struct proc *p, const struct message *m)
{
    p->last_sent = m;
    p->monitor.sent_start_cycles = 0;
    p->monitor.sent_done_cycles = 0;
    p->monitor.sent_bytes = m->bytes + 8;
}

void proc_note_taken(struct proc *p, const struct message *m)
{
    p->monitor.recv_start_cycles = m->start_cycles;
    p->monitor.recv_done_cycles = m->done_cycles;
    p->monitor.recv_bytes = m->bytes + 8;
}

static int32_t error_of_status(int32_t status)
{
    return status == NCU_EDEST || status == NCU_ELINK ? -N_EHOSTUNREACH : -N_EIO;
}

void proc_sent(const struct message *m, const struct ncu_cause *cause)
{
    struct proc *p = current;

    if (!p)
        return;
    if (p->last_sent == m) {
        p->monitor.sent_start_cycles = cause->start_cycles;
        p->monitor.sent_done_cycles = cause->done_cycles;
    }
    if (cause->status == NCU_OK)
        return;
    if (request_is(m))
        request_failed(p, m, error_of_status(cause->status));
    else
        p->send_status = error_of_status(cause->status);
}

/*
 * How a process ends, from proc_exit to proc_reap, and what the front end is told when the last one of its job here has
 * (proc.h).
 */
#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/csr.h"
#include "vertex/base/panic.h"
#include "vertex/file/drive_traps.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/channels.h"
#include "vertex/message/delivery.h"
#include "vertex/message/lost.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/load.h"
#include "vertex/process/proc.h"
#include "vertex/process/report.h"
#include "vertex/process/returns.h"
#include "vertex/shared/text.h"
#include "vertex/trap/event.h"
#include "vertex/trap/timer.h"

#define NO_JOB UINT32_MAX

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

bool proc_job_has_run(void)
{
    return job_has_run;
}

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

/* If the load fails, load.c reports that to the front end, and the early messages have no reader. */
static void replace(struct proc *p)
{
    struct message_queue messages = p->successor;

    delivery_leave_inbox(p);
    kin_forget_all(); /* it is alone, and nobody will wait for its children */
    proc_free(p);
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
    proc_free(p);
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

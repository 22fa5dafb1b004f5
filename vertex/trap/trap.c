/*
 * Traps from a program, from entry.S to the way back (trap.h).
 */
#include "vertex/trap/trap.h"

#include <stddef.h>

#include "vertex/base/asm.h"
#include "vertex/base/attr.h"
#include "vertex/base/csr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/memory/vm.h"
#include "vertex/message/channels.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

_Static_assert(SSTATUS_SPP == ASM_STATUS_SPP, "entry.S");
_Static_assert(SCAUSE_ECALL_U == ASM_CAUSE_ECALL, "entry.S");
_Static_assert(NCU_ENTER == ASM_NCU_ENTER, "entry.S");
_Static_assert(VERTEX_WINDOW_VA + NCU_MAILBOX_PA == (uint64_t)ASM_MAILBOX_PAGE << 12, "entry.S");
_Static_assert(offsetof(struct ncu_mailbox, ans) == ASM_MAILBOX_ANSWER, "entry.S");
_Static_assert(NCU_LEAVE == ASM_NCU_LEAVE, "entry.S");
_Static_assert(offsetof(struct trap_frame, pc) == ASM_FRAME_PC, "entry.S");
_Static_assert(offsetof(struct trap_frame, ra) == ASM_FRAME_RA, "entry.S");
_Static_assert(offsetof(struct trap_frame, sp) == ASM_FRAME_SP, "entry.S");
_Static_assert(offsetof(struct trap_frame, t) == ASM_FRAME_T, "entry.S");
_Static_assert(offsetof(struct trap_frame, a) == ASM_FRAME_A, "entry.S");
_Static_assert(offsetof(struct trap_frame, a) == FRAME_ARGUMENTS_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct trap_frame, ra) == FRAME_RETURN_OFFSET, "vertex/contract/system.h");
_Static_assert(offsetof(struct trap_frame, sp) == FRAME_RETURN_OFFSET + 8, "vertex/contract/system.h");
_Static_assert(offsetof(struct trap_frame, pc) == 0, "vertex/contract/system.h");
_Static_assert(sizeof(struct trap_frame) == FRAME_BYTES, "vertex/contract/system.h");
_Static_assert(sizeof((struct exit_fault){0}.x) <= ASM_FAULT_BYTES && ASM_FAULT_BYTES % 16 == 0, "entry.S");
_Static_assert(sizeof(struct trap_frame) == ASM_FRAME_BYTES && ASM_FRAME_BYTES % 16 == 0, "entry.S");

extern void trap_entry(void);
extern void trap_fault(void);
/* Called by entry.S. */
void trap_due(void);
/* Handles a system call. Returns true if the program must get all registers from the frame, not only the results'. */
bool trap_call(struct trap_frame *frame);
void trap_exception(struct trap_frame *frame);
void trap_interrupt(void);
_Noreturn void trap_with_registers(const uint64_t *x);
_Noreturn void trap_from_kernel(void);

void trap_init(void)
{
    csr_write(sscratch, 0);
    csr_write(stvec, (uint64_t)trap_entry);
    csr_write(sie, INTERRUPT_SSI);
    csr_clear(sstatus, SSTATUS_SPP);
}

static pte_t faulting_right(uint64_t scause)
{
    switch (scause) {
    case SCAUSE_FETCH_PAGE:
        return PTE_X;
    case SCAUSE_LOAD_PAGE:
        return PTE_R;
    case SCAUSE_STORE_PAGE:
        return PTE_W;
    default:
        return 0;
    }
}

/* Returns false if the exception ends the process. */
static bool handle_exception(struct proc *p, uint64_t scause, uint64_t address)
{
    pte_t right = faulting_right(scause);

    return (right && vm_fault(&p->vm, address, right) == 0) || signal_fault(p, scause, address);
}

/* C code has saved the callee-saved registers at unknown places of the stack; they are in the hart again when this trap
 * has returned. So the trap returns to trap_fault in S-mode, which saves all registers. */
static void end_by_fault(struct proc *p, struct trap_frame *frame, uint64_t scause, uint64_t address)
{
    p->fault = (struct exit_fault){.pc = frame->pc, .address = address, .cause = scause, .replaced = p->replaced};
    frame->pc = (uint64_t)trap_fault;
    csr_clear(sstatus, SSTATUS_SPIE);
    csr_set(sstatus, SSTATUS_SPP);
}

/* Handles every cause that is due. A process that a cause kills ends here; DROP undoes what its user code did ahead of
 * the cause. The interrupt line is cleared before the causes are fetched: a later cause raises it again. All callers
 * share one copy of this code: the code between CAUSES and END, and after DROP, must cost the same wherever the process
 * was stopped, in user code or at ENTER (emu/time/sched.h). */
static __attribute__((noipa)) void handle_due(struct proc *p)
{
    csr_clear(sip, INTERRUPT_SSI);
    event_fetch();
    channels_arm_waiting();
    if (p->killed) {
        ncu_drop();
        proc_exit(p);
    }
    ncu_end();
}

/* Called before a trap. */
void trap_due(void)
{
    if (MAILBOX->attention == NCU_ATTEND_ONLY)
        csr_clear(sip, INTERRUPT_SSI); /* the trap will attend */
    else
        handle_due(proc_current());
}

bool trap_attention;

/* Called after an interrupt. Returns true if the process must not simply resume: the kernel then attends, in another
 * trap. */
static bool must_attend(const struct proc *p)
{
    return sched_must_yield() || signal_is_due(p);
}

static RARE void attend(struct proc *p)
{
    channels_arm_waiting();
    if (!p->killed && sched_must_yield())
        sched_yield();
    while (!p->killed && signal_is_due(p))
        signal_deliver(p);
    if (p->killed)
        proc_exit(p);
    trap_attention = channels_lack_memory() || timer_slice_over || signal_is_due(p);
}

bool trap_call(struct trap_frame *frame)
{
    bool all = syscall_handle(proc_current(), frame);

    if (!trap_attention)
        return all;
    attend(proc_current());
    return true;
}

void trap_exception(struct trap_frame *frame)
{
    struct proc *p = proc_current();
    uint64_t scause = csr_read(scause), address = csr_read(stval);

    if (!handle_exception(p, scause, address))
        end_by_fault(p, frame, scause, address);
    else if (trap_attention)
        attend(p);
    if (p->works)
        stated_exclude_trap();
}

/* After the first END, or in NCU_ATTEND_ONLY, everything up to ENTER or LEAVE costs nothing. */
void trap_interrupt(void)
{
    struct proc *p = proc_current();
    uint32_t attention = MAILBOX->attention;

    if (attention == NCU_ATTEND_ONLY)
        csr_clear(sip, INTERRUPT_SSI);
    else
        handle_due(p);
    while (attention >= NCU_ATTEND_QUANTUM && ncu_quantum())
        handle_due(p);
    MAILBOX->attend = must_attend(p);
    if (attention == NCU_ATTEND_NOT)
        return;
    while (must_attend(p) && ncu_enter())
        handle_due(p);
    if (must_attend(p))
        attend(p);
}

void trap_with_registers(const uint64_t *x)
{
    proc_fault(proc_current(), x);
}

void trap_from_kernel(void)
{
    panic("trap in the kernel of node 0x%x: cause %lx, pc 0x%lx, address 0x%lx", MAILBOX->node, csr_read(scause),
          csr_read(sepc), csr_read(stval));
}

#include "vertex/trap/signal.h"

#include <stddef.h>

#include "vertex/base/csr.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/memory/copy.h"
#include "vertex/message/msg.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/shared/text.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

#define BIT(signal) (1u << (signal))
#define IGNORED \
    (BIT(SIGNAL_URG) | BIT(SIGNAL_STOP) | BIT(SIGNAL_CONT) | BIT(SIGNAL_CHLD) | BIT(SIGNAL_IO) | BIT(SIGNAL_WINCH))
#define STATUS_OF_SIGNAL 128 /* added to the number of the signal that ended a process, as shells do */

_Static_assert(offsetof(struct abi_signal, blocked) == sizeof(struct trap_frame), "abi_signal begins as a frame");

/* ---- Coming ---- */

static void end_by(struct proc *p, uint32_t signal, uint32_t from)
{
    text_print(p->exit_text, sizeof p->exit_text, "node %u (address 0x%x): ended by signal %u from node %u", p->logical,
               MAILBOX->node, signal, from & 0xffff);
    proc_kill(p, EXIT_SIGNAL, STATUS_OF_SIGNAL + signal);
}

static void post(struct proc *p, uint32_t signal)
{
    p->sig_pending |= BIT(signal);
    trap_attention = true;
    sched_wake(p);
}

static bool is_caught(const struct proc *p, uint32_t signal)
{
    return p->sig_caught & BIT(signal);
}

static void come(struct proc *p, uint32_t signal, uint32_t from)
{
    if (is_caught(p, signal))
        post(p, signal);
    else if (!(IGNORED & BIT(signal)))
        end_by(p, signal, from);
}

void signal_message(struct message *m)
{
    const struct signal_message *s = (const struct signal_message *)m->payload;
    struct proc *p = m->bytes >= sizeof *s ? proc_find(s->procid) : NULL;

    if (p && !p->builtin && p->job == s->job && s->signal > 0 && s->signal < SIGNALS)
        come(p, s->signal, s->from);
    msg_release(m);
}

void signal_arrival(struct proc *p, const struct message *m)
{
    if (TAG_TYPE(m->tag) <= N_TYPE_USER_MAX && is_caught(p, SIGNAL_IO))
        post(p, SIGNAL_IO);
}

static uint32_t signal_of_fault(uint64_t scause)
{
    switch (scause) {
    case SCAUSE_ILLEGAL:
        return SIGNAL_ILL;
    case SCAUSE_BREAKPOINT:
        return SIGNAL_TRAP;
    case SCAUSE_FETCH_MISALIGNED:
    case SCAUSE_LOAD_MISALIGNED:
    case SCAUSE_STORE_MISALIGNED:
        return SIGNAL_BUS;
    default:
        return SIGNAL_SEGV;
    }
}

/* ---- Delivery ---- */

static uint32_t due(const struct proc *p)
{
    return p->sig_pending & ~p->sig_blocked;
}

/* The dispatcher will be called with the signal. False: the program's stack has no room. */
static bool call_dispatcher(struct proc *p, uint32_t signal, uint64_t address)
{
    struct abi_signal back = {.blocked = p->sig_blocked};
    uint64_t sp = (p->frame->sp - sizeof back) & ~15ull;

    copy_bytes(&back, p->frame, sizeof *p->frame);
    if (vm_copy_out(&p->vm, sp, &back, sizeof back) != 0)
        return false;
    p->sig_pending &= ~BIT(signal);
    p->sig_blocked |= BIT(signal);
    p->frame->pc = p->sig_entry;
    p->frame->sp = sp;
    p->frame->a[0] = signal;
    p->frame->a[1] = sp;
    p->frame->a[2] = address;
    return true;
}

void signal_deliver(struct proc *p)
{
    uint32_t signal = 1;

    while (!(due(p) & BIT(signal)))
        signal++;
    if (!call_dispatcher(p, signal, 0))
        end_by(p, SIGNAL_SEGV, p->logical);
}

bool signal_fault(struct proc *p, uint64_t scause, uint64_t address)
{
    uint32_t signal = signal_of_fault(scause);

    return is_caught(p, signal) && !(p->sig_blocked & BIT(signal)) && call_dispatcher(p, signal, address);
}

/* ---- Calls ---- */

int64_t sys_sigentry(struct proc *p, const uint64_t *arg)
{
    if (p->builtin)
        return -N_EPERM;
    if (vm_check(&p->vm, arg[0], 1, PTE_X) != 0)
        return -N_EFAULT;
    p->sig_entry = arg[0];
    p->sig_caught = arg[1] & ~(BIT(0) | BIT(SIGNAL_KILL) | BIT(SIGNAL_STOP));
    p->sig_pending &= p->sig_caught;
    proc_update_exact();
    return 0;
}

int64_t sys_sigblock(struct proc *p, const uint64_t *arg)
{
    uint32_t before = p->sig_blocked;

    p->sig_blocked = arg[0] & ~(BIT(SIGNAL_KILL) | BIT(SIGNAL_STOP));
    trap_attention = true;
    return before;
}

int64_t sys_sigreturn(struct proc *p, const uint64_t *arg)
{
    struct abi_signal back;

    if (vm_copy_in(&p->vm, &back, arg[0], sizeof back) != 0)
        return -N_EFAULT;
    copy_bytes(p->frame, &back, sizeof *p->frame);
    p->sig_blocked = back.blocked;
    trap_attention = true;
    return SYSCALL_FRAME;
}

static bool is_in_job(const struct proc *p, int32_t dest)
{
    return dest >= 0 && (dest & 0xffff) < 1 << p->dim && (uint32_t)dest >> 16 < p->procs;
}

/* Through the network also to the process itself: the signal comes soon. */
int64_t sys_kill(struct proc *p, const uint64_t *arg)
{
    int32_t dest = arg[0], number = arg[1];
    struct message *m;

    if (p->builtin || !is_in_job(p, dest))
        return -N_ESRCH;
    if (number < 0 || number >= SIGNALS)
        return -N_EINVAL;
    if (number == 0)
        return 0;
    int error = proc_new_message(p, sizeof(struct signal_message), false, &m);
    if (error)
        return error;
    *(struct signal_message *)m->payload =
        (struct signal_message){p->job, number, dest >> 16, p->logical | p->procid << 16};
    m->bytes = sizeof(struct signal_message);
    m->owner = p->procid;
    msg_post(m, p->base + (dest & 0xffff), TAG(N_SIGNAL, p->procid, dest >> 16));
    if (msg_reap_is_due(p->procid))
        event_reap();
    return 0;
}

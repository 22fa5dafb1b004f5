/*
 * Signals: raising, blocking and delivering them (signal.h).
 */
#include "vertex/trap/signal.h"

#include <stddef.h>

#include "vertex/base/csr.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/proc.h"
#include "vertex/shared/text.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"
#include "vertex/trap/timer.h"

#define BIT(signal) (1u << (signal))
#define IGNORED                                                                                                       \
    (BIT(SIGNAL_URG) | BIT(SIGNAL_STOP) | BIT(SIGNAL_TSTP) | BIT(SIGNAL_CONT) | BIT(SIGNAL_CHLD) | BIT(SIGNAL_TTIN) | \
     BIT(SIGNAL_TTOU) | BIT(SIGNAL_IO) | BIT(SIGNAL_WINCH))
#define UNBLOCKABLE (BIT(0) | BIT(SIGNAL_KILL) | BIT(SIGNAL_STOP))

_Static_assert(offsetof(struct abi_signal, blocked) == sizeof(struct trap_frame), "abi_signal begins as a frame");
_Static_assert(sizeof(((struct proc *)0)->sig_mask) / sizeof(uint32_t) == SIGNALS, "a mask for every signal");

/* ---- Arrival ---- */

static const char *const names[SIGNALS] = {
    [1] = "SIGHUP",   [2] = "SIGINT",     [3] = "SIGQUIT",  [4] = "SIGILL",    [5] = "SIGTRAP",  [6] = "SIGABRT",
    [7] = "SIGEMT",   [8] = "SIGFPE",     [9] = "SIGKILL",  [10] = "SIGBUS",   [11] = "SIGSEGV", [12] = "SIGSYS",
    [13] = "SIGPIPE", [14] = "SIGALRM",   [15] = "SIGTERM", [16] = "SIGURG",   [17] = "SIGSTOP", [18] = "SIGTSTP",
    [19] = "SIGCONT", [20] = "SIGCHLD",   [21] = "SIGTTIN", [22] = "SIGTTOU",  [23] = "SIGIO",   [24] = "SIGXCPU",
    [25] = "SIGXFSZ", [26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH", [29] = "SIGLOST", [30] = "SIGUSR1",
    [31] = "SIGUSR2",
};

/* `how` says where the signal came from: " from node 3"; or "" if the process raised it itself. */
static void end_by(struct proc *p, uint32_t signal, const char *own, const char *how)
{
    text_print(p->exit_text, sizeof p->exit_text, "node %u (address 0x%x): ended by %ssignal %u (%s)%s", p->logical,
               MAILBOX->node, own, signal, names[signal], how);
    proc_kill(p, EXIT_SIGNAL, SIGNAL_STATUS + signal);
}

static uint32_t name_of(const struct proc *p)
{
    return p->logical | p->procid << 16;
}

static void end_by_sender(struct proc *p, uint32_t signal, uint32_t from)
{
    char how[32];

    text_print(how, sizeof how, " from node %u", from & 0xffff);
    end_by(p, signal, from == name_of(p) ? "its own " : "", from == name_of(p) ? "" : how);
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

/* Returns the signals that do nothing unless they are blocked. */
static uint32_t ignored(const struct proc *p)
{
    return p->sig_ignored | (IGNORED & ~p->sig_caught);
}

/* A blocked signal stays pending even if it is ignored: its effect is decided when it is unblocked. */
static void come(struct proc *p, uint32_t signal, uint32_t from)
{
    if ((p->sig_blocked | p->sig_caught) & BIT(signal))
        post(p, signal);
    else if (!(ignored(p) & BIT(signal)))
        end_by_sender(p, signal, from);
}

void signal_message(struct message *m)
{
    const struct signal_message *s = (const struct signal_message *)m->payload;
    struct proc *p = m->bytes >= sizeof *s ? proc_find(s->procid) : NULL;

    if (p && !p->builtin && p->job == s->job && s->signal > 0 && s->signal < SIGNALS)
        come(p, s->signal, s->from);
    message_release(m);
}

void signal_arrival(struct proc *p, const struct message *m)
{
    if (TAG_IS_PROGRAM(m->tag) && (p->sig_caught | p->sig_blocked) & BIT(SIGNAL_IO))
        post(p, SIGNAL_IO);
}

void signal_own(struct proc *p, uint32_t signal)
{
    come(p, signal, name_of(p));
}

/* The reader of the output has closed it on purpose, so the program ends without a message, as on Unix. */
void signal_broken_pipe(struct proc *p)
{
    if ((p->sig_blocked | p->sig_caught | p->sig_ignored) & BIT(SIGNAL_PIPE))
        signal_own(p, SIGNAL_PIPE);
    else
        proc_kill(p, EXIT_SIGNAL, SIGNAL_STATUS + SIGNAL_PIPE);
}

void signal_alarm(struct proc *p)
{
    signal_own(p, SIGNAL_ALRM);
}

void signal_child(struct proc *parent)
{
    come(parent, SIGNAL_CHLD, name_of(parent));
    sched_wake(parent);
}

uint32_t signal_of_fault(uint64_t scause)
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

static uint32_t lowest(uint32_t signals)
{
    uint32_t signal = 1;

    while (!(signals & BIT(signal)))
        signal++;
    return signal;
}

void signal_set_blocked(struct proc *p, uint32_t signals)
{
    p->sig_blocked = signals & ~UNBLOCKABLE;
    p->sig_pending &= p->sig_blocked | ~ignored(p);
    trap_attention = true;
}

/* Makes the program resume in its dispatcher, with the signal. Returns false if its stack has no room. */
static bool call_dispatcher(struct proc *p, uint32_t signal, uint64_t address)
{
    struct abi_signal back = {.blocked = p->sig_suspended ? p->sig_before : p->sig_blocked};
    uint64_t sp = (p->frame->sp - sizeof back) & ~15ull;

    copy_bytes(&back, p->frame, sizeof *p->frame);
    if (vm_copy_out(&p->vm, sp, &back, sizeof back) != 0)
        return false;
    p->sig_suspended = p->works = false; /* what the handler does is the program's */
    p->sig_pending &= ~BIT(signal);
    p->sig_blocked |= BIT(signal) | p->sig_mask[signal];
    p->frame->pc = p->sig_entry;
    p->frame->sp = sp;
    p->frame->a[0] = signal;
    p->frame->a[1] = sp;
    p->frame->a[2] = address;
    return true;
}

void signal_deliver(struct proc *p)
{
    uint32_t signal = lowest(p->sig_pending & ~p->sig_blocked);

    if (!is_caught(p, signal))
        end_by(p, signal, "", ", which it had blocked");
    else if (!call_dispatcher(p, signal, 0))
        end_by(p, SIGNAL_SEGV, "its own ", ": there is no room on its stack for a handler");
}

bool signal_fault(struct proc *p, uint64_t scause, uint64_t address)
{
    uint32_t signal = signal_of_fault(scause);

    return is_caught(p, signal) && !(p->sig_blocked & BIT(signal)) && call_dispatcher(p, signal, address);
}

/* ---- Calls ---- */

static enum abi_action action_of(const struct proc *p, uint32_t signal)
{
    return p->sig_ignored & BIT(signal) ? SIGNAL_IGNORE : is_caught(p, signal) ? SIGNAL_CATCH : SIGNAL_DEFAULT;
}

/* Returns the action before. */
int64_t sys_sigaction(struct proc *p, const uint64_t *arg)
{
    uint64_t signal = arg[0], action = arg[1];

    if (p->builtin)
        return -N_EPERM;
    if (signal >= SIGNALS || action > SIGNAL_ASK)
        return -N_EINVAL;
    enum abi_action before = action_of(p, (uint32_t)signal);
    if (action == SIGNAL_ASK)
        return before;
    if (UNBLOCKABLE & BIT(signal))
        return -N_EINVAL;
    if (action == SIGNAL_CATCH && vm_check(&p->vm, arg[3], 1, PTE_X) != 0)
        return -N_EFAULT;
    p->sig_caught &= ~BIT(signal);
    p->sig_ignored &= ~BIT(signal);
    p->sig_mask[signal] = 0;
    if (action == SIGNAL_IGNORE)
        p->sig_ignored |= BIT(signal);
    if (action == SIGNAL_CATCH) {
        p->sig_caught |= BIT(signal);
        p->sig_mask[signal] = (uint32_t)arg[2] & ~UNBLOCKABLE;
        p->sig_entry = arg[3];
    }
    p->sig_pending &= ~ignored(p);
    proc_update_exact();
    return before;
}

int64_t sys_sigblock(struct proc *p, const uint64_t *arg)
{
    uint32_t before = p->sig_blocked;

    signal_set_blocked(p, (before & ~(uint32_t)arg[1]) | (uint32_t)arg[0]);
    return before;
}

int64_t sys_sigpending(struct proc *p, const uint64_t *arg)
{
    (void)arg;
    return p->sig_pending;
}

void signal_suspended(struct proc *p, uint32_t before)
{
    p->sig_before = before;
    p->sig_suspended = true;
}

/* Keeps the signals that were blocked before until the handler has run: its return blocks them again. */
int64_t sys_sigsuspend(struct proc *p, const uint64_t *arg)
{
    uint32_t before = p->sig_blocked;

    signal_set_blocked(p, (uint32_t)arg[0]);
    while (!p->killed && !signal_is_due(p))
        sched_wait(NCU_WAIT_TIME, NCU_WAIT_ANY, NCU_WAIT_ANY);
    signal_suspended(p, before);
    return -N_EINTR;
}

static int64_t take_pending(struct proc *p, uint32_t signals)
{
    uint32_t signal = lowest(signals);

    p->sig_pending &= ~BIT(signal);
    return signal;
}

/* Returns SYSCALL_AGAIN if the handler of another signal must run first. */
int64_t sys_sigwait(struct proc *p, const uint64_t *arg)
{
    uint32_t wanted = (uint32_t)arg[0] & ~UNBLOCKABLE;
    int64_t result = 0;

    if (p->sig_pending & wanted)
        return take_pending(p, p->sig_pending & wanted);
    timer_set(p, arg[1]);
    while (!result) {
        result = proc_wait(p, NCU_WAIT_TIME, NCU_WAIT_ANY, NCU_WAIT_ANY);
        if (!result && (p->sig_pending & wanted))
            result = take_pending(p, p->sig_pending & wanted);
        else if (!result && signal_is_due(p))
            result = SYSCALL_AGAIN;
        else if (!result && p->timed_out)
            result = -N_EAGAIN;
    }
    timer_clear(p);
    return result;
}

int64_t sys_sigreturn(struct proc *p, const uint64_t *arg)
{
    struct abi_signal back;

    if (vm_copy_in(&p->vm, &back, arg[0], sizeof back) != 0)
        return -N_EFAULT;
    copy_bytes(p->frame, &back, sizeof *p->frame);
    signal_set_blocked(p, (uint32_t)back.blocked);
    return SYSCALL_FRAME;
}

/* On its own node, a process knows which others there are. */
static bool is_in_job(const struct proc *p, int32_t dest)
{
    uint32_t procid = (uint32_t)dest >> 16;

    if (dest < 0 || (dest & 0xffff) >= (int32_t)p->nodes)
        return false;
    if (procid < p->procs)
        return true;
    return (uint32_t)(dest & 0xffff) == p->logical ? kin_is_known(procid) : kin_have_been() && procid < PROCS_MAX;
}

/* Signals the caller itself before the call returns; other processes by a message, soon after. */
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
    if ((uint32_t)dest == name_of(p)) {
        signal_own(p, number);
        return 0;
    }
    int error = proc_new_message(p, sizeof(struct signal_message), false, &m);
    if (error)
        return error;
    *(struct signal_message *)m->payload = (struct signal_message){p->job, number, dest >> 16, name_of(p)};
    m->bytes = sizeof(struct signal_message);
    m->owner = p->procid;
    message_post(m, p->base + (dest & 0xffff), TAG(N_SIGNAL, p->procid, dest >> 16));
    if (sends_reap_is_due(p->procid, sizeof(struct signal_message)))
        event_reap();
    return 0;
}

/*
 * Dispatch, and the calls about the process itself, its memory and time. Messages are in message/calls_*.c, files in
 * file.c and async.c, drives in drive_traps.c.
 */
#include "vertex/trap/syscall.h"

#include "vertex/contract/errors.h"
#include "vertex/message/delivery.h"
#include "vertex/message/resend.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/timer.h"
#include "vertex/trap/trap.h"

typedef int64_t syscall_function(struct proc *p, const uint64_t *arg);

static int64_t no_such_call(struct proc *p, const uint64_t *arg)
{
    (void)p, (void)arg;
    return -N_ENOSYS;
}

/* The numbers need not be without gaps. */
#define SYSCALL_ENTRY(name, number) [number] = sys_##name,
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static syscall_function *const table[TRAPS] = {[0 ... TRAPS - 1] = no_such_call, TRAP_LIST(SYSCALL_ENTRY)};
#pragma GCC diagnostic pop
#undef SYSCALL_ENTRY

bool syscall_handle(struct proc *p, struct trap_frame *frame)
{
    uint64_t number = frame->a[7];
    int64_t result = number < TRAPS ? table[number](p, frame->a) : -N_ENOSYS;

    if (result > SYSCALL_FRAME) {
        frame->a[0] = result;
        return false;
    }
    if (result == SYSCALL_AGAIN)
        frame->pc -= 4;
    return true;
}

int64_t sys_exit(struct proc *p, const uint64_t *arg)
{
    proc_set_death(p, EXIT_NORMAL, (int32_t)arg[0]);
    proc_exit(p);
}

/* As a signal that ends the program, but with the caller's status, and without a line. */
int64_t sys_endjob(struct proc *p, const uint64_t *arg)
{
    proc_set_death(p, EXIT_SIGNAL, (int32_t)(arg[0] & 0xff));
    proc_exit(p);
}

int64_t sys_tell(struct proc *p, const uint64_t *arg)
{
    const char *call = arg[0] == 0 ? NULL : vm_contiguous(&p->vm, arg[0], ABI_CALL_BYTES, PTE_W);

    if (arg[0] % ABI_CALL_BYTES != 0)
        return arg[0] == ABI_CALL_SAME ? (int64_t)(MAILBOX->ram_bytes | p->procs) : -N_EINVAL;
    if (arg[0] != 0 && !call)
        return -N_EFAULT;
    p->call = call ? (uint32_t)(call - (const char *)VERTEX_WINDOW_VA) | p->replaced : 0;
    return (int64_t)(MAILBOX->ram_bytes | p->procs);
}

int64_t sys_whoami(struct proc *p, const uint64_t *arg)
{
    struct abi_whoami who = {.node = p->logical,
                             .proc = p->procid,
                             .host = NODE_HOST,
                             .dim = p->dim,
                             .broadcasts = MAILBOX->broadcasts && p->nodes == 1u << p->dim,
                             .nodes = p->nodes};

    return vm_copy_out(&p->vm, arg[0], &who, sizeof who);
}

int64_t sys_cycles(struct proc *p, const uint64_t *arg)
{
    (void)p, (void)arg;
    return ncu_time();
}

int64_t sys_sbrk(struct proc *p, const uint64_t *arg)
{
    event_reap();
    return vm_move_break(&p->vm, (int64_t)arg[0]);
}

int64_t sys_monitor(struct proc *p, const uint64_t *arg)
{
    struct nmonitor monitor;

    event_reap();
    delivery_get_monitor(p, &monitor);
    monitor.resent = resend_count();
    monitor.damaged = resend_damaged();
    return vm_copy_out(&p->vm, arg[0], &monitor, sizeof monitor);
}

int64_t sys_mark(struct proc *p, const uint64_t *arg)
{
    uint64_t text[ABI_MARK_BYTES / 8] = {0};

    if (arg[1] > sizeof text)
        return -N_EINVAL;
    if (vm_copy_in(&p->vm, text, arg[0], arg[1]) != 0)
        return -N_EFAULT;
    ncu_mark(text);
    return 0;
}

int64_t sys_itimer(struct proc *p, const uint64_t *arg)
{
    struct abi_itimer alarm;

    if (arg[0] && vm_copy_in(&p->vm, &alarm, arg[0], sizeof alarm) != 0)
        return -N_EFAULT;
    if (arg[1] && vm_copy_out(&p->vm, arg[1], &p->alarm, sizeof p->alarm) != 0)
        return -N_EFAULT;
    if (arg[0] && alarm.interval_cycles > INT64_MAX)
        return -N_EINVAL;
    if (arg[0])
        timer_set_alarm(p, &alarm);
    return 0;
}

int64_t sys_sleep(struct proc *p, const uint64_t *arg)
{
    int64_t result = 0;

    timer_set(p, arg[0]);
    while (!p->timed_out && result == 0) {
        result = proc_wait(p, NCU_WAIT_TIME, NCU_WAIT_ANY, NCU_WAIT_ANY);
        if (result == 0 && !p->timed_out && signal_is_due(p))
            result = -N_EINTR;
    }
    timer_clear(p);
    return result;
}

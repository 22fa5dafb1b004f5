/*
 * The call poll: which of several UFIDs and messages a read or write could go on with at once. Files always could, as
 * their servers answer in any case; ends of local pipes and messages are looked at.
 */
#include <stdbool.h>

#include "vertex/contract/errors.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/process/proc.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"
#include "vertex/trap/timer.h"

#define ENTRIES_MAX PROC_FILES_MAX

/* A lost message is one to be read: its read fails. */
static uint32_t message_state(struct proc *p, const struct abi_poll *e)
{
    const uint64_t select[] = {0, 0, (uint64_t)(int64_t)e->ufid, (uint64_t)(int64_t)e->type, e->context};
    int64_t bytes = e->context == CONTEXT_PROGRAM ? sys_ntest(p, select) : sys_ctest(p, select);

    return bytes == -N_EINVAL ? ABI_POLL_INVALID : bytes == -N_EAGAIN ? 0 : ABI_POLL_IN;
}

static uint32_t ufid_state(struct proc *p, uint64_t ufid)
{
    int state = file_get(p, ufid) ? ABI_POLL_IN | ABI_POLL_OUT : node_pipe_poll(p, ufid);

    return state < 0 ? ABI_POLL_INVALID : (uint32_t)state;
}

static uint32_t state_of(struct proc *p, const struct abi_poll *e)
{
    uint32_t always = ABI_POLL_ERROR | ABI_POLL_HANGUP | ABI_POLL_INVALID;

    switch (e->kind) {
    case ABI_POLL_NOTHING:
        return 0;
    case ABI_POLL_UFID:
        return ufid_state(p, (uint64_t)(int64_t)e->ufid) & (e->events | always);
    case ABI_POLL_MESSAGE:
        return message_state(p, e) & (e->events | always);
    default:
        return ABI_POLL_INVALID;
    }
}

/* Writes what is ready to each entry. Returns how many have something; -N_EFAULT. */
static int64_t look(struct proc *p, uint64_t entries, uint64_t n)
{
    struct abi_poll e;
    int64_t ready = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = entries + i * sizeof e;

        if (vm_copy_in(&p->vm, &e, at, sizeof e) != 0)
            return -N_EFAULT;
        e.ready = (uint16_t)state_of(p, &e);
        if (vm_copy_out(&p->vm, at, &e, sizeof e) != 0)
            return -N_EFAULT;
        ready += e.ready != 0;
    }
    return ready;
}

static int64_t wait_until_ready(struct proc *p, uint64_t entries, uint64_t n, uint64_t until)
{
    for (;;) {
        int64_t result = look(p, entries, n);

        if (result != 0 || until == 0 || p->timed_out)
            return result;
        if (signal_is_due(p))
            return -N_EINTR;
        result = proc_wait(p, NCU_WAIT_POLL, NCU_WAIT_ANY, NCU_WAIT_ANY);
        if (result != 0)
            return result;
    }
}

/* The messages that are looked at change the frame, and with it the arguments. */
int64_t sys_poll(struct proc *p, const uint64_t *arg)
{
    const uint64_t entries = arg[0], n = arg[1], until = arg[2], mask = arg[3];
    const uint32_t before = p->sig_blocked;

    if (n > ENTRIES_MAX)
        return -N_EINVAL;
    if (mask & ABI_POLL_MASK)
        signal_set_blocked(p, (uint32_t)mask);
    timer_set(p, until != 0 && until <= INT64_MAX ? until : NCU_TIMER_NONE);
    int64_t result = wait_until_ready(p, entries, n, until);
    timer_clear(p);
    if ((mask & ABI_POLL_MASK) && result == -N_EINTR)
        signal_suspended(p, before);
    else if (mask & ABI_POLL_MASK)
        signal_set_blocked(p, before);
    return result;
}

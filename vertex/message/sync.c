/*
 * The trap csync: a node's part of a barrier. It waits for the nodes below, tells the one above, and waits for the end:
 *
 *     from[0] .. from[n - 1]  --empty messages-->  caller  --dest-->  ...  --src-->  caller
 *
 * Each step is a cread or cwrite, and leaves the frame when it is done: a1 counts the creads that are left, a2 becomes
 * -1. So the trap goes on where it was when it is repeated after a handler of a signal, and the caller sees which step
 * has failed.
 */
#include "vertex/process/proc.h"
#include "vertex/trap/syscall.h"

#define NOBODY (-1)

/* cread and cwrite leave their results in a1 and a2. */
static int64_t step(struct proc *p, int64_t call(struct proc *p, const uint64_t *arg), uint64_t peer)
{
    uint64_t *a = p->frame->a, left = a[1], dest = a[2];
    const uint64_t arg[] = {a[0], 0, peer, a[3], a[4]};

    int64_t result = call(p, arg);
    a[1] = left;
    a[2] = dest;
    return result;
}

/* Waits for the message of the first process in the list, and takes it off the list. */
static int64_t await_first(struct proc *p)
{
    uint64_t *a = p->frame->a, from;
    int64_t result = proc_copy_in(p, &from, a[0], sizeof from);

    if (!result)
        result = step(p, sys_cread, from);
    if (!result) {
        a[0] += sizeof from;
        a[1]--;
    }
    return result;
}

static int64_t tell(struct proc *p)
{
    uint64_t *a = p->frame->a;
    int64_t result = step(p, sys_cwrite, a[2]);

    if (!result)
        a[2] = (uint64_t)NOBODY;
    return result;
}

/* The errors are those of the step that fails, and -N_EFAULT. */
int64_t sys_csync(struct proc *p, const uint64_t *arg)
{
    const uint64_t *a = p->frame->a;
    int64_t result = 0;

    (void)arg; /* the frame, which changes */
    while (a[1] > 0 && !result)
        result = await_first(p);
    if (!result && (int32_t)a[2] != NOBODY)
        result = tell(p);
    return !result && (int32_t)a[5] != NOBODY ? step(p, sys_cread, a[5]) : result;
}

#include "vertex/process/dispatch.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/message/channels.h"
#include "vertex/message/pace.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/timer.h"

/* entry.S: saves the kernel's registers on the current stack and its address in *stack, and goes to sched_main; or
 * takes them from there and returns to where they were saved. */
void sched_leave(uint64_t *stack);
_Noreturn void sched_enter(uint64_t stack);
void sched_save_fp(uint64_t *registers);
void sched_restore_fp(const uint64_t *registers);

static uint32_t last; /* procid of the process that ran last */

static bool has_work(const struct proc *p)
{
    return p->state == PROC_READY || p->state == PROC_ENDED ||
           ((p->state == PROC_RUNNING || p->state == PROC_ENDING) && !p->waiting);
}

/* Returns the next process in turn that has work, beginning after `last`; NULL: none. */
static struct proc *next(void)
{
    for (uint32_t i = 1; i <= PROCS_MAX; i++) {
        struct proc *p = proc_find((last + i) % PROCS_MAX);

        if (p && has_work(p))
            return p;
    }
    return NULL;
}

void sched_begin_slice(const struct proc *p)
{
    last = p->procid;
    if (proc_count() > 1)
        timer_set_slice(ncu_time() + SCHED_SLICE_CYCLES);
}

static void leave(struct proc *p)
{
    sched_save_fp(p->fp);
    sched_leave(&p->saved_stack);
}

_Noreturn static void resume(struct proc *p)
{
    sched_begin_slice(p);
    proc_set_current(p);
    trap_attention = true;
    sched_restore_fp(p->fp);
    sched_enter(p->saved_stack);
}

/* Nothing on this node can go on: the channels need not rest. */
static RARE void wait_for_cause(enum ncu_wait why, uint64_t node, uint64_t type)
{
    if (channels_resting)
        pace_end_rest();
    channels_arm_waiting();
    event_wait(why, node, type);
}

static RARE void wait_and_arm(enum ncu_wait why, uint64_t node, uint64_t type)
{
    struct proc *p = proc_current();

    if (proc_count() <= 1) {
        wait_for_cause(why, node, type);
        return;
    }
    channels_arm_waiting();
    p->waiting = true;
    p->wait = (struct proc_wait){why, node, type};
    leave(p);
}

void sched_wait(enum ncu_wait why, uint64_t node, uint64_t type)
{
    if (channels_unarmed || proc_count() > 1)
        wait_and_arm(why, node, type);
    else
        event_wait(why, node, type);
}

void sched_wait_for_sends(void)
{
    channels_want_ends();
    sched_wait(NCU_WAIT_MEMORY, NCU_WAIT_ANY, NCU_WAIT_ANY);
    channels_want_ends_no_more();
}

void sched_wake(struct proc *p)
{
    p->waiting = false;
}

bool sched_others_may_run(void)
{
    const struct proc *p = next();

    return p && p != proc_current();
}

void sched_yield(void)
{
    leave(proc_current());
}

/* No process can run. A deadlock report prints what the first process waits for. */
static void idle(void)
{
    struct proc_wait wait = {NCU_WAIT_PROCESS, NCU_WAIT_ANY, NCU_WAIT_ANY};

    timer_set_slice(NCU_TIMER_NONE);
    for (uint32_t i = PROCS_MAX; i-- > 0;)
        if (proc_find(i) && proc_find(i)->waiting)
            wait = proc_find(i)->wait;
    wait_for_cause(wait.why, wait.node, wait.type);
}

void sched_main(void)
{
    for (;;) {
        struct proc *p = next();

        if (!p) {
            idle();
        } else if (p->state == PROC_READY) {
            sched_begin_slice(p);
            proc_run(p);
        } else if (p->state == PROC_ENDED) {
            proc_reap(p);
        } else {
            resume(p);
        }
    }
}

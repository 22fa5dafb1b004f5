/*
 * Who runs. The scheduler proper, sched_main, lives on the boot stack and keeps nothing there: it starts the process
 * that is ready, buries the one that has ended, and resumes those that wait no longer, in turn.
 *
 *     RUNNING --sched_wait--> waits (proc.waiting) --sched_wake--> may run --sched_main--> RUNNING
 *             --sched_yield (its slice is over)------------------> may run
 *
 * A process that must wait does so inside its trap, on its own kernel stack, by sched_wait in a loop that tests its
 * condition. With no other process on the node it idles right there.
 *
 * Time is sliced only where a node has several processes: SCHED_SLICE_CYCLES each, measured by the NCU's timer.
 */
#ifndef VERTEX_DISPATCH_H
#define VERTEX_DISPATCH_H

#include <stdbool.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/trap/timer.h"

#define SCHED_SLICE_CYCLES (5000u * CYCLES_PER_US)

struct proc;

_Noreturn void sched_main(void);
/* Leaves the current kernel stack for good and goes to sched_main. */
_Noreturn void sched_restart(void);

/* Waits until something happened that may concern the process that runs; the caller then looks again. The arguments
 * are for the report of a deadlock. */
void sched_wait(enum ncu_wait why, uint64_t node, uint64_t type);
/* The same for a send to end. */
void sched_wait_for_sends(void);
/* Something happened that may concern p. */
void sched_wake(struct proc *p);

bool sched_others_may_run(void); /* a look only: it is asked between END and LEAVE, where nothing may be posted */

/* The process that runs has used up its slice, and others may run. */
static inline bool sched_must_yield(void)
{
    return timer_slice_over && sched_others_may_run();
}
void sched_yield(void);

#endif

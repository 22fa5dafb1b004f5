/*
 * The scheduler. Its loop, sched_main, runs on the boot stack and keeps no state there: it starts a process that is
 * ready, reaps one that has ended, and resumes in turn those that no longer wait.
 *
 *     RUNNING --sched_wait--> waits (proc.waiting) --sched_wake--> may run --sched_main--> RUNNING
 *             --sched_yield (its slice is over)------------------> may run
 *
 * A process waits inside its trap, on its own kernel stack, in a loop that tests its condition and calls sched_wait. If
 * the node has no other process, sched_wait idles on that stack.
 *
 * Only a node with several processes slices time: SCHED_SLICE_CYCLES each, measured by the NCU's timer.
 */
#pragma once

#include <stdbool.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/trap/timer.h"

#define SCHED_SLICE_CYCLES (5000u * CYCLES_PER_US)

struct proc;

_Noreturn void sched_main(void);
/* Abandons the current kernel stack and goes to sched_main. */
_Noreturn void sched_restart(void);

/* Waits until an event may concern the running process; the caller then tests its condition again. A deadlock report
 * prints the arguments. */
void sched_wait(enum ncu_wait why, uint64_t node, uint64_t type);
/* As sched_wait, for the end of any send. */
void sched_wait_for_sends(void);
/* Lets p run after an event that may concern it. */
void sched_wake(struct proc *p);

/* Begins a slice of the process that runs: it has just got company. */
void sched_begin_slice(const struct proc *p);

bool sched_others_may_run(void); /* posts nothing, as it is called between END and LEAVE */

/* Returns true if the running process has used up its slice and others may run. */
static inline bool sched_must_yield(void)
{
    return timer_slice_over && sched_others_may_run();
}
void sched_yield(void);

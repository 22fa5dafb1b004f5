/*
 * Who runs. One process per node: the scheduler, on the boot stack, starts the process that is ready and buries
 * the one that has ended. A process that must wait does so inside its trap, on its own kernel stack, by sched_wait
 * in a loop that tests its condition.
 */
#ifndef VERTEX_SCHED_H
#define VERTEX_SCHED_H

#include "vertex/ncu.h"

_Noreturn void sched_main(void);
/* Leaves the current kernel stack for good and goes to sched_main. */
_Noreturn void sched_restart(void);

/* Idles until something happened and was handled; the caller then looks again. The arguments are for the report
 * of a deadlock. */
void sched_wait(enum ncu_wait why, uint64_t node, uint64_t type);

#endif

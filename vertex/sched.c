#include "vertex/sched.h"

#include "vertex/event.h"
#include "vertex/msg.h"
#include "vertex/proc.h"

void sched_wait(enum ncu_wait why, uint64_t node, uint64_t type)
{
    msg_arm_waiting();
    event_wait(why, node, type);
}

void sched_main(void)
{
    for (;;) {
        struct proc *p = proc_current();
        if (p && p->state == PROC_READY)
            proc_run(p);
        else if (p && p->state == PROC_ENDED)
            proc_reap(p);
        else
            sched_wait(NCU_WAIT_PROCESS, NCU_WAIT_ANY, NCU_WAIT_ANY);
    }
}

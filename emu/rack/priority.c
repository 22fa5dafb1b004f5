/* The usual policy lets a thread that wakes up in only when the one that runs has had its slice, 1 to 4 ms; from
 * Linux 6.12 on, at once if its own slice is shorter. Of threads with a real-time policy (chrt), which have no slices
 * of that kind, the one with the higher priority runs. */
#include "emu/rack/priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000u /* the least that Linux takes; 0: its own */

/* As Linux has it; C libraries have it from different headers. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

void priority_over_harts(bool on)
{
    static bool is_on;
    struct attributes a = {.size = sizeof a};

    if (on == is_on || syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0)
        return;
    if (a.policy == SCHED_RR || a.policy == SCHED_FIFO)
        a.priority += on ? 1 : -1u;
    else if (a.policy == SCHED_OTHER)
        a.runtime_ns = on ? SLICE_NS : 0;
    a.size = sizeof a;
    is_on = on == (syscall(SYS_sched_setattr, 0, &a, 0) == 0);
}

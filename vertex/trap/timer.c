#include "vertex/trap/timer.h"

#include "vertex/base/attr.h"
#include "vertex/message/pace.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/report.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/trap.h"

static uint64_t armed = NCU_TIMER_NONE; /* as last set with ncu_timer */
static uint64_t slice_end = NCU_TIMER_NONE, report_at = NCU_TIMER_NONE, rest_end = NCU_TIMER_NONE;
static uint64_t kernel_at = NCU_TIMER_NONE; /* the earlier of the last two */
bool timer_slice_over;

static uint64_t earliest(void)
{
    uint64_t at = slice_end < kernel_at ? slice_end : kernel_at;

    for (uint32_t i = 0, left = proc_count(); left > 0; i++) {
        const struct proc *p = proc_find(i);

        if (!p)
            continue;
        left--;
        if (p->deadline_cycles < at)
            at = p->deadline_cycles;
        if (p->alarm.at_cycles < at)
            at = p->alarm.at_cycles;
    }
    return at;
}

static void update(void)
{
    uint64_t at = earliest();

    if (at != armed)
        ncu_timer(at);
    armed = at;
}

void timer_set(struct proc *p, uint64_t at_cycles)
{
    p->deadline_cycles = at_cycles;
    p->timed_out = false;
    update();
}

void timer_clear(struct proc *p)
{
    timer_set(p, NCU_TIMER_NONE);
}

void timer_set_slice(uint64_t at_cycles)
{
    slice_end = at_cycles;
    timer_slice_over = false;
    update();
}

static void update_kernel(void)
{
    kernel_at = report_at < rest_end ? report_at : rest_end;
}

void timer_set_report(uint64_t at_cycles)
{
    report_at = at_cycles;
    update_kernel();
    update();
}

void timer_set_rest(uint64_t at_cycles)
{
    rest_end = at_cycles;
    update_kernel();
    update();
}

static RARE void kernel_due(uint64_t now_cycles)
{
    if (report_at <= now_cycles) {
        report_at = NCU_TIMER_NONE;
        report_again();
    }
    if (rest_end <= now_cycles)
        pace_end_rest();
    update_kernel();
}

void timer_set_alarm(struct proc *p, const struct abi_itimer *alarm)
{
    p->alarm = *alarm;
    update();
}

/* Several missed alarms raise one signal. */
static void ring(struct proc *p, uint64_t now_cycles)
{
    struct abi_itimer *a = &p->alarm;

    a->at_cycles = a->interval_cycles ? a->at_cycles + a->interval_cycles : NCU_TIMER_NONE;
    if (a->at_cycles <= now_cycles)
        a->at_cycles = now_cycles + a->interval_cycles;
    signal_alarm(p);
}

static void expire(struct proc *p)
{
    p->deadline_cycles = NCU_TIMER_NONE;
    p->timed_out = true;
    sched_wake(p);
}

/* Handles everything set for the time of the cause or earlier. */
void timer_due(const struct ncu_cause *cause)
{
    uint64_t now_cycles = cause->done_cycles;

    armed = NCU_TIMER_NONE;
    for (uint32_t i = 0; i < PROCS_MAX; i++) {
        struct proc *p = proc_find(i);

        if (p && p->deadline_cycles <= now_cycles)
            expire(p);
        if (p && p->alarm.at_cycles <= now_cycles)
            ring(p, now_cycles);
    }
    if (slice_end <= now_cycles) {
        slice_end = NCU_TIMER_NONE;
        timer_slice_over = trap_attention = true;
    }
    if (kernel_at <= now_cycles)
        kernel_due(now_cycles);
    update();
}

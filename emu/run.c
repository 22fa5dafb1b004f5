#include "emu/run.h"

#include <stdio.h>

#include "emu/signals.h"

struct run {
    const struct run_options *options;
    struct machine machine;
    uint32_t job;
};

static void on_ended(void *ctx, uint32_t id) {
    struct run *r = ctx;
    (void)id;
    front_stop(r->machine.front);
}

static const struct machine_hooks hooks = {.ended = on_ended};

static void report_deadlock(struct machine *m) {
    char text[256];
    machine_complain(m, "deadlock at %.6f s: nothing can happen any more, and the program has not ended",
                     machine_seconds(m));
    front_describe_wait(m->front, text, sizeof text);
    fprintf(stderr, "  %s\n", text);
    for (uint32_t i = 0; i < m->nodes; i++)
        if (ncu_describe_wait(m->ncu, i, text, sizeof text))
            fprintf(stderr, "  node %u %s\n", ncu_address(m->ncu, i), text);
}

static int end_status(struct run *r, enum sched_end end) {
    struct machine *m = &r->machine;
    switch (end) {
    case SCHED_FINISHED:
        if (m->failed || front_failed(m->front))
            return RUN_FAILED;
        return job_status(front_find_job(m->front, r->job));
    case SCHED_DEADLOCK:
        report_deadlock(m);
        return RUN_DEADLOCK;
    case SCHED_LIMIT:
        machine_complain(m, "the limit of %.6f s of virtual time is reached", (double)r->options->limit_cycles / CLOCK_HZ);
        return RUN_LIMIT;
    default:
        machine_explain_stop(m);
        return RUN_FAILED;
    }
}

static int begin(struct run *r) {
    struct machine *m = &r->machine;
    if (machine_configure(m, &r->options->machine, &hooks, r) != 0)
        return -1;
    if (front_begin_job(m->front, &r->options->job, &r->job, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    return machine_build(m);
}

int run_program(const struct run_options *o) {
    struct run r = {.options = o};
    int status = RUN_FAILED;
    if (begin(&r) == 0) {
        status = end_status(&r, machine_run(&r.machine, o->limit_cycles));
        if (o->machine.statistics)
            machine_print_statistics(&r.machine);
    }
    if (signals_end() != 0)
        status = RUN_SIGNAL + signals_end();
    if (machine_free(&r.machine) != 0 && status == 0)
        status = RUN_FAILED;
    return status;
}

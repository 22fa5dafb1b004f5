/*
 * One run (run.h): its begin, what happens when nothing more can, and the status that it ends with.
 */
#include "emu/machine/run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "emu/base/order.h"
#include "emu/base/progress.h"
#include "emu/base/signals.h"
#include "emu/watch/checking.h"
#include "emu/watch/cores.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/machine/checkpoints.h"
#include "emu/machine/guard.h"
#include "emu/machine/operate.h"
#include "emu/state/outputs.h"
#include "emu/machine/recorder.h"
#include "emu/machine/replayer.h"

struct run {
    const struct run_options *options;
    struct machine machine;
    uint32_t job;
    uint32_t round;   /* how often the machine has come to an end, and gone on */
    int signal;       /* in a replay: that has ended the recorded run; else 0 */
    bool signal_came; /* it has come now */
};

static struct recording *recording_of(const struct run *r)
{
    return r->machine.options->recording;
}

/* The signal that ends the run, or 0. */
static int ending_signal(const struct run *r)
{
    return signals_asked() != 0 ? signals_asked() : r->signal;
}

/* Says how the run fails, to the user and to the trace. */
__attribute__((format(printf, 3, 4))) static void say_end(struct machine *m, enum trace_end how, const char *format,
                                                          ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    machine_say("%s", text);
    tracing_say_end(m, how, sched_now(m->sched), text);
}

/* Further lines about that. */
static void trace_line(void *machine, const char *line)
{
    struct machine *m = machine;

    tracing_say_end(m, TRACE_END_MORE, sched_now(m->sched), line);
}

static void say_line(void *machine, const char *line)
{
    machine_say_more(NULL, line);
    trace_line(machine, line);
}

/* Says what the program does that has not ended: whom its nodes wait for, and where they compute; the trace only what
 * is the same in every run. */
static void report_nodes(struct machine *m, const struct job *j, unsigned places)
{
    char text[256];

    if (j && job_describe_failure(j, text, sizeof text))
        say_line(m, text);
    front_describe_wait(m->front, text, sizeof text);
    say_line(m, text);
    machine_report_waits(m, j, WAITS_MACHINE | places, machine_say_more, NULL);
    machine_report_waits(m, j, WAITS_MACHINE | (places & WAITS_IN_PLACE), trace_line, m);
}

static void report_deadlock(struct machine *m, const struct job *j)
{
    say_end(m, TRACE_END_DEADLOCK, "deadlock at %.6f s: nothing more can happen, and the program has not ended",
            machine_seconds(m));
    report_nodes(m, j, 0);
    m->stuck = true;
}

/* A limit or a signal ends a program that may wait for ever, or compute. */
static void report_unfinished(struct machine *m, const struct job *j, unsigned places)
{
    if (j && j->loaded && !job_has_ended(j) && !j->killed)
        report_nodes(m, j, places);
}

/* What a run with a limit prints is the same in every way to run it. With the options that need nodes in the same
 * places in every run, code does not run ahead. */
static void report_limit(struct machine *m, const struct job *j)
{
    report_unfinished(m, j, WAITS_IN_PLACE | (m->cores || m->checking ? WAITS_PLACES : 0));
}

/* A replay prints the same: only places that are the same in every run. */
static void report_signal(struct machine *m, const struct job *j, int signal)
{
    progress_erase();
    if (j && !job_has_ended(j))
        machine_say("ended by %s at %.6f s", signals_name(signal), machine_seconds(m));
    report_unfinished(m, j, m->options->recording ? WAITS_IN_PLACE : WAITS_PLACES);
}

/* A program that is stuck because one of its nodes has died did not cause the deadlock itself. */
static int end_stuck(struct run *r)
{
    r->machine.failed_cycles = sched_now(r->machine.sched);

    struct machine *m = &r->machine;
    const struct job *j = front_find_job(m->front, r->job);
    const struct fault *dead = machine_find_dead_node(m, j);
    char text[128];

    if (!dead) {
        report_deadlock(m, j);
        return RUN_DEADLOCK;
    }
    fault_describe(dead, &m->config.topo, sched_now(m->sched), text, sizeof text);
    say_end(m, TRACE_END_DEADLOCK, "%s: the program can neither continue nor end there", text);
    return RUN_DEAD;
}

/* What the user has been told already, or sees in the status. */
static void trace_status(struct machine *m, const struct job *j, int status)
{
    char text[256], first[192] = "";

    if (m->end_told)
        return;
    if (j && job_describe_failure(j, first, sizeof first))
        snprintf(text, sizeof text, "the program has ended with status %d; %s", status, first);
    else
        snprintf(text, sizeof text, "the run has ended with status %d", status);
    tracing_say_end(m, TRACE_END_STATUS, sched_now(m->sched), text);
}

static int end_finished(struct run *r)
{
    struct machine *m = &r->machine;
    struct job *j = front_find_job(m->front, r->job);

    if (j->lost)
        ncu_describe_noise(m->ncu, say_line, m);
    int status = m->failed || front_failed(m->front) ? RUN_FAILED : job_conclude(j);
    if (status != 0)
        trace_status(m, j, status);
    return status;
}

static int end_status(struct run *r, enum sched_end end)
{
    struct machine *m = &r->machine;

    switch (end) {
    case SCHED_FINISHED:
        return end_finished(r);
    case SCHED_DEADLOCK:
        return end_stuck(r);
    case SCHED_LIMIT:
        m->failed = true;
        say_end(m, TRACE_END_LIMIT, "the limit of %.6f s of virtual time is reached",
                (double)r->options->limit_cycles / CLOCK_HZ);
        report_limit(m, front_find_job(m->front, r->job));
        return RUN_LIMIT;
    default:
        machine_explain_stop(m);
        tracing_say_end(m, TRACE_END_MACHINE, sched_now(m->sched),
                        m->error[0] ? m->error : "a signal has ended the run");
        return RUN_FAILED;
    }
}

/* Kills the program; the I/O nodes then write back what they have. */
static void stop(struct run *r)
{
    machine_act_now(&r->machine);
    debugger_drop(&r->machine, r->job);
    front_kill_job(r->machine.front, r->job);
    front_stop(r->machine.front);
}

static void trace_signal(struct machine *m, int signal)
{
    char text[64];

    if (signal == SIGINT)
        snprintf(text, sizeof text, "ended by Ctrl-C (SIGINT)");
    else if (signal != 0)
        snprintf(text, sizeof text, "ended by the signal %s", signals_name(signal));
    else
        snprintf(text, sizeof text, "ended by gdb");
    tracing_say_end(m, TRACE_END_SIGNAL, sched_now(m->sched), text);
}

#define CATCH_UP_CYCLES 20000u /* 1 ms */

/* gdb has gone back, and the host has seen more than this machine has done: it comes to where the run was, and ends
 * there. */
static void catch_up(struct run *r)
{
    const struct recording *kept = recording_of(r);
    uint64_t cycles, more = 0;

    if (!recording_is_kept(kept) || !recording_is_behind(kept, &cycles))
        return;
    debugger_drop(&r->machine, r->job);
    while (recording_is_behind(kept, &cycles) && machine_run_on(&r->machine, cycles + more) == SCHED_LIMIT)
        more += CATCH_UP_CYCLES;
}

/* The machine has paused somewhere. It runs on to where virtual time is, so that a replay, which runs to this limit,
 * finds it in the same state. */
static void record_signal(struct run *r)
{
    uint64_t now_cycles = sched_now(r->machine.sched);

    if (!recording_is_written(recording_of(r)) || recording_is_kept(recording_of(r)))
        return;
    machine_run(&r->machine, now_cycles);
    recording_note_signal(recording_of(r), &(struct recorded_signal){r->round, now_cycles, signals_asked(), false});
}

/* Returns the signal that the recorded run has got in this round, or NULL. */
static const struct recorded_signal *recorded_signal(const struct run *r)
{
    const struct recorded_signal *s = recording_next_signal(recording_of(r));

    return s && s->round == r->round ? s : NULL;
}

/* Runs up to the limit, with pauses where gdb begins to look at what it has come back for, and for checkpoints. */
static enum sched_end run_until(struct run *r, uint64_t limit_cycles)
{
    struct machine *m = &r->machine;

    for (;;) {
        uint64_t stage = debugger_forward(m), looks = stage > 0 ? stage : UINT64_MAX, copies = checkpoints_limit(m);

        m->pause_cycles = earlier_of(looks, copies);
        enum sched_end end = machine_run(m, earlier_of(m->pause_cycles, limit_cycles));
        if (end == SCHED_FINISHED && checkpoints_limit(m) < m->pause_cycles)
            continue; /* gdb has let the nodes go on */
        if (end == SCHED_DEADLOCK || (end == SCHED_LIMIT && copies < looks))
            checkpoints_look(m, end == SCHED_DEADLOCK);
        else if (end == SCHED_LIMIT && looks <= limit_cycles)
            debugger_look(m);
        if (end != SCHED_LIMIT || m->pause_cycles >= limit_cycles)
            return end;
    }
}

/* In a replay, lets the machine run to where the recorded run has got a signal. */
static enum sched_end run_round(struct run *r)
{
    struct machine *m = &r->machine;
    const struct recorded_signal *s = recorded_signal(r);
    uint64_t limit_cycles = s && s->cycles < r->options->limit_cycles ? s->cycles : r->options->limit_cycles;
    enum sched_end end = run_until(r, limit_cycles);

    if (recording_is_written(recording_of(r)) && end == SCHED_STOPPED && signals_end() != 0)
        recording_note_signal(recording_of(r),
                              &(struct recorded_signal){r->round, sched_now(m->sched), signals_end(), true});
    if (!s || end == SCHED_STOPPED || m->failed)
        return end;
    recording_drop_signal(recording_of(r));
    r->signal = s->signal;
    r->signal_came = !s->at_once;
    return s->at_once ? SCHED_STOPPED : end;
}

static void end_by_signal(struct run *r)
{
    trace_signal(&r->machine, ending_signal(r));
    if (ending_signal(r) != 0)
        report_signal(&r->machine, front_find_job(r->machine.front, r->job), ending_signal(r));
    stop(r);
}

/* Returns true if the machine has something left to do: an orderly end, or an end without nodes that do not answer. */
static bool goes_on(struct run *r, enum sched_end end)
{
    bool comes = r->signal_came;

    if (debugger_travels(&r->machine))
        return false;
    r->signal_came = false;
    bool kills = end == SCHED_FINISHED && debugger_kills(&r->machine);
    if (end == SCHED_FINISHED && (signals_take_request() || kills)) {
        checkpoints_stop(&r->machine, kills);
        catch_up(r);
        record_signal(r);
        recording_let_go(recording_of(r));
        comes = true;
    }
    if (comes) {
        end_by_signal(r);
        return true;
    }
    if (end == SCHED_DEADLOCK && debugger_stuck(&r->machine, r->job))
        return !debugger_travels(&r->machine);
    machine_act_now(&r->machine);
    return end == SCHED_DEADLOCK && front_give_up(r->machine.front);
}

static enum sched_end run_to_end(struct run *r)
{
    enum sched_end end;
    bool more;

    signals_be_orderly();
    do {
        end = run_round(r);
        more = goes_on(r, end);
        r->round++;
    } while (more);
    progress_erase();
    return end;
}

/* Ends the machine of a program that is stuck, whose volumes are not to blame: they are unmounted. What is printed
 * about the deadlock, the statistics too, is of the time before. */
static void end_orderly(struct run *r)
{
    stop(r);
    run_to_end(r);
}

static int begin(struct run *r)
{
    struct machine *m = &r->machine;

    if (front_begin_job(m->front, &r->options->job, &r->job, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    for (uint32_t i = 0; i < r->options->job.programs; i++)
        machine_reads(m, r->options->job.program[i].path, "the program");
    if (machine_build(m) != 0 || recorder_begin(m, r->options) != 0)
        return -1;
    cores_begin(m, r->job);
    checking_begin(m, r->job);
    checkpoints_begin(m);
    return debugger_begin(m, r->job);
}

/* Returns 0, or -1 after one line. */
static int conclude_recording(struct run *r, int status)
{
    struct machine *m = &r->machine;
    const struct job *j = m->front ? front_find_job(m->front, r->job) : NULL;

    if (recorder_end(m, status) != 0)
        return -1;
    if (!recording_is_replayed(recording_of(r)) || !m->sched || m->failed || recording_was_let_go(recording_of(r)))
        return 0;
    if (j && j->streams.lost) {
        machine_say("not all of the replay's output could be written");
        return -1;
    }
    return replayer_ends_so(m, status) ? 0 : -1;
}

/* What the machine's end means has been told, or will be, by the machine that takes its place. */
static int leave(struct run *r)
{
    if (recording_is_kept(recording_of(r)))
        recording_repeat(recording_of(r), sched_now(r->machine.sched));

    bool failed = r->machine.failed | (machine_free(&r->machine) != 0);

    signals_take_child(); /* those that machine_free has ended */
    return failed || signals_asked() != 0 ? RUN_FAILED : RUN_AGAIN;
}

int run_program(const struct run_options *o)
{
    struct run r = {.options = o};
    int status = RUN_FAILED, guarded = -1;

    if (machine_configure(&r.machine, &o->machine) == 0)
        guarded = guard_is_wanted(&r.machine);
    if (guarded == 1)
        return guard_run(&r.machine, NULL, NULL);
    if (guarded == 0 && begin(&r) == 0) {
        enum sched_end end;

        do
            end = run_to_end(&r);
        while (debugger_travels(&r.machine) && checkpoints_wake(&r.machine));
        if (debugger_travels(&r.machine))
            return leave(&r);
        checkpoints_stop(&r.machine, false);
        if (end == SCHED_DEADLOCK || end == SCHED_LIMIT)
            cores_write_all(&r.machine);
        status = end_status(&r, end);
        cores_tell(&r.machine);
        checking_tell(&r.machine);
        if (machine_tell_statistics(&r.machine) != 0 && status == 0)
            status = RUN_FAILED;
        if (status == RUN_DEADLOCK)
            end_orderly(&r);
    }
    if (ending_signal(&r) != 0)
        status = RUN_SIGNAL + ending_signal(&r);
    if (conclude_recording(&r, status) != 0 && status == 0)
        status = RUN_FAILED;
    if (machine_free(&r.machine) != 0 && status == 0)
        status = RUN_FAILED;
    return status;
}

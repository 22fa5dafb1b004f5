/* Checkpoints: copies of the process that wait (checkpoints.h). */
#include "emu/machine/checkpoints.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/debug/stub.h"
#include "emu/machine/copied.h"
#include "emu/machine/copies.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/inside.h"
#include "emu/qemu/process_copy.h"
#include "emu/watch/debugger.h"

#define INTERVAL_MS 200u   /* of processor time, between two checkpoints */
#define STEP_LEAST  20000u /* cycles between two looks */
#define STEP_MOST   (1ull << 40)

struct checkpoints {
    struct copied_link link;
    uint64_t next_cycles, step_cycles;
    uint64_t way_ns;   /* processor time from the start of the run to the last look, */
    uint64_t clock_ns; /* when this thread's clock was this, */
    uint64_t made_ns;  /* and to the checkpoint before it */
    uint64_t most_bytes, interval_ns;
    int trace; /* its file, or -1 */
    bool off;  /* no more can be made */
};

/* ---- Time ---- */

static void begin_clock(struct checkpoints *c)
{
    c->clock_ns = host_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t go_clock(struct checkpoints *c)
{
    uint64_t now_ns = host_ns(CLOCK_THREAD_CPUTIME_ID), ran_ns = now_ns - c->clock_ns;

    c->way_ns += ran_ns;
    c->clock_ns = now_ns;
    return ran_ns;
}

/* ---- A copy ---- */

static void fail(const char *what, int error)
{
    if (signals_end() == 0) {
        fprintf(stderr, "ncube: cannot go back: %s: %s\n", what, strerror(error));
        fflush(stderr);
        inside.page->ended = 1 + (uint32_t)EXIT_FAILURE;
    }
    _exit(EXIT_FAILURE);
}

/* What a copy needs to run the machine. Returns 0 or an errno. */
static int prepare(struct machine *m, const struct copied_memory *s)
{
    int error = copied_own(m, s);

    m->behind = inside.page->present != 0;
    if (m->behind)
        stub_be_behind(m->stub);
    return error == 0 ? inside_begin_again() : error;
}

/* This process runs the machine from now on. Returns a signal that asks for the end, for the caller to raise; or 0. */
static int take_over(struct machine *m)
{
    int asked = inside_go_on();

    copied_say_gone_on(&m->checkpoints->link);
    stub_be_notified(m->stub);
    begin_clock(m->checkpoints);
    return asked;
}

/* If it cannot, the process before it still runs the machine. */
static void go_on(struct machine *m, struct inside_copy *self, const struct copied_memory *s)
{
    const struct copied_link *link = &m->checkpoints->link;
    int error = copied_await_go(link) ? prepare(m, s) : EPIPE;

    copied_answer(link, -error);
    if (error != 0 || !copied_receive(m, link, false) || copied_trace(m, s) != 0)
        _exit(EXIT_FAILURE);
    int asked = take_over(m);
    heartbeat_go_on(m->options->heartbeat_s);
    m->checkpoints->way_ns = m->checkpoints->made_ns = self->way_ns;
    debugger_resume(m, self->latest_cycles);
    if (asked != 0)
        raise(asked);
}

/* Waits, and returns in each copy that goes on. */
static void be_checkpoint(struct machine *m, struct inside_copy *self, const struct copied_memory *s)
{
    struct copied_memory of_copy;
    uint32_t asleep, calls = 0;
    int error = copied_own(m, s);

    if (error == 0)
        error = copied_find(m, &of_copy);
    copied_answer(&m->checkpoints->link, -error);
    if (error != 0)
        _exit(EXIT_FAILURE);
    for (;; calls++) {
        futex_await_change(&self->calls, calls, &asleep);
        pid_t pid = process_copy();

        if (pid == 0) {
            go_on(m, self, &of_copy);
            return;
        }
        copied_answer(&m->checkpoints->link, pid);
    }
}

/* ---- Making ---- */

/* For tests, NCUBE_CHECKPOINTS gives it, in ms. */
static uint64_t interval_ns(void)
{
    const char *text = getenv("NCUBE_CHECKPOINTS");
    unsigned ms = INTERVAL_MS;

    if (text && sscanf(text, "%u", &ms) < 1)
        ms = INTERVAL_MS;
    return (uint64_t)ms * HOST_NS_PER_MS;
}

static void make(struct machine *m, uint64_t cycles)
{
    struct checkpoints *c = m->checkpoints;
    uint64_t bytes = copied_bytes(m);
    struct inside_copy *place = copies_make_room(bytes, c->most_bytes, c->way_ns, c->interval_ns);
    struct copied_memory shared;

    if (!place)
        return;
    fflush(NULL);
    copied_mark(m);
    if (process_await_rest() != 0 || copied_find(m, &shared) != 0) {
        c->off = true;
        return;
    }
    *place = (struct inside_copy){.cycles = cycles,
                                  .latest_cycles = cycles == 0 ? 0 : sched_latest_clock(m->sched),
                                  .way_ns = c->way_ns,
                                  .bytes = bytes};
    pid_t pid = process_copy();
    if (pid == 0) {
        be_checkpoint(m, place, &shared);
        return;
    }
    if (pid < 0) {
        c->off = true;
        return;
    }
    __atomic_store_n(&place->pid, pid, __ATOMIC_SEQ_CST);
    if (copied_await_answer(&c->link, pid) != 0) {
        copy_drop(place);
        c->off = true;
        return;
    }
    c->made_ns = c->way_ns;
}

/* What is written as the run goes on, and has no end, is not gone back in. */
static bool can_have(const struct machine *m)
{
    return inside_is() && m->stub && m->options->gdb_goes_back && copied_is_possible(m) &&
           (recording_is_replayed(m->options->recording) || recording_is_kept(m->options->recording)) &&
           !m->options->strict;
}

void checkpoints_begin(struct machine *m)
{
    struct copied_link link;

    if (!can_have(m) || !copied_open(&link))
        return;
    m->checkpoints = memory_new(1, sizeof *m->checkpoints);
    *m->checkpoints = (struct checkpoints){.link = link,
                                           .trace = copied_hold_trace(m),
                                           .next_cycles = STEP_LEAST,
                                           .step_cycles = STEP_LEAST,
                                           .most_bytes = (uint64_t)m->options->gdb_memory << 20,
                                           .interval_ns = interval_ns()};
    begin_clock(m->checkpoints);
    make(m, 0);
    if (copy_waits(copies_at(0)))
        stub_be_copied(m->stub);
}

void checkpoints_end(struct machine *m)
{
    struct checkpoints *c = m->checkpoints;

    if (!c)
        return;
    copied_end_trace(m, c->trace);
    copied_close(&c->link);
    free(c);
    m->checkpoints = NULL;
}

static bool is_kept(const struct machine *m)
{
    return recording_is_kept(m->options->recording);
}

static bool may_look(const struct machine *m)
{
    return !m->checkpoints->off && stub_may_pause(m->stub);
}

/* Nobody but the process that waits there goes on from there. */
static uint64_t present(const struct machine *m)
{
    bool comes = m->behind && stub_runs(m->stub);

    return comes ? copies_present()->cycles : UINT64_MAX;
}

uint64_t checkpoints_limit(const struct machine *m)
{
    uint64_t limit = UINT64_MAX;

    if (!m->checkpoints)
        return limit;
    if (may_look(m))
        limit = m->checkpoints->next_cycles;
    if (present(m) < limit)
        limit = present(m);
    return limit > sched_now(m->sched) ? limit : sched_now(m->sched);
}

/* Lets a process that waits go on, or a copy of it. Returns false if that fails: this one still runs the machine. */
static bool call(struct machine *m, struct inside_copy *c)
{
    const struct copied_link *link = &m->checkpoints->link;

    fflush(NULL);
    __atomic_add_fetch(&c->calls, 1, __ATOMIC_SEQ_CST);
    futex_wake(&c->calls);
    pid_t pid = copied_await_answer(link, c->pid);
    if (pid <= 0)
        return false;
    if (copied_hand_over(m, link, pid, c == copies_present()))
        return true;
    kill(pid, SIGKILL);
    if (__atomic_load_n(&inside.page->process, __ATOMIC_SEQ_CST) == pid) /* it has been killed since */
        _exit(EXIT_FAILURE);
    copied_clear(link);
    return false;
}

static void return_to_present(struct machine *m)
{
    if (!call(m, copies_present()))
        fail("the process in which the run has come furthest has ended", ESRCH);
    _exit(EXIT_SUCCESS);
}

void checkpoints_stop(struct machine *m, bool kills)
{
    if (!m->behind)
        return;
    m->gdb_kills = kills;
    return_to_present(m);
}

void checkpoints_look(struct machine *m, bool stuck)
{
    struct checkpoints *c = m->checkpoints;

    if (!c)
        return;
    if (m->behind && stub_runs(m->stub) && (stuck || sched_now(m->sched) >= present(m)))
        return_to_present(m);
    if (stuck || !may_look(m) || sched_now(m->sched) < c->next_cycles)
        return;
    uint64_t ran_ns = go_clock(c), cycles = sched_now(m->sched);

    if (ran_ns < c->interval_ns / 8 && c->step_cycles < STEP_MOST)
        c->step_cycles *= 2;
    else if (ran_ns > c->interval_ns / 4 && c->step_cycles > STEP_LEAST)
        c->step_cycles /= 2;
    c->next_cycles = cycles + c->step_cycles;
    if (c->way_ns < c->made_ns + c->interval_ns || !stub_may_be_copied(m->stub))
        return;
    if (copies_are_known(cycles, c->way_ns > c->interval_ns ? c->way_ns - c->interval_ns : 0, c->way_ns))
        c->made_ns = c->way_ns;
    else
        make(m, cycles);
}

/* ---- Going on from one ---- */

/* The latest one that will do. */
static struct inside_copy *choose(const struct stub *s)
{
    struct inside_copy *latest = NULL;
    bool best;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        struct inside_copy *c = copies_at(i);

        if (!copy_waits(c) || !stub_can_resume(s, c->latest_cycles, &best))
            continue;
        if (best)
            return c;
        if (!latest || c->cycles > latest->cycles)
            latest = c;
    }
    return latest;
}

/* Waits until a process that is behind has come here, or is to go further than from a checkpoint. */
static void be_present(struct machine *m, struct inside_copy *self)
{
    const struct copied_link *link = &m->checkpoints->link;
    struct stub_stop stop = stub_last_stop(m->stub);
    uint32_t asleep;

    futex_await_change(&self->calls, 0, &asleep);
    copied_answer(link, getpid());
    bool received = copied_await_go(link);
    copied_answer(link, 0);
    if (!received || !copied_receive(m, link, true))
        _exit(EXIT_FAILURE); /* the process before it says so */
    inside.page->present = 0;
    int asked = take_over(m);
    __atomic_store_n(&self->pid, 0, __ATOMIC_SEQ_CST);
    if (asked != 0)
        raise(asked);
    stub_arrive(m->stub, &stop);
}

/* This process has a place in the list, so that the guard lets it wait. */
static struct inside_copy *keep_place(const struct machine *m)
{
    struct inside_copy *place = copies_present();

    *place = (struct inside_copy){
        .ended = 1, .cycles = sched_now(m->sched), .latest_cycles = UINT64_MAX, .way_ns = m->checkpoints->way_ns};
    __atomic_store_n(&place->pid, getpid(), __ATOMIC_SEQ_CST);
    return place;
}

/* Nobody goes on from them any more. */
static bool give_up(struct checkpoints *c)
{
    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        if (copy_waits(copies_at(i)))
            copy_drop(copies_at(i));
    c->off = true;
    return false;
}

/* This process waits, and is the present one. */
static bool wake_and_wait(struct machine *m, struct inside_copy *c)
{
    struct inside_copy *self = keep_place(m);

    inside.page->present = 1;
    recording_reach(m->options->recording, sched_now(m->sched));
    if (call(m, c)) {
        be_present(m, self);
        return true;
    }
    inside.page->present = 0;
    __atomic_store_n(&self->pid, 0, __ATOMIC_SEQ_CST);
    return give_up(m->checkpoints);
}

bool checkpoints_wake(struct machine *m)
{
    if (!m->checkpoints)
        return false;
    struct inside_copy *c = signals_asked() == 0 ? choose(m->stub) : NULL;
    uint64_t reached_cycles = m->behind ? copies_present()->cycles : sched_now(m->sched);
    bool beyond = is_kept(m) && stub_goes_beyond(m->stub, reached_cycles);

    if (m->behind && (!c || beyond))
        return_to_present(m);
    if (!c || beyond)
        return give_up(m->checkpoints);
    if (is_kept(m) && !m->behind)
        return wake_and_wait(m, c);
    if (!call(m, c)) {
        give_up(m->checkpoints);
        if (m->behind)
            return_to_present(m);
        return false;
    }
    _exit(EXIT_SUCCESS);
}

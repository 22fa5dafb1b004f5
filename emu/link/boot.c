/*
 * One loop: the machine runs until there is nothing to do, a job ends, or 10 ms of the host's time have passed
 * (emu/machine/operate.h); then the loop serves clients (clients.c), their streams and the ends of jobs.
 */
#define _GNU_SOURCE
#include "emu/link/boot.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/base/signals.h"
#include "emu/link/clients.h"
#include "emu/watch/debugger.h"
#include "emu/link/detach.h"
#include "emu/state/explain.h"
#include "emu/machine/operate.h"
#include "emu/machine/run.h"
#include "emu/hostfs/console.h"

#define DEAF_MS 100 /* until clients that could not be accepted are tried again */

struct boot {
    const struct boot_options *options;
    struct machine machine;
    struct clients clients;
    struct pollfd *poll;
    size_t polls, room;
    int command; /* of detach.h, with --detach */
};

/* ---- Serving clients ------------------------------------------------------------------------------ */

static void poll_add(struct boot *b, const struct pollfd *p, size_t n)
{
    b->poll = memory_grow(b->poll, &b->room, b->polls + n, sizeof *b->poll);
    memcpy(b->poll + b->polls, p, n * sizeof *p);
    b->polls += n;
}

/* A host program that does not read its messages. */
static short poll_for_mail(const struct boot *b, const struct client *c)
{
    const struct job *j = front_find_job(b->machine.front, c->job);

    return j && hosts_have_mail(j) ? POLLOUT : 0;
}

/* Collects every descriptor that can give the machine something to do. */
static void poll_gather(struct boot *b)
{
    const struct client *c;
    struct pollfd p[STREAMS] = {{.fd = b->clients.deaf ? -1 : b->clients.listening, .events = POLLIN}};

    b->polls = 0;
    poll_add(b, p, 1);
    LIST_FOREACH(c, &b->clients.list, entry)
        if (c->fd >= 0)
            poll_add(b, &(struct pollfd){.fd = c->fd, .events = POLLIN | poll_for_mail(b, c)}, 1);
    for (const struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        poll_add(b, p, job_poll_streams(j, p));
    poll_add(b, p, debugger_poll(&b->machine, p));
}

static void look(struct boot *b)
{
    machine_act_now(&b->machine);
    if (signals_take_request())
        clients_go_down(&b->clients);
    if (debugger_kills(&b->machine))
        front_kill_job(b->machine.front, b->machine.debugged_job);
    clients_listen(&b->clients);
    front_resume(b->machine.front);
    clients_finish(&b->clients);
    clients_give_turns(&b->clients);
}

/* ---- Deadlocks -------------------------------------------------------------------------------------- */

static void report_deadlock(struct boot *b, struct job *j)
{
    struct machine *m = &b->machine;

    console_say(&j->streams, "deadlock at %.6f s: nothing more can happen, and the program has not ended",
                machine_seconds(m));
    clients_report_nodes(&b->clients, j);
    j->end_status = machine_find_dead_node(m, j) ? RUN_DEAD : RUN_DEADLOCK;
}

/* Ends the jobs that wait for nothing of the host: they would wait for ever. */
static void end_deadlocks(struct boot *b)
{
    for (struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j)) {
        if (job_has_ended(j) || front_job_waits_outside(b->machine.front, j) || debugger_stuck(&b->machine, j->id))
            continue;
        report_deadlock(b, j);
        front_kill_job(b->machine.front, j->id);
    }
}

static bool has_running_jobs(const struct boot *b)
{
    for (const struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        if (!job_has_ended(j) && !front_job_waits_outside(b->machine.front, j))
            return true;
    return false;
}

static int report_stuck(struct boot *b)
{
    char text[256];

    front_describe_wait(b->machine.front, text, sizeof text);
    machine_complain(&b->machine, "the machine hangs at %.6f s: %s", machine_seconds(&b->machine), text);
    return RUN_DEADLOCK;
}

/* Nothing can happen in virtual time. Waits until there is something to do again and returns 0; or returns the exit
 * status with which the machine ends. */
static int stand_still(struct boot *b)
{
    machine_act_now(&b->machine);
    if (front_give_up(b->machine.front))
        return 0;
    if (!front_is_up(b->machine.front))
        return report_stuck(b);
    if (has_running_jobs(b)) {
        end_deadlocks(b);
        return 0;
    }
    machine_rest(&b->machine);
    poll_gather(b);
    if (signals_poll(b->poll, b->polls, b->clients.deaf ? DEAF_MS : SIGNALS_FOREVER) >= 0)
        return 0;
    if (signals_take_child())
        machine_explain_stop(&b->machine);
    return b->machine.failed ? RUN_FAILED : 0;
}

/* ---- Life ------------------------------------------------------------------------------------------- */

static void announce(struct boot *b)
{
    const struct topo *t = &b->machine.config.topo;
    uint32_t volumes = topo_drives(t);

    if (b->clients.announced || !front_is_up(b->machine.front))
        return;
    printf("ncube: the machine '%s' is up: %u node%s, %u volume%s\n", b->options->name, 1u << t->dim,
           plural(1u << t->dim), volumes, plural(volumes));
    fflush(stdout);
    b->clients.announced = true;
    if (b->options->detach)
        detach_done(b->command);
}

static int keep_up(struct boot *b)
{
    struct machine *m = &b->machine;

    signals_be_orderly();
    for (;;) {
        enum sched_end end = machine_run(m, UINT64_MAX);

        if (signals_end() != 0)
            return RUN_SIGNAL + signals_end();
        if (end == SCHED_STOPPED)
            machine_explain_stop(m);
        if (m->failed || end == SCHED_STOPPED)
            return RUN_FAILED;
        announce(b);
        look(b);
        if (front_finished(m->front))
            return front_failed(m->front) ? RUN_FAILED : 0;
        int status = end == SCHED_DEADLOCK && machine_is_quiet(m) ? stand_still(b) : 0;
        if (status != 0)
            return status;
    }
}

static int begin(struct boot *b)
{
    struct machine *m = &b->machine;

    if (machine_configure(m, &b->options->machine) != 0)
        return -1;
    if (clients_open(&b->clients, m, b->options->name) != 0)
        return machine_complain(m, "%s", m->error);
    return machine_build(m);
}

int boot_machine(const struct boot_options *o)
{
    int command = o->detach ? detach_begin() : -1;

    if (o->detach && command < 0) {
        machine_say("cannot start a process for the machine: %s", strerror(errno));
        return RUN_FAILED;
    }
    struct boot b = {.options = o, .command = command, .clients = {.listening = -1, .spare = -1}};
    int status = begin(&b) == 0 ? keep_up(&b) : RUN_FAILED;

    if (signals_asked() != 0)
        status = RUN_SIGNAL + signals_asked();
    if (machine_tell_statistics(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    clients_close(&b.clients);
    free(b.poll);
    if (machine_free(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    clients_free(&b.clients, status);
    return status;
}

/* One loop: the machine runs until there is nothing to do, a job ends, or 10 ms of the host's time have passed
 * (emu/machine/operate.h); then the loop serves clients (clients.c), their streams and the ends of jobs. */
#include "emu/link/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/base/signals.h"
#include "emu/link/clients.h"
#include "emu/link/life_acts.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/machine/guard.h"
#include "emu/machine/operate.h"
#include "emu/machine/recorder.h"
#include "emu/machine/run.h"

#define DEAF_MS 100 /* until clients that could not be accepted are tried again */

struct boot {
    const struct boot_options *options;
    struct machine machine;
    struct clients clients;
    struct pollfd *poll;
    size_t polls, room;
    int command; /* of detach_begin, with --detach */
};

/* ---- Detaching ---- */

/* With --detach the command returns when the machine is up, and a process of its own keeps it up. Until then both are
 * in the caller's group, so that Ctrl-C ends both, and the machine ends if the command is killed.
 *
 * The command: waits for a byte from the process, or for its end. */
static _Noreturn void await_machine(pid_t process, int fd)
{
    char byte;
    ssize_t n;
    int status;

    while ((n = read(fd, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (n == 1)
        _exit(0);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : RUN_SIGNAL + WTERMSIG(status));
}

/* Begins the machine's process, before any other is begun. Returns in that process only, with a descriptor for
 * detach_done; the command waits, and exits with 0 after detach_done or with the status of the process. -1: the process
 * cannot be begun, with errno. */
static int detach_begin(void)
{
    pid_t command = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t process = fork();
    if (process < 0) {
        int reason = errno;

        close(ends[0]);
        close(ends[1]);
        errno = reason;
        return -1;
    }
    if (process > 0) {
        close(ends[1]);
        await_machine(process, ends[0]);
    }
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != command) /* it has gone already */
        _exit(RUN_FAILED);
    return ends[1];
}

static void leave_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int stream = STDIN_FILENO; null >= 0 && stream <= STDERR_FILENO; stream++)
        dup2(null, stream);
    if (null > STDERR_FILENO)
        close(null);
}

/* Lets the command return. The process then has a session of its own, and its standard streams are /dev/null. */
static void detach_done(int fd)
{
    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    leave_streams();
    while (write(fd, "", 1) < 0 && errno == EINTR)
        ;
    close(fd);
}

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
    if (signals_take_request()) {
        life_signal(&b->machine, signals_asked());
        clients_go_down(&b->clients);
    }
    if (debugger_kills(&b->machine))
        front_kill_job(b->machine.front, b->machine.debugged_job);
    clients_listen(&b->clients);
    front_resume(b->machine.front);
    clients_finish(&b->clients);
    clients_give_turns(&b->clients);
}

/* ---- Deadlocks -------------------------------------------------------------------------------------- */

/* Ends the jobs that wait for nothing of the host: they would wait for ever. */
static void end_deadlocks(struct boot *b)
{
    for (struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j)) {
        if (job_has_ended(j) || front_job_waits_outside(b->machine.front, j) || debugger_stuck(&b->machine, j->id))
            continue;
        life_end_deadlock(&b->machine, j);
    }
}

static bool has_running_jobs(const struct boot *b)
{
    for (const struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        if (!job_has_ended(j) && !front_job_waits_outside(b->machine.front, j))
            return true;
    return false;
}

/* Nothing can happen in virtual time. Waits until there is something to do again and returns 0; or returns the exit
 * status with which the machine ends. */
static int stand_still(struct boot *b)
{
    machine_act_now(&b->machine);
    if (life_give_up(&b->machine))
        return 0;
    if (!front_is_up(b->machine.front)) {
        life_hang(&b->machine);
        return RUN_DEADLOCK;
    }
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
    if (b->options->detach && guard_is_there()) {
        leave_streams();
        guard_tell_up(); /* it is not this process for whose byte the command waits */
    } else if (b->options->detach) {
        detach_done(b->command);
    }
}

static int keep_up(struct boot *b)
{
    struct machine *m = &b->machine;

    signals_be_orderly();
    for (;;) {
        enum sched_end end = machine_run(m, UINT64_MAX);

        if (signals_end() != 0) {
            life_cut(m, signals_end());
            return RUN_SIGNAL + signals_end();
        }
        if (end == SCHED_STOPPED)
            machine_explain_stop(m);
        if (m->failed || end == SCHED_STOPPED)
            return RUN_FAILED;
        life_moment(m);
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

    if (clients_open(&b->clients, m, b->options->name) != 0)
        return machine_complain(m, "%s", m->error);
    return machine_build(m) == 0 ? recorder_begin(m, NULL) : -1;
}

/* Called when the machine is up, which runs inside of QEMU. */
static void be_detached(void *boot)
{
    const struct boot *b = boot;

    if (b->options->detach)
        detach_done(b->command);
}

int boot_machine(const struct boot_options *o)
{
    const bool detach = o->detach && !guard_is_there();
    int command = detach ? detach_begin() : -1, guarded = -1;

    if (detach && command < 0) {
        machine_say("cannot start a process for the machine: %s", strerror(errno));
        return RUN_FAILED;
    }
    struct boot b = {.options = o, .command = command, .clients = {.listening = -1, .spare = -1}};
    if (machine_configure(&b.machine, &o->machine) == 0)
        guarded = guard_is_wanted(&b.machine);
    if (guarded == 1)
        return guard_run(&b.machine, be_detached, &b);
    int status = guarded == 0 && begin(&b) == 0 ? keep_up(&b) : RUN_FAILED;

    if (signals_asked() != 0)
        status = RUN_SIGNAL + signals_asked();
    if (machine_tell_statistics(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    if (recorder_end(&b.machine, status) != 0 && status == 0)
        status = RUN_FAILED;
    clients_close(&b.clients);
    free(b.poll);
    if (machine_free(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    clients_free(&b.clients, status);
    return status;
}

/*
 * One loop: the machine runs until there is nothing to do, a job ends, or 10 ms of the host's time have passed
 * (operate.h); then the loop serves clients, their streams and the ends of jobs.
 *
 * A client's life: accepted -> its job runs -> its job has ended -> its output is drained -> it gets the status, is
 * freed.
 *                     | LINK_DOWN: it gets the status when the machine is down
 *                     | no subcube is free, and it waits: its job runs when its turn comes
 * When a client closes its link, its job is killed; the client is freed when the job has ended.
 */
#define _GNU_SOURCE
#include "emu/cmd/boot.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/base/signals.h"
#include "emu/cmd/explain.h"
#include "emu/cmd/launch.h"
#include "emu/cmd/link.h"
#include "emu/cmd/machine_report.h"
#include "emu/cmd/operate.h"
#include "emu/cmd/run.h"
#include "emu/front/console.h"

#define DEAF_MS           100 /* until clients that could not be accepted are tried again */
#define LISTEN_MOST       16  /* messages of one client in a row: others, and the machine, have their turn */
#define STATUS_TEXT_BYTES (sizeof(struct link_status) + MACHINE_ERROR_BYTES)

struct client {
    struct client *next;
    int fd;         /* -1: it has disconnected */
    pid_t pid;      /* of its process */
    uint32_t job;   /* 0: none */
    double began_s; /* the machine's virtual time then */
    bool wants_down;
    uint64_t turn; /* its place among the clients that wait for a subcube, lowest first; 0: it does not wait */
    struct link_message message; /* with the launch's strings and the streams */
    struct launch launch;
};

struct boot {
    const struct boot_options *options;
    struct machine machine;
    int listening;
    bool announced;
    struct client *client;
    int spare; /* a descriptor for link_turn_away; -1: none */
    bool deaf; /* the host has no descriptor for a client now, so the listening one is not polled */
    uint64_t last_turn;
    struct pollfd *poll;
    size_t polls, room;
};

/* ---- Telling clients ------------------------------------------------------------------------------ */

/* Errors are ignored: a link that is full or closed is noticed later. */
static void tell_status(const struct client *c, int status, const char *text)
{
    uint8_t message[STATUS_TEXT_BYTES];
    const struct link_status s = {.status = status};
    size_t n = strnlen(text, sizeof message - sizeof s);

    memcpy(message, &s, sizeof s);
    memcpy(message + sizeof s, text, n);
    if (c->fd >= 0)
        link_send(c->fd, LINK_STATUS, message, sizeof s + n, false);
}

static void client_hang_up(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->turn = 0;
}

static void client_free(struct client *c)
{
    client_hang_up(c);
    launch_free(&c->launch);
    link_message_free(&c->message);
    free(c);
}

/* ---- Requests of clients -------------------------------------------------------------------------- */

static void refuse(struct client *c, int status, const char *text)
{
    tell_status(c, status, text);
    client_hang_up(c);
}

/* Returns the client that has waited longest, or NULL. */
static struct client *first_in_turn(const struct boot *b)
{
    struct client *first = NULL;

    for (struct client *c = b->client; c; c = c->next)
        if (c->turn && (!first || c->turn < first->turn))
            first = c;
    return first;
}

/* Begins a client's job, as front_begin_job. Returns FRONT_BUSY also when other clients wait: if later ones overtook
 * them, the nodes that they need might never be free at the same time. */
static int try_job(struct boot *b, struct client *c)
{
    const struct client *first = first_in_turn(b);
    char *error = b->machine.error;

    c->began_s = machine_seconds(&b->machine);
    if (!first || first == c)
        return front_begin_job(b->machine.front, &c->launch.job, &c->job, error, MACHINE_ERROR_BYTES);
    snprintf(error, MACHINE_ERROR_BYTES, "other programs wait for a subcube already; xnc --wait waits, too");
    return FRONT_BUSY;
}

/* Lets a client wait. A program that could never run is refused at once, not when its turn comes. */
static void take_turn(struct boot *b, struct client *c)
{
    if (front_check_job(b->machine.front, &c->launch.job, b->machine.error, MACHINE_ERROR_BYTES) < 0)
        refuse(c, RUN_FAILED, b->machine.error);
    else
        c->turn = ++b->last_turn;
}

static void give_turns(struct boot *b)
{
    struct client *c;

    while ((c = first_in_turn(b))) {
        int begun = try_job(b, c);

        if (begun == FRONT_BUSY)
            return;
        c->turn = 0;
        if (begun < 0)
            refuse(c, RUN_FAILED, b->machine.error);
    }
}

static void client_lost(struct boot *b, struct client *c)
{
    client_hang_up(c);
    front_kill_job(b->machine.front, c->job);
}

/* Answers a client that sends something that xnc never sends, and disconnects it. */
static void client_misbehaves(struct boot *b, struct client *c, const char *text)
{
    tell_status(c, RUN_USAGE, text);
    client_lost(b, c);
}

/* Returns NULL, or why a launch is refused. */
static const char *find_wrong_launch(const struct client *c, const struct link_message *message)
{
    if (c->job || c->message.content)
        return "one link runs one program, and this link has run one already; connect again for another";
    if (message->cut)
        return "the machine has no descriptors left for this program's streams; wait, or raise ulimit -n before "
               "ncube boot";
    if (message->fds != LINK_DESCRIPTORS || message->surplus > 0)
        return "a program comes with three descriptors: its standard input, output and error stream";
    return NULL;
}

static void begin_job(struct boot *b, struct client *c, struct link_message *message)
{
    const char *wrong = find_wrong_launch(c, message);

    if (wrong) {
        link_message_free(message);
        client_misbehaves(b, c, wrong);
        return;
    }
    c->message = *message;
    if (launch_unpack(&c->launch, c->message.content, c->message.bytes) < 0) {
        refuse(c, RUN_USAGE,
               "the machine does not understand this launch; see that machine and xnc are of the same version");
        return;
    }
    c->launch.job.keeps_going = true;
    c->launch.job.in = c->message.fd[0];
    c->launch.job.out = c->message.fd[1];
    c->launch.job.err = c->message.fd[2];
    int begun = try_job(b, c);
    if (begun == FRONT_BUSY && c->launch.job.waits)
        take_turn(b, c);
    else if (begun != 0)
        refuse(c, RUN_FAILED, b->machine.error);
}

static void go_down(struct boot *b)
{
    for (struct client *c = b->client; c; c = c->next)
        if (c->turn)
            refuse(c, RUN_FAILED, "the machine goes down");
    for (struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        if (!job_has_ended(j)) {
            console_say(&j->streams, "the machine goes down");
            front_kill_job(b->machine.front, j->id);
        }
    front_stop(b->machine.front);
}

static uint32_t count_volumes(const struct topo *t)
{
    uint32_t volumes = 0;

    for (uint32_t i = 0; i < t->n_io; i++)
        volumes += t->io[i].ndrives;
    return volumes;
}

/* Clients with a job come first, in the order of their jobs; then those that wait, in the order of their turns. */
static int by_job_and_turn(const void *a, const void *b)
{
    const struct client *x = *(struct client *const *)a, *y = *(struct client *const *)b;

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static void report_clients(struct report *r, const struct boot *b)
{
    const double now_s = machine_seconds(&b->machine);
    size_t n = 0;

    for (const struct client *c = b->client; c; c = c->next)
        n++;
    const struct client **client = calloc(n + 1, sizeof *client);
    if (!client)
        return;
    n = 0;
    for (const struct client *c = b->client; c; c = c->next)
        client[n++] = c;
    qsort(client, n, sizeof *client, by_job_and_turn);
    for (size_t i = 0; i < n; i++) {
        const struct job *j = front_find_job(b->machine.front, client[i]->job);

        if (j)
            report_add_program(r, j, client[i]->pid, now_s - client[i]->began_s);
        else if (client[i]->turn)
            report_add_waiting(r, &client[i]->launch.job, client[i]->pid);
    }
    free(client);
}

/* A report that cannot be made or sent is dropped: only the client that asked for it is affected. */
static void report(const struct boot *b, const struct client *to)
{
    const struct topo *t = &b->machine.config.topo;
    const char *state = front_is_up(b->machine.front) ? "up" : b->announced ? "goes down" : "boots";
    struct report r;

    report_begin(&r, b->options->name, state, 1u << t->dim, count_volumes(t), machine_seconds(&b->machine),
                 LINK_MESSAGE_MAX_BYTES);
    report_clients(&r, b);
    char *text = report_end(&r);
    if (text)
        link_send(to->fd, LINK_REPORT, text, strlen(text), false);
    free(text);
}

static void client_act(struct boot *b, struct client *c, struct link_message *message)
{
    switch (message->kind) {
    case LINK_RUN:
        begin_job(b, c, message);
        return;
    case LINK_KILL:
        if (c->turn)
            client_hang_up(c);
        front_kill_job(b->machine.front, c->job);
        break;
    case LINK_DOWN:
        c->wants_down = true;
        go_down(b);
        break;
    case LINK_ASK:
        report(b, c);
        break;
    default:
        client_misbehaves(b, c, "the machine takes no such message; see that machine and xnc are of the same version");
    }
    link_message_free(message);
}

static void client_listen(struct boot *b, struct client *c)
{
    for (int i = 0; i < LISTEN_MOST && c->fd >= 0; i++) {
        struct link_message message;
        int got = link_receive(c->fd, &message);

        if (got > 0)
            client_act(b, c, &message);
        else if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else if (got < 0 && errno == EPROTO)
            client_misbehaves(b, c,
                              "this is no message for a machine; see that machine and xnc are of the same version");
        else
            client_lost(b, c);
    }
}

static void add_client(struct boot *b, int fd)
{
    struct client *c = calloc(1, sizeof *c);

    if (!c) {
        close(fd);
        return;
    }
    c->fd = fd;
    c->pid = link_peer(fd);
    c->next = b->client;
    b->client = c;
}

static bool none_waits(void)
{
    return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
}

/* Accepts all clients that wait. Those for which there is no descriptor get an error and are disconnected. If not even
 * that is possible, the listening descriptor would stay ready and the machine would spin, so it is not polled for a
 * while. */
static void accept_clients(struct boot *b)
{
    int fd;

    b->deaf = false;
    for (;;) {
        if ((fd = link_accept(b->listening)) >= 0)
            add_client(b, fd);
        else if (none_waits())
            return;
        else if (!link_turn_away(b->listening, &b->spare)) {
            b->deaf = !none_waits();
            return;
        }
    }
}

/* ---- Ends of jobs --------------------------------------------------------------------------------- */

/* A client that is still connected gets its output first. */
static bool is_done(const struct boot *b, const struct client *c)
{
    struct job *j = front_find_job(b->machine.front, c->job);

    if (c->wants_down)
        return false;
    if (!j)
        return c->fd < 0;
    return job_has_ended(j) && (c->fd < 0 || !streams_drain(&j->streams));
}

static void client_done(struct boot *b, struct client *c)
{
    struct job *j = front_find_job(b->machine.front, c->job);

    if (j)
        tell_status(c, job_conclude(j), "");
    front_forget_job(b->machine.front, c->job);
    client_free(c);
}

static void finish_clients(struct boot *b)
{
    for (struct client **at = &b->client; *at;) {
        struct client *c = *at;

        if (!is_done(b, c)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        client_done(b, c);
    }
}

/* ---- Serving clients ------------------------------------------------------------------------------ */

static void poll_add(struct boot *b, const struct pollfd *p, size_t n)
{
    b->poll = memory_grow(b->poll, &b->room, b->polls + n, sizeof *b->poll);
    memcpy(b->poll + b->polls, p, n * sizeof *p);
    b->polls += n;
}

/* Collects every descriptor that can give the machine something to do. */
static void poll_gather(struct boot *b)
{
    struct pollfd p[STREAMS] = {{.fd = b->deaf ? -1 : b->listening, .events = POLLIN}};

    b->polls = 0;
    poll_add(b, p, 1);
    for (const struct client *c = b->client; c; c = c->next)
        if (c->fd >= 0)
            poll_add(b, &(struct pollfd){.fd = c->fd, .events = POLLIN}, 1);
    for (const struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        poll_add(b, p, job_poll_streams(j, p));
}

static void look(struct boot *b)
{
    machine_act_now(&b->machine);
    if (signals_take_request())
        go_down(b);
    accept_clients(b);
    for (struct client *c = b->client; c; c = c->next)
        client_listen(b, c);
    front_resume(b->machine.front);
    finish_clients(b);
    give_turns(b);
}

/* ---- Deadlocks -------------------------------------------------------------------------------------- */

static void say_line(void *ctx, const char *line)
{
    console_say(&((struct job *)ctx)->streams, "%s", line);
}

static void report_deadlock(struct boot *b, struct job *j)
{
    struct machine *m = &b->machine;

    console_say(&j->streams, "deadlock at %.6f s: nothing more can happen, and the program has not ended",
                machine_seconds(m));
    machine_report_waits(m, j, false, say_line, j);
    j->end_status = machine_find_dead_node(m, j) ? RUN_DEAD : RUN_DEADLOCK;
}

/* Ends the jobs that wait for no input or output of the host: they would wait for ever. */
static void end_deadlocks(struct boot *b)
{
    for (struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j)) {
        if (job_has_ended(j) || job_holds_requests(j))
            continue;
        report_deadlock(b, j);
        front_kill_job(b->machine.front, j->id);
    }
}

static bool has_running_jobs(const struct boot *b)
{
    for (const struct job *j = front_first_job(b->machine.front); j; j = front_next_job(j))
        if (!job_has_ended(j) && !job_holds_requests(j))
            return true;
    return false;
}

static int report_stuck(struct boot *b)
{
    char text[256];

    front_describe_wait(b->machine.front, text, sizeof text);
    machine_complain(&b->machine, "the machine is stuck at %.6f s: %s", machine_seconds(&b->machine), text);
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
    if (signals_poll(b->poll, b->polls, b->deaf ? DEAF_MS : SIGNALS_FOREVER) >= 0)
        return 0;
    if (signals_take_child())
        machine_explain_stop(&b->machine);
    return b->machine.failed ? RUN_FAILED : 0;
}

/* ---- Life ------------------------------------------------------------------------------------------- */

static void announce(struct boot *b)
{
    const struct topo *t = &b->machine.config.topo;
    uint32_t volumes = count_volumes(t);

    if (b->announced || !front_is_up(b->machine.front))
        return;
    printf("ncube: the machine '%s' is up: %u node%s, %u volume%s\n", b->options->name, 1u << t->dim,
           plural(1u << t->dim), volumes, plural(volumes));
    fflush(stdout);
    b->announced = true;
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
    b->spare = link_spare();
    b->listening = link_listen(b->options->name, m->error, sizeof m->error);
    if (b->listening < 0)
        return machine_complain(m, "%s", m->error);
    return machine_build(m);
}

static void forget_jobs(struct boot *b)
{
    for (const struct client *c = b->client; c; c = c->next)
        front_forget_job(b->machine.front, c->job);
}

/* The client that asked for the end gets the status only when the whole machine has been freed. */
static void free_clients(struct boot *b, int status)
{
    while (b->client) {
        struct client *c = b->client;

        b->client = c->next;
        if (c->wants_down)
            tell_status(c, status, "");
        client_free(c);
    }
}

int boot_machine(const struct boot_options *o)
{
    struct boot b = {.options = o, .listening = -1, .spare = -1};
    int status = begin(&b) == 0 ? keep_up(&b) : RUN_FAILED;

    if (signals_asked() != 0)
        status = RUN_SIGNAL + signals_asked();
    if (machine_tell_statistics(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    if (b.listening >= 0)
        close(b.listening);
    if (b.spare >= 0)
        close(b.spare);
    if (b.machine.front)
        forget_jobs(&b);
    free(b.poll);
    if (machine_free(&b.machine) != 0 && status == 0)
        status = RUN_FAILED;
    free_clients(&b, status);
    return status;
}

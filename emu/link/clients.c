/* The clients of a machine that is kept up: what they ask for, the turns of those that wait for a subcube, and what
 * they get when their jobs end. */
#include "emu/link/clients.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/oneline.h"
#include "emu/base/signals.h"
#include "emu/base/order.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/link/life_acts.h"
#include "emu/link/machine_load.h"
#include "emu/link/machine_report.h"
#include "emu/base/options.h"
#include "emu/machine/run.h"

#define LISTEN_MOST 16 /* messages of one client in a row: others, and the machine, have their turn */

/* ---- Telling clients ------------------------------------------------------------------------------ */

static void tell(const struct client *c, struct link_status s, const char *text)
{
    if (c->fd >= 0)
        link_tell(c->fd, LINK_STATUS, s, text);
}

static void tell_status(const struct client *c, int status, const char *text)
{
    tell(c, (struct link_status){.status = status}, text);
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
    hosts_free(&c->host);
    link_message_free(&c->message);
    free(c);
}

/* ---- Requests of clients -------------------------------------------------------------------------- */

static void refuse(struct client *c, int status, const char *text)
{
    tell_status(c, status, text);
    client_hang_up(c);
}

static void refuse_job(struct client *c, int begun, const char *text)
{
    tell(c, (struct link_status){.status = RUN_FAILED, .busy = begun == FRONT_BUSY}, text);
    client_hang_up(c);
}

/* Returns the client that has waited longest, or NULL. */
static struct client *first_in_turn(const struct clients *all)
{
    struct client *first = NULL, *c;

    LIST_FOREACH(c, &all->list, entry)
        if (c->turn && (!first || c->turn < first->turn))
            first = c;
    return first;
}

/* Begins a client's job, as front_begin_job. Returns FRONT_BUSY also when other clients wait: if later ones overtook
 * them, the nodes that they need might never be free at the same time. */
static int try_job(struct clients *all, struct client *c)
{
    const struct client *first = first_in_turn(all);
    char *error = all->machine->error;

    c->began_s = machine_seconds(all->machine);
    if (!first || first == c) {
        int begun = life_launch(all->machine, &c->launch.job, &c->job);

        if (begun == 0)
            debugger_begun(all->machine, c->job);
        return begun;
    }
    snprintf(error, MACHINE_ERROR_BYTES, "other programs already wait for a subcube; xnc --wait waits as well");
    return FRONT_BUSY;
}

/* Lets a client wait. A program that could never run is refused at once, not when its turn comes. */
static void take_turn(struct clients *all, struct client *c)
{
    if (front_check_job(all->machine->front, &c->launch.job, all->machine->error, MACHINE_ERROR_BYTES) < 0)
        refuse(c, RUN_FAILED, all->machine->error);
    else
        c->turn = ++all->last_turn;
}

void clients_give_turns(struct clients *all)
{
    struct client *c;

    while ((c = first_in_turn(all))) {
        int begun = try_job(all, c);

        if (begun == FRONT_BUSY)
            return;
        c->turn = 0;
        if (begun < 0)
            refuse(c, RUN_FAILED, all->machine->error);
    }
}

static void client_lost(struct clients *all, struct client *c)
{
    client_hang_up(c);
    life_kill(all->machine, c->job);
}

/* Answers a client that sends something that xnc never sends, and disconnects it. */
static void client_misbehaves(struct clients *all, struct client *c, const char *text)
{
    tell_status(c, RUN_USAGE, text);
    client_lost(all, c);
}

/* Returns NULL, or why a launch is refused. */
static const char *find_wrong_launch(const struct client *c, const struct link_message *message)
{
    if (c->job || c->message.content)
        return "one link runs one program, and this link has already run one; connect again for another";
    if (message->cut)
        return "the machine has no descriptors left for this program's streams; wait, or raise ulimit -n before "
               "ncube boot";
    if (message->fds != LINK_DESCRIPTORS || message->surplus > 0)
        return "a program comes with three descriptors: its standard input, output and error stream";
    return NULL;
}

/* Reads what the client wants to run from its message. */
static bool take_launch(struct client *c)
{
    if (c->message.kind == LINK_OPEN)
        return hosts_take_open(&c->host, &c->launch.job, &c->message);
    return launch_unpack(&c->launch, c->message.content, c->message.bytes) == 0;
}

static void begin_job(struct clients *all, struct client *c, struct link_message *message)
{
    const char *wrong = find_wrong_launch(c, message);

    if (wrong) {
        link_message_free(message);
        client_misbehaves(all, c, wrong);
        return;
    }
    c->message = *message;
    if (!take_launch(c)) {
        refuse(c, RUN_USAGE,
               "the machine does not understand this launch; check that the machine and xnc are of the same version");
        return;
    }
    c->launch.job.keeps_going = true;
    c->launch.job.in = c->message.fd[0];
    c->launch.job.out = c->message.fd[1];
    c->launch.job.err = c->message.fd[2];
    int begun = try_job(all, c);
    if (begun == FRONT_BUSY && c->launch.job.waits)
        take_turn(all, c);
    else if (begun != 0)
        refuse_job(c, begun, all->machine->error);
}

void clients_go_down(struct clients *all)
{
    struct client *c;

    LIST_FOREACH(c, &all->list, entry)
        if (c->turn)
            refuse(c, RUN_FAILED, "the machine goes down");
    life_go_down(all->machine);
}

/* Clients with a job come first, in the order of their jobs; then those that wait, in the order of their turns. */
static int by_job_and_turn(const void *a, const void *b)
{
    const struct client *x = *(struct client *const *)a, *y = *(struct client *const *)b;

    return order(x->turn, y->turn) ?: order(x->job, y->job);
}

static void report_clients(struct report *r, const struct clients *all)
{
    const double now_s = machine_seconds(all->machine);
    const struct client *c;
    size_t n = 0;

    LIST_FOREACH(c, &all->list, entry)
        n++;
    const struct client **client = calloc(n + 1, sizeof *client);
    if (!client)
        return;
    n = 0;
    LIST_FOREACH(c, &all->list, entry)
        client[n++] = c;
    qsort(client, n, sizeof *client, by_job_and_turn);
    for (size_t i = 0; i < n; i++) {
        const struct job *j = front_find_job(all->machine->front, client[i]->job);

        if (j)
            report_add_program(r, j, client[i]->pid, now_s - client[i]->began_s);
        else if (client[i]->turn)
            report_add_waiting(r, &client[i]->launch.job, client[i]->pid);
    }
    free(client);
}

/* A report that cannot be made or sent is dropped: only the client that asked for it is affected. */
static void report(const struct clients *all, const struct client *to, bool with_load)
{
    const struct topo *t = &all->machine->config.topo;
    const char *state = front_is_up(all->machine->front) ? "up" : all->announced ? "goes down" : "boots";
    struct report r;

    report_begin(&r, all->name, state, 1u << t->dim, topo_drives(t), machine_seconds(all->machine),
                 LINK_MESSAGE_MAX_BYTES);
    report_clients(&r, all);
    if (with_load && all->machine->sched)
        report_add_load(&r, machine_load(all->machine, r.room));
    char *text = report_end(&r);
    if (text)
        link_send(to->fd, LINK_REPORT, text, strlen(text), false);
    free(text);
}

/* The job that has the node; without a node, the only one that runs. NULL, and a line in `text`, if there is none. Sets
 * *any if a program runs. */
static const struct job *find_job(const struct clients *all, char *node, bool *any, char *text, size_t bytes)
{
    const struct job *found = NULL;
    uint64_t number = 0;
    unsigned n = 0;

    *any = false;
    if (*node && !options_read_number(node, 0, NODE_IO_BASE - 1, &number)) {
        snprintf(text, bytes, "node '%s': give the number of a node", one_line(node));
        return NULL;
    }
    for (const struct job *j = front_first_job(all->machine->front); j; j = front_next_job(j)) {
        if (job_has_ended(j))
            continue;
        *any = true;
        if (*node && !job_has_node(j, (uint32_t)number))
            continue;
        found = j;
        n++;
    }
    if (n > 1)
        snprintf(text, bytes, "%u programs run; give a node of one of them: --node=N, see ncube ps", n);
    else if (n == 0 && *any)
        snprintf(text, bytes, "no program runs on node %s; see ncube ps", node);
    return n == 1 ? found : NULL;
}

static void debug(const struct clients *all, const struct client *c, const struct link_message *message)
{
    char node[16], text[MACHINE_ERROR_BYTES];
    bool any;

    snprintf(node, sizeof node, "%.*s", (int)message->bytes, message->content ? (const char *)message->content : "");
    const struct job *j = find_job(all, node, &any, text, sizeof text);
    bool done = (j || (!any && !*node)) && debugger_offer(all->machine, j ? j->id : 0, text, sizeof text);
    if (!j && !any && *node)
        snprintf(text, sizeof text, "no program runs");
    tell_status(c, done ? 0 : RUN_FAILED, text);
}

static bool asks_for_load(const struct link_message *m)
{
    return m->bytes == strlen(LOAD_QUESTION) && memcmp(m->content, LOAD_QUESTION, m->bytes) == 0;
}

/* xnc names the signal by which it ends its program, which is reported; a host program that is done with its nodes
 * names none. */
static void end_by_client(struct clients *all, struct client *c, const struct link_message *message)
{
    struct job *j = front_find_job(all->machine->front, c->job);
    struct link_kill kill;
    char why[32];

    if (c->turn)
        client_hang_up(c);
    if (!j)
        return;
    if (message->bytes != sizeof kill) {
        life_kill(all->machine, j->id);
        return;
    }
    memcpy(&kill, message->content, sizeof kill);
    snprintf(why, sizeof why, "ended by %s", signals_name(kill.signal));
    life_end(all->machine, j, why);
}

static void client_act(struct clients *all, struct client *c, struct link_message *message)
{
    switch (message->kind) {
    case LINK_RUN:
    case LINK_OPEN:
        begin_job(all, c, message);
        return;
    case LINK_KILL:
        end_by_client(all, c, message);
        break;
    case LINK_DOWN:
        c->wants_down = true;
        clients_go_down(all);
        break;
    case LINK_ASK:
        report(all, c, asks_for_load(message));
        break;
    case LINK_DEBUG:
        debug(all, c, message);
        break;
    default:
        if (hosts_act(&c->host, all->machine, front_find_job(all->machine->front, c->job), c->fd, message))
            break;
        client_misbehaves(all, c,
                          "the machine takes no such message; check that the machine and xnc are of the same version");
    }
    link_message_free(message);
}

static void client_listen(struct clients *all, struct client *c)
{
    for (int i = 0; i < LISTEN_MOST && c->fd >= 0; i++) {
        struct link_message message;
        int got = link_receive(c->fd, &message);

        if (got > 0)
            client_act(all, c, &message);
        else if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else if (got < 0 && errno == EPROTO)
            client_misbehaves(
                all, c, "this is not a message for a machine; check that the machine and xnc are of the same version");
        else
            client_lost(all, c);
    }
}

static void add_client(struct clients *all, int fd)
{
    struct client *c = calloc(1, sizeof *c);

    if (!c) {
        close(fd);
        return;
    }
    c->fd = fd;
    c->pid = link_peer(fd);
    LIST_INSERT_HEAD(&all->list, c, entry);
}

static bool none_waits(void)
{
    return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
}

/* Accepts all clients that wait. Those for which there is no descriptor get an error and are disconnected. If not even
 * that is possible, the listening descriptor would stay ready and the machine would spin, so it is not polled for a
 * while. */
static void accept_waiting(struct clients *all)
{
    int fd;

    all->deaf = false;
    for (;;) {
        if ((fd = link_accept(all->listening)) >= 0)
            add_client(all, fd);
        else if (none_waits())
            return;
        else if (!link_turn_away(all->listening, &all->spare)) {
            all->deaf = !none_waits();
            return;
        }
    }
}

void clients_listen(struct clients *all)
{
    struct client *c;

    accept_waiting(all);
    LIST_FOREACH(c, &all->list, entry)
        client_listen(all, c);
}

/* ---- Ends of jobs --------------------------------------------------------------------------------- */

/* A client that is still connected gets its output first. */
static bool is_done(const struct clients *all, const struct client *c)
{
    struct job *j = front_find_job(all->machine->front, c->job);

    if (c->wants_down)
        return false;
    if (!j)
        return c->fd < 0;
    return job_has_ended(j) && (c->fd < 0 || (!hosts_have_mail(j) && !streams_drain(&j->streams)));
}

static void client_done(struct clients *all, struct client *c)
{
    struct job *j = front_find_job(all->machine->front, c->job);

    if (j)
        tell_status(c, life_conclude(all->machine, j), "");
    LIST_REMOVE(c, entry);
    client_free(c);
}

void clients_finish(struct clients *all)
{
    for (struct client *c = LIST_FIRST(&all->list), *next; c; c = next) {
        next = LIST_NEXT(c, entry);
        if (c->fd >= 0)
            hosts_serve(&c->host, all->machine, front_find_job(all->machine->front, c->job), c->fd);
        if (is_done(all, c))
            client_done(all, c);
    }
}

/* ---- Life ------------------------------------------------------------------------------------------- */

int clients_open(struct clients *all, struct machine *m, const char *name)
{
    *all = (struct clients){.machine = m, .name = name};
    LIST_INIT(&all->list);
    all->spare = link_spare();
    all->listening = link_listen(name, m->error, sizeof m->error);
    return all->listening < 0 ? -1 : 0;
}

void clients_close(struct clients *all)
{
    const struct client *c;

    if (all->listening >= 0)
        close(all->listening);
    if (all->spare >= 0)
        close(all->spare);
    if (all->machine && all->machine->front)
        LIST_FOREACH(c, &all->list, entry)
            front_forget_job(all->machine->front, c->job);
}

void clients_free(struct clients *all, int status)
{
    for (struct client *c; (c = LIST_FIRST(&all->list));) {
        LIST_REMOVE(c, entry);
        if (c->wants_down)
            tell_status(c, status, "");
        client_free(c);
    }
}

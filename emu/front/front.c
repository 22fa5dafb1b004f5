/*
 * Each message type has its handler in one table; a handler checks the sender and the sizes, then changes the state,
 * then sees whether the phase is over.
 */
#include "emu/front/front.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/plural.h"
#include "emu/front/console.h"
#include "emu/front/ionodes.h"
#include "emu/front/lives.h"
#include "emu/front/repeats.h"
#include "emu/front/subcube.h"
#include "emu/model/owed.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

enum phase { PHASE_NEW, PHASE_MOUNTING, PHASE_UP, PHASE_STOPPING, PHASE_FINISHED };

struct front {
    struct front_options options;
    struct front_ops ops;
    void *ctx;
    enum phase phase;
    bool stop; /* when the last job has ended */
    /* for I/O nodes and lines of our own */
    struct streams streams;
    struct lines lines;
    struct repeats repeats; /* of what the I/O nodes say */
    struct hostfs *serve;
    struct load_volume *volume; /* of every drive in the machine */
    uint32_t volumes;
    struct io_nodes io;
    struct owed owed;
    /* jobs */
    struct subcubes *subcubes;
    struct job *job; /* oldest first; those that have ended have no subcube */
    uint32_t last_id;
};

/* ---- Who is who ------------------------------------------------------------------------------- */

static bool is_io(const struct front *f, uint32_t node)
{
    return io_nodes_find(&f->io, node) >= 0;
}

/* The running job of a node, or NULL. */
static struct job *job_of(const struct front *f, uint32_t node)
{
    for (struct job *j = f->job; j; j = j->next)
        if (!job_has_ended(j) && job_has_node(j, node))
            return j;
    return NULL;
}

static bool has_running_jobs(const struct front *f)
{
    for (const struct job *j = f->job; j; j = j->next)
        if (!job_has_ended(j))
            return true;
    return false;
}

static bool is_in_machine(const struct front *f, uint32_t node)
{
    return NODE_IS_COMPUTE(node) ? node < 1u << f->options.topo->dim : is_io(f, node);
}

/* ---- Stopping --------------------------------------------------------------------------------- */

static void tell_repeat(void *ctx, const struct repeat *kind)
{
    struct front *f = ctx;
    char name[NODE_NAME_BYTES];

    node_name(kind->from, name);
    console_say(&f->streams, "%s has said %" PRIu64 " lines like this one, with other numbers: %s", name, kind->count,
                kind->first);
}

static void tell_repeats(struct front *f)
{
    repeats_tell(&f->repeats, tell_repeat, f);
}

static void finish_if_stopped(struct front *f)
{
    if (f->phase != PHASE_STOPPING || io_nodes_stopping(&f->io) > 0)
        return;
    f->phase = PHASE_FINISHED;
    tell_repeats(f);
}

static void shut_down(struct front *f)
{
    f->phase = PHASE_STOPPING;
    io_nodes_shut_down(&f->io);
    finish_if_stopped(f);
}

static const char *receive_shutdown(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_shutdown(&f->io, from, bytes, n);

    if (!wrong)
        finish_if_stopped(f);
    return wrong;
}

static void stop_if_idle(struct front *f)
{
    if (f->phase == PHASE_UP && f->stop && !has_running_jobs(f))
        shut_down(f);
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

static void end_if_exited(struct front *f, struct job *j)
{
    if (!job_has_ended(j))
        return;
    subcubes_release(f->subcubes, j->base, j->options.dim);
    if (f->ops.ended)
        f->ops.ended(f->ctx, j->id);
    stop_if_idle(f);
}

static void load(struct front *f, struct job *j)
{
    if (!job_load(j, f->volume, f->volumes))
        end_if_exited(f, j);
}

static void kill_job(struct front *f, struct job *j)
{
    bool ended = job_has_ended(j);

    job_kill(j);
    if (!ended)
        end_if_exited(f, j);
}

static void kill_all(struct front *f)
{
    for (struct job *j = f->job, *next; j; j = next) {
        next = j->next;
        kill_job(f, j);
    }
}

static int check_dimension(const struct front *f, uint32_t dim, char *error, size_t error_bytes)
{
    uint32_t most = f->options.topo->dim;
    char fitting[32] = "0";

    if (dim <= most)
        return 0;
    if (most > 0)
        snprintf(fitting, sizeof fitting, "0 to %u", most);
    snprintf(error, error_bytes, "dimension %u does not fit: the machine has 2^%u nodes; give -d %s", dim, most,
             fitting);
    return -1;
}

static int check_begin(const struct front *f, uint32_t dim, char *error, size_t error_bytes)
{
    if (check_dimension(f, dim, error, error_bytes) < 0)
        return -1;
    if (!f->stop && f->phase < PHASE_STOPPING)
        return 0;
    snprintf(error, error_bytes, "the machine is going down");
    return -1;
}

static int take_subcube(struct front *f, uint32_t dim, uint32_t *base, char *error, size_t error_bytes)
{
    if (check_begin(f, dim, error, error_bytes) < 0)
        return -1;
    if (subcubes_take(f->subcubes, dim, base))
        return 0;
    snprintf(error, error_bytes, "no subcube of %u node%s is free now; other programs have them", 1u << dim,
             plural(1u << dim));
    return FRONT_BUSY;
}

static void add_job(struct front *f, struct job *j)
{
    struct job **end = &f->job;

    while (*end)
        end = &(*end)->next;
    *end = j;
}

int front_begin_job(struct front *f, const struct job_options *o, uint32_t *id, char *error, size_t error_bytes)
{
    struct job *j;
    uint32_t base;
    int taken = take_subcube(f, o->dim, &base, error, error_bytes);

    if (taken != 0)
        return taken;
    if (job_new(&j, f->last_id + 1, base, f->options.topo, o, &f->ops.job, f->ctx, error, error_bytes) < 0) {
        subcubes_release(f->subcubes, base, o->dim);
        return -1;
    }
    add_job(f, j);
    *id = ++f->last_id;
    if (f->phase == PHASE_UP)
        load(f, j);
    return 0;
}

int front_check_job(struct front *f, const struct job_options *o, char *error, size_t error_bytes)
{
    const uint32_t no_id = 0, any_base = 0;
    struct job *j;

    if (check_begin(f, o->dim, error, error_bytes) < 0 ||
        job_new(&j, no_id, any_base, f->options.topo, o, &f->ops.job, f->ctx, error, error_bytes) < 0)
        return -1;
    job_free(j);
    return 0;
}

struct job *front_find_job(const struct front *f, uint32_t id)
{
    struct job *j = f->job;

    while (j && j->id != id)
        j = j->next;
    return j;
}

struct job *front_first_job(const struct front *f)
{
    return f->job;
}

void front_kill_job(struct front *f, uint32_t id)
{
    struct job *j = front_find_job(f, id);

    if (j)
        kill_job(f, j);
}

void front_forget_job(struct front *f, uint32_t id)
{
    struct job **at = &f->job;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct job *j = *at;
    if (!j)
        return;
    *at = j->next;
    job_free(j);
}

void front_resume(struct front *f)
{
    streams_drain(&f->streams);
    for (struct job *j = f->job; j; j = j->next)
        job_resume(j);
}

/* ---- Mounting --------------------------------------------------------------------------------- */

static void leave_mounting(struct front *f)
{
    if (f->phase != PHASE_MOUNTING || io_nodes_mounting(&f->io) > 0)
        return;
    if (f->io.failed) {
        kill_all(f);
        shut_down(f);
        return;
    }
    f->phase = PHASE_UP;
    for (struct job *j = f->job, *next; j; j = next) {
        next = j->next;
        if (!job_has_ended(j))
            load(f, j);
    }
    stop_if_idle(f);
}

static const char *receive_mounted(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_mounted(&f->io, from, bytes, n);

    if (!wrong)
        leave_mounting(f);
    return wrong;
}

/* ---- Exits -------------------------------------------------------------------------------------- */

/* Those of programs that have an error stream of their own; what has happened to it is told where the machine's lines
 * go. */
static void tell_users(struct front *f, uint32_t io_node)
{
    char name[NODE_NAME_BYTES];

    node_name(io_node, name);
    for (struct job *j = f->job; j; j = j->next)
        if (!job_has_ended(j) && j->options.err != f->options.err)
            console_say(&j->streams, "nsdisk on %s has ended, and the program with it", name);
}

static const char *receive_io_exit(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_exit(&f->io, from, bytes, n);

    if (wrong)
        return wrong;
    if (f->phase == PHASE_UP) {
        tell_users(f, from);
        kill_all(f);
    }
    leave_mounting(f);
    finish_if_stopped(f);
    return NULL;
}

static const char *receive_exit(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job *j = job_of(f, from);

    if (is_io(f, from))
        return receive_io_exit(f, from, bytes, n);
    if (!j)
        return "that node is not in a job";
    const char *wrong = job_receive_exit(j, from, bytes, n);
    if (!wrong)
        end_if_exited(f, j);
    return wrong;
}

static const char *receive_started(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job *j = job_of(f, from);

    return j ? lives_receive_started(j, from, bytes, n) : "that node is not in a job";
}

/* ---- Other messages ---------------------------------------------------------------------------- */

/* A line that has come often already is shown now and then, with its number. */
static void print_repeated(struct front *f, uint32_t from, const char *name, const char *text, size_t n)
{
    char line[CONSOLE_LINE_BYTES + 64];
    uint64_t number = repeats_note(&f->repeats, from, text, n);

    if (number == 0)
        return;
    if (number <= REPEATS_SHOWN) {
        console_print(&f->streams, name, text, n);
        return;
    }
    while (n > 0 && text[n - 1] == '\n')
        n--;
    int shown = n < CONSOLE_LINE_BYTES ? (int)n : (int)CONSOLE_LINE_BYTES;
    snprintf(line, sizeof line, "%.*s (the %" PRIu64 "th line of this kind)", shown, text, number);
    console_print(&f->streams, name, line, strlen(line));
}

static const char *receive_console(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    char name[NODE_NAME_BYTES];
    struct job *j = job_of(f, from);

    node_name(from, name);
    if (j)
        console_print(&j->streams, name, (const char *)bytes, n);
    else
        print_repeated(f, from, name, (const char *)bytes, n);
    return NULL;
}

static const char *receive_request(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct job *j = job_of(f, from);
    const void *reply;

    if (j)
        return job_receive_request(j, from, tag, bytes, n);
    if (!is_io(f, from))
        return "that node is not in a job";
    size_t reply_bytes = hostfs_request(f->serve, from, TAG_FROM(tag), TAG_TYPE(tag), bytes, n, &reply);
    if (reply_bytes == 0)
        return "it is too short";
    f->ops.job.send(f->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), reply, reply_bytes);
    return NULL;
}

/* A handler returns NULL, or why it refuses the message; it has then changed nothing. */
static const struct handler {
    uint32_t type;
    const char *(*receive)(struct front *f, uint32_t from, const uint8_t *bytes, size_t n);
} handlers[] = {
    {N_EXIT, receive_exit},       {N_STARTED, receive_started},
    {N_MOUNTED, receive_mounted}, {N_REPLY(N_SHUTDOWN), receive_shutdown},
    {N_CONSOLE, receive_console},
};

static const char *handle(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    uint32_t type = TAG_TYPE(tag);

    if (!is_in_machine(f, from))
        return "there is no such node";
    if (SERVE_IS_REQUEST(type))
        return receive_request(f, from, tag, bytes, n);
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].type == type)
            return handlers[i].receive(f, from, bytes, n);
    return !TAG_IS_SYSTEM(tag) ? "the front end reads no messages of programs" : "there is no such type";
}

static void refuse(struct front *f, uint32_t from, uint32_t tag, const char *why)
{
    char name[NODE_NAME_BYTES];

    node_name(from, name);
    console_say(&f->streams, "a message of type 0x%x from %s is refused: %s", TAG_NUMBER(tag), name, why);
}

void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const char *wrong = handle(f, from, tag, bytes, n);

    if (wrong)
        refuse(f, from, tag, wrong);
}

/* ---- Nodes that are out of reach ---------------------------------------------------------------- */

static void lose_io_node(struct front *f, uint32_t node)
{
    if (!io_nodes_lose(&f->io, node))
        return;
    leave_mounting(f);
    finish_if_stopped(f);
}

void front_unreachable(struct front *f, uint32_t io_node)
{
    if (is_io(f, io_node))
        io_nodes_miss(&f->io, io_node);
    leave_mounting(f);
}

static bool give_up_mounts(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        io_nodes_miss(&f->io, f->options.topo->io[i].node);
    leave_mounting(f);
    return true;
}

static bool give_up_killed_jobs(struct front *f)
{
    bool any = false;

    for (struct job *j = f->job, *next; j; j = next) {
        next = j->next;
        if (!j->killed || job_has_ended(j))
            continue;
        any = true;
        for (uint32_t node = j->base; node < j->base + j->nodes; node++)
            job_lose_node(j, node);
        end_if_exited(f, j);
    }
    return any;
}

static bool give_up_shutdowns(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        if (io_nodes_is_stopping(&f->io, i))
            io_nodes_lose(&f->io, f->options.topo->io[i].node);
    finish_if_stopped(f);
    return true;
}

bool front_give_up(struct front *f)
{
    switch (f->phase) {
    case PHASE_MOUNTING:
        return give_up_mounts(f);
    case PHASE_UP:
        return give_up_killed_jobs(f);
    case PHASE_STOPPING:
        return give_up_shutdowns(f);
    default:
        return false;
    }
}

static void lose_message(struct front *f, struct job *j, uint32_t to, uint32_t type)
{
    if (type == N_KILL)
        job_lose_node(j, to);
    else if (type >= N_LOAD_BEGIN && type <= N_LOAD_START)
        job_fail_load(j, to);
    else
        return;
    end_if_exited(f, j);
}

static void tell_lost_reply(struct front *f, uint32_t to, uint32_t tag, const void *bytes)
{
    struct lost_notice notice = {.tag = tag, .count = 1};

    memcpy(&notice.sequence, bytes, sizeof notice.sequence);
    f->ops.job.send(f->ctx, to, TAG(N_LOST, 0, TAG_TO(tag)), &notice, sizeof notice);
}

static void send_owed(struct front *f, const struct owed_notice *n)
{
    if (is_io(f, n->to) || job_of(f, n->to))
        f->ops.job.send(f->ctx, n->to, n->tag, &n->notice, sizeof n->notice);
}

void front_recovered(struct front *f)
{
    struct owed all;

    owed_move(&all, &f->owed);
    for (struct owed_notice *n; (n = owed_take(&all));) {
        send_owed(f, n);
        free(n);
    }
}

void front_undeliverable(struct front *f, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    struct job *j = job_of(f, to);

    if (N_IS_FILE_REPLY(TAG_TYPE(tag)) && n >= sizeof(struct file_reply))
        tell_lost_reply(f, to, tag, bytes);
    else if (TAG_TYPE(tag) == N_LOST && n >= sizeof(struct lost_notice))
        owed_keep(&f->owed, to, tag, bytes);
    else if (TAG_TYPE(tag) == N_SHUTDOWN && is_io(f, to))
        lose_io_node(f, to);
    else if (j && j->loaded)
        lose_message(f, j, to, TAG_TYPE(tag));
}

/* ---- Life --------------------------------------------------------------------------------------- */

static void list_volumes(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++) {
        const struct topo_io_node *io = &f->options.topo->io[i];

        for (uint32_t d = 0; d < io->ndrives; d++) {
            struct load_volume *v = &f->volume[f->volumes++];

            *v = (struct load_volume){.node = io->node, .drive = d};
            memcpy(v->name, io->drive[d].volume, sizeof v->name);
        }
    }
}

static int make_tables(struct front *f, char *error, size_t error_bytes)
{
    const struct topo *t = f->options.topo;

    f->volume = calloc(t->n_io + 1, DRIVE_MAX * sizeof *f->volume);
    f->subcubes = subcubes_new(t->dim);
    if (!f->volume || !f->subcubes || io_nodes_init(&f->io, t, &f->streams, &f->ops.job, f->ctx) < 0 ||
        streams_init(&f->streams, -1, f->options.out, f->options.err, f->ops.job.interrupted, f->ctx) < 0 ||
        lines_init(&f->lines, &f->streams, 0, 0, false) < 0) {
        snprintf(error, error_bytes, "no memory for the front end");
        return -1;
    }
    if (f->options.keeps_going)
        streams_keep_going(&f->streams);
    list_volumes(f);
    return hostfs_new(&f->serve, NULL, &f->lines, error, error_bytes);
}

int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx, char *error,
              size_t error_bytes)
{
    struct front *f = calloc(1, sizeof *f);

    *front = NULL;
    if (!f) {
        snprintf(error, error_bytes, "no memory for the front end");
        return -1;
    }
    f->options = *o;
    f->ops = *ops;
    f->ctx = ctx;
    owed_init(&f->owed);
    if (make_tables(f, error, error_bytes) < 0) {
        front_free(f);
        return -1;
    }
    *front = f;
    return 0;
}

void front_free(struct front *f)
{
    if (!f)
        return;
    while (f->job)
        front_forget_job(f, f->job->id);
    tell_repeats(f); /* the machine may have been stopped in the middle */
    hostfs_free(f->serve);
    lines_free(&f->lines);
    streams_free(&f->streams);
    subcubes_free(f->subcubes);
    free(f->volume);
    io_nodes_free(&f->io);
    owed_free(&f->owed);
    free(f);
}

void front_start(struct front *f)
{
    f->phase = PHASE_MOUNTING;
    leave_mounting(f);
}

bool front_is_up(const struct front *f)
{
    return f->phase == PHASE_UP && !f->stop;
}

void front_stop(struct front *f)
{
    f->stop = true;
    stop_if_idle(f);
}

bool front_finished(const struct front *f)
{
    return f->phase == PHASE_FINISHED;
}

bool front_failed(const struct front *f)
{
    return f->io.failed;
}

/* ---- The deadlock report -------------------------------------------------------------------------- */

static void describe_jobs(const struct front *f, char *text, size_t bytes)
{
    for (const struct job *j = f->job; j; j = j->next)
        if (!job_has_ended(j)) {
            job_describe_wait(j, text, bytes);
            return;
        }
    snprintf(text, bytes, "the front end waits for jobs");
}

void front_describe_wait(const struct front *f, char *text, size_t bytes)
{
    switch (f->phase) {
    case PHASE_MOUNTING:
        io_nodes_describe_mounts(&f->io, text, bytes);
        return;
    case PHASE_UP:
        describe_jobs(f, text, bytes);
        return;
    case PHASE_STOPPING:
        io_nodes_describe_shutdowns(&f->io, text, bytes);
        return;
    default:
        snprintf(text, bytes, "the front end waits for nothing");
    }
}

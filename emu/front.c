/*
 * One job at a time, on the subcube at address 0. Each message type has its handler in one table; a handler checks
 * the sender and the sizes, then changes the state, then sees whether the phase is over.
 */
#include "emu/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/console.h"
#include "emu/load.h"
#include "emu/machine.h"
#include "emu/serve.h"
#include "emu/streams.h"
#include "nsdisk/errors.h"
#include "nsdisk/proto.h"
#include "vertex/abi.h"
#include "vertex/system.h"

#define FRONT_JOB 1u

enum phase { PHASE_NEW, PHASE_MOUNTING, PHASE_RUNNING, PHASE_STOPPING, PHASE_FINISHED };

enum drive_state { DRIVE_WAITING, DRIVE_MOUNTED, DRIVE_FAILED };

enum io_state { IO_SERVING, IO_STOPPING, IO_DOWN };

struct io_node {
    enum io_state state;
    enum drive_state drive[DRIVE_MAX];
};

struct job {
    uint32_t id;
    uint32_t base, dim, nodes; /* the subcube: base .. base + nodes - 1, nodes = 2^dim */
    bool *exited;              /* by logical node */
    uint32_t exits;
    bool killed;               /* N_KILL was sent to all that had not exited */
    int status;                /* highest so far */
};

struct front {
    struct front_options options;
    struct front_ops ops;
    void *ctx;
    enum phase phase;
    bool failed; /* something ended as it should not: the status is 1 */
    struct streams streams;
    struct serve *serve;
    struct elf_image image;
    struct load_volume *volume; /* of every drive in the machine */
    uint32_t volumes;
    struct io_node *io; /* as options.topo->io */
    struct job job;
};

/* ---- Who is who ------------------------------------------------------------------------------- */

/* Index of an I/O node in topo->io, or -1. */
static int find_io(const struct front *f, uint32_t node)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        if (f->options.topo->io[i].node == node)
            return i;
    return -1;
}

static bool is_in_job(const struct front *f, uint32_t node)
{
    return node >= f->job.base && node - f->job.base < f->job.nodes;
}

static bool is_in_machine(const struct front *f, uint32_t node)
{
    return NODE_IS_COMPUTE(node) ? node < 1u << f->options.topo->dim : find_io(f, node) >= 0;
}

static void send_message(struct front *f, uint32_t to, uint32_t type, const void *bytes, size_t n)
{
    f->ops.send(f->ctx, to, TAG(type, 0, 0), bytes, n);
}

/* ---- Stopping --------------------------------------------------------------------------------- */

static void finish_if_stopped(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        if (f->io[i].state == IO_STOPPING)
            return;
    f->phase = PHASE_FINISHED;
}

static bool has_mounted_drive(const struct front *f, uint32_t i)
{
    for (uint32_t d = 0; d < f->options.topo->io[i].ndrives; d++)
        if (f->io[i].drive[d] == DRIVE_MOUNTED)
            return true;
    return false;
}

/* Shuts down every nsdisk that has something to write back. */
static void stop(struct front *f)
{
    f->phase = PHASE_STOPPING;
    for (uint32_t i = 0; i < f->options.topo->n_io; i++) {
        if (f->io[i].state != IO_SERVING || !has_mounted_drive(f, i))
            continue;
        f->io[i].state = IO_STOPPING;
        send_message(f, f->options.topo->io[i].node, N_SHUTDOWN, NULL, 0);
    }
    finish_if_stopped(f);
}

static const char *receive_shutdown(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct file_reply reply;
    int i = find_io(f, from);

    if (n < sizeof reply)
        return "it is too short";
    if (i < 0 || f->io[i].state != IO_STOPPING)
        return "nobody asked for a shutdown";
    memcpy(&reply, bytes, sizeof reply);

    f->io[i].state = IO_DOWN;
    if (reply.status < 0) {
        char name[CONSOLE_NAME_BYTES], why[CONSOLE_LINE_BYTES];
        console_name_node(from, name);
        console_explain((const char *)bytes + sizeof reply, n - sizeof reply, reply.status, why);
        console_say(&f->streams, "%s did not shut down cleanly: %s", name, why);
        f->failed = true;
    }
    finish_if_stopped(f);
    return NULL;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void kill_job(struct front *f)
{
    const struct load_job kill = {.job = f->job.id, .base = f->job.base};

    f->failed = true;
    if (f->job.killed)
        return;
    f->job.killed = true;
    for (uint32_t i = 0; i < f->job.nodes; i++)
        if (!f->job.exited[i])
            send_message(f, f->job.base + i, N_KILL, &kill, sizeof kill);
}

static void send_load(void *ctx, uint32_t type, const void *bytes, size_t n)
{
    struct front *f = ctx;

    send_message(f, f->job.base, type, bytes, n);
}

static void start_job(struct front *f)
{
    const struct load_program program = {
        .image = &f->image,
        .job = f->job.id,
        .base = f->job.base,
        .dim = f->job.dim,
        .stack_bytes = f->options.stack_bytes,
        .argv = f->options.argv,
        .argc = f->options.argc,
        .volume = f->volume,
        .volumes = f->volumes,
    };

    f->phase = PHASE_RUNNING;
    if (load_send_program(&program, send_load, f) == 0)
        return;
    console_say(&f->streams, "%s: no memory to load it", f->options.program);
    f->failed = true;
    stop(f);
}

/* The first failure of a job is told; the others follow from it. */
static void print_failed_exit(struct front *f, const struct job_exit *e, const char *text, size_t n)
{
    char why[CONSOLE_LINE_BYTES];

    if (f->job.killed)
        return;
    if (e->how == EXIT_LOAD) {
        console_explain(text, n, e->status, why);
        console_say(&f->streams, "%s can't be loaded on node %u: %s", f->options.program, e->node, why);
    } else if (n > 0) {
        console_print(&f->streams, "", text, n);
    } else {
        console_say(&f->streams, "node %u: the program %s", e->node, e->how == EXIT_FAULT ? "faulted" : "was killed");
    }
}

static const char *check_exit(const struct front *f, uint32_t from, const struct job_exit *e)
{
    if (f->phase != PHASE_RUNNING || e->job != f->job.id)
        return "no such job is running";
    if (!is_in_job(f, from))
        return "that node is not in the job";
    if (e->node != from - f->job.base)
        return "it speaks for another node";
    if (e->how > EXIT_LOAD)
        return "there is no such way to end";
    return f->job.exited[e->node] ? "that node has exited already" : NULL;
}

/* A built-in program has ended, which nsdisk never does by itself. */
static const char *receive_io_exit(struct front *f, int i, const struct job_exit *e, const char *text, size_t n);

static const char *receive_exit(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job_exit e;
    int io = find_io(f, from);

    if (n < sizeof e)
        return "it is too short";
    memcpy(&e, bytes, sizeof e);
    const char *text = (const char *)bytes + sizeof e;
    if (io >= 0)
        return receive_io_exit(f, io, &e, text, n - sizeof e);
    const char *wrong = check_exit(f, from, &e);
    if (wrong)
        return wrong;

    f->job.exited[e.node] = true;
    f->job.exits++;
    serve_drop_node(f->serve, from);
    if (e.how == EXIT_NORMAL) {
        int status = e.status & 0xff; /* as a shell sees it */
        f->job.status = status > f->job.status ? status : f->job.status;
    } else {
        print_failed_exit(f, &e, text, n - sizeof e);
        kill_job(f);
    }
    if (f->job.exits == f->job.nodes)
        stop(f);
    return NULL;
}

/* ---- Mounting --------------------------------------------------------------------------------- */

static uint32_t count_drives(const struct front *f, enum drive_state state)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        for (uint32_t d = 0; d < f->options.topo->io[i].ndrives; d++)
            n += f->io[i].drive[d] == state;
    return n;
}

static void leave_mounting(struct front *f)
{
    if (f->phase != PHASE_MOUNTING || count_drives(f, DRIVE_WAITING) > 0)
        return;
    if (f->failed)
        stop(f);
    else
        start_job(f);
}

static const char *receive_mounted(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct file_reply reply;
    int i = find_io(f, from);

    if (n < sizeof reply)
        return "it is too short";
    memcpy(&reply, bytes, sizeof reply);
    if (i < 0 || reply.seq >= f->options.topo->io[i].ndrives)
        return "there is no such drive";
    if (f->phase != PHASE_MOUNTING || f->io[i].drive[reply.seq] != DRIVE_WAITING)
        return "that drive has reported already";

    f->io[i].drive[reply.seq] = reply.status < 0 ? DRIVE_FAILED : DRIVE_MOUNTED;
    if (reply.status < 0) {
        char why[CONSOLE_LINE_BYTES];
        console_explain((const char *)bytes + sizeof reply, n - sizeof reply, reply.status, why);
        console_say(&f->streams, "volume %s can't be mounted: %s", f->options.topo->io[i].drive[reply.seq].volume, why);
        f->failed = true;
    }
    leave_mounting(f);
    return NULL;
}

static void fail_waiting_drives(struct io_node *io)
{
    for (uint32_t d = 0; d < DRIVE_MAX; d++)
        if (io->drive[d] == DRIVE_WAITING)
            io->drive[d] = DRIVE_FAILED;
}

static const char *receive_io_exit(struct front *f, int i, const struct job_exit *e, const char *text, size_t n)
{
    char name[CONSOLE_NAME_BYTES], why[CONSOLE_LINE_BYTES];

    if (f->io[i].state == IO_DOWN)
        return "that node has ended already";
    f->io[i].state = IO_DOWN;
    f->failed = true;
    fail_waiting_drives(&f->io[i]);
    console_name_node(f->options.topo->io[i].node, name);
    if (n > 0)
        console_explain(text, n, 0, why);
    else
        snprintf(why, sizeof why, "status %d", e->status);
    console_say(&f->streams, "nsdisk on %s has ended: %s", name, why);

    if (f->phase == PHASE_RUNNING)
        kill_job(f);
    leave_mounting(f);
    if (f->phase == PHASE_STOPPING)
        finish_if_stopped(f);
    return NULL;
}

/* ---- Other messages ---------------------------------------------------------------------------- */

static const char *receive_console(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    char name[CONSOLE_NAME_BYTES];

    console_name_node(from, name);
    console_print(&f->streams, name, (const char *)bytes, n);
    return NULL;
}

static const char *receive_request(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const void *reply;

    if (!is_in_job(f, from) && find_io(f, from) < 0)
        return "that node is not in the job";
    size_t reply_bytes = serve_request(f->serve, from, TAG_FROM(tag), TAG_TYPE(tag), bytes, n, &reply);
    if (reply_bytes == 0)
        return "it is too short";
    f->ops.send(f->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), reply, reply_bytes);
    return NULL;
}

/* A handler returns NULL, or why it refuses the message; it has then changed nothing. */
static const struct handler {
    uint32_t type;
    const char *(*receive)(struct front *f, uint32_t from, const uint8_t *bytes, size_t n);
} handlers[] = {
    {N_EXIT, receive_exit},
    {N_MOUNTED, receive_mounted},
    {N_REPLY(N_SHUTDOWN), receive_shutdown},
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
    return type <= N_TYPE_USER_MAX ? "the front end reads no messages of programs" : "there is no such type";
}

static void refuse(struct front *f, uint32_t from, uint32_t tag, const char *why)
{
    char name[CONSOLE_NAME_BYTES];

    console_name_node(from, name);
    console_say(&f->streams, "a message of type 0x%x from %s is refused: %s", TAG_TYPE(tag), name, why);
}

void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const char *wrong = handle(f, from, tag, bytes, n);

    if (wrong)
        refuse(f, from, tag, wrong);
}

/* ---- Nodes that are out of reach ---------------------------------------------------------------- */

static void lose_io_node(struct front *f, int i)
{
    char name[CONSOLE_NAME_BYTES];

    if (f->io[i].state == IO_DOWN)
        return;
    console_name_node(f->options.topo->io[i].node, name);
    console_say(&f->streams, "there is no way to %s: %s", name,
                f->phase == PHASE_STOPPING ? "it was not shut down" : "its volumes can't be mounted");
    f->io[i].state = IO_DOWN;
    f->failed = true;
    fail_waiting_drives(&f->io[i]);
    leave_mounting(f);
    if (f->phase == PHASE_STOPPING)
        finish_if_stopped(f);
}

void front_unreachable(struct front *f, uint32_t io_node)
{
    int i = find_io(f, io_node);

    if (i >= 0 && f->options.topo->io[i].ndrives > 0)
        lose_io_node(f, i);
}

/* It cannot be told to end, nor tell of its end. */
static void lose_job_node(struct front *f, uint32_t node)
{
    uint32_t logical = node - f->job.base;

    if (f->job.exited[logical])
        return;
    console_say(&f->streams, "node %u: there is no way to it", logical);
    f->job.exited[logical] = true;
    f->job.exits++;
    serve_drop_node(f->serve, node);
    if (f->job.exits == f->job.nodes)
        stop(f);
}

static void fail_load(struct front *f)
{
    if (!f->job.killed)
        console_say(&f->streams, "%s can't be loaded: there is no sound way to node 0", f->options.program);
    kill_job(f);
}

void front_undeliverable(struct front *f, uint32_t to, uint32_t tag)
{
    uint32_t type = TAG_TYPE(tag);

    if (type == N_SHUTDOWN && find_io(f, to) >= 0)
        lose_io_node(f, find_io(f, to));
    else if (f->phase != PHASE_RUNNING || !is_in_job(f, to))
        return;
    else if (type == N_KILL)
        lose_job_node(f, to);
    else if (type >= N_LOAD_BEGIN && type <= N_LOAD_START)
        fail_load(f);
}

/* ---- Life --------------------------------------------------------------------------------------- */

static int check_dimension(const struct front_options *o, char *error, size_t error_bytes)
{
    if (o->dim <= o->topo->dim)
        return 0;
    char fitting[32] = "0";
    if (o->topo->dim > 0)
        snprintf(fitting, sizeof fitting, "0 to %u", o->topo->dim);
    snprintf(error, error_bytes, "dimension %u does not fit: the machine has 2^%u nodes; give -d %s", o->dim,
             o->topo->dim, fitting);
    return -1;
}

/* The arguments lie on the stack: they may take a quarter of it, pointers included. */
static int check_arguments(const struct front_options *o, char *error, size_t error_bytes)
{
    uint64_t need = load_arg_bytes(o->argv, o->argc) + (o->argc + 1) * sizeof(uint64_t);

    if (need <= o->stack_bytes / 4)
        return 0;
    snprintf(error, error_bytes, "the arguments take %llu bytes; a quarter of the stack, %llu, is the most",
             (unsigned long long)need, (unsigned long long)o->stack_bytes / 4);
    return -1;
}

static int read_program(struct front *f, char *error, size_t error_bytes)
{
    const struct front_options *o = &f->options;

    if (elf_image_read(&f->image, o->program, error, error_bytes) < 0)
        return -1;
    return load_check_program(&f->image, o->program, o->topo->ram_bytes, o->stack_bytes, error, error_bytes);
}

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

static int new_tables(struct front *f, char *error, size_t error_bytes)
{
    const struct topo *t = f->options.topo;

    f->job = (struct job){.id = FRONT_JOB, .base = 0, .dim = f->options.dim, .nodes = 1u << f->options.dim};
    f->job.exited = calloc(f->job.nodes, sizeof *f->job.exited);
    f->io = calloc(t->n_io + 1, sizeof *f->io);
    f->volume = calloc(t->n_io + 1, DRIVE_MAX * sizeof *f->volume);
    if (!f->job.exited || !f->io || !f->volume ||
        streams_init(&f->streams, f->options.in, f->options.out, f->options.err, f->ops.interrupted, f->ctx) < 0) {
        snprintf(error, error_bytes, "no memory for the front end");
        return -1;
    }
    list_volumes(f);
    return serve_new(&f->serve, f->options.serve, &f->streams, error, error_bytes);
}

int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx,
              char *error, size_t error_bytes)
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
    if (f->options.stack_bytes == 0)
        f->options.stack_bytes = USER_STACK_DEFAULT_BYTES;
    if (check_dimension(&f->options, error, error_bytes) < 0 || read_program(f, error, error_bytes) < 0 ||
        check_arguments(&f->options, error, error_bytes) < 0 || new_tables(f, error, error_bytes) < 0) {
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
    serve_free(f->serve);
    streams_free(&f->streams);
    elf_image_free(&f->image);
    free(f->volume);
    free(f->io);
    free(f->job.exited);
    free(f);
}

void front_start(struct front *f)
{
    f->phase = PHASE_MOUNTING;
    leave_mounting(f);
}

bool front_finished(const struct front *f)
{
    return f->phase == PHASE_FINISHED;
}

int front_status(const struct front *f)
{
    return f->failed ? 1 : f->job.status;
}

/* ---- The deadlock report -------------------------------------------------------------------------- */

static void describe_mounts(const struct front *f, char *text, size_t bytes)
{
    uint32_t waiting = count_drives(f, DRIVE_WAITING), v = 0;

    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        for (uint32_t d = 0; d < f->options.topo->io[i].ndrives; d++, v++)
            if (f->io[i].drive[d] == DRIVE_WAITING) {
                snprintf(text, bytes, "the front end waits for %u of %u volumes to be mounted, first %s", waiting,
                         f->volumes, f->volume[v].name);
                return;
            }
}

static void describe_exits(const struct front *f, char *text, size_t bytes)
{
    uint32_t first = 0;

    while (first < f->job.nodes && f->job.exited[first])
        first++;
    snprintf(text, bytes, "the front end waits for %u of %u nodes to %s, first node %u", f->job.nodes - f->job.exits,
             f->job.nodes, f->job.killed ? "confirm that they were killed" : "exit", first);
}

static void describe_shutdowns(const struct front *f, char *text, size_t bytes)
{
    char name[CONSOLE_NAME_BYTES] = "none";
    uint32_t waiting = 0;

    for (uint32_t i = f->options.topo->n_io; i-- > 0;)
        if (f->io[i].state == IO_STOPPING) {
            console_name_node(f->options.topo->io[i].node, name);
            waiting++;
        }
    snprintf(text, bytes, "the front end waits for %u nsdisk to shut down, first on %s", waiting, name);
}

void front_describe_wait(const struct front *f, char *text, size_t bytes)
{
    switch (f->phase) {
    case PHASE_MOUNTING:
        describe_mounts(f, text, bytes);
        return;
    case PHASE_RUNNING:
        describe_exits(f, text, bytes);
        return;
    case PHASE_STOPPING:
        describe_shutdowns(f, text, bytes);
        return;
    default:
        snprintf(text, bytes, "the front end waits for nothing");
    }
}

#define _GNU_SOURCE
#include "emu/front/job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/plural.h"
#include "emu/front/console.h"
#include "emu/front/errmap.h"
#include "emu/front/lives.h"
#include "emu/front/where.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

/* ---- Nodes for programs ------------------------------------------------------------------------- */

static uint32_t count_wanted(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *sharing)
{
    uint32_t wanted = 0;

    *sharing = 0;
    for (uint32_t i = 0; i < programs; i++) {
        *sharing += program[i].nodes == 0;
        wanted += program[i].nodes <= nodes ? program[i].nodes : nodes + 1;
        if (wanted > nodes)
            break;
    }
    return wanted;
}

int job_share_nodes(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *share, char *error,
                    size_t error_bytes)
{
    uint32_t sharing, wanted = count_wanted(program, programs, nodes, &sharing), turn = 0;

    if (wanted > nodes || nodes - wanted < sharing) {
        snprintf(error, error_bytes, "the programs want more nodes than the subcube's %u; give a larger -d", nodes);
        return -1;
    }
    if (sharing == 0 && wanted < nodes) {
        snprintf(error, error_bytes, "the programs leave %u of the subcube's %u node%s without one; give one no -n",
                 nodes - wanted, nodes, plural(nodes));
        return -1;
    }
    for (uint32_t i = 0; i < programs; i++) {
        uint32_t left = nodes - wanted;

        share[i] = program[i].nodes ? program[i].nodes : left / sharing + (turn++ < left % sharing);
    }
    return 0;
}

/* ---- Building ----------------------------------------------------------------------------------- */

/* The arguments lie on the stack: they may take a quarter of it, pointers included. */
static int check_arguments(const struct job_program *p, uint64_t stack_bytes, char *error, size_t error_bytes)
{
    uint64_t need = load_arg_bytes(p->argv, p->argc) + (p->argc + 1) * sizeof(uint64_t);

    if (need <= stack_bytes / 4)
        return 0;
    snprintf(error, error_bytes,
             "the arguments take %" PRIu64 " bytes; a quarter of the stack, %" PRIu64 ", is the most", need,
             stack_bytes / 4);
    return -1;
}

/* What the user says counts more than what ncc was told. */
static void override_sizes(struct program_note *note, const struct job_options *o)
{
    if (o->heap_bytes)
        note->heap_bytes = o->heap_bytes;
    if (o->comm_bytes)
        note->comm_bytes = o->comm_bytes;
}

static int read_program(struct job *j, uint32_t i, uint64_t ram_bytes, char *error, size_t error_bytes)
{
    const struct job_program *p = &j->options.program[i];
    struct job_part *own = &j->own[i];

    if (elf_image_read(&own->image, p->path, error, error_bytes) < 0)
        return -1;
    override_sizes(&own->image.note, &j->options);
    uint64_t stack_bytes = elf_stack_bytes(&own->image, j->options.stack_bytes);
    if (load_check_program(&own->image, p->path, ram_bytes, stack_bytes, error, error_bytes) < 0)
        return -1;
    own->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    j->part[i].image = &own->image;
    j->part[i].argv = p->argv;
    j->part[i].argc = p->argc;
    return check_arguments(p, stack_bytes, error, error_bytes);
}

static int read_programs(struct job *j, uint64_t ram_bytes, char *error, size_t error_bytes)
{
    uint32_t share[JOB_PROGRAMS_MAX], first = 0;

    if (job_share_nodes(j->options.program, j->options.programs, j->nodes, share, error, error_bytes) < 0)
        return -1;
    for (uint32_t i = 0; i < j->options.programs; i++) {
        j->part[i].first = first;
        j->part[i].nodes = share[i];
        first += share[i];
        if (read_program(j, i, ram_bytes, error, error_bytes) < 0)
            return -1;
    }
    return 0;
}

static bool make_tables(struct job *j)
{
    j->part = calloc(j->options.programs, sizeof *j->part);
    j->own = calloc(j->options.programs, sizeof *j->own);
    j->exited = calloc(j->nodes, sizeof *j->exited);
    j->exit_status = calloc(j->nodes, sizeof *j->exit_status);
    j->lives = lives_new(j->nodes);
    for (uint32_t i = 0; j->own && i < j->options.programs; i++)
        j->own[i].fd = -1;
    return j->part && j->own && j->exited && j->exit_status && j->lives &&
           streams_init(&j->streams, j->options.in, j->options.out, j->options.err, j->ops->interrupted, j->ctx) == 0 &&
           lines_init(&j->lines, &j->streams, j->base, j->nodes, j->options.label) == 0;
}

static int build(struct job *j, const struct topo *topo, char *error, size_t error_bytes)
{
    if (!make_tables(j)) {
        snprintf(error, error_bytes, "no memory for a job of %u node%s", j->nodes, plural(j->nodes));
        return -1;
    }
    if (j->options.keeps_going)
        streams_keep_going(&j->streams);
    if (read_programs(j, topo->ram_bytes, error, error_bytes) < 0)
        return -1;
    return hostfs_new(&j->serve, j->options.serve, &j->lines, error, error_bytes);
}

int job_new(struct job **job, uint32_t id, uint32_t base, const struct topo *topo, const struct job_options *o,
            const struct job_ops *ops, void *ctx, char *error, size_t error_bytes)
{
    struct job *j = calloc(1, sizeof *j);

    *job = NULL;
    if (!j) {
        snprintf(error, error_bytes, "no memory for a job");
        return -1;
    }
    *j = (struct job){.id = id, .options = *o, .ops = ops, .ctx = ctx, .base = base, .nodes = 1u << o->dim};
    if (build(j, topo, error, error_bytes) < 0) {
        job_free(j);
        return -1;
    }
    *job = j;
    return 0;
}

#define ANY               UINT32_MAX
#define STATUS_OF_SIGPIPE 141 /* 128 + 13 */

static void drop_held(struct job *j, uint32_t node, uint32_t procid);

void job_free(struct job *j)
{
    if (!j)
        return;
    drop_held(j, ANY, ANY);
    lives_free(j->lives, j->serve);
    hostfs_free(j->serve);
    lines_free(&j->lines);
    streams_free(&j->streams);
    for (uint32_t i = 0; j->own && i < j->options.programs; i++) {
        elf_image_free(&j->own[i].image);
        if (j->own[i].fd >= 0)
            close(j->own[i].fd);
    }
    free(j->own);
    free(j->part);
    free(j->exited);
    free(j->exit_status);
    free(j);
}

/* ---- Loading and killing -------------------------------------------------------------------------- */

bool job_has_node(const struct job *j, uint32_t node)
{
    return node >= j->base && node - j->base < j->nodes;
}

bool job_awaits_node(const struct job *j, uint32_t node)
{
    return j->loaded && job_has_node(j, node) && !j->exited[node - j->base];
}

static void send_load(void *ctx, uint32_t to, uint32_t type, const void *bytes, size_t n)
{
    const struct job *j = ctx;

    j->ops->send(j->ctx, to, TAG(type, 0, 0), bytes, n);
}

bool job_load(struct job *j, const struct load_volume *volume, uint32_t volumes)
{
    const struct load_program program = {
        .job = j->id,
        .base = j->base,
        .dim = j->options.dim,
        .stack_bytes = j->options.stack_bytes,
        .part = j->part,
        .parts = j->options.programs,
        .volume = volume,
        .volumes = volumes,
    };

    j->loaded = load_send_program(&program, send_load, j) == 0;
    if (!j->loaded) {
        console_say(&j->streams, "%s: no memory to load it", j->options.program[0].path);
        j->failed = true;
    }
    return j->loaded;
}

void job_kill(struct job *j)
{
    struct load_job kill = {.job = j->id, .base = j->base};

    j->failed = true;
    if (j->killed)
        return;
    j->killed = true;
    for (uint32_t i = 0; j->loaded && i < j->nodes; i++)
        if (!j->exited[i]) {
            kill.life = lives_of(j->lives, i);
            j->ops->send(j->ctx, j->base + i, TAG(N_KILL, 0, 0), &kill, sizeof kill);
        }
}

bool job_has_ended(const struct job *j)
{
    return j->loaded ? j->exits == j->nodes : j->failed;
}

int job_status(const struct job *j)
{
    if (j->end_status)
        return j->end_status;
    return j->failed ? 1 : j->status;
}

int job_conclude(struct job *j)
{
    int32_t error = lines_take_error(&j->lines);

    for (int which = STREAM_OUT; which <= STREAM_ERR; which++) {
        int32_t untold = streams_take_error(&j->streams, which);

        error = error ? error : untold;
    }
    if (error == -N_EPIPE && job_status(j) == 0)
        j->end_status = STATUS_OF_SIGPIPE;
    else if (error && error != -N_EPIPE) {
        console_say(&j->streams, "output of the program is lost: %s", errmap_text(error));
        j->failed = true;
    }
    return job_status(j);
}

void job_revive(struct job *j, uint32_t first, uint32_t nodes)
{
    for (uint32_t i = first; i < first + nodes; i++) {
        j->exits -= j->exited[i];
        j->exited[i] = false;
    }
}

/* ---- Exits ---------------------------------------------------------------------------------------- */

static const struct job_part *part_of(const struct job *j, uint32_t logical, const char **path)
{
    const struct job_part *loaded = lives_program(j->lives, logical, path);
    uint32_t i = 0;

    if (loaded)
        return loaded;
    while (logical - j->part[i].first >= j->part[i].nodes)
        i++;
    *path = j->options.program[i].path;
    return &j->own[i];
}

static void note_status(struct job *j, uint32_t logical, int status)
{
    switch (j->options.status_rule) {
    case JOB_STATUS_FIRST:
        if (!j->status_known)
            j->status = status;
        break;
    case JOB_STATUS_NODE0:
        if (logical == 0)
            j->status = status;
        break;
    default:
        if (status > j->status)
            j->status = status;
    }
    j->status_known = true;
}

/* ", in main (hello.c:12)": where it faulted; or where it was called from, if it went astray. */
static void describe_place(const struct job_part *part, const struct exit_fault *f, char *text, size_t bytes)
{
    char where[WHERE_BYTES];

    text[0] = '\0';
    if (part->fd < 0)
        return;
    if (where_describe(part->fd, f->pc, where))
        snprintf(text, bytes, ", in %s", where);
    else if (where_describe(part->fd, f->x[0] - 1, where))
        snprintf(text, bytes, ", called from %s", where);
}

static void print_line(struct job *j, const char *text)
{
    console_print(&j->streams, "", text, strlen(text));
}

#define REGISTERS_IN_ROW 4

/* x1 to x31 */
static const char *const register_names[] = {"ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0", "a1",
                                             "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5", "s6",
                                             "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

_Static_assert(sizeof register_names / sizeof *register_names == sizeof((struct exit_fault){0}.x) / sizeof(uint64_t),
               "every register has its name");

static size_t print_register(char *line, size_t bytes, const char *name, uint64_t value)
{
    return (size_t)snprintf(line, bytes, "  %-4s 0x%016" PRIx64, name, value);
}

static void print_registers(struct job *j, const struct exit_fault *f)
{
    char line[128];
    size_t used = print_register(line, sizeof line, "pc", f->pc);

    for (size_t i = 0; i < sizeof f->x / sizeof *f->x; i++) {
        used += print_register(line + used, sizeof line - used, register_names[i], f->x[i]);
        if (i % REGISTERS_IN_ROW == REGISTERS_IN_ROW - 2) { /* the first row has pc as well */
            print_line(j, line);
            used = 0;
        }
    }
}

static void print_fault(struct job *j, const struct job_exit *e, const char *text, size_t n)
{
    char why[CONSOLE_LINE_BYTES], place[WHERE_BYTES + 16], line[sizeof why + sizeof place];
    const char *path;
    struct exit_fault f;

    memcpy(&f, text, sizeof f);
    console_explain(text + sizeof f, n - sizeof f, 0, why);
    describe_place(part_of(j, e->node, &path), &f, place, sizeof place);
    snprintf(line, sizeof line, "%s%s", why, place);
    print_line(j, line);
    if (j->options.registers)
        print_registers(j, &f);
}

static void print_failed_load(struct job *j, const struct job_exit *e, const char *text, size_t n)
{
    char why[CONSOLE_LINE_BYTES];
    const char *path;

    part_of(j, e->node, &path);
    console_explain(text, n, e->status, why);
    j->lost = n > 0;
    if (j->lost)
        console_say(&j->streams, "%s can't be loaded: %s", path, why);
    else
        console_say(&j->streams, "%s can't be loaded on node %u: %s", path, e->node, why);
}

/* The first failure of a job is told; the others follow from it. */
static void print_failed_exit(struct job *j, const struct job_exit *e, const char *text, size_t n)
{
    if (j->killed)
        return;
    j->told = true;
    if (e->how == EXIT_SIGNAL && n == 0)
        return; /* by SIGPIPE: the user has closed its output */
    if (e->how == EXIT_LOAD)
        print_failed_load(j, e, text, n);
    else if (e->how == EXIT_FAULT)
        print_fault(j, e, text, n);
    else if (n > 0)
        console_print(&j->streams, "", text, n);
    else
        console_say(&j->streams, "node %u: the program was killed", e->node);
}

static const char *check_exit(const struct job *j, uint32_t from, const struct job_exit *e, size_t text_bytes)
{
    if (e->job != j->id || !j->loaded)
        return "no such job is running";
    if (e->node != from - j->base)
        return "it speaks for another node";
    if (e->how > EXIT_SIGNAL)
        return "there is no such way to end";
    if (e->how == EXIT_FAULT && text_bytes < sizeof(struct exit_fault))
        return "it is too short";
    return j->exited[e->node] ? "that node has exited already" : NULL;
}

static void note_exit(struct job *j, uint32_t node, int status)
{
    j->exited[node - j->base] = true;
    j->exit_status[node - j->base] = status;
    j->exits++;
    drop_held(j, node, ANY);
    lines_end(&j->lines, node);
    hostfs_drop_node(j->serve, node);
    lives_drop_client(j, node, LIVES_ANY);
}

const char *job_receive_exit(struct job *j, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes + sizeof(struct job_exit);
    struct job_exit e;

    if (n < sizeof e)
        return "it is too short";
    memcpy(&e, bytes, sizeof e);
    const char *wrong = check_exit(j, from, &e, n - sizeof e);
    if (wrong)
        return wrong;

    note_exit(j, from, e.how == EXIT_NORMAL ? e.status & 0xff : -1);
    if (e.how == EXIT_NORMAL) {
        note_status(j, e.node, e.status & 0xff); /* as a shell sees it */
        lives_end(j, e.node, e.status & 0xff);
    } else if (e.how == EXIT_LOAD && lives_fail(j, e.node, e.status)) {
        lives_end(j, e.node, 0);
    } else {
        print_failed_exit(j, &e, text, n - sizeof e);
        if (e.how == EXIT_SIGNAL && !j->killed)
            j->end_status = e.status & 0xff;
        job_kill(j);
    }
    return NULL;
}

/* ---- Nodes that are out of reach ------------------------------------------------------------------ */

void job_lose_node(struct job *j, uint32_t node)
{
    uint32_t logical = node - j->base;

    if (j->exited[logical])
        return;
    if (!j->told)
        console_say(&j->streams, "node %u: there is no way to it", logical);
    j->told = true;
    note_exit(j, node, -1);
}

void job_fail_load(struct job *j, uint32_t node)
{
    const char *path;

    part_of(j, node - j->base, &path);
    j->lost = true;
    if (!j->killed)
        console_say(&j->streams, "%s can't be loaded: there is no sound way to node %u", path, node - j->base);
    j->told = true;
    job_kill(j);
}

/* ---- Requests ------------------------------------------------------------------------------------- */

struct held_request {
    struct held_request *next;
    uint32_t from, tag;
    enum stream stream;
    size_t wanted_bytes;
    size_t n;
    uint8_t bytes[];
};

/* True if a request reads or writes a standard stream; then which, and how many bytes. */
static bool is_for_stream(uint32_t type, const void *bytes, size_t n, enum stream *which, size_t *wanted_bytes)
{
    struct file_request r;

    if (n < sizeof r || (type != N_FREAD && type != N_FWRITE))
        return false;
    memcpy(&r, bytes, sizeof r);
    if (type == N_FREAD ? r.sfid != SFID_STDIN : r.sfid != SFID_STDOUT && r.sfid != SFID_STDERR)
        return false;
    *which = type == N_FREAD ? STREAM_IN : r.sfid == SFID_STDOUT ? STREAM_OUT : STREAM_ERR;
    *wanted_bytes = r.bytes;
    return true;
}

static const char *answer(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const void *reply;
    size_t reply_bytes = hostfs_request(j->serve, from, TAG_FROM(tag), TAG_TYPE(tag), bytes, n, &reply);

    if (reply_bytes == 0)
        return "it is too short";
    j->ops->send(j->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), reply, reply_bytes);
    return NULL;
}

static bool is_held(const struct job *j, enum stream stream)
{
    for (const struct held_request *h = j->held; h; h = h->next)
        if (h->stream == stream)
            return true;
    return false;
}

static const char *hold(struct job *j, uint32_t from, uint32_t tag, enum stream stream, size_t wanted_bytes,
                        const void *bytes, size_t n)
{
    struct held_request **end = &j->held, *h = malloc(sizeof *h + n);

    if (!h)
        return "there is no memory to hold it";
    *h = (struct held_request){.from = from, .tag = tag, .stream = stream, .wanted_bytes = wanted_bytes, .n = n};
    memcpy(h->bytes, bytes, n);
    while (*end)
        end = &(*end)->next;
    *end = h;
    return NULL;
}

/* A process that ends waits for no answer any more. */
static void drop_held(struct job *j, uint32_t node, uint32_t procid)
{
    for (struct held_request **at = &j->held; *at;) {
        struct held_request *h = *at;

        if ((node != ANY && h->from != node) || (procid != ANY && TAG_FROM(h->tag) != procid)) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        free(h);
    }
}

const char *job_receive_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    enum stream stream;
    size_t wanted_bytes;

    if (LIVES_IS_REQUEST(TAG_TYPE(tag)))
        return lives_request(j, from, tag, bytes, n);
    if (TAG_TYPE(tag) == N_FEXIT)
        drop_held(j, from, TAG_FROM(tag));
    if (!is_for_stream(TAG_TYPE(tag), bytes, n, &stream, &wanted_bytes))
        return answer(j, from, tag, bytes, n);
    if (stream == STREAM_IN)
        lines_flush(&j->lines, from); /* a question comes before its answer */
    if (is_held(j, stream) || !streams_ready(&j->streams, stream, wanted_bytes))
        return hold(j, from, tag, stream, wanted_bytes, bytes, n);
    return answer(j, from, tag, bytes, n);
}

void job_resume(struct job *j)
{
    bool waits[STREAMS] = {false};

    streams_drain(&j->streams);
    for (struct held_request **at = &j->held; *at;) {
        struct held_request *h = *at;

        waits[h->stream] = waits[h->stream] || !streams_ready(&j->streams, h->stream, h->wanted_bytes);
        if (waits[h->stream]) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        answer(j, h->from, h->tag, h->bytes, h->n);
        free(h);
    }
}

bool job_holds_requests(const struct job *j)
{
    return j->held;
}

size_t job_poll_streams(const struct job *j, struct pollfd *p)
{
    size_t n = 0;

    if (is_held(j, STREAM_IN))
        p[n++] = (struct pollfd){.fd = j->streams.fd[STREAM_IN], .events = POLLIN};
    for (int which = STREAM_OUT; which <= STREAM_ERR; which++)
        if (streams_holds_back(&j->streams, which))
            p[n++] = (struct pollfd){.fd = j->streams.fd[which], .events = POLLOUT};
    return n;
}

bool job_describe_end(const struct job *j, uint32_t node, char *text, size_t bytes)
{
    if (!j->loaded || !job_has_node(j, node) || !j->exited[node - j->base])
        return false;
    int status = j->exit_status[node - j->base];
    if (status < 0)
        snprintf(text, bytes, "has been ended");
    else
        snprintf(text, bytes, "has ended with status %d", status);
    return true;
}

void job_describe_wait(const struct job *j, char *text, size_t bytes)
{
    uint32_t first = 0;

    while (first < j->nodes && j->exited[first])
        first++;
    snprintf(text, bytes, "the front end waits for %u of %u node%s to %s, first node %u", j->nodes - j->exits, j->nodes,
             plural(j->nodes), j->killed ? "confirm that they were killed" : "exit", first);
}

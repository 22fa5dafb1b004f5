/* Mistakes that end in silence (checking.h). */
#include "emu/watch/checking.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/alike.h"
#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/plural.h"
#include "emu/watch/debugged.h"
#include "emu/watch/noted.h"
#include "emu/watch/unfinished.h"
#include "emu/state/unread.h"
#include "emu/state/user_calls.h"
#include "emu/hostfs/errmap.h"
#include "emu/job/where.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

enum { REGISTER_SP = 2, REGISTER_A0 = 10, REGISTER_A1 = 11 };
#define UNREAD_KINDS 16u
#define LINES_MOST   200u
#define EXIT         "exit" /* what it writes at the end */

/* Where the library learns of an error, in a0: at the beginning of a function; or behind the system call in it, as
 * these functions look at the error themselves. The last ones are for errno: what a trap before has told, and what the
 * library itself refuses. */
static const struct {
    const char *function;
    bool behind_call;
} failure_places[] = {{"trap_failed", false},      {"trap_read_context", true},   {"trap_write_and_read", true},
                      {"trap_context_sync", true}, {"failure_of_message", false}, {"result_set_errno", false},
                      {"pio_result", false},       {"star_fail", false}};
#define PLACES_OF_FAILURE (sizeof failure_places / sizeof *failure_places)
#define FIRST_OF_ERRNO    4u
#define CALL_BYTES_MOST   256u /* of a function, up to its system call */
#define ECALL             0x00000073u

/* Where a library refuses a call by itself, or may do so: of MPI, whose calls return a class of errors then, and of
 * newlib, which sets errno. */
static const struct {
    const char *function;
    int refusal;
} refusal_places[] = {{"mpi_fail", REFUSAL_SURE},    {"io_fail", REFUSAL_SURE},         {"__sflags", REFUSAL_SURE},
                      {"__swsetup_r", REFUSAL_SURE}, {"__srefill_r", REFUSAL_IF_ERRNO}, {"_fseeko_r", REFUSAL_SURE},
                      {"_setenv_r", REFUSAL_SURE},   {"_unsetenv_r", REFUSAL_SURE}};
#define PLACES_OF_REFUSAL (sizeof refusal_places / sizeof *refusal_places)

struct found {
    uint32_t node;
    char *text;
    uint64_t times;
};

/* Where a program opens a file: functions of the libraries, and which of their arguments is its name. */
static const struct {
    const char *function;
    uint32_t argument;
    const char *instead; /* of that */
} openers[] = {{"open", 0, NULL},          {"creat", 0, NULL},
               {"openat", 1, NULL},        {"fopen", 0, NULL},
               {"freopen", 0, NULL},       {"opendir", 0, NULL},
               {"mkstemp", 0, NULL},       {"tmpfile", 0, "a temporary file"},
               {"pio_open", 0, NULL},      {"pio_open_layout", 0, NULL},
               {"cs_fopen", 0, NULL},      {"cs_fopen_shape", 0, NULL},
               {"cs_fopen_with", 0, NULL}, {"gopen", 0, NULL}};
#define OPENERS (sizeof openers / sizeof *openers)

static void await_type(struct machine *m, uint32_t node);
static void end_process(struct machine *m, uint32_t node);

/* Where Vertex is stopped, at the beginning of a function whose first argument is the process. */
static const struct {
    const char *function;
    void (*act)(struct machine *m, uint32_t node);
} kernel_places[] = {
    {"proc_exit", end_process}, {"sys_nread", await_type}, {"sys_nreadp", await_type}, {"sys_ntest", await_type}};
#define KERNEL_PLACES (sizeof kernel_places / sizeof *kernel_places)

struct checking {
    struct target target;
    uint64_t kernel_pc[KERNEL_PLACES];
    struct noted *noted;
    struct user_calls *calls;
    struct unfinished_calls *unfinished;
    uint64_t running_va;                      /* of Vertex's proc_running */
    uint64_t (*failed_pc)[PLACES_OF_FAILURE]; /* by part of the job; 0: its program has no such symbol */
    uint64_t (*refusal_pc)[PLACES_OF_REFUSAL];
    uint64_t (*opener_pc)[OPENERS];
    uint64_t *reent_va;     /* of newlib's _impure_ptr, which leads to errno */
    uint64_t *mpi_texts_va; /* of mpi_class_texts (libpio/mpi/inside.h) */
    struct found *found;
    size_t founds, found_room;
    bool *odd; /* by node: its types are told */
    bool told;
};

/* ---- What has been found ---- */

static void add(struct checking *c, uint32_t node, const char *text)
{
    for (size_t i = 0; i < c->founds; i++)
        if (c->found[i].node == node && strcmp(c->found[i].text, text) == 0) {
            c->found[i].times++;
            return;
        }
    c->found = memory_grow(c->found, &c->found_room, c->founds + 1, sizeof *c->found);
    c->found[c->founds++] = (struct found){node, memory_copy_text(text, ALIKE_TEXT_BYTES - 1), 1};
}

static void add_unread(struct machine *m, uint32_t node, uint64_t process)
{
    const struct job *j = debugged_job(m);
    struct unread_kind kind[UNREAD_KINDS];
    uint32_t n = unread_list(m, j, j->base + node, process, kind, UNREAD_KINDS);
    char text[ALIKE_TEXT_BYTES], from[32];

    m->checking->odd[node] |= n > 0;
    for (uint32_t i = 0; i < n; i++) {
        unread_sender(j, kind[i].node, from, sizeof from);
        if (kind[i].messages == 1)
            snprintf(text, sizeof text, "never read a message of type %" PRIu32 " from %s, %" PRIu32 " byte%s",
                     kind[i].type, from, kind[i].bytes, plural(kind[i].bytes));
        else
            snprintf(text, sizeof text,
                     "never read %" PRIu32 " messages of type %" PRIu32 " from %s, the first of %" PRIu32 " byte%s",
                     kind[i].messages, kind[i].type, from, kind[i].bytes, plural(kind[i].bytes));
        add(m->checking, node, text);
    }
}

/* ---- Where a call has failed ---- */

static void add_failure_text(struct machine *m, uint32_t node, const struct user_call *call, const char *why)
{
    char text[ALIKE_TEXT_BYTES];

    snprintf(text, sizeof text, "failed in %s: %s", call->text, why);
    add(m->checking, node, text);
}

static void add_failure(struct machine *m, uint32_t node, const struct user_call *call, int32_t error)
{
    add_failure_text(m, node, call, errmap_text(error));
}

/* The process that a node runs; 0 if that is unknown. */
static uint64_t running_process(const struct checking *c, uint32_t node)
{
    uint64_t process;

    return target_read(&c->target, node, c->running_va, &process, sizeof process) == sizeof process ? process : 0;
}

/* Whether that says no more than that there is nothing, or that a signal came. */
static bool is_no_failure(int32_t error)
{
    return error == -N_EAGAIN || error == -N_EINTR;
}

/* The library learns of an error. It may make up for it, so the program's call tells when it returns. What
 * main has returned to does not. `which`: of failure_places. */
static void note_failure(struct machine *m, uint32_t node, uint32_t part, uint32_t which)
{
    struct checking *c = m->checking;
    int32_t error = (int32_t)target_program_registers(&c->target, node)->x[REGISTER_A0];
    bool sets_errno = which >= FIRST_OF_ERRNO;

    if (error >= 0 || (is_no_failure(error) && !unfinished_any(c->unfinished, node)))
        return;
    struct user_call call = user_calls_find(c->calls, node, part);
    if (call.back == 0) {
        if (sets_errno && !is_no_failure(error) && strcmp(call.name, EXIT) == 0)
            add_failure(m, node, &call, error);
        return;
    }
    struct unfinished *u = unfinished_at(c->unfinished, node, running_process(c, node), &call);
    if (sets_errno || !u->sets_errno)
        u->error = error;
    u->sets_errno |= sets_errno;
}

/* What a process has in errno. 0: unknown. */
static int32_t read_errno(const struct checking *c, uint32_t node, uint32_t part)
{
    uint64_t reent;
    int32_t number;

    return c->reent_va[part] &&
                   target_read(&c->target, node, c->reent_va[part], &reent, sizeof reent) == sizeof reent &&
                   target_read(&c->target, node, reent, &number, sizeof number) == sizeof number
               ? number
               : 0;
}

/* The library is about to refuse the program's call, or may do so. */
static void note_refusal(struct machine *m, uint32_t node, uint32_t part, int refusal)
{
    struct checking *c = m->checking;
    struct user_call call = user_calls_find(c->calls, node, part);

    if (call.back == 0)
        return;
    struct unfinished *u = unfinished_at(c->unfinished, node, running_process(c, node), &call);
    if (u->refusal != REFUSAL_SURE)
        u->refusal = unfinished_result_tells(u) ? refusal : REFUSAL_IF_ERRNO;
    u->errno_before = read_errno(c, node, part);
}

/* MPI's text of a class of errors; codes that the program has added have none. */
static void add_mpi_failure(struct machine *m, uint32_t node, uint32_t part, const struct user_call *call,
                            uint32_t class)
{
    const struct checking *c = m->checking;
    char text[128];
    uint64_t va = 1;

    for (uint32_t i = 0; i <= class && va != 0; i++)
        if (target_read(&c->target, node, c->mpi_texts_va[part] + i * sizeof va, &va, sizeof va) != sizeof va)
            va = 0;
    if (va != 0)
        text[target_read(&c->target, node, va, text, sizeof text - 1)] = '\0';
    else
        snprintf(text, sizeof text, "error code %" PRIu32, class);
    add_failure_text(m, node, call, text);
}

/* A call of the program has returned that, and failed. */
static void tell_failure(struct machine *m, uint32_t node, uint32_t part, const struct unfinished *u, uint64_t result)
{
    int32_t number = u->sets_errno || u->refusal ? read_errno(m->checking, node, part) : 0;
    int32_t error = number > 0 ? -number : u->error;
    bool is_told = u->error < 0 || u->refusal == REFUSAL_SURE || number != u->errno_before;

    if (u->refusal == REFUSAL_SURE && strncmp(u->call.name, "MPI_", 4) == 0)
        add_mpi_failure(m, node, part, &u->call, (uint32_t)result);
    else if (is_told && error < 0 && !is_no_failure(error))
        add_failure(m, node, &u->call, error);
}

/* ---- What processes open and await ---- */

static void read_files(const struct checking *c, uint32_t node, uint64_t process, bool is_open[PROC_FILES])
{
    uint64_t file[PROC_FILES] = {0};

    target_read(&c->target, node, process + PROC_FILES_OFFSET, file, sizeof file);
    for (uint32_t i = 0; i < PROC_FILES; i++)
        is_open[i] = file[i] != 0;
}

/* A function that opens files begins. */
static void begin_open(struct machine *m, uint32_t node, uint32_t part, uint32_t which)
{
    struct checking *c = m->checking;
    const struct debug_registers *r = target_program_registers(&c->target, node);
    char name[FILE_NAME_MAX_BYTES + 1];
    struct user_call call;

    if (!user_calls_begin(c->calls, node, part, openers[which].function, &call))
        return;
    name[target_read(&c->target, node, r->x[REGISTER_A0 + openers[which].argument], name, sizeof name - 1)] = '\0';
    struct unfinished *u = unfinished_at(c->unfinished, node, running_process(c, node), &call);
    u->refusal = REFUSAL_SURE;
    free(u->path);
    u->path = memory_copy_text(openers[which].instead ? openers[which].instead : one_line(name), sizeof name);
    read_files(c, node, u->process, u->is_open);
}

/* What is open now and was not then is the file, or the parts of it. */
static void note_opened(struct checking *c, uint32_t node, const struct unfinished *u)
{
    bool is_open[PROC_FILES], any = false;

    read_files(c, node, u->process, is_open);
    for (uint32_t i = 0; i < PROC_FILES; i++) {
        is_open[i] = is_open[i] && !u->is_open[i];
        any |= is_open[i];
    }
    if (any)
        noted_open(c->noted, node, u->process, is_open, u->path, u->call.text);
}

static void end_call(struct machine *m, uint32_t node, uint32_t part)
{
    struct checking *c = m->checking;
    const struct debug_registers *r = target_program_registers(&c->target, node);
    struct unfinished u;

    if (!unfinished_take(c->unfinished, node, running_process(c, node), r->x[0], r->x[REGISTER_SP], &u))
        return;
    uint64_t result = r->x[REGISTER_A0];
    if ((u.error < 0 || u.refusal) && unfinished_has_failed(&u, (int64_t)result))
        tell_failure(m, node, part, &u, result);
    if (u.path)
        note_opened(c, node, &u);
    free(u.path);
}

/* What exit() could not write is lost. */
static void end_in_call(void *machine, uint32_t node, const struct unfinished *u)
{
    if (u->error < 0 && u->sets_errno && strcmp(u->call.name, EXIT) == 0)
        add_failure(machine, node, &u->call, u->error);
}

/* Returns which of failure_places of a part is at that address; PLACES_OF_FAILURE: none. */
static uint32_t failure_at(const struct checking *c, uint32_t part, uint64_t pc)
{
    uint32_t which = 0;

    while (which < PLACES_OF_FAILURE && c->failed_pc[part][which] != pc)
        which++;
    return which;
}

/* The arguments of the call in which a node is stopped at the beginning of Vertex's function for it. */
static bool read_argument(const struct checking *c, uint32_t node, unsigned number, uint64_t *value)
{
    uint64_t va = target_registers(&c->target, node)->x[REGISTER_A1] + number * sizeof *value;

    return target_read(&c->target, node, va, value, sizeof *value) == sizeof *value;
}

static void await_type(struct machine *m, uint32_t node)
{
    uint64_t type;

    if (read_argument(m->checking, node, 3, &type))
        noted_await(m->checking->noted, node, (int32_t)type < 0 ? NOTED_ANY : (int32_t)type);
}

static void add_open(void *machine, uint32_t node, const char *file)
{
    char text[ALIKE_TEXT_BYTES];

    snprintf(text, sizeof text, "never closed %s", file);
    add(((struct machine *)machine)->checking, node, text);
}

/* A program that takes the place of the process has its files and messages. */
static void end_process(struct machine *m, uint32_t node)
{
    struct checking *c = m->checking;
    uint64_t process = target_registers(&c->target, node)->x[REGISTER_A0], successor = 0;
    bool is_open[PROC_FILES];

    target_read(&c->target, node, process + PROC_SUCCESSOR_OFFSET, &successor, sizeof successor);
    read_files(c, node, process, is_open);
    unfinished_end(c->unfinished, node, process, successor == 0 ? end_in_call : NULL, m);
    if (successor == 0) {
        add_unread(m, node, process);
        noted_end(c->noted, node, process, is_open, add_open, m);
    }
}

void checking_note_arrival(struct machine *m, uint32_t address, uint32_t tag)
{
    const struct job *j = m->checking ? debugged_job(m) : NULL;

    if (j && job_has_node(j, address) && TAG_IS_PROGRAM(tag))
        noted_arrival(m->checking->noted, address - j->base, TAG_NUMBER(tag));
}

/* ---- Stops ---- */

/* A call may return to where another place is. */
static void look_at_user(struct machine *m, uint32_t node, uint32_t part, uint64_t pc)
{
    struct checking *c = m->checking;
    uint32_t which = failure_at(c, part, pc);

    if (unfinished_any(c->unfinished, node))
        end_call(m, node, part);
    if (which < PLACES_OF_FAILURE)
        note_failure(m, node, part, which);
    for (uint32_t i = 0; i < PLACES_OF_REFUSAL; i++)
        if (c->refusal_pc[part][i] == pc)
            note_refusal(m, node, part, refusal_places[i].refusal);
    for (uint32_t i = 0; i < OPENERS; i++)
        if (c->opener_pc[part][i] == pc)
            begin_open(m, node, part, i);
}

static void look_at(struct machine *m, uint32_t node)
{
    struct checking *c = m->checking;
    const struct debug_hart *d = &c->target.area->hart[debugged_ops.slot(m, node)];
    uint32_t part = debugged_part(debugged_job(m), node);

    if (c->told)
        return;
    if (d->in_user)
        look_at_user(m, node, part, d->now.x[0]);
    for (uint32_t i = 0; !d->in_user && i < KERNEL_PLACES; i++)
        if (d->now.x[0] == c->kernel_pc[i])
            kernel_places[i].act(m, node);
}

bool checking_stands(void *machine, uint32_t running)
{
    struct machine *m = machine;
    struct checking *c = m->checking;
    struct target_event e;
    bool any = false;

    (void)running;
    while (target_take_event(&c->target, &e)) {
        look_at(m, e.node);
        target_let_go(&c->target, e.node, &(struct target_go){.how = TARGET_RUN});
        any = true;
    }
    return target_release_ended(&c->target) || any;
}

/* ---- The end ---- */

static void tell_found(const struct checking *c)
{
    struct alike alike = {.lines = LINES_MOST};
    char text[ALIKE_TEXT_BYTES + 32];

    for (size_t i = 0; i < c->founds; i++) {
        snprintf(text, sizeof text, "%s%s", c->found[i].text, c->found[i].times > 1 ? " (" : "");
        if (c->found[i].times > 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%" PRIu64 " times)", c->found[i].times);
        alike_add(&alike, c->found[i].node, text);
    }
    machine_say(c->founds > 0 ? "check: messages never read, files never closed, and calls that failed:"
                              : "check: every message was read, every file was closed, and no call failed");
    alike_say(&alike, "give fewer nodes to see all", machine_say_more, NULL);
    alike_free(&alike);
}

/* Of the nodes that have unread messages, or wait for ever. */
static void tell_types(const struct checking *c, uint32_t nodes)
{
    struct alike alike = {0};
    char text[ALIKE_TEXT_BYTES];

    for (uint32_t node = 0; node < nodes; node++)
        if (c->odd[node] && noted_types(c->noted, node, text, sizeof text))
            alike_add(&alike, node, text);
    if (alike.n > 0)
        machine_say("check: the types of messages there:");
    alike_say(&alike, "give fewer nodes to see all", machine_say_more, NULL);
    alike_free(&alike);
}

void checking_tell(struct machine *m)
{
    struct checking *c = m->checking;
    const struct job *j = debugged_job(m);

    if (!c || c->told || !j)
        return;
    debugged_ops.note(m);
    for (uint32_t node = 0; node < j->nodes; node++) {
        add_unread(m, node, 0);
        c->odd[node] |= job_awaits_node(j, j->base + node);
    }
    c->told = true;
    tell_found(c);
    tell_types(c, j->nodes);
}

/* ---- Life ---- */

static bool find_failure_place(const struct job_part *part, uint32_t which, uint64_t *pc)
{
    if (!where_find(part->fd, failure_places[which].function, pc))
        return false;
    if (!failure_places[which].behind_call)
        return true;
    for (uint32_t i = 0; i < part->image.segments; i++) {
        const struct elf_segment *s = &part->image.segment[i];
        uint32_t code;

        for (uint64_t at = *pc - s->va, end = at + CALL_BYTES_MOST; at < end && at + sizeof code <= s->file_bytes;
             at += 2) {
            memcpy(&code, s->data + at, sizeof code);
            if (code == ECALL) {
                *pc = s->va + at + sizeof code;
                return true;
            }
        }
    }
    return false;
}

static void open_program(struct checking *c, const struct job_part *part, uint32_t i)
{
    for (uint32_t k = 0; k < PLACES_OF_FAILURE; k++)
        if (find_failure_place(part, k, &c->failed_pc[i][k]))
            target_add_break(&c->target, c->failed_pc[i][k]);
    for (uint32_t k = 0; k < PLACES_OF_REFUSAL; k++)
        if (where_find(part->fd, refusal_places[k].function, &c->refusal_pc[i][k]))
            target_add_break(&c->target, c->refusal_pc[i][k] | DEBUG_ALWAYS);
    for (uint32_t k = 0; k < OPENERS; k++)
        if (where_find(part->fd, openers[k].function, &c->opener_pc[i][k]))
            target_add_break(&c->target, c->opener_pc[i][k] | DEBUG_ALWAYS);
    where_find(part->fd, "_impure_ptr", &c->reent_va[i]);
    where_find(part->fd, "mpi_class_texts", &c->mpi_texts_va[i]);
}

static void open_programs(struct checking *c, const struct job *j)
{
    uint32_t n = j->options.programs;
    int *fd = memory_new(n, sizeof *fd);

    c->failed_pc = memory_new(n, sizeof *c->failed_pc);
    c->refusal_pc = memory_new(n, sizeof *c->refusal_pc);
    c->opener_pc = memory_new(n, sizeof *c->opener_pc);
    c->reent_va = memory_new(n, sizeof *c->reent_va);
    c->mpi_texts_va = memory_new(n, sizeof *c->mpi_texts_va);
    for (uint32_t i = 0; i < n; i++) {
        fd[i] = j->own[i].fd;
        open_program(c, &j->own[i], i);
    }
    c->calls = user_calls_new(&c->target, fd, n);
    free(fd);
}

int checking_open(struct machine *m)
{
    struct debug_area *area = debug_area_of(m->harts.control);
    const struct job *j = front_first_job(m->front);

    if (!m->options->check || !j)
        return 0;
    struct checking *c = m->checking = memory_new(1, sizeof *c);
    c->target = (struct target){.area = area, .slots = m->harts.count, .ops = &debugged_ops, .ctx = m};
    for (uint32_t i = 0; i < KERNEL_PLACES; i++) {
        if (debugged_find_symbol(m, kernel_places[i].function, &c->kernel_pc[i]) != 0)
            return -1;
        target_add_break(&c->target, c->kernel_pc[i]);
    }
    c->noted = noted_new(j->nodes);
    c->odd = memory_new(j->nodes, sizeof *c->odd);
    if (debugged_find_symbol(m, "proc_running", &c->running_va) != 0)
        return -1;
    c->unfinished = unfinished_new(&c->target, j->nodes);
    open_programs(c, j);
    m->harts.control->debug = SLOT_DEBUG_KERNEL;
    return 0;
}

void checking_begin(struct machine *m, uint32_t job)
{
    if (!m->checking)
        return;
    m->debugged_job = job;
    target_choose_nodes(&m->checking->target, false);
}

void checking_close(struct machine *m)
{
    struct checking *c = m->checking;

    if (!c)
        return;
    for (size_t i = 0; i < c->founds; i++)
        free(c->found[i].text);
    free(c->found);
    free(c->failed_pc);
    free(c->refusal_pc);
    free(c->opener_pc);
    free(c->reent_va);
    free(c->mpi_texts_va);
    unfinished_free(c->unfinished);
    user_calls_free(c->calls);
    free(c->odd);
    noted_free(c->noted);
    free(c);
    m->checking = NULL;
}

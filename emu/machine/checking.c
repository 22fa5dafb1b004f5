/* Mistakes that end in silence (checking.h). */
#define _GNU_SOURCE
#include "emu/machine/checking.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/alike.h"
#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/machine/debugged.h"
#include "emu/machine/noted.h"
#include "emu/machine/unread.h"
#include "emu/hostfs/errmap.h"
#include "emu/job/where.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

enum { REGISTER_RA = 1, REGISTER_A0 = 10, REGISTER_A1 = 11 };
#define STACK_WORDS  512u /* of a stack, in which return addresses are looked for */
#define RETURNS_MOST 16u
#define UNREAD_KINDS 16u
#define PLACES_MOST  4096u
#define PLACE_BYTES  (2 * WHERE_BYTES + 16)

/* Where a call failed: which addresses to return to were on the stack, and what that means. */
struct place {
    uint32_t part;
    uint64_t back[RETURNS_MOST]; /* the first is in ra; 0: no more */
    uint64_t sp;                 /* at the last failure there */
    bool in_library;             /* the trap was called by a library, which may make up for its failure */
    char *text;                  /* "nwrite, called in main (ring.c:12)" */
};

/* Where the library learns of an error, in a0: at the beginning of a function; or behind the system call in it, as
 * these functions look at the error themselves. The last ones are for errno: what a trap before has told, and what the
 * library itself refuses. A trap that a library has called counts only then: it asks whether a file is there before it
 * makes it, and a call of the program may fail for many traps. */
static const struct {
    const char *function;
    bool behind_call;
} failure_places[] = {{"trap_failed", false},      {"trap_read_context", true},   {"trap_write_and_read", true},
                      {"trap_context_sync", true}, {"failure_of_message", false}, {"result_set_errno", false},
                      {"pio_result", false}};
#define PLACES_OF_FAILURE (sizeof failure_places / sizeof *failure_places)
#define TRAP_FAILED       0u
#define PIO_RESULT        6u
#define FIRST_OF_ERRNO    4u
#define CALL_BYTES_MOST   256u /* of a function, up to its system call */
#define ECALL             0x00000073u

struct found {
    uint32_t node;
    char *text;
    uint64_t times;
};

static void begin_open(struct machine *m, uint32_t node);
static void await_type(struct machine *m, uint32_t node);
static void end_process(struct machine *m, uint32_t node);

/* Where Vertex is stopped, at the beginning of a function whose first argument is the process. */
static const struct {
    const char *function;
    void (*act)(struct machine *m, uint32_t node);
} kernel_places[] = {{"proc_exit", end_process},
                     {"sys_open", begin_open},
                     {"sys_nread", await_type},
                     {"sys_nreadp", await_type},
                     {"sys_ntest", await_type}};
#define KERNEL_PLACES (sizeof kernel_places / sizeof *kernel_places)

struct checking {
    struct target target;
    uint64_t kernel_pc[KERNEL_PLACES];
    struct noted *noted;
    uint64_t (*failed_pc)[PLACES_OF_FAILURE]; /* by part of the job; 0: its program has no such symbol */
    struct by_trap {
        const char *place; /* NULL: none */
        bool told;
        int32_t error;
    } * by_trap; /* by node: the trap that has failed last, which the library may turn into errno, */
    struct by_errno {
        const char *place; /* NULL: none */
        uint64_t sp;
        int32_t error;
    } * by_errno; /* and the call that has set errno last */
    struct found *found;
    size_t founds, found_room;
    struct place *place;
    size_t places, place_room;
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

/* Returns what the call before an address to return to calls, 0 if it is in a register, and ~0 if there is no call. */
static uint64_t called_before(const struct target *t, uint32_t node, uint64_t back)
{
    uint32_t code;
    uint16_t half;

    if (back < 4 || back % 2 != 0 || target_read(t, node, back - 4, &code, sizeof code) != sizeof code)
        return ~0ull;
    if ((code & 0xfff) == 0x0ef) { /* jal ra */
        int64_t offset =
            (int64_t)(int32_t)(code & 0x80000000) >> 11 | (code & 0xff000) | (code >> 9 & 0x800) | (code >> 20 & 0x7fe);

        return back - 4 + (uint64_t)offset;
    }
    half = code >> 16;
    bool jalr = (code & 0xfff) == 0x0e7, short_jalr = (half & 0xf07f) == 0x9002 && half != 0x9002;
    return jalr || short_jalr ? 0 : ~0ull;
}

/* What a program has in ra and sp. In a call of Vertex they are in its trap frame. */
static void read_return(const struct target *t, uint32_t node, uint64_t ra_sp[2])
{
    const struct debug_registers *r = target_registers(t, node);
    uint64_t frame = r->x[REGISTER_A1] - FRAME_ARGUMENTS_OFFSET;

    if (t->area->hart[debugged_ops.slot(t->ctx, node)].in_user)
        memcpy(ra_sp, &r->x[REGISTER_RA], 2 * sizeof *ra_sp);
    else if (target_read(t, node, frame + FRAME_RETURN_OFFSET, ra_sp, 2 * sizeof *ra_sp) < 2 * sizeof *ra_sp)
        memset(ra_sp, 0, 2 * sizeof *ra_sp);
}

static uint32_t find_returns(const struct target *t, uint32_t node, uint64_t back[RETURNS_MOST], uint64_t *sp)
{
    uint64_t word[STACK_WORDS], ra_sp[2];
    uint32_t n = 0;

    read_return(t, node, ra_sp);
    size_t words = target_read(t, node, ra_sp[1], word, sizeof word) / sizeof *word;
    *sp = ra_sp[1];
    memset(back, 0, RETURNS_MOST * sizeof *back);
    back[n++] = ra_sp[0];
    for (size_t i = 0; i < words && n < RETURNS_MOST; i++)
        if (word[i] < ra_sp[1] && called_before(t, node, word[i]) != ~0ull)
            back[n++] = word[i];
    return n;
}

static void function_of(int fd, uint64_t address, char name[WHERE_BYTES])
{
    if (!where_describe(fd, address, name))
        name[0] = '\0';
    name[strcspn(name, " ")] = '\0';
}

/* Follows the calls up from the library to the first function that has a source line and is the program's own. With
 * `strict`, a word on the stack counts only if a call of the function below stands before it: others may be old. But a
 * function of a library may have jumped to the one below. Returns false if there is none. */
static bool find_place(const struct target *t, uint32_t node, int fd, const uint64_t *back, bool strict, char *text)
{
    char below[WHERE_BYTES], called[WHERE_BYTES], line[WHERE_BYTES];

    function_of(fd, back[0] - 1, below);
    for (uint32_t i = 0; i < RETURNS_MOST && back[i] != 0; i++) {
        uint64_t target = called_before(t, node, back[i]);

        function_of(fd, target, called);
        if (strict && i > 0 && target != 0 && strcmp(called, below) != 0)
            continue;
        if (where_describe(fd, back[i] - 1, line) && strchr(line, '(') && !where_is_library(fd, back[i] - 1)) {
            snprintf(text, PLACE_BYTES, "%s, called in %s", called[0] ? called : below, line);
            return true;
        }
        function_of(fd, back[i] - 1, below);
    }
    return false;
}

static void describe_place(const struct target *t, uint32_t node, int fd, const uint64_t *back, char *text)
{
    if (find_place(t, node, fd, back, true, text) || find_place(t, node, fd, back, false, text))
        return;
    function_of(fd, back[0] - 1, text);
    if (text[0] == '\0')
        snprintf(text, PLACE_BYTES, "a call");
}

static struct place place_of(struct machine *m, uint32_t node, uint32_t part)
{
    struct checking *c = m->checking;
    struct place p = {.part = part};
    char text[PLACE_BYTES];

    find_returns(&c->target, node, p.back, &p.sp);
    for (size_t i = 0; i < c->places; i++)
        if (c->place[i].part == part && memcmp(c->place[i].back, p.back, sizeof p.back) == 0) {
            c->place[i].sp = p.sp;
            return c->place[i];
        }
    if (c->places == PLACES_MOST)
        return (struct place){.text = "a call at one of too many places"};
    int fd = debugged_job(m)->own[part].fd;
    describe_place(&c->target, node, fd, p.back, text);
    p.in_library = where_is_library(fd, p.back[0] - 1);
    p.text = memory_copy_text(text, SIZE_MAX);
    c->place = memory_grow(c->place, &c->place_room, c->places + 1, sizeof *c->place);
    c->place[c->places++] = p;
    return p;
}

/* Whether a library goes on after the failure, whose own call tells if that fails: traps that it calls, and calls of
 * libpio by the driver of striped volumes. */
static bool is_inner(uint32_t which, const struct place *p)
{
    return (which == TRAP_FAILED && p->in_library) || (which == PIO_RESULT && strncmp(p->text, "pio_", 4) != 0);
}

/* Whether the call that sets errno is around the one that has set it last, to the same: then that is told. Keeps it. */
static bool is_outer(struct by_errno *last, const struct place *p, int32_t error)
{
    bool outer = last->place && p->sp > last->sp && last->error == error && strcmp(last->place, p->text) == 0;

    *last = (struct by_errno){p->text, p->sp, error};
    return outer;
}

/* Polls and calls that a signal has interrupted have not failed. `which`: of failure_places. */
static void note_failure(struct machine *m, uint32_t node, uint32_t part, uint32_t which)
{
    struct checking *c = m->checking;
    struct by_trap *last = &c->by_trap[node], before = *last;
    int32_t error = (int32_t)target_program_registers(&c->target, node)->x[REGISTER_A0];
    char text[ALIKE_TEXT_BYTES];

    if (error >= 0 || error == -N_EAGAIN || error == -N_EINTR)
        return;
    struct place place = place_of(m, node, part);
    bool waits = is_inner(which, &place), again = false;

    if (which >= FIRST_OF_ERRNO && !waits)
        again = is_outer(&c->by_errno[node], &place, error);
    *last = which < FIRST_OF_ERRNO ? (struct by_trap){place.text, !waits, error} : (struct by_trap){0};
    if (waits || again ||
        (which >= FIRST_OF_ERRNO && before.told && before.error == error && strcmp(before.place, place.text) == 0))
        return; /* told later, or already */
    snprintf(text, sizeof text, "failed in %s: %s", place.text, errmap_text(error));
    add(c, node, text);
}

/* Returns which of failure_places of a part is at that address; PLACES_OF_FAILURE: none. */
static uint32_t failure_at(const struct checking *c, uint32_t part, uint64_t pc)
{
    uint32_t which = 0;

    while (which < PLACES_OF_FAILURE && c->failed_pc[part][which] != pc)
        which++;
    return which;
}

/* ---- What processes open and await ---- */

/* The arguments of the call in which a node is stopped at the beginning of Vertex's function for it. */
static bool read_argument(const struct checking *c, uint32_t node, unsigned number, uint64_t *value)
{
    uint64_t va = target_registers(&c->target, node)->x[REGISTER_A1] + number * sizeof *value;

    return target_read(&c->target, node, va, value, sizeof *value) == sizeof *value;
}

static void read_files(const struct checking *c, uint32_t node, uint64_t process, bool is_open[PROC_FILES])
{
    uint64_t file[PROC_FILES] = {0};

    target_read(&c->target, node, process + PROC_FILES_OFFSET, file, sizeof file);
    for (uint32_t i = 0; i < PROC_FILES; i++)
        is_open[i] = file[i] != 0;
}

/* The file will have the lowest free descriptor. */
static void begin_open(struct machine *m, uint32_t node)
{
    struct checking *c = m->checking;
    uint64_t process = target_registers(&c->target, node)->x[REGISTER_A0], path;
    char name[FILE_NAME_MAX_BYTES + 1];
    bool is_open[PROC_FILES];
    uint32_t ufid = 0;

    read_files(c, node, process, is_open);
    while (ufid < PROC_FILES && is_open[ufid])
        ufid++;
    if (ufid == PROC_FILES || !read_argument(c, node, 0, &path))
        return;
    name[target_read(&c->target, node, path, name, sizeof name - 1)] = '\0';
    noted_open(c->noted, node, process, ufid, name, place_of(m, node, debugged_part(debugged_job(m), node)).text);
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

static void look_at(struct machine *m, uint32_t node)
{
    struct checking *c = m->checking;
    const struct debug_hart *d = &c->target.area->hart[debugged_ops.slot(m, node)];
    uint32_t part = debugged_part(debugged_job(m), node);

    if (c->told)
        return;
    uint32_t which = failure_at(c, part, d->now.x[0]);
    if (d->in_user && which < PLACES_OF_FAILURE)
        note_failure(m, node, part, which);
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
    struct alike alike = {0};
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

int checking_open(struct machine *m)
{
    struct debug_area *area = debug_area_of(m->harts.control);
    const struct job *j = front_first_job(m->front);

    if (!m->options->check || !j)
        return 0;
    struct checking *c = m->checking = memory_new(1, sizeof *c);
    c->target = (struct target){.area = area, .slots = m->harts.count, .ops = &debugged_ops, .ctx = m};
    c->failed_pc = memory_new(j->options.programs, sizeof *c->failed_pc);
    for (uint32_t i = 0; i < KERNEL_PLACES; i++) {
        if (debugged_find_symbol(m, kernel_places[i].function, &c->kernel_pc[i]) != 0)
            return -1;
        target_change_break(&c->target, c->kernel_pc[i], true);
    }
    c->noted = noted_new(j->nodes);
    c->odd = memory_new(j->nodes, sizeof *c->odd);
    c->by_trap = memory_new(j->nodes, sizeof *c->by_trap);
    c->by_errno = memory_new(j->nodes, sizeof *c->by_errno);
    for (uint32_t i = 0; i < j->options.programs; i++)
        for (uint32_t k = 0; k < PLACES_OF_FAILURE; k++)
            if (find_failure_place(&j->own[i], k, &c->failed_pc[i][k]))
                target_change_break(&c->target, c->failed_pc[i][k], true);
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
    for (size_t i = 0; i < c->places; i++)
        free(c->place[i].text);
    free(c->found);
    free(c->place);
    free(c->failed_pc);
    free(c->by_trap);
    free(c->by_errno);
    free(c->odd);
    noted_free(c->noted);
    free(c);
    m->checking = NULL;
}

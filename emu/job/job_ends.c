/*
 * How a job's nodes end: statuses, faults and failed loads, and the lines about them for the user.
 */
#include "emu/job/job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/hostfs/console.h"
#include "emu/hostfs/errmap.h"
#include "emu/job/frames.h"
#include "emu/job/lives.h"
#include "emu/job/stages.h"
#include "emu/job/where.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

#define STATUS_OF_SIGPIPE 141 /* 128 + 13 */

/* ---- The job's status ----------------------------------------------------------------------------- */

bool job_has_ended(const struct job *j)
{
    if (!j->loaded)
        return j->failed;
    return lives_exits(j->lives) == j->nodes && (!j->hosted || j->killed);
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

static void note_status(struct job *j, uint32_t logical, int status)
{
    if (!stages_is_last(j, logical) || lives_is_separate(j->lives, logical))
        return;
    switch (j->options.status_rule) {
    case JOB_STATUS_FIRST:
        if (!j->status_known)
            j->status = status;
        break;
    case JOB_STATUS_NODE0:
        if (stages_number(j, logical) == 0)
            j->status = status;
        break;
    default:
        if (status > j->status)
            j->status = status;
    }
    j->status_known = true;
}

/* ---- Exits of nodes ---------------------------------------------------------------------------------------- */

const char *job_program_file(const struct job *j, uint32_t logical, int *fd)
{
    const char *loaded = lives_program(j->lives, logical, fd);

    if (loaded || j->hosted) {
        *fd = loaded ? *fd : -1;
        return loaded ? loaded : "the program";
    }
    ptrdiff_t i = stages_part(j, logical) - j->part;
    *fd = j->own[i].fd;
    return j->options.program[i].path;
}

static bool same_function(const char *a, const char *b)
{
    size_t n = strcspn(a, " ");

    return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

#define FRAMES_SHOWN 4u
#define FRAMES_MOST  8u

enum { REGISTER_RA = 1, REGISTER_SP = 2, REGISTER_FP = 8 };

/* Whether a place, described by `text`, is a line of the program and none of the libraries that come with ncube. */
static bool is_own_line(int program, uint64_t at, const char *text)
{
    return strchr(text, '(') && !where_is_library(program, at);
}

/* Writes ", in memcpy, called from copies (copy.c:12), from main (copy.c:30)": the places of a fault and of the calls
 * that led to it, FRAMES_SHOWN of them or, if these are all in libraries, up to the program's first. Within a function
 * that has made another call since, the register leads back to the function itself, if that is all there is. Of a
 * program that another has put in its place, the file is not known. */
static void describe_place(int program, const struct exit_fault *f, const struct exit_return *returns, char *text,
                           size_t bytes)
{
    char here[WHERE_BYTES] = "", last[WHERE_BYTES] = "";
    struct frame_at frame[FRAMES_MOST];
    size_t used = 0;
    bool is_own = false;

    text[0] = '\0';
    if (program < 0 || f->replaced)
        return;
    struct frames *frames = frames_open(program);
    unsigned n = frames_walk(frames,
                             &(struct frames_from){.pc = f->pc,
                                                   .ra = f->x[REGISTER_RA - 1],
                                                   .sp = f->x[REGISTER_SP - 1],
                                                   .fp = f->x[REGISTER_FP - 1],
                                                   .returns = returns,
                                                   .n = f->returns},
                             frame, FRAMES_MOST);
    frames_close(frames);
    for (unsigned i = 0; i < n && used < bytes && !same_function(last, "main") && (i < FRAMES_SHOWN || !is_own); i++) {
        bool known = where_describe(program, frame[i].pc, here);

        if (i > 0 && (!known || (n == 2 && same_function(here, last))))
            break;
        if (known)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                     i == 0   ? ", in "
                                     : i == 1 ? ", called from "
                                              : ", from ",
                                     here);
        is_own = is_own || is_own_line(program, frame[i].pc, here);
        memcpy(last, here, sizeof last);
    }
}

enum { CAUSE_FETCH_PAGE = 12, CAUSE_LOAD_PAGE = 13, CAUSE_STORE_PAGE = 15, NULL_REACH_BYTES = 4096 };

/* What the address of a fault tells: nothing of a program is in the first page, so who comes there has followed a null
 * pointer; and who arrives by a return where nothing is has taken the address from an overwritten stack. */
static const char *judge_address(const struct exit_fault *f)
{
    if (f->cause == CAUSE_FETCH_PAGE && f->pc == (f->x[0] & ~1ull))
        return " (a return to it: the stack has been overwritten)";
    if (f->cause != CAUSE_FETCH_PAGE && f->cause != CAUSE_LOAD_PAGE && f->cause != CAUSE_STORE_PAGE)
        return "";
    if (f->address == 0)
        return " (a null pointer)";
    return f->address < NULL_REACH_BYTES ? " (a null pointer and an offset)" : "";
}

static void print_line(struct job *j, const char *text)
{
    console_print(&j->streams, "", text, strlen(text));
}

/* Keeps the first line that says why the job failed, for its trace. */
static void keep_why(struct job *j, const char *text, size_t n)
{
    const char *newline = memchr(text, '\n', n);

    if (!j->why)
        j->why = strndup(text, newline ? (size_t)(newline - text) : n);
}

/* Prints the line that says why the job failed. */
__attribute__((format(printf, 2, 3))) static void say_why(struct job *j, const char *format, ...)
{
    char text[CONSOLE_LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_why(j, text, strlen(text));
    console_say(&j->streams, "%s", text);
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
    char why[CONSOLE_LINE_BYTES], place[FRAMES_MOST * (WHERE_BYTES + 16)], line[sizeof why + sizeof place + 64];
    struct exit_return returns[EXIT_RETURNS_MOST];
    struct exit_fault f;
    int program;

    job_program_file(j, e->node, &program);
    memcpy(&f, text, sizeof f);
    memcpy(returns, text + sizeof f, f.returns * sizeof *returns);
    size_t told = sizeof f + f.returns * sizeof *returns;
    console_explain(text + told, n - told, 0, why);
    describe_place(program, &f, returns, place, sizeof place);
    snprintf(line, sizeof line, "%s%s%s", why, judge_address(&f), place);
    j->faulted = true;
    keep_why(j, line, strlen(line));
    print_line(j, line);
    if (j->options.registers)
        print_registers(j, &f);
}

static void print_failed_load(struct job *j, const struct job_exit *e, const char *text, size_t n)
{
    char why[CONSOLE_LINE_BYTES];
    int program;
    const char *path = job_program_file(j, e->node, &program);

    console_explain(text, n, e->status, why);
    j->lost = n > 0;
    if (j->lost)
        say_why(j, "%s can't be loaded: %s", path, why);
    else
        say_why(j, "%s can't be loaded on node %u: %s", path, stages_number(j, e->node), why);
}

/* Tells the user of the first failure of a job; the others follow from it. */
static void print_failed_exit(struct job *j, const struct job_exit *e, const char *text, size_t n)
{
    if (j->killed)
        return;
    j->told = true;
    if (e->how == EXIT_SIGNAL && n == 0)
        return; /* by SIGPIPE: the reader of its output has closed it */
    if (e->how == EXIT_LOAD)
        print_failed_load(j, e, text, n);
    else if (e->how == EXIT_FAULT)
        print_fault(j, e, text, n);
    else if (n > 0) {
        keep_why(j, text, n);
        console_print(&j->streams, "", text, n);
    } else {
        say_why(j, "node %u: the program was killed", stages_number(j, e->node));
    }
}

/* The number of returns is in the fault. */
static bool has_whole_fault(const char *text, size_t bytes)
{
    struct exit_fault f;

    if (bytes < sizeof f)
        return false;
    memcpy(&f, text, sizeof f);
    return f.returns <= EXIT_RETURNS_MOST && bytes - sizeof f >= f.returns * sizeof(struct exit_return);
}

static const char *check_exit(const struct job *j, uint32_t from, const struct job_exit *e, const char *text,
                              size_t text_bytes)
{
    if (e->job != j->id || !j->loaded)
        return "no such job is running";
    if (e->node != stages_number(j, from - j->base))
        return "it names another node";
    if (e->how > EXIT_SIGNAL)
        return "there is no such way to end";
    if (e->how == EXIT_FAULT && !has_whole_fault(text, text_bytes))
        return "it is too short";
    return lives_has_exited(j->lives, from - j->base) ? "that node has already exited" : NULL;
}

/* True if programs are left, all of which serve others. */
static bool only_servers_are_left(const struct job *j)
{
    bool any = false;

    for (uint32_t i = 0; i < j->nodes; i++) {
        if (lives_has_exited(j->lives, i))
            continue;
        if (lives_of(j->lives, i) > 0 || !j->own[stages_part(j, i) - j->part].image.note.serves)
            return false;
        any = true;
    }
    return any;
}

static void note_exit(struct job *j, uint32_t node, int status)
{
    j->exit_status[node - j->base] = status;
    job_drop_requests(j, node, JOB_ANY);
    lines_end(&j->lines, node);
    hostfs_drop_node(j->files, node);
    lives_note_exit(j->lives, node - j->base);
    if (!j->hosted && !j->killed && only_servers_are_left(j))
        job_dismiss(j);
}

const char *job_receive_exit(struct job *j, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes + sizeof(struct job_exit);
    struct job_exit e;

    if (n < sizeof e)
        return "it is too short";
    memcpy(&e, bytes, sizeof e);
    const char *wrong = check_exit(j, from, &e, text, n - sizeof e);
    if (wrong)
        return wrong;

    e.node = from - j->base;
    note_exit(j, from, e.how == EXIT_NORMAL ? e.status & 0xff : -1);
    if (e.how == EXIT_NORMAL) {
        note_status(j, e.node, e.status & 0xff); /* as a shell sees it */
        if ((e.status & 0xff) != 0 && j->failures++ == 0)
            j->first_failed = e.node;
        lives_end(j->lives, e.node, e.status & 0xff);
    } else if (e.how == EXIT_LOAD && lives_fail(j->lives, e.node, e.status)) {
        lives_end(j->lives, e.node, 0);
    } else if (!j->dismissed) {
        print_failed_exit(j, &e, text, n - sizeof e);
        if (e.how == EXIT_SIGNAL && !j->killed)
            j->end_status = e.status & 0xff;
        job_kill(j);
    }
    return NULL;
}

/* ---- Unreachable nodes ---------------------------------------------------------------------------- */

void job_lose_node(struct job *j, uint32_t node)
{
    uint32_t logical = node - j->base;

    if (lives_has_exited(j->lives, logical))
        return;
    if (!j->told)
        say_why(j, "node %u: no path to it works", stages_number(j, logical));
    j->told = true;
    note_exit(j, node, -1);
}

void job_fail_load(struct job *j, uint32_t node)
{
    int program;
    const char *path = job_program_file(j, node - j->base, &program);

    j->lost = true;
    if (!j->killed)
        say_why(j, "%s can't be loaded: no path to node %u works", path, stages_number(j, node - j->base));
    j->told = true;
    job_kill(j);
}

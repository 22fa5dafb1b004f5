/* The report of a machine that is kept up: written within the bytes that a message holds, read with every field
 * checked. */
#include "emu/link/machine_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/beside.h"
#include "emu/base/json_text.h"
#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/plural.h"

#define COMMAND_BYTES 256
#define HEAD_BYTES    1024 /* of a report without programs, at most */

/* ---- Writing ---- */

static size_t add_word(char *text, size_t n, const char *word)
{
    int more = snprintf(text + n, COMMAND_BYTES - n, "%s%s", n > 0 ? " " : "", word);

    return n + (size_t)more < COMMAND_BYTES ? n + (size_t)more : COMMAND_BYTES - 1;
}

static json_t *json_command(const struct job_options *o)
{
    char text[COMMAND_BYTES] = "";
    size_t n = o->hosted ? add_word(text, 0, "(host program)") : 0;

    for (uint32_t i = 0; i < o->programs; i++) {
        n = i > 0 ? add_word(text, n, o->program[i].piped ? "|" : ":") : n;
        for (int k = 0; k < o->program[i].argc; k++)
            n = add_word(text, n, o->program[i].argv[k]);
    }
    return json_text(text);
}

void report_begin(struct report *r, const char *name, const char *state, uint32_t nodes, uint32_t volumes,
                  double seconds, size_t room)
{
    *r = (struct report){.free_nodes = nodes, .room = room - HEAD_BYTES};
    r->json = json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:f, s:[], s:[], s:i}", "name", name, "pid",
                        (int)beside_process(), "state", state, "nodes", (int)nodes, "free_nodes", (int)nodes, "volumes",
                        (int)volumes, "virtual_time_s", seconds, "programs", "waiting", "left_out", 0);
}

void report_fit(json_t *object, const char *list, json_t *entry, size_t *room)
{
    size_t bytes = entry ? json_dumpb(entry, NULL, 0, 0) + 2 : 0;
    json_t *left_out = json_object_get(object, "left_out");

    if (bytes > 0 && bytes <= *room) {
        json_array_append(json_object_get(object, list), entry);
        *room -= bytes;
    } else {
        json_integer_set(left_out, json_integer_value(left_out) + 1);
    }
    json_decref(entry);
}

static void add(struct report *r, const char *list, json_t *entry)
{
    report_fit(r->json, list, entry, &r->room);
}

void report_add_program(struct report *r, const struct job *job, pid_t pid, double run_seconds)
{
    const char *state = job_has_ended(job) ? "has ended" : job_holds_requests(job) ? "waits for its streams" : "runs";

    if (!job_has_ended(job))
        r->free_nodes -= job->nodes;
    add(r, "programs",
        json_pack("{s:o, s:i, s:i, s:i, s:s, s:f}", "command", json_command(&job->options), "pid", (int)pid,
                  "first_node", (int)job->base, "nodes", (int)job->nodes, "state", state, "run_time_s", run_seconds));
}

void report_add_waiting(struct report *r, const struct job_options *o, pid_t pid)
{
    add(r, "waiting", json_pack("{s:o, s:i, s:i}", "command", json_command(o), "pid", (int)pid, "nodes", 1 << o->dim));
}

void report_add_load(struct report *r, json_t *load)
{
    if (load)
        json_object_set_new(r->json, "load", load);
}

char *report_end(struct report *r)
{
    json_object_set_new(r->json, "free_nodes", json_integer(r->free_nodes));
    char *text = json_dumps(r->json, 0);
    json_decref(r->json);
    r->json = NULL;
    return text;
}

/* ---- Reading ---- */

static const char *const program_format = "{s:s, s:i, s:i, s:i, s:s, s:f}", *const waiting_format = "{s:s, s:i, s:i}";

struct entry {
    const char *command, *state;
    int pid, first, nodes;
    double seconds;
};

static int unpack_program(json_t *json, struct entry *e)
{
    return json_unpack(json, program_format, "command", &e->command, "pid", &e->pid, "first_node", &e->first, "nodes",
                       &e->nodes, "state", &e->state, "run_time_s", &e->seconds);
}

static int unpack_waiting(json_t *json, struct entry *e)
{
    return json_unpack(json, waiting_format, "command", &e->command, "pid", &e->pid, "nodes", &e->nodes);
}

struct head {
    const char *name, *state;
    int pid, nodes, free_nodes, volumes, left_out;
    double seconds;
    json_t *programs, *waiting;
};

static int unpack_head(json_t *json, struct head *h)
{
    return json_unpack(json, "{s:s, s:i, s:s, s:i, s:i, s:i, s:f, s:o, s:o, s:i}", "name", &h->name, "pid", &h->pid,
                       "state", &h->state, "nodes", &h->nodes, "free_nodes", &h->free_nodes, "volumes", &h->volumes,
                       "virtual_time_s", &h->seconds, "programs", &h->programs, "waiting", &h->waiting, "left_out",
                       &h->left_out);
}

static bool makes_sense(json_t *report)
{
    struct head h;
    struct entry e;
    json_t *json;
    size_t i;

    if (unpack_head(report, &h) != 0 || !json_is_array(h.programs) || !json_is_array(h.waiting))
        return false;
    json_array_foreach(h.programs, i, json) if (unpack_program(json, &e) != 0) return false;
    json_array_foreach(h.waiting, i, json) if (unpack_waiting(json, &e) != 0) return false;
    return true;
}

json_t *report_parse(const void *text, size_t bytes)
{
    json_t *report = json_loadb(text, bytes, 0, NULL);

    if (report && makes_sense(report))
        return report;
    json_decref(report);
    return NULL;
}

/* A command line may hold any bytes, also control characters. */
static void print_safely(const char *text)
{
    char *safe = memory_copy_text(text, strlen(text));

    fputs(one_line(safe), stdout);
    free(safe);
}

static void print_entry(const struct entry *e)
{
    char nodes[32];

    if (!e->state)
        snprintf(nodes, sizeof nodes, "%d node%s", e->nodes, plural((unsigned)e->nodes));
    else if (e->nodes == 1)
        snprintf(nodes, sizeof nodes, "node %d", e->first);
    else
        snprintf(nodes, sizeof nodes, "nodes %d-%d", e->first, e->first + e->nodes - 1);
    printf("  %-16s ", nodes);
    if (e->state)
        printf("%12.6f s  ", e->seconds);
    else
        printf("%14s  ", "waits");
    print_safely(e->command);
    printf("  (xnc %d%s%s)\n", e->pid, e->state && strcmp(e->state, "runs") != 0 ? ", " : "",
           e->state && strcmp(e->state, "runs") != 0 ? e->state : "");
}

void report_print(const json_t *report)
{
    struct head h;
    json_t *json;
    size_t i;

    unpack_head((json_t *)report, &h);
    print_safely(h.name);
    printf(": ");
    print_safely(h.state);
    printf(", %d node%s, %d free, %d volume%s, virtual time %.6f s (ncube %d)\n", h.nodes, plural((unsigned)h.nodes),
           h.free_nodes, h.volumes, plural((unsigned)h.volumes), h.seconds, h.pid);
    json_array_foreach(h.programs, i, json)
    {
        struct entry e = {0};

        unpack_program(json, &e);
        print_entry(&e);
    }
    json_array_foreach(h.waiting, i, json)
    {
        struct entry e = {0};

        unpack_waiting(json, &e);
        print_entry(&e);
    }
    if (h.left_out > 0)
        printf("  and %d more\n", h.left_out);
}

/*
 * The options of a run out of its recording. What this ncube lacks to repeat the run exactly is found before anything
 * is started.
 */
#include "emu/machine/replayer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/config/overrides.h"
#include "emu/machine/recorded.h"

static int incomplete(char *error)
{
    return error_line(error, "the recording is damaged: its description makes no sense");
}

/* ---- ncube's own parts ---- */

static int check_parts(const struct run_options *o, const json_t *about, char *error)
{
    const char *name;
    json_t *wanted, *parts = json_object_get(about, "parts");
    char digest[DIGEST_TEXT_BYTES];

    json_object_foreach(parts, name, wanted)
    {
        if (!json_is_string(wanted) || strchr(name, '/'))
            return incomplete(error);
        recorded_part_digest(o->machine.lib, name, digest);
        if (strcmp(digest, json_string_value(wanted)) != 0)
            return error_line(
                error,
                "recorded with another %s (SHA-256 %.12s...) than this ncube's (%.12s...), with which the "
                "run would take other times; replay it with the ncube that recorded it",
                name, json_string_value(wanted), digest);
    }
    return json_is_object(parts) ? 0 : incomplete(error);
}

/* ---- The machine ---- */

static int take_machine(struct run_options *o, struct replayer *p, const json_t *about, char *error)
{
    const json_t *machine = json_object_get(about, "machine"), *set = json_object_get(machine, "set");
    size_t n = json_array_size(set);

    o->machine.dim = (uint32_t)json_integer_value(json_object_get(machine, "dimension"));
    o->machine.machine_name = p->machine = recorded_text_of(json_object_get(machine, "name"));
    p->set = memory_new(n + 1, sizeof *p->set);
    for (size_t i = 0; i < n; i++) {
        p->set[i] = recorded_text_of(json_array_get(set, i));
        if (!p->set[i] || !overrides_add(p->set[i]))
            return incomplete(error);
    }
    return o->machine.dim <= NODE_MAX_DIM ? 0 : incomplete(error);
}

/* ---- The programs ---- */

static char **take_words(const json_t *words, int *argc)
{
    size_t n = json_array_size(words);
    char **argv = memory_new(n + 1, sizeof *argv);

    for (size_t i = 0; i < n; i++)
        argv[i] = recorded_text_of(json_array_get(words, i));
    *argc = (int)n;
    return argv;
}

/* A program that the recording lacks must be where it was, and the same. */
static int find_program(const struct job_program *p, const json_t *json, char *error)
{
    const char *wanted = json_string_value(json_object_get(json, "sha256"));
    char digest[DIGEST_TEXT_BYTES];

    if (!wanted)
        return incomplete(error);
    if (!digest_path(p->path, digest))
        return error_line(error, "recorded without its programs, and %s is not there", p->path);
    if (strcmp(digest, wanted) != 0)
        return error_line(error, "%s is not the program that was recorded: its SHA-256 is %.12s..., not %.12s...",
                          p->path, digest, wanted);
    return 0;
}

struct replayer_name replayer_program_name(const struct recording *r, uint32_t i, const json_t *program)
{
    const char *digest = json_string_value(json_object_get(program, "sha256"));
    struct replayer_name name;

    if (replayer_is_of_run(r))
        snprintf(name.text, sizeof name.text, RECORDED_PROGRAM, i);
    else
        snprintf(name.text, sizeof name.text, RECORDED_LAUNCHED, digest ? digest : "");
    return name;
}

static int take_program(struct run_options *o, struct replayer *r, uint32_t i, const json_t *json, char *error)
{
    struct job_program *p = &r->program[i];

    p->path = recorded_text_of(json_object_get(json, "path"));
    p->argv = take_words(json_object_get(json, "words"), &p->argc);
    p->nodes = (uint32_t)json_integer_value(json_object_get(json, "nodes"));
    p->piped = json_is_true(json_object_get(json, "piped"));
    p->dim = (uint32_t)json_integer_value(json_object_get(json, "dimension"));
    if (!p->path || p->argc == 0 || p->dim > NODE_MAX_DIM || p->nodes > 1u << NODE_MAX_DIM || (i == 0 && p->piped))
        return incomplete(error);
    for (int k = 0; k < p->argc; k++)
        if (!p->argv[k])
            return incomplete(error);
    if (!recording_path(o->machine.recording, replayer_program_name(o->machine.recording, i, json).text, r->file[i]))
        return find_program(p, json, error);
    p->file = r->file[i];
    return 0;
}

/* ---- The job ---- */

/* A job without programs is a host program's. */
static bool has_sound_programs(const struct job_options *j, bool of_run)
{
    return j->programs <= JOB_PROGRAMS_MAX && (j->programs > 0 || !of_run);
}

int replayer_take_job(struct run_options *o, struct replayer *p, const json_t *job, char *error)
{
    const bool of_run = replayer_is_of_run(o->machine.recording);
    const json_t *limit, *programs;
    json_int_t stack, heap, comm;
    int dim, rule, label, registers;

    if (json_unpack((json_t *)job, "{s:i, s:I, s:I, s:I, s:i, s:b, s:b}", "dimension", &dim, "stack_bytes", &stack,
                    "heap_bytes", &heap, "comm_bytes", &comm, "status_rule", &rule, "label", &label, "registers",
                    &registers) < 0 ||
        dim < 0 || dim > NODE_MAX_DIM || rule < 0 || rule > JOB_STATUS_NODE0)
        return incomplete(error);
    p->serve = recorded_text_of(json_object_get(job, "serve"));
    p->command = recorded_text_of(json_object_get(job, "command"));
    programs = json_object_get(job, "programs");
    limit = json_object_get(job, "limit_cycles");
    o->limit_cycles = limit ? (uint64_t)json_integer_value(limit) : UINT64_MAX;
    o->machine.program = p->command;
    o->job = (struct job_options){.dim = (uint32_t)dim,
                                  .program = p->program,
                                  .programs = (uint32_t)json_array_size(programs),
                                  .serve = p->serve,
                                  .stack_bytes = (uint64_t)stack,
                                  .heap_bytes = (uint64_t)heap,
                                  .comm_bytes = (uint64_t)comm,
                                  .status_rule = (enum job_status_rule)rule,
                                  .label = label,
                                  .registers = registers,
                                  .hosted = json_array_size(programs) == 0,
                                  .in = -1,
                                  .out = STDOUT_FILENO,
                                  .err = STDERR_FILENO,
                                  .recording = o->machine.recording};
    if (!has_sound_programs(&o->job, of_run))
        return incomplete(error);
    for (uint32_t i = 0; i < o->job.programs; i++)
        if (take_program(o, p, i, json_array_get(programs, i), error) < 0)
            return -1;
    return o->job.hosted || job_dimension(p->program, o->job.programs, o->job.dim) == o->job.dim ? 0
                                                                                                 : incomplete(error);
}

bool replayer_is_of_run(const struct recording *r)
{
    return json_object_get(recording_about(r), "job") != NULL;
}

int replayer_fill(struct run_options *o, struct replayer *p, char *error)
{
    const json_t *about = recording_about(o->machine.recording);

    if (check_parts(o, about, error) < 0 || take_machine(o, p, about, error) < 0)
        return -1;
    o->machine.kept_up = !replayer_is_of_run(o->machine.recording);
    return o->machine.kept_up ? 0 : replayer_take_job(o, p, json_object_get(about, "job"), error);
}

static void free_list(char **list)
{
    for (char **text = list; text && *text; text++)
        free(*text);
    free(list);
}

void replayer_free(struct replayer *p)
{
    for (uint32_t i = 0; i < JOB_PROGRAMS_MAX; i++) {
        free((char *)p->program[i].path);
        free_list((char **)p->program[i].argv);
    }
    free_list(p->set);
    free(p->machine);
    free(p->serve);
    free(p->command);
}

bool replayer_ends_so(const struct machine *m, int status)
{
    const json_t *end = recording_end(m->options->recording);
    int recorded = (int)json_integer_value(json_object_get(end, "status"));
    uint64_t cycles = (uint64_t)json_integer_value(json_object_get(end, "cycles")), now = sched_now(m->sched);

    if (status == recorded && now == cycles)
        return true;
    machine_say("the replay has ended with status %d at %.6f s, the recorded run with status %d at %.6f s; please "
                "report this",
                status, (double)now / CLOCK_HZ, recorded, (double)cycles / CLOCK_HZ);
    return false;
}

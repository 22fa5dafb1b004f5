/* A job from its making to its load, and its being killed. job_ends.c has the ends of its nodes, job_requests.c their
 * requests for files and streams. */
#include "emu/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/base/plural.h"
#include "emu/hostfs/console.h"
#include "emu/job/hosted.h"
#include "emu/job/lives.h"
#include "emu/job/program.h"
#include "emu/job/stages.h"
#include "vertex/contract/system.h"

/* ---- Building ----------------------------------------------------------------------------------- */

static int read_program(struct job *j, uint32_t i, uint64_t ram_bytes, char *error, size_t error_bytes)
{
    const struct job_program *p = &j->options.program[i];
    struct job_part *own = &j->own[i];

    if (program_read(&own->image, p, &j->options, ram_bytes, error, error_bytes) < 0)
        return -1;
    own->fd = program_open(program_file(p));
    j->part[i].image = &own->image;
    j->part[i].argv = p->argv;
    j->part[i].argc = p->argc;
    stages_open_names(j, i);
    if (j->part[i].pipes.fds == 0 || own->image.note.procs <= 1)
        return 0;
    snprintf(error, error_bytes, "%s: a program of several processes on a node (ncc -Nprocs) can't be in a pipeline",
             p->path);
    return -1;
}

static int read_programs(struct job *j, uint64_t ram_bytes, char *error, size_t error_bytes)
{
    if (stages_place(j, error, error_bytes) < 0)
        return -1;
    for (uint32_t i = 0; i < j->options.programs; i++)
        if (read_program(j, i, ram_bytes, error, error_bytes) < 0)
            return -1;
    return 0;
}

static bool make_tables(struct job *j)
{
    uint32_t parts = j->options.hosted ? 1 : j->options.programs;

    j->part = calloc(parts, sizeof *j->part);
    j->own = calloc(parts, sizeof *j->own);
    j->exit_status = calloc(j->nodes, sizeof *j->exit_status);
    for (uint32_t i = 0; j->own && i < parts; i++)
        j->own[i].fd = -1;
    return j->part && j->own && j->exit_status &&
           streams_init(&j->streams, j->options.in, j->options.out, j->options.err, j->ops->interrupted, j->ctx) == 0 &&
           lines_init(&j->lines, &j->streams, j->base, j->nodes, j->options.label) == 0;
}

static int fail_for_memory(const struct job *j, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "no memory for a job of %u node%s", j->nodes, plural(j->nodes));
    return -1;
}

/* The first job of a machine has the names of a run's. A job that cannot be made notes nothing. */
static void record_streams(struct job *j)
{
    char name[32];

    if (j->id > 1)
        snprintf(name, sizeof name, STREAMS_OF_RUN " %u", j->id);
    else
        snprintf(name, sizeof name, STREAMS_OF_RUN);
    streams_record(&j->streams, j->options.recording, name);
}

static int build(struct job *j, const struct topo *topo, char *error, size_t error_bytes)
{
    if (!make_tables(j))
        return fail_for_memory(j, error, error_bytes);
    if (j->options.keeps_going)
        streams_keep_going(&j->streams);
    if (read_programs(j, topo->ram_bytes, error, error_bytes) < 0)
        return -1;
    const char *folder = recording_is_replayed(j->options.recording) ? NULL : j->options.serve;
    j->files = hostfs_held(j->options.recording, &j->lines);
    if (!j->files && hostfs_new(&j->files, folder, &j->lines, error, error_bytes) < 0)
        return -1;
    hostfs_record(j->files, j->options.recording, j->options.serve != NULL);
    const struct lives_options lives = {
        .job = j->id, .base = j->base, .nodes = j->nodes, .files = j->files, .send = j->ops->send, .ctx = j->ctx};
    j->lives = lives_new(&lives);
    if (!j->lives)
        return fail_for_memory(j, error, error_bytes);
    stages_begin_lives(j);
    if (j->options.hosted && !(j->hosted = hosted_new(topo->ram_bytes)))
        return fail_for_memory(j, error, error_bytes);
    record_streams(j);
    return 0;
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
    TAILQ_INIT(&j->held);
    if (build(j, topo, error, error_bytes) < 0) {
        job_free(j);
        return -1;
    }
    *job = j;
    return 0;
}

void job_free(struct job *j)
{
    if (!j)
        return;
    job_drop_requests(j, JOB_ANY, JOB_ANY);
    hosted_free(j->hosted);
    lives_free(j->lives);
    hostfs_free(j->files);
    lines_free(&j->lines);
    streams_free(&j->streams);
    for (uint32_t i = 0; j->own && i < j->options.programs; i++) {
        elf_image_free(&j->own[i].image);
        if (j->own[i].fd >= 0)
            close(j->own[i].fd);
    }
    free(j->own);
    free(j->part);
    free(j->exit_status);
    free(j->why);
    free(j);
}

/* ---- Loading and killing -------------------------------------------------------------------------- */

bool job_has_node(const struct job *j, uint32_t node)
{
    return node >= j->base && node - j->base < j->nodes;
}

bool job_awaits_node(const struct job *j, uint32_t node)
{
    return j->loaded && job_has_node(j, node) && !lives_has_exited(j->lives, node - j->base);
}

bool job_load(struct job *j, const struct load_volume *volume, uint32_t volumes, const char *striped,
              uint32_t striped_bytes)
{
    const struct load_program program = {
        .job = j->id,
        .base = j->base,
        .stack_bytes = j->options.stack_bytes,
        .part = j->part,
        .parts = j->options.programs,
        .volume = volume,
        .volumes = volumes,
        .striped = striped,
        .striped_bytes = striped_bytes,
    };

    j->loaded = j->hosted || program_send(&program, j) == 0;
    if (!j->loaded) {
        console_say(&j->streams, "%s: no memory to load it", j->options.program[0].path);
        j->failed = true;
    }
    return j->loaded;
}

static void kill_all(struct job *j)
{
    struct load_job kill = {.job = j->id};

    if (j->killed)
        return;
    j->killed = true;
    lives_refuse_claims(j->lives);
    for (uint32_t i = 0; j->loaded && i < j->nodes; i++)
        if (!lives_has_exited(j->lives, i)) {
            kill.life = lives_of(j->lives, i);
            kill.base = j->base + lives_first(j->lives, i);
            j->ops->send(j->ctx, j->base + i, TAG(N_KILL, 0, 0), &kill, sizeof kill);
        }
}

void job_kill(struct job *j)
{
    j->failed = true;
    kill_all(j);
}

void job_dismiss(struct job *j)
{
    j->dismissed = true;
    kill_all(j);
}

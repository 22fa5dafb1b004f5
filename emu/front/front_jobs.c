/*
 * The front end's jobs: a job gets a subcube, is loaded when the drives are mounted, and stays in the list after its
 * end until its owner forgets it. A job that has ended has no subcube.
 */
#include "emu/front/front.h"

#include <stdio.h>

#include "emu/base/plural.h"
#include "emu/hostfs/console.h"
#include "emu/front/front_parts.h"
#include "emu/job/hosted.h"
#include "vertex/shared/node_name.h"

/* The running job of a node, or NULL. */
struct job *front_job_of(const struct front *f, uint32_t node)
{
    for (struct job *j = front_first_job(f); j; j = front_next_job(j))
        if (!job_has_ended(j) && job_has_node(j, node))
            return j;
    return NULL;
}

void front_end_if_exited(struct front *f, struct job *j)
{
    if (!job_has_ended(j))
        return;
    pipes_drop_job(&f->pipes, j->id);
    subcubes_release(f->subcubes, j->base, j->options.dim);
    if (f->ops.ended)
        f->ops.ended(f->ctx, j->id);
    front_stop_if_idle(f);
}

static void load(struct front *f, struct job *j)
{
    if (!job_load(j, f->volume, f->volumes, f->striped, f->striped_bytes))
        front_end_if_exited(f, j);
}

static void kill_job(struct front *f, struct job *j)
{
    bool ended = job_has_ended(j);

    job_kill(j);
    front_kill_partners(f, j);
    if (!ended)
        front_end_if_exited(f, j);
}

void front_kill_partners(struct front *f, const struct job *j)
{
    for (uint32_t id = 0; j->killed && (id = pipes_next_bond(&f->pipes, j->id, id)) != 0;) {
        struct job *other = front_find_job(f, id);

        if (!other || other->killed || job_has_ended(other))
            continue;
        console_say(&other->streams, "the program at the other end of its pipe was ended, and so is this one");
        other->told = true;
        kill_job(f, other);
    }
}

#define BONDS_MOST 16 /* in a row of programs, one behind the other's pipe */

static bool waits_outside(const struct front *f, const struct job *j, int depth)
{
    if (job_holds_requests(j) || (j->hosted && !j->killed) || pipes_wait(&f->pipes, j->id))
        return true;
    for (uint32_t id = 0; depth < BONDS_MOST && (id = pipes_next_bond(&f->pipes, j->id, id)) != 0;) {
        const struct job *other = front_find_job(f, id);

        if (other && !job_has_ended(other) && waits_outside(f, other, depth + 1))
            return true;
    }
    return false;
}

bool front_job_waits_outside(const struct front *f, const struct job *j)
{
    return waits_outside(f, j, 0);
}

void front_kill_jobs(struct front *f)
{
    for (struct job *j = front_first_job(f), *next; j; j = next) {
        next = front_next_job(j);
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
    snprintf(error, error_bytes, "the machine is shutting down");
    return -1;
}

static int take_subcube(struct front *f, uint32_t dim, uint32_t *base, char *error, size_t error_bytes)
{
    if (check_begin(f, dim, error, error_bytes) < 0)
        return -1;
    if (subcubes_take(f->subcubes, dim, base))
        return 0;
    snprintf(error, error_bytes, "no subcube of %u node%s is free now; other programs use the nodes", 1u << dim,
             plural(1u << dim));
    return FRONT_BUSY;
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
    TAILQ_INSERT_TAIL(&f->jobs, j, entry);
    *id = ++f->last_id;
    if (f->phase == PHASE_UP)
        load(f, j);
    return 0;
}

int32_t front_load_hosted(struct front *f, struct job *j, uint32_t first, const struct job_program *p, char *error,
                          size_t error_bytes)
{
    const struct load_program volumes = {
        .volume = f->volume, .volumes = f->volumes, .striped = f->striped, .striped_bytes = f->striped_bytes};
    int32_t life = hosted_load(j, first, p, &volumes, error, error_bytes);

    if (hosted_must_end(j))
        kill_job(f, j);
    return life;
}

int front_check_job(struct front *f, const struct job_options *o, char *error, size_t error_bytes)
{
    const uint32_t no_id = 0, any_base = 0;
    struct job_options unrecorded = *o;
    struct job *j;

    unrecorded.recording = NULL;
    if (check_begin(f, o->dim, error, error_bytes) < 0 ||
        job_new(&j, no_id, any_base, f->options.topo, &unrecorded, &f->ops.job, f->ctx, error, error_bytes) < 0)
        return -1;
    job_free(j);
    return 0;
}

struct job *front_find_job(const struct front *f, uint32_t id)
{
    struct job *j = front_first_job(f);

    while (j && j->id != id)
        j = front_next_job(j);
    return j;
}

struct job *front_first_job(const struct front *f)
{
    return TAILQ_FIRST(&f->jobs);
}

struct job *front_next_job(const struct job *j)
{
    return TAILQ_NEXT(j, entry);
}

void front_kill_job(struct front *f, uint32_t id)
{
    struct job *j = front_find_job(f, id);

    if (j)
        kill_job(f, j);
}

void front_forget_job(struct front *f, uint32_t id)
{
    struct job *j = front_find_job(f, id);

    if (!j)
        return;
    TAILQ_REMOVE(&f->jobs, j, entry);
    job_free(j);
}

void front_load_jobs(struct front *f)
{
    for (struct job *j = front_first_job(f), *next; j; j = next) {
        next = front_next_job(j);
        if (!job_has_ended(j))
            load(f, j);
    }
}

bool front_give_up_killed_jobs(struct front *f)
{
    bool any = false;

    for (struct job *j = front_first_job(f), *next; j; j = next) {
        next = front_next_job(j);
        if (!j->killed || job_has_ended(j))
            continue;
        any = true;
        for (uint32_t node = j->base; node < j->base + j->nodes; node++)
            job_lose_node(j, node);
        front_end_if_exited(f, j);
    }
    return any;
}

/* Tells the users whose job has an error stream of its own. The line about the cause has gone to the machine's error
 * stream, which is also that of all other jobs. */
void front_tell_users(struct front *f, uint32_t io_node)
{
    char name[NODE_NAME_BYTES];

    node_name(io_node, name);
    for (struct job *j = front_first_job(f); j; j = front_next_job(j))
        if (!job_has_ended(j) && j->options.err != f->options.err)
            console_say(&j->streams, "nsdisk on %s has ended, and the program with it", name);
}

void front_describe_jobs(const struct front *f, char *text, size_t bytes)
{
    for (const struct job *j = front_first_job(f); j; j = front_next_job(j))
        if (!job_has_ended(j)) {
            job_describe_wait(j, text, bytes);
            return;
        }
    snprintf(text, bytes, "the front end waits for jobs");
}

/*
 * Nodes for the programs of a job (stages.h). Subcubes are placed in descending order of their sizes, which leaves no
 * gaps: each begins at a multiple of its size.
 */
#include "emu/job/stages.h"

#include "emu/job/lives.h"
#include "vertex/contract/machine.h"

/* Counts the programs of the stage that begins with program i. */
static uint32_t count_in_stage(const struct job_options *o, uint32_t i)
{
    uint32_t n = 1;

    while (i + n < o->programs && !o->program[i + n].piped)
        n++;
    return n;
}

/* Where the stage with the given size and number begins: behind all larger ones, and behind equal ones before it. */
static uint32_t base_of_stage(const struct job_options *o, uint32_t dim, uint32_t first)
{
    uint32_t base = 0;

    for (uint32_t i = 0; i < o->programs; i++) {
        const struct job_program *p = &o->program[i];

        if ((i == 0 || p->piped) && (p->dim > dim || (p->dim == dim && i < first)))
            base += 1u << p->dim;
    }
    return base;
}

/* Shares the nodes of the subcube `base`, `dim` of the job among n programs, from program i on. They are in the
 * smallest subcube in which they fit. */
static int place_stage(struct job *j, uint32_t i, uint32_t n, uint32_t base, uint32_t dim, char *error,
                       size_t error_bytes)
{
    uint32_t share[JOB_PROGRAMS_MAX], first = base, nodes = 0;

    if (job_share_nodes(&j->options.program[i], n, 1u << dim, share, error, error_bytes) < 0)
        return -1;
    for (uint32_t k = 0; k < n; k++)
        nodes += share[k];
    dim = job_dimension_of_nodes(nodes);
    for (uint32_t k = 0; k < n; k++) {
        struct load_part *part = &j->part[i + k];

        *part = (struct load_part){.first = first, .nodes = share[k], .base = base, .dim = dim};
        j->own[i + k].stage = j->stages;
        first += share[k];
    }
    for (uint32_t k = 0; k < n; k++)
        j->part[i + k].idle = base + (1u << dim) - first;
    j->stages++;
    return 0;
}

static uint32_t nodes_of_stage(const struct load_part *part)
{
    return (1u << part->dim) - part->idle;
}

static void add_head(const struct job *j, struct load_part *part)
{
    part->piped = true;
    part->pipes = (struct load_pipes){.job_base = j->base,
                                      .job_dim = j->options.dim,
                                      .first = part->base,
                                      .nodes = nodes_of_stage(part),
                                      .has_driver = true};
}

/* Gives the program an end of a pipe, in place of a standard stream. */
static void add_end(struct load_part *part, const struct load_fd *fd, const struct load_part *other)
{
    struct load_fd *f = &part->fd[part->pipes.fds++];

    *f = *fd;
    f->peer = (struct load_peer){other->base, nodes_of_stage(other)};
}

/* The pipe number k lies between stages k and k + 1. */
static void connect(struct job *j)
{
    const struct load_part *of_stage[JOB_PROGRAMS_MAX];

    for (uint32_t i = j->options.programs; i-- > 0;)
        of_stage[j->own[i].stage] = &j->part[i];
    for (uint32_t i = 0; i < j->options.programs; i++) {
        struct load_part *part = &j->part[i];
        uint32_t stage = j->own[i].stage;
        const struct load_part *before = stage > 0 ? of_stage[stage - 1] : NULL;
        const struct load_part *behind = stage + 1 < j->stages ? of_stage[stage + 1] : NULL;

        add_head(j, part);
        if (before)
            add_end(part, &(struct load_fd){.fd = 0, .kind = LOAD_FD_READS, .number = stage - 1}, before);
        if (behind)
            add_end(part, &(struct load_fd){.fd = 1, .kind = LOAD_FD_WRITES, .number = stage}, behind);
    }
}

int stages_place(struct job *j, char *error, size_t error_bytes)
{
    const struct job_options *o = &j->options;

    if (o->hosted) {
        j->part[0].dim = o->dim;
        j->stages = 1;
        return 0;
    }
    if (!job_is_pipeline(o->program, o->programs))
        return place_stage(j, 0, o->programs, 0, o->dim, error, error_bytes);
    for (uint32_t i = 0, n; i < o->programs; i += n) {
        uint32_t dim = o->program[i].dim;

        n = count_in_stage(o, i);
        if (place_stage(j, i, n, base_of_stage(o, dim, i), dim, error, error_bytes) < 0)
            return -1;
    }
    connect(j);
    return 0;
}

void stages_open_names(struct job *j, uint32_t i)
{
    struct load_part *part = &j->part[i];

    if (!part->piped && load_names_pipes(part->image, part->argv, part->argc))
        add_head(j, part);
}

const struct load_part *stages_part(const struct job *j, uint32_t logical)
{
    for (uint32_t i = 0; i < j->options.programs; i++)
        if (logical - j->part[i].first < j->part[i].nodes)
            return &j->part[i];
    return &j->part[0];
}

uint32_t stages_number(const struct job *j, uint32_t logical)
{
    return logical - lives_first(j->lives, logical);
}

bool stages_is_last(const struct job *j, uint32_t logical)
{
    return j->own[stages_part(j, logical) - j->part].stage + 1 == j->stages;
}

static bool begins_idle(const struct job *j, uint32_t logical)
{
    return logical - stages_part(j, logical)->first >= stages_part(j, logical)->nodes;
}

bool stages_had_program(const struct job *j, uint32_t logical)
{
    return !begins_idle(j, logical) || lives_of(j->lives, logical) > 0;
}

void stages_begin_lives(struct job *j)
{
    for (uint32_t logical = 0; logical < j->nodes; logical++) {
        lives_set_first(j->lives, logical, stages_part(j, logical)->base);
        if (begins_idle(j, logical)) {
            lives_note_exit(j->lives, logical);
            j->idle++;
        }
    }
}

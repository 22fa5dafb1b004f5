/*
 * The front end's phases: mounting, up, stopping. The last ones end in front_stop.c; jobs are in front_jobs.c,
 * messages in front_messages.c.
 */
#include "emu/front/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/front/front_parts.h"

/* ---- Mounting --------------------------------------------------------------------------------- */

void front_leave_mounting(struct front *f)
{
    if (f->phase != PHASE_MOUNTING || io_nodes_mounting(&f->io) > 0)
        return;
    if (f->io.failed) {
        front_kill_jobs(f);
        front_shut_down(f);
        return;
    }
    f->phase = PHASE_UP;
    front_load_jobs(f);
    front_stop_if_idle(f);
}

/* ---- Unreachable nodes -------------------------------------------------------------------------- */

void front_unreachable(struct front *f, uint32_t io_node)
{
    if (front_has_io_node(f, io_node))
        io_nodes_miss(&f->io, io_node);
    front_leave_mounting(f);
}

static void give_up_mounts(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        io_nodes_miss(&f->io, f->options.topo->io[i].node);
    front_leave_mounting(f);
}

static void give_up_shutdowns(struct front *f)
{
    for (uint32_t i = 0; i < f->options.topo->n_io; i++)
        if (io_nodes_is_stopping(&f->io, i))
            io_nodes_lose(&f->io, f->options.topo->io[i].node);
    front_finish_if_stopped(f);
}

bool front_give_up(struct front *f)
{
    switch (f->phase) {
    case PHASE_MOUNTING:
        give_up_mounts(f);
        return true;
    case PHASE_UP:
        return front_give_up_killed_jobs(f);
    case PHASE_STOPPING:
        give_up_shutdowns(f);
        return true;
    default:
        return false;
    }
}

/* ---- Life --------------------------------------------------------------------------------------- */

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

static void write_striped(struct front *f)
{
    f->striped_bytes = (uint32_t)topo_striped_text(f->options.topo, NULL, 0);
    f->striped = memory_new(f->striped_bytes + 1, 1);
    topo_striped_text(f->options.topo, f->striped, f->striped_bytes + 1);
}

static int make_tables(struct front *f, char *error, size_t error_bytes)
{
    const struct topo *t = f->options.topo;

    f->volume = memory_new(t->n_io, DRIVE_MAX * sizeof *f->volume);
    f->subcubes = subcubes_new(t->dim);
    io_nodes_init(&f->io, t, &f->streams, &f->ops.job, f->ctx);
    if (streams_init(&f->streams, -1, f->options.out, f->options.err, f->ops.job.interrupted, f->ctx) < 0 ||
        lines_init(&f->lines, &f->streams, 0, 0, false) < 0) {
        snprintf(error, error_bytes, "no memory for the front end");
        return -1;
    }
    streams_record(&f->streams, f->options.recording, "machine");
    if (f->options.keeps_going)
        streams_keep_going(&f->streams);
    list_volumes(f);
    write_striped(f);
    return hostfs_new(&f->files, NULL, &f->lines, error, error_bytes);
}

int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx, char *error,
              size_t error_bytes)
{
    struct front *f = memory_new(1, sizeof *f);

    *front = NULL;
    f->options = *o;
    f->ops = *ops;
    f->ctx = ctx;
    owed_init(&f->owed);
    TAILQ_INIT(&f->jobs);
    f->pipes = (struct pipes){.send = ops->job.send, .ctx = ctx};
    if (make_tables(f, error, error_bytes) < 0) {
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
    while (!TAILQ_EMPTY(&f->jobs))
        front_forget_job(f, TAILQ_FIRST(&f->jobs)->id);
    pipes_free(&f->pipes);
    front_tell_repeats(f); /* the machine may have stopped before PHASE_FINISHED */
    hostfs_free(f->files);
    lines_free(&f->lines);
    streams_free(&f->streams);
    subcubes_free(f->subcubes);
    free(f->volume);
    free(f->striped);
    io_nodes_free(&f->io);
    owed_free(&f->owed);
    free(f);
}

void front_start(struct front *f)
{
    f->phase = PHASE_MOUNTING;
    front_leave_mounting(f);
}

bool front_is_up(const struct front *f)
{
    return f->phase == PHASE_UP && !f->stop;
}

void front_stop(struct front *f)
{
    f->stop = true;
    front_stop_if_idle(f);
}

bool front_finished(const struct front *f)
{
    return f->phase == PHASE_FINISHED;
}

bool front_failed(const struct front *f)
{
    return f->io.failed;
}

const struct drive_cache_counts *front_cache_counts(const struct front *f, uint32_t index, uint32_t drive)
{
    return io_nodes_cache_counts(&f->io, index, drive);
}

uint32_t front_counts_va(const struct front *f, uint32_t index, uint32_t drive)
{
    return io_nodes_counts_va(&f->io, index, drive);
}

void front_resume(struct front *f)
{
    streams_drain(&f->streams);
    for (struct job *j = front_first_job(f); j; j = front_next_job(j))
        job_resume(j);
}

/* ---- The deadlock report -------------------------------------------------------------------------- */

void front_describe_wait(const struct front *f, char *text, size_t bytes)
{
    switch (f->phase) {
    case PHASE_MOUNTING:
        io_nodes_describe_mounts(&f->io, text, bytes);
        return;
    case PHASE_UP:
        front_describe_jobs(f, text, bytes);
        return;
    case PHASE_STOPPING:
        io_nodes_describe_shutdowns(&f->io, text, bytes);
        return;
    default:
        snprintf(text, bytes, "the front end waits for nothing");
    }
}

/*
 * The front end's way out: it stops when it has been asked to and no program runs, and has finished when the I/O nodes
 * have written everything.
 */
#include <inttypes.h>

#include "emu/hostfs/console.h"
#include "emu/front/front_parts.h"
#include "vertex/shared/node_name.h"

static void tell_repeat(void *ctx, const struct repeat *kind)
{
    struct front *f = ctx;
    char name[NODE_NAME_BYTES];

    if (kind->from == NODE_HOST) {
        console_say(&f->streams, "%" PRIu64 " messages were refused: %s", kind->count, kind->first);
        return;
    }
    console_say(&f->streams, "%s printed %" PRIu64 " lines like this one, with other numbers: %s",
                node_name(kind->from, name), kind->count, kind->first);
}

void front_tell_repeats(struct front *f)
{
    repeats_tell(&f->repeats, tell_repeat, f);
}

void front_finish_if_stopped(struct front *f)
{
    if (f->phase != PHASE_STOPPING || io_nodes_stopping(&f->io) > 0)
        return;
    f->phase = PHASE_FINISHED;
    front_tell_repeats(f);
}

void front_shut_down(struct front *f)
{
    f->phase = PHASE_STOPPING;
    io_nodes_shut_down(&f->io);
    front_finish_if_stopped(f);
}

static bool has_running_jobs(const struct front *f)
{
    const struct job *j;

    TAILQ_FOREACH(j, &f->jobs, entry)
        if (!job_has_ended(j))
            return true;
    return false;
}

void front_stop_if_idle(struct front *f)
{
    if (f->phase == PHASE_UP && f->stop && !has_running_jobs(f))
        front_shut_down(f);
}

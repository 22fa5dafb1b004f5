/*
 * The program that is debugged, or of which cores are written: its nodes, as emu/debug asks for them, and what is said
 * of them.
 */
#include "emu/watch/debugged.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/alike.h"
#include "emu/state/explain.h"
#include "emu/state/origin.h"
#include "emu/state/unread.h"

/* ---- The program's nodes ---- */

struct job *debugged_job(const struct machine *m)
{
    return front_find_job(m->front, m->debugged_job);
}

uint32_t debugged_part(const struct job *j, uint32_t node)
{
    uint32_t i = 0;

    while (i + 1 < j->options.programs && node >= j->part[i].first + j->part[i].nodes)
        i++;
    return i;
}

static uint32_t on_nodes(void *ctx)
{
    const struct job *j = debugged_job(ctx);

    return j ? j->nodes : 0;
}

static uint32_t on_slot(void *ctx, uint32_t node)
{
    const struct machine *m = ctx;
    const struct job *j = debugged_job(m);

    return job_awaits_node(j, j->base + node) ? m->slot_of[j->base + node] : TARGET_NO_SLOT;
}

static uint32_t on_home(void *ctx, uint32_t node)
{
    const struct machine *m = ctx;

    return m->slot_of[debugged_job(m)->base + node];
}

static uint64_t on_now(void *ctx)
{
    return sched_now(((struct machine *)ctx)->sched);
}

static void on_note(void *ctx)
{
    harts_note_registers(&((struct machine *)ctx)->harts);
}

static void on_release(void *ctx, uint32_t slot)
{
    harts_release(&((struct machine *)ctx)->harts, slot);
}

static void on_run_ahead(void *ctx, bool ahead)
{
    sched_keep_close(((struct machine *)ctx)->sched, !ahead);
}

static const char *on_no_return(void *ctx)
{
    const struct machine_options *o = ((struct machine *)ctx)->options;

    if (o->kept_up && recording_is_replayed(o->recording))
        return "the life of a machine that was kept up is replayed forwards only";
    return recording_is_kept(o->recording) ? recording_loss(o->recording) : NULL;
}

static bool on_is_behind(void *ctx)
{
    const struct recording *r = ((struct machine *)ctx)->options->recording;
    uint64_t cycles;

    return recording_is_kept(r) && (((struct machine *)ctx)->behind || recording_is_behind(r, &cycles));
}

static uint8_t *on_memory(void *ctx, uint32_t node, size_t *bytes)
{
    const struct machine *m = ctx;
    const struct cabinet *c = &m->cabinet[machine_cabinet_of(m, debugged_job(m)->base + node)];

    *bytes = c->bytes;
    return c->ram;
}

static int on_memory_fd(void *ctx, uint32_t node)
{
    const struct machine *m = ctx;

    return m->cabinet[machine_cabinet_of(m, debugged_job(m)->base + node)].ram_fd;
}

static void on_describe(void *ctx, uint32_t node, char *text, size_t bytes)
{
    const struct machine *m = ctx;
    const struct job *j = debugged_job(m);

    if (job_describe_end(j, j->base + node, text, bytes))
        return;
    if (!ncu_wait_word(m->ncu, j->base + node))
        snprintf(text, bytes, "runs");
    else if (!ncu_describe_wait(m->ncu, j->base + node, text, bytes))
        snprintf(text, bytes, "has no program yet");
    else if (ncu_waits_for_message(m->ncu, j->base + node))
        unread_describe(ctx, j, j->base + node, text, bytes);
}

static void on_kill(void *ctx)
{
    ((struct machine *)ctx)->gdb_kills = true;
}

/* ---- Answers about the machine ---- */

void debugged_say_time(struct machine *m, void (*say)(void *to, const char *line), void *to)
{
    char line[128];

    snprintf(line, sizeof line, "virtual time %.6f s (%llu cycles)", machine_seconds(m),
             (unsigned long long)sched_now(m->sched));
    say(to, line);
}

void debugged_say_nodes(struct machine *m, void (*say)(void *to, const char *line), void *to)
{
    struct alike alike = {0};
    char text[ALIKE_TEXT_BYTES];
    uint32_t nodes = on_nodes(m);

    for (uint32_t node = 0; node < nodes; node++) {
        on_describe(m, node, text, sizeof text);
        alike_add(&alike, node, text);
    }
    alike_say(&alike, "info threads lists all", say, to);
    alike_free(&alike);
}

static bool on_monitor(void *ctx, const char *word, void (*say)(void *to, const char *line), void *to)
{
    if (strcmp(word, "time") == 0)
        debugged_say_time(ctx, say, to);
    else if (strcmp(word, "nodes") == 0)
        debugged_say_nodes(ctx, say, to);
    else if (strcmp(word, "queues") == 0)
        ncu_describe_queues(((struct machine *)ctx)->ncu, say, to);
    else
        return false;
    return true;
}

const struct target_ops debugged_ops = {.nodes = on_nodes,
                                        .slot = on_slot,
                                        .home = on_home,
                                        .now = on_now,
                                        .run_ahead = on_run_ahead,
                                        .note = on_note,
                                        .release = on_release,
                                        .no_return = on_no_return,
                                        .is_behind = on_is_behind,
                                        .origin = origin_find,
                                        .memory = on_memory,
                                        .memory_fd = on_memory_fd,
                                        .describe = on_describe,
                                        .monitor = on_monitor,
                                        .kill = on_kill};

/* ---- Vertex ---- */

int debugged_find_symbol(struct machine *m, const char *name, uint64_t *pc)
{
    if (machine_find_symbol(m, name, pc))
        return 0;
    return machine_complain(m, "%s/vertex.elf: has no symbol %s; build ncube again", m->options->lib, name);
}

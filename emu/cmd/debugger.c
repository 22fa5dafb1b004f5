/*
 * gdb on a machine (debugger.h): what the stub of emu/debug asks about the nodes, and the stub's life in that of the
 * machine.
 */
#include "emu/cmd/debugger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/alike.h"
#include "emu/base/memory.h"
#include "emu/cmd/explain.h"
#include "emu/debug/stub.h"
#include "emu/front/where.h"

#define LOOK_MS 10 /* a machine that is kept up looks after its clients so often while gdb thinks */

/* ---- The program's nodes ---- */

static struct job *debugged_job(const struct machine *m)
{
    return front_find_job(m->front, m->debugged_job);
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

static uint8_t *on_memory(void *ctx, uint32_t node, size_t *bytes)
{
    const struct machine *m = ctx;
    const struct cabinet *c = &m->cabinet[machine_cabinet_of(m, debugged_job(m)->base + node)];

    *bytes = c->bytes;
    return c->ram;
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
}

static void on_kill(void *ctx)
{
    ((struct machine *)ctx)->gdb_kills = true;
}

/* ---- Answers about the machine ---- */

static void say_time(struct machine *m, void (*say)(void *to, const char *line), void *to)
{
    char line[128];

    snprintf(line, sizeof line, "virtual time %.6f s (%llu cycles)", machine_seconds(m),
             (unsigned long long)sched_now(m->sched));
    say(to, line);
}

static void say_nodes(struct machine *m, void (*say)(void *to, const char *line), void *to)
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
        say_time(ctx, say, to);
    else if (strcmp(word, "nodes") == 0)
        say_nodes(ctx, say, to);
    else if (strcmp(word, "queues") == 0)
        ncu_describe_queues(((struct machine *)ctx)->ncu, say, to);
    else
        return false;
    return true;
}

static const struct target_ops target_ops = {.nodes = on_nodes,
                                             .slot = on_slot,
                                             .memory = on_memory,
                                             .describe = on_describe,
                                             .monitor = on_monitor,
                                             .kill = on_kill};

/* ---- The stub's life ---- */

int debugger_open(struct machine *m)
{
    if (!m->options->gdb)
        return 0;
    m->stub = stub_new(m->options->gdb_port, m->options->kept_up ? LOOK_MS : 0, m->error, sizeof m->error);
    return m->stub ? 0 : machine_complain(m, "%s", m->error);
}

void debugger_prepare(struct machine *m)
{
    if (m->stub)
        m->harts.control->debug = 1;
}

void debugger_attach(struct machine *m)
{
    if (m->stub)
        stub_attach(m->stub, debug_area_of(m->harts.control), m->harts.count, &target_ops, m);
}

void debugger_close(struct machine *m)
{
    if (m->stub)
        stub_free(m->stub);
    m->stub = NULL;
}

static void describe_gdb(const struct machine *m, char *line, size_t bytes)
{
    stub_describe(m->stub, debugged_job(m)->options.program[0].path, line, bytes);
}

static void on_entered(void *ctx)
{
    char line[MACHINE_ERROR_BYTES];

    describe_gdb(ctx, line, sizeof line);
    fflush(stdout);
    fprintf(stderr, "ncube: waiting for gdb: %s\n", line);
}

/* Finds where Vertex ends a process because of a fault. */
static int find_fault(struct machine *m, uint64_t *pc)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/vertex.elf", m->options->lib);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && where_find(fd, "trap_fault", pc);
    if (fd >= 0)
        close(fd);
    return found ? 0 : machine_complain(m, "%s: has no symbol trap_fault; build ncube again", path);
}

int debugger_begin(struct machine *m, uint32_t id)
{
    uint64_t fault_pc;

    if (!m->stub)
        return 0;
    if (find_fault(m, &fault_pc) != 0)
        return -1;
    m->debugged_job = id;
    const struct job *j = debugged_job(m);
    uint64_t *entry = memory_new(j->options.programs, sizeof *entry);
    for (uint32_t i = 0; i < j->options.programs; i++)
        entry[i] = j->own[i].image.entry;
    stub_begin(m->stub, entry, j->options.programs, fault_pc, on_entered, m);
    free(entry);
    return 0;
}

void debugger_begun(struct machine *m, uint32_t id)
{
    if (m->stub && m->gdb_next && debugger_begin(m, id) == 0)
        m->gdb_next = false;
}

size_t debugger_poll(const struct machine *m, struct pollfd *p)
{
    return m->stub ? stub_poll(m->stub, p) : 0;
}

bool debugger_offer(struct machine *m, uint32_t id, char *text, size_t bytes)
{
    uint64_t fault_pc;

    if (!m->stub) {
        snprintf(text, bytes, "the machine was booted without --gdb; boot it with ncube boot --gdb");
        return false;
    }
    if (stub_is_busy(m->stub)) {
        snprintf(text, bytes, "gdb is connected already; one gdb at a time");
        return false;
    }
    m->gdb_next = id == 0;
    if (m->gdb_next) {
        stub_expect(m->stub);
        stub_describe(m->stub, "PROGRAM", text, bytes);
        return true;
    }
    if (find_fault(m, &fault_pc) != 0) {
        snprintf(text, bytes, "the machine has failed");
        return false;
    }
    m->debugged_job = id;
    stub_choose(m->stub, fault_pc);
    describe_gdb(m, text, bytes);
    return true;
}

void debugger_end(struct machine *m, uint32_t id)
{
    if (m->stub && id == m->debugged_job)
        stub_end(m->stub, job_status(debugged_job(m)));
}

bool debugger_kills(struct machine *m)
{
    bool kills = m->gdb_kills;

    m->gdb_kills = false;
    return kills;
}

bool debugger_stuck(struct machine *m, uint32_t id)
{
    return m->stub && id == m->debugged_job && stub_stuck(m->stub);
}

void debugger_drop(struct machine *m, uint32_t id)
{
    if (m->stub && id == m->debugged_job)
        stub_drop(m->stub);
}

bool debugger_stands(void *machine, uint32_t running)
{
    return stub_turn(((struct machine *)machine)->stub, running);
}

/*
 * gdb on a machine (debugger.h): the life of emu/debug's stub in that of the machine.
 */
#include "emu/watch/debugger.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/watch/debugged.h"
#include "emu/debug/stub.h"

#define LOOK_MS 10 /* a machine that is kept up looks after its clients so often while gdb thinks */

/* ---- The stub's life ---- */

int debugger_open(struct machine *m)
{
    if (!m->options->gdb)
        return 0;
    if (m->options->gdb_goes_back && *m->options->gdb_goes_back) {
        m->stub = *m->options->gdb_goes_back;
        *m->options->gdb_goes_back = NULL;
        return 0;
    }
    bool has_clients = m->options->kept_up && !recording_is_replayed(m->options->recording);
    m->stub = stub_new(m->options->gdb_port, has_clients ? LOOK_MS : 0, m->error, sizeof m->error);
    if (!m->stub)
        return machine_complain(m, "%s", m->error);
    if (m->options->gdb_goes_back)
        stub_goes_back(m->stub, &(struct stub_way_back){.from_end = m->options->gdb_from_end,
                                                        .end_cycles = m->options->gdb_end_cycles,
                                                        .closely = m->options->strict,
                                                        .kept = recording_is_kept(m->options->recording)});
    return 0;
}

int debugger_prepare(struct machine *m)
{
    struct debug_area *area = m->stub ? debug_area_of(m->harts.control) : NULL;

    if (!area)
        return 0;
    m->harts.control->debug = SLOT_DEBUG_ASKED;
    area->closely = m->options->gdb_goes_back && m->options->strict;
    return debugged_find_symbol(m, "trap_entry", &area->trap_pc) | debugged_find_symbol(m, "trap_fault", &area->end_pc);
}

uint64_t debugger_forward(const struct machine *m)
{
    return m->stub ? stub_forward(m->stub) : 0;
}

void debugger_look(struct machine *m)
{
    stub_look(m->stub, sched_latest_clock(m->sched));
}

void debugger_attach(struct machine *m)
{
    if (m->stub)
        stub_attach(m->stub, debug_area_of(m->harts.control), m->harts.count, &debugged_ops, m);
}

void debugger_close(struct machine *m)
{
    if (debugger_travels(m))
        *m->options->gdb_goes_back = m->stub;
    else if (m->stub)
        stub_free(m->stub);
    m->stub = NULL;
}

bool debugger_travels(const struct machine *m)
{
    return m->stub && stub_travels(m->stub);
}

static void describe_gdb(const struct machine *m, char *line, size_t bytes)
{
    const struct job_options *o = &debugged_job(m)->options;

    stub_describe(m->stub, o->programs > 0 ? o->program[0].path : "PROGRAM", line, bytes);
}

static void on_entered(void *ctx)
{
    char line[MACHINE_ERROR_BYTES];

    describe_gdb(ctx, line, sizeof line);
    fflush(stdout);
    fprintf(stderr, "ncube: waiting for gdb: %s\n", line);
}

int debugger_begin(struct machine *m, uint32_t id)
{
    uint64_t fault_pc;

    if (!m->stub)
        return 0;
    if (debugged_find_symbol(m, "trap_fault", &fault_pc) != 0)
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

void debugger_resume(struct machine *m, uint64_t latest_cycles)
{
    if (m->debugged_job != 0)
        stub_resume(m->stub, latest_cycles);
}

void debugger_begun(struct machine *m, uint32_t id)
{
    bool waits = m->stub && m->gdb_next && !front_find_job(m->front, id)->options.hosted;

    if (waits && debugger_begin(m, id) == 0)
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
        snprintf(text, bytes, "gdb is already connected; one gdb at a time");
        return false;
    }
    m->gdb_next = id == 0;
    if (m->gdb_next) {
        stub_expect(m->stub);
        stub_describe(m->stub, "PROGRAM", text, bytes);
        return true;
    }
    if (debugged_find_symbol(m, "trap_fault", &fault_pc) != 0) {
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

/*
 * What a run that did not end well tells its user: who waits for what, which QEMU was lost; and statistics.
 */
#include "emu/state/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/base/alike.h"
#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/qemu/inside.h"
#include "emu/state/caches.h"
#include "emu/state/node_places.h"
#include "emu/state/told.h"
#include "emu/state/unread.h"

/* ---- What nodes wait for ---- */

/* Where the report goes, and what it needs. */
struct sayer {
    void (*say)(void *ctx, const char *line);
    void *ctx;
    const char *rest;
    unsigned options;
    struct user_calls *calls;
};

/* Describes where a node of the job computes: in which function, if its program says so. In a system call only the
 * kernel knows. Returns false for other nodes. */
static bool describe_running(struct machine *m, const struct job *j, uint32_t index, const struct sayer *to, char *text,
                             size_t bytes)
{
    const struct slot *s = harts_slot(&m->harts, m->slot_of[index]);
    uint32_t address = ncu_address(m->ncu, index);
    bool stopped = __atomic_load_n(&s->stops, __ATOMIC_SEQ_CST) != s->go;
    const struct slot_frame f = s->user_frame;
    char where[WHERE_BYTES] = "";
    uint32_t program;
    int file;

    if (!j || !job_awaits_node(j, address))
        return false;
    program = node_places_program(j, address, &file);
    bool known = (to->options & WAITS_PLACES && (!stopped || s->why == SLOT_BUDGET)) ||
                 (to->options & WAITS_IN_PLACE && sched_is_in_place(m->sched, index));
    if (known && program != UINT32_MAX)
        user_calls_describe(
            to->calls, index, program,
            &(struct user_place){__atomic_load_n(&s->user_pc, __ATOMIC_RELAXED), f.ra, f.sp, f.fp, f.satp}, where);
    snprintf(text, bytes, "runs%s%s", where[0] ? " in " : "", where);
    return true;
}

/* Describes what a node waits for, or where it computes, or else how its program has ended, if it is one of the job's
 * nodes. Returns false if nothing is known. */
static bool describe_node(struct machine *m, const struct job *j, uint32_t index, const struct sayer *to, char *text,
                          size_t bytes)
{
    uint32_t address = ncu_address(m->ncu, index), pipe, kind;

    if (!ncu_wait_word(m->ncu, index))
        return describe_running(m, j, index, to, text, bytes);
    if (j && ncu_waits_for_pipe(m->ncu, index, &pipe, &kind) && job_describe_pipe(j, address, pipe, kind, text, bytes))
        return true;
    if (j && job_awaits_node(j, address) && told_describe(m, j, index, text, bytes))
        return true;
    if (!ncu_describe_wait(m->ncu, index, text, bytes))
        return j && job_describe_end(j, address, text, bytes);
    if (j && ncu_waits_for_message(m->ncu, index))
        unread_describe(m, j, index, text, bytes);
    return true;
}

/* The program whose PE 0 is the node with that index, if it has a subcube of its own in the job: its PEs, as one. */
static void report_program(struct machine *m, const struct job *j, uint32_t first, const struct sayer *s)
{
    uint32_t number, base = ncu_address(m->ncu, first);
    struct alike alike = {.program = j ? job_program_at(j, base, &number) : NULL};
    char text[ALIKE_TEXT_BYTES];

    if (!alike.program || number != 0)
        return;
    for (uint32_t i = first;
         i < m->nodes && job_program_at(j, ncu_address(m->ncu, i), &number) && ncu_address(m->ncu, i) - number == base;
         i++)
        if (describe_node(m, j, i, s, text, sizeof text))
            alike_add(&alike, number, text);
    alike_say(&alike, s->rest, s->say, s->ctx);
    alike_free(&alike);
}

void machine_report_waits(struct machine *m, const struct job *j, unsigned options,
                          void (*say)(void *ctx, const char *line), void *ctx)
{
    bool whole = options & WAITS_MACHINE;
    const struct sayer s = {say, ctx, whole ? "--stats=FILE lists all" : "ncube run --stats=FILE lists all", options,
                            node_places_open(m, j)};
    struct alike alike = {0};
    char text[ALIKE_TEXT_BYTES];
    uint32_t number;

    for (uint32_t i = 0; i < m->nodes; i++) {
        uint32_t address = ncu_address(m->ncu, i);

        if (j && job_program_at(j, address, &number))
            continue;
        if ((whole || job_has_node(j, address)) && describe_node(m, j, i, &s, text, sizeof text))
            alike_add(&alike, whole ? address : address - j->base, text);
    }
    alike_say(&alike, s.rest, say, ctx);
    alike_free(&alike);
    for (uint32_t i = 0; i < m->nodes; i++)
        report_program(m, j, i, &s);
    user_calls_free(s.calls);
    ncu_describe_faults(m->ncu, sched_now(m->sched), say, ctx);
}

const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j)
{
    for (uint32_t i = 0; i < m->config.n_faults; i++) {
        const struct fault *f = &m->config.fault[i];

        if (f->kind == FAULT_NODE && fault_is_active(f, sched_now(m->sched)) && job_awaits_node(j, f->node))
            return f;
    }
    return NULL;
}

double machine_seconds(const struct machine *m)
{
    return (double)sched_now(m->sched) / CLOCK_HZ;
}

#define SILENCES_MOST 3u
#define IDLE_NS       60000000u /* of all QEMUs in a silence, for their timers; work takes more on the slowest host */

/* Returns the first cabinet in which a hart is to run, or the number of cabinets. */
static uint32_t cabinet_that_runs(const struct machine *m)
{
    uint32_t c = 0;

    for (uint32_t slot = 0; slot < m->harts.count; slot++) {
        const struct slot *s = harts_slot(&m->harts, slot);

        c += c + 1 < m->cabinets && slot == m->cabinet[c + 1].first_slot;
        if (__atomic_load_n(&s->stops, __ATOMIC_SEQ_CST) == s->go)
            return c;
    }
    return m->cabinets;
}

bool machine_is_lost(void *machine)
{
    struct machine *m = machine;
    uint64_t before_ns = m->work_ns;
    bool suspended = false;

    for (uint32_t c = 0; c < m->cabinets; c++)
        suspended = suspended || cabinet_is_suspended(&m->cabinet[c]);
    m->work_ns = machine_work_ns(m);
    m->silences = suspended || m->work_ns > before_ns + IDLE_NS ? 0 : m->silences + 1;
    return m->silences >= SILENCES_MOST;
}

int machine_explain_silence(struct machine *m, uint32_t cabinet)
{
    cabinet_describe(&m->cabinet[cabinet], m->error, sizeof m->error);
    return machine_complain(m,
                            "cabinet %u: %s hangs; if it has executed many different programs, it may have no "
                            "room for translated code left: reboot it",
                            cabinet, m->error);
}

int machine_explain_late(struct machine *m, uint32_t cabinet)
{
    cabinet_describe(&m->cabinet[cabinet], m->error, sizeof m->error);
    return machine_complain(
        m, "cabinet %u: %s has not come up: it was silent for %u s; check that the host has free memory and processors",
        cabinet, m->error, HARTS_SILENCE_MS / 1000);
}

int machine_explain_stop(struct machine *m)
{
    if (m->racks && m->options->far->failed(m, m->error, sizeof m->error))
        return machine_complain(m, "%s", m->error);
    if (m->silences >= SILENCES_MOST && cabinet_that_runs(m) < m->cabinets)
        return machine_explain_silence(m, cabinet_that_runs(m));
    for (uint32_t c = 0; c < m->cabinets; c++)
        if (cabinet_died(&m->cabinet[c], m->error, sizeof m->error))
            return machine_complain(m, "cabinet %u: %s", c, m->error);
    m->failed = true;
    return -1; /* a signal, which needs no explanation */
}

/* ---- Statistics ---- */

static int write_statistics(struct machine *m, const struct stats_source *source)
{
    int written = stats_write(m->statistics, source), closed = fclose(m->statistics);

    m->statistics = NULL;
    if (written != 0 || closed != 0)
        return machine_complain(m, "%s: %s", m->options->statistics_file, strerror(errno));
    return 0;
}

int machine_tell_statistics(struct machine *m)
{
    uint64_t begun_ns = m->heartbeat.begun_ns;

    if (!m->options->statistics || !m->sched)
        return 0;
    ncu_end_waits(m->ncu, sched_now(m->sched));
    const struct stats_source source = {.topo = &m->config.topo,
                                        .sched = m->sched,
                                        .ncu = m->ncu,
                                        .cache_counts = caches_count,
                                        .ctx = m,
                                        .calls = m->calls,
                                        .nodes = m->nodes,
                                        .stuck = m->stuck,
                                        .start_seconds = host_seconds(m->build_begun_ns, begun_ns),
                                        .run_seconds = host_seconds(begun_ns, host_ns(CLOCK_MONOTONIC)),
                                        .cabinets = m->cabinets,
                                        .processors = m->harts.processors,
                                        .harts = inside_is()                  ? "inside"
                                                 : m->harts.cabinet_slots > 0 ? "turns"
                                                                              : "threads",
                                        .flushes = m->harts.flushes};
    if (m->statistics)
        return write_statistics(m, &source);
    stats_print(stderr, &source);
    return 0;
}

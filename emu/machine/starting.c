/* Starts the QEMUs of a machine, or the racks of other hosts, and waits until their harts have come (starting.h). */
#include "emu/machine/starting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/base/starved.h"
#include "emu/qemu/cost.h"
#include "emu/qemu/fiber.h"
#include "emu/qemu/inside.h"
#include "emu/state/explain.h"
#include "emu/state/outputs.h"
#include "emu/watch/checking.h"
#include "emu/watch/cores.h"
#include "emu/watch/debugger.h"

void machine_find_part(struct machine *m, const char *name, char path[PART_PATH_BYTES])
{
    snprintf(path, PART_PATH_BYTES, "%s/%s", m->options->lib, name);
    machine_reads(m, path, "a part of ncube");
}

/* ---- One cabinet ---- */

static int set_costs(struct machine *m)
{
    uint32_t *cycles = m->harts.control->cycles_of_class;

    memcpy(cycles, cost_class_cycles, sizeof cost_class_cycles);
    for (uint32_t i = 0; i < m->config.n_costs; i++) {
        int class = cost_class_find(m->config.cost[i].name);

        if (class < 0)
            return machine_complain(m, "%s: unknown instruction class '%s'", m->config.cost[i].where,
                                    m->config.cost[i].name);
        cycles[class] = m->config.cost[i].cycles;
    }
    return 0;
}

static uint32_t nodes_of_cabinet(const struct machine *m, uint32_t cabinet)
{
    uint32_t most = m->config.topo.nodes_per_cabinet, left = m->nodes - cabinet * most;

    return left < most ? left : most;
}

static uint32_t first_slot(const struct machine *m, uint32_t cabinet)
{
    return cabinet * (m->config.topo.nodes_per_cabinet + 1);
}

static int start_cabinet(struct machine *m, uint32_t c)
{
    const struct cabinet_watch watch = {m->options->statistics, tracing_traps(m)};
    uint32_t nodes = nodes_of_cabinet(m, c), first = first_slot(m, c);
    char plugin[PART_PATH_BYTES];

    machine_find_part(m, inside_is() ? "ncube.so" : "plugin.so", plugin);
    if (cabinet_start(&m->cabinet[c], nodes, m->config.topo.ram_bytes, m->config.topo.code_mb, first, m->harts.fd,
                      plugin, watch, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    harts_start_on(&m->harts, m->cabinet[c].pid, first, nodes + 1, c);
    return 0;
}

/* ---- Waiting for QEMU ---- */

/* A QEMU does not come up if no hart comes in HARTS_SILENCE_MS while no QEMU works, or in so many such times. */
#define SILENCES_MOST 12

/* Names the first cabinet that misses a hart. */
static int complain_of_silence(struct machine *m)
{
    uint32_t c = m->first_cabinet;

    while (c + 1 < m->end_cabinet &&
           (m->cabinet[c].pid == 0 || harts_have_come(&m->harts, first_slot(m, c), m->cabinet[c].nodes + 1)))
        c++;
    return machine_explain_late(m, c);
}

/* A busy host may take long. Gives up only if a QEMU neither uses processor time nor answers. */
static int await_harts(struct machine *m, uint32_t slots)
{
    uint64_t work_ns = 0;
    uint32_t silences = 0;

    while (slots > 0) {
        uint32_t left = harts_wait(&m->harts, slots, HARTS_SILENCE_MS);

        if (left > 0 && !m->harts.silent)
            return machine_explain_stop(m);
        uint64_t now_ns = machine_work_ns(m);
        silences = left < slots ? 0 : silences + 1;
        if (silences > 0 && (now_ns < work_ns + HARTS_TICK_NS || silences == SILENCES_MOST))
            return complain_of_silence(m);
        work_ns = now_ns;
        slots = left;
    }
    return 0;
}

/* Makes a cabinet a copy of the first, whose harts have come. If the host does not let it, starts QEMU instead. */
static int copy_cabinet(struct machine *m, uint32_t c)
{
    struct cabinet *copy = &m->cabinet[c];

    const struct cabinet *of = &m->cabinet[m->first_cabinet];

    if (cabinet_prepare_copy(copy, of, first_slot(m, c)) != 0)
        return machine_complain(m, "cannot make a cabinet of %u nodes: %s", of->nodes, strerror(errno));
    pid_t process = harts_copy(&m->harts, of->first_slot, copy->first_slot, copy->ram_fd, copy->log_fd);
    if (process == 0)
        return machine_explain_stop(m);
    if (process > 0) {
        copy->pid = process;
        return 0;
    }
    cabinet_stop(copy);
    return start_cabinet(m, c);
}

/* The cabinets that are like the first become copies of it, if there can be any: QEMU takes 100 times longer to
 * start. */
int machine_start_cabinets(struct machine *m)
{
    const bool copies = harts_can_copy(&m->harts);
    const uint32_t first = m->first_cabinet;
    uint32_t slots = 0, all = 0;

    for (uint32_t c = first; c < m->end_cabinet; c++) {
        all += nodes_of_cabinet(m, c) + 1;
        if (copies && c > first && nodes_of_cabinet(m, c) == nodes_of_cabinet(m, first))
            continue;
        if (start_cabinet(m, c) != 0)
            return -1;
        slots += m->cabinet[c].nodes + 1;
    }
    if (await_harts(m, slots) != 0)
        return -1;
    if (inside_is()) {
        signals_install(&m->harts.control->doorbell);
        inside_begin_signals();
    }
    for (uint32_t c = first; c < m->end_cabinet; c++)
        if (m->cabinet[c].pid == 0 && copy_cabinet(m, c) != 0)
            return -1;
    return await_harts(m, all - slots);
}

/* Numbers the cabinets of other hosts, and lets them start. */
static int start_racks(struct machine *m)
{
    for (uint32_t c = 0; c < m->cabinets; c++)
        if (cabinet_make_far(&m->cabinet[c], nodes_of_cabinet(m, c), m->config.topo.ram_bytes, first_slot(m, c)) != 0)
            return machine_complain(m, "cannot make shared memory for %u nodes: %s", m->nodes, strerror(errno));
    harts_go_far(&m->harts, &m->options->far->harts, m);
    return m->options->far->start(m);
}

static bool qemu_waits_for_processor(void *ctx)
{
    const struct machine *m = ctx;
    bool waits = false;

    for (uint32_t c = 0; c < m->cabinets && !waits; c++)
        waits = starved_is_runnable(m->cabinet[c].pid);
    return waits;
}

void machine_watch_work(struct machine *m)
{
    static const struct signals_work qemu_work = {machine_work_ns, qemu_waits_for_processor};

    signals_watch_work(&qemu_work, m);
}

int machine_make_harts(struct machine *m)
{
    const struct topo *t = &m->config.topo;
    uint32_t slots = m->nodes + m->cabinets;

    if (harts_init(&m->harts, slots, m->options->processors) != 0)
        return machine_complain(m, "cannot make shared memory for %u nodes: %s", m->nodes, strerror(errno));
    m->harts_ready = true;
    if (inside_is() || m->options->harts == MACHINE_HARTS_TURNS ||
        (m->options->harts != MACHINE_HARTS_THREADS && fiber_pays()))
        harts_take_turns(&m->harts, t->nodes_per_cabinet + 1);
    signals_install(&m->harts.control->doorbell);
    machine_watch_work(m);
    m->cabinet = memory_new(m->cabinets, sizeof *m->cabinet);
    for (uint32_t c = 0; c < m->cabinets; c++)
        m->cabinet[c] = CABINET_NONE;
    m->slot_of = memory_new(m->nodes, sizeof *m->slot_of);
    m->snapshot = memory_new(m->nodes, sizeof *m->snapshot);
    for (uint32_t i = 0; i < m->nodes; i++)
        m->slot_of[i] = machine_cabinet_of(m, i) * (t->nodes_per_cabinet + 1) + machine_hart_of(m, i);
    return 0;
}

int machine_start_harts(struct machine *m)
{
    if (machine_make_harts(m) != 0 || debugger_prepare(m) != 0 || cores_prepare(m) != 0 || checking_open(m) != 0 ||
        set_costs(m) != 0)
        return -1;
    return m->options->far ? start_racks(m) : machine_start_cabinets(m);
}

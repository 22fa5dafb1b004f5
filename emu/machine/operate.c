/*
 * A machine that runs. The scheduler, the NCUs and the front end are modules of three layers which do not know each
 * other; here are their tables of operations, through which a layer calls one above it. None of the host's time that is
 * read here changes a result.
 */
#include "emu/machine/operate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/base/signals.h"
#include "emu/machine/beat.h"
#include "emu/machine/checkpoints.h"
#include "emu/machine/injectors.h"
#include "emu/machine/renew.h"
#include "emu/watch/checking.h"
#include "emu/watch/cores.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/state/node_places.h"
#include "emu/state/origin.h"
#include "emu/state/tracing.h"
#include "emu/stats/stats_calls.h"
#include "emu/state/told.h"
#include "emu/job/lives.h"
#include "emu/network/net.h"
#include "emu/qemu/cost.h"
#include "vertex/contract/system.h"

/* ---- The host's processors ---- */

#define FOLLOW_MS 50

static bool is_time_to_follow(struct machine *m)
{
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC_COARSE);

    if (now_ns < m->followed_ns + FOLLOW_MS * HOST_NS_PER_MS)
        return false;
    m->followed_ns = now_ns;
    return true;
}

static void bring_cabinet(const struct machine *m, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (atoi(e->d_name) > 0)
            harts_bring(&m->harts, atoi(e->d_name));
    if (d)
        closedir(d);
}

/* If this run shares its processor with others, and another processor has room, it moves there. That changes no
 * result. */
static void follow_room(struct machine *m)
{
    if (m->harts.claim.rank == 0 || !is_time_to_follow(m) || !harts_follow(&m->harts))
        return;
    for (uint32_t c = 0; c < m->cabinets; c++)
        bring_cabinet(m, m->cabinet[c].pid);
}

/* ---- Operations for the scheduler ---- */

static bool on_execute(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles)
{
    return ncu_execute(((struct machine *)ctx)->ncu, hart, op, arg, now_cycles);
}

static bool on_arm_is_clear(void *ctx, uint32_t hart)
{
    return ncu_arm_is_clear(((struct machine *)ctx)->ncu, hart);
}

static void on_broken(void *ctx, uint32_t hart, const char *what)
{
    struct machine *m = ctx;

    machine_complain(m, "node %u: %s; please report this", ncu_address(m->ncu, hart), what);
}

static bool on_cause_waits(void *ctx, uint32_t hart)
{
    return ncu_cause_waits(((struct machine *)ctx)->ncu, hart);
}

static void on_keep_state(void *ctx, uint32_t hart, bool keep)
{
    struct machine *m = ctx;

    snapshot_free(m->snapshot[hart]);
    m->snapshot[hart] = keep ? snapshot_take(&m->cabinet[machine_cabinet_of(m, hart)], machine_hart_of(m, hart),
                                             harts_slot(&m->harts, m->slot_of[hart]))
                             : NULL;
}

static bool on_same_state(void *ctx, uint32_t hart)
{
    struct machine *m = ctx;
    bool same = snapshot_matches(m->snapshot[hart], harts_slot(&m->harts, m->slot_of[hart]));

    on_keep_state(m, hart, false);
    return same;
}

static void on_answer(void *ctx, uint32_t hart, uint64_t value)
{
    ncu_answer(((struct machine *)ctx)->ncu, hart, value);
}

static void on_interrupted(void *ctx, uint32_t hart, uint64_t start_cycles)
{
    const struct machine *m = ctx;

    trace_write(m->trace, &(struct trace_record){.kind = TRACE_INTERRUPT,
                                                 .node = ncu_address(m->ncu, hart),
                                                 .cycles = sched_now(m->sched),
                                                 .since = start_cycles});
}

static uint32_t trace_reason(const struct sched_spell *s)
{
    if (s->kind == SPELL_USER_TO_INTERRUPT)
        return TRACE_BY_INTERRUPT;
    if (s->trap == SLOT_TRAP_EXCEPTION)
        return TRACE_BY_FAULT;
    return s->trap < TRACE_BY_FAULT ? s->trap : TRACE_BY_SWITCH;
}

static void on_spell(void *ctx, uint32_t hart, const struct sched_spell *s)
{
    struct machine *m = ctx;
    bool lines = m->options->trace.lines && s->kind == SPELL_USER_TO_TRAP && trace_wants(m->trace, TRACE_USER);
    bool user = s->kind == SPELL_USER_TO_TRAP || s->kind == SPELL_USER_TO_INTERRUPT;

    trace_write(m->trace, &(struct trace_record){.kind = user ? TRACE_USER : TRACE_HANDLED,
                                                 .node = ncu_address(m->ncu, hart),
                                                 .cycles = s->until_cycles,
                                                 .since = s->since_cycles,
                                                 .how = trace_reason(s),
                                                 .text = lines ? node_places_at_trap(m, hart) : NULL,
                                                 .dies = s->kind == SPELL_HANDLING_DROPPED});
}

#define LOOK_MS 10 /* a machine that is kept up looks after its clients so often */

/* Returns true if machine_run must return although the machine could continue. Called often. */
static bool is_interrupted(const struct machine *m)
{
    if (m->settles)
        return false;
    if (signals_request() || m->gdb_kills)
        return true;
    if (!m->options->kept_up || recording_is_replayed(m->options->recording))
        return false;
    return m->job_ended || host_ns(CLOCK_MONOTONIC_COARSE) >= m->resumed_ns + LOOK_MS * HOST_NS_PER_MS;
}

/* A replay whose program does not do what was recorded ends. */
static void look_at_replay(struct machine *m)
{
    const char *why = recording_departure(m->options->recording);

    if (why && !m->failed)
        machine_complain(m, "%s: the replay leaves the recording at %.6f s: %s", recording_file(m->options->recording),
                         (double)sched_now(m->sched) / CLOCK_HZ, why);
}

static bool on_finished(void *ctx)
{
    struct machine *m = ctx;

    follow_room(m);
    signals_note_progress(sched_now(m->sched));
    machine_beat(m, false);
    look_at_replay(m);
    if (!machine_renew_code(m))
        machine_explain_stop(m);
    return m->failed || front_finished(m->front) || debugger_travels(m) || checkpoints_limit(m) < m->pause_cycles;
}

static bool on_pauses(void *ctx)
{
    return is_interrupted(ctx);
}

static const struct sched_ops sched_ops = {.execute = on_execute,
                                           .cause_waits = on_cause_waits,
                                           .arm_is_clear = on_arm_is_clear,
                                           .keep_state = on_keep_state,
                                           .same_state = on_same_state,
                                           .broken = on_broken,
                                           .answer = on_answer,
                                           .interrupted = on_interrupted,
                                           .spell = on_spell,
                                           .interrupt = machine_raise,
                                           .finished = on_finished,
                                           .pauses = on_pauses};

/* ---- Operations for the NCUs ---- */

static void trace_exit(const struct machine *m, uint32_t from, const void *bytes, size_t n)
{
    struct job_exit e;

    if (n < sizeof e)
        return;
    memcpy(&e, bytes, sizeof e);
    trace_write(m->trace,
                &(struct trace_record){
                    .kind = TRACE_EXIT, .node = from, .cycles = sched_now(m->sched), .status = e.status, .how = e.how});
}

/* The program of a run has failed: that is what its trace tells, when it happens. A machine that is kept up goes on. */
static void trace_failure(struct machine *m)
{
    const struct job *j = m->trace && !m->options->kept_up ? front_first_job(m->front) : NULL;

    if (j && j->why && !m->end_told)
        tracing_say_end(m, TRACE_END_FAULT, sched_now(m->sched), j->why);
}

/* For who replays it under gdb. */
static void note_failure(struct machine *m)
{
    const struct job *j = front_first_job(m->front);

    if (m->failed_cycles == 0 && j && j->faulted)
        m->failed_cycles = sched_now(m->sched);
}

static void on_host_message(void *ctx, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct machine *m = ctx;

    if (TAG_TYPE(tag) == N_EXIT)
        trace_exit(m, from, bytes, n);
    front_receive(m->front, from, tag, bytes, n);
    trace_failure(m);
    if (TAG_TYPE(tag) == N_EXIT)
        note_failure(m);
}

static void on_arrived(void *ctx, uint32_t node, const struct ncu_cause *c)
{
    checking_note_arrival(ctx, node, (uint32_t)c->tag);
    origin_note(ctx, node, c);
}

static void on_host_lost(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n, int status)
{
    (void)status;
    front_undeliverable(((struct machine *)ctx)->front, to, tag, bytes, n);
    trace_failure(ctx);
}

static void on_recovered(void *ctx)
{
    front_recovered(((struct machine *)ctx)->front);
}

static void on_fault(void *ctx, uint32_t index, const char *text)
{
    struct machine *m = ctx;

    machine_complain(m, "node %u: Vertex panicked: %s", ncu_address(m->ncu, index), text);
}

/* The machine goes on: its programs get EIO, as from a drive that fails. */
static void on_image_fails(void *ctx, const char *volume, int reason)
{
    (void)ctx;
    machine_say("the image of volume %s: %s; its drive fails", volume,
                reason ? strerror(reason) : "it has become shorter");
}

/* Returns where the text is to be executed: in the cabinet's text pool, or where it lies. */
static uint64_t on_text(void *ctx, uint32_t index, uint64_t addr, uint64_t bytes)
{
    const struct machine *m = ctx;
    uint32_t cabinet = machine_cabinet_of(m, index), hart = machine_hart_of(m, index);
    const uint8_t *text = cabinet_window(&m->cabinet[cabinet], hart) + addr;
    int64_t offset = text_pool_share(m->text, cabinet, text, bytes);

    return offset >= 0 ? CABINET_TEXT_BASE + (uint64_t)offset : CABINET_WINDOW(hart, m->config.topo.ram_bytes) + addr;
}

static const struct ncu_ops ncu_ops = {.host_message = on_host_message,
                                       .arrived = on_arrived,
                                       .host_lost = on_host_lost,
                                       .waited = told_waited,
                                       .recovered = on_recovered,
                                       .fault = on_fault,
                                       .image_fails = on_image_fails,
                                       .text = on_text};

/* ---- Operations for the front end ---- */

static void on_front_send(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    ncu_host_send(((struct machine *)ctx)->ncu, to, tag, bytes, n);
}

static void on_ended(void *ctx, uint32_t id)
{
    struct machine *m = ctx;

    debugger_end(m, id);
    m->job_ended = true;
    if (!m->options->kept_up)
        front_stop(m->front); /* the machine was booted for this job */
}

static bool on_told_to_end(void *ctx)
{
    machine_beat(ctx, true);
    return signals_asked() != 0;
}

/* On a machine that is kept up: when that is depends on the host. */
static void on_resumes(void *ctx, uint32_t id, uint32_t place)
{
    struct recording *r = ((struct machine *)ctx)->options->recording;

    if (recording_is_written(r))
        recording_note_act(r, json_pack("[s, i, i]", "resume", (int)id, (int)place));
}

const struct front_ops machine_front_ops = {.job = {on_front_send, on_told_to_end, on_resumes}, .ended = on_ended};

/* ---- Models ---- */

/* Returns a number that differs between two boots of the same images and depends on nothing but them: the mount count
 * of the first volume, which nsdisk increments. */
static uint64_t find_boot_number(const struct machine *m)
{
    uint8_t superblock[2 * SECTOR_BYTES];

    if (m->config.topo.n_io == 0 || !m->disk[0] || disk_transfer(m->disk[0], false, 2, 2, superblock) != 0)
        return 1;
    return 1u + (superblock[52] | superblock[53] << 8);
}

static void attach_nodes(struct machine *m)
{
    ncu_set_software_costs(m->ncu, &m->config.software);
    ncu_set_stated_costs(m->ncu, m->config.stated);
    uint64_t boot_number = find_boot_number(m);
    uint32_t compute = 1u << m->config.topo.dim;
    for (uint32_t i = 0; i < m->nodes; i++) {
        struct disk **disks = i < compute ? NULL : &m->disk[(i - compute) * DRIVE_MAX];
        uint8_t *ram = cabinet_window(&m->cabinet[machine_cabinet_of(m, i)], machine_hart_of(m, i));

        ncu_attach(m->ncu, i, machine_address_of(m, i), ram, disks, boot_number);
    }
}

void machine_make_text_pool(struct machine *m)
{
    m->text = text_pool_new(m->cabinets, (uint64_t)m->config.topo.shared_text_kb << 10);
    for (uint32_t k = m->first_cabinet; k < m->end_cabinet; k++)
        text_pool_attach(m->text, k, cabinet_shared(&m->cabinet[k], CABINET_TEXT_BASE));
}

static uint32_t lookahead_cycles(const struct machine *m)
{
    return channel_lookahead_cycles(topo_times(&m->config.topo));
}

static void rely_on_kernel(struct machine *m)
{
    const uint32_t *costs = m->harts.control->cycles_of_class;

    sched_rely_on(m->sched,
                  &(struct sched_quiet){.trap_cycles = cost_least(costs, TRAP_QUIET_CYCLES),
                                        .wake_cycles = cost_least(costs, WAKE_QUIET_CYCLES),
                                        .idle_cycles = cost_least(costs, IDLE_SILENT_CYCLES),
                                        .causes_cycles = cost_least(costs, CAUSES_SILENT_CYCLES),
                                        .begun_cycles = cost_least(costs, TRAP_SILENT_CYCLES),
                                        .user_cycles = cost_least(costs, USER_QUIET_CYCLES + TRAP_QUIET_CYCLES),
                                        .arrival_cycles = m->config.n_faults == 0 ? lookahead_cycles(m) : 0,
                                        .passes = !trace_wants(m->trace, TRACE_USER)});
}

static uint64_t all_work_ns(void *machine)
{
    const struct machine *m = machine;

    return machine_work_ns(machine) + (m->cabinet[0].here ? 0 : host_ns(CLOCK_PROCESS_CPUTIME_ID));
}

/* What needs a node's memory is asked of its rack. */
static void rely_on_racks(struct machine *m)
{
    const struct machine_far *far = m->options->far;

    m->harts.is_lost = far->is_lost;
    m->sched_ops.keep_state = far->keep_state;
    m->sched_ops.same_state = far->same_state;
    m->ncu_ops.text = far->text;
    m->ncu_ops.memory = &far->memory;
}

void machine_start_models(struct machine *m)
{
    machine_make_text_pool(m);
    m->events = eventq_new();
    origin_open(m);
    m->sched_ops = sched_ops;
    m->ncu_ops = ncu_ops;
    if (!m->stub && !m->cores && !m->checking) { /* a debugger may hold a hart for hours */
        m->harts.is_lost = machine_is_lost;
        m->harts.ctx = m;
        harts_may_spread(&m->harts, all_work_ns);
    }
    if (m->stub)
        m->sched_ops.stands = debugger_stands;
    else if (m->cores)
        m->sched_ops.stands = cores_stand;
    else if (m->checking)
        m->sched_ops.stands = checking_stands;
    if (m->options->far)
        rely_on_racks(m);
    m->sched = sched_new(m->events, &m->harts, m->slot_of, m->nodes, lookahead_cycles(m), m->options->strict,
                         &m->sched_ops, m);
    rely_on_kernel(m);
    m->calls = m->options->statistics ? stats_calls_new(m->nodes) : NULL;
    m->ncu = ncu_new(&m->config.topo, m->events, m->sched, m->nodes, &m->ncu_ops, m, m->trace, m->config.fault,
                     m->config.n_faults);
    attach_nodes(m);
    debugger_attach(m);
    front_start(m->front);
    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        if (fault_node_is_dead(m->config.fault, m->config.n_faults, m->config.topo.io[i].node, 0))
            front_unreachable(m->front, m->config.topo.io[i].node);
}

/* ---- Running ---- */

enum sched_end machine_run(struct machine *m, uint64_t limit_cycles)
{
    m->job_ended = false;
    m->resumed_ns = host_ns(CLOCK_MONOTONIC_COARSE);
    return sched_run(m->sched, limit_cycles);
}

enum sched_end machine_run_on(struct machine *m, uint64_t limit_cycles)
{
    m->settles = true;
    enum sched_end end = sched_run(m->sched, limit_cycles);
    m->settles = false;
    return end;
}

void machine_settle(struct machine *m)
{
    machine_run_on(m, sched_now(m->sched));
}

void machine_act_now(struct machine *m)
{
    ncu_advance(m->ncu, sched_now(m->sched));
}

void machine_rest(struct machine *m)
{
    harts_rest(&m->harts);
    m->followed_ns = 0;
}

bool machine_is_quiet(const struct machine *m)
{
    return eventq_next(m->events) == EVENTQ_NEVER;
}

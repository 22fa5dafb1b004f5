/*
 * The rack's loop: commands are executed in order; harts that have stopped are reported when rank 0 can do something
 * about them.
 *
 * Rank 0 does nothing about what is later than the lowest clock of a hart that runs. So a rack says nothing until that
 * passes the first stop that it has not reported, or the time that rank 0 waits for; or no hart runs.
 */
#include "emu/rack/rack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/machine/assemble.h"
#include "emu/machine/operate.h"
#include "emu/machine/renew.h"
#include "emu/rack/ranks.h"
#include "emu/rack/rack_wire.h"
#include "emu/rack/racks_hosts.h"

struct rack {
    struct machine machine;
    struct machine_options options;
    const char *lib;
    bool up;                           /* the machine's cabinets run */
    bool failed;                       /* rank 0 knows */
    uint8_t (*known)[NODE_PAGE_BYTES]; /* by slot: its mailbox, as rank 0 knows it */
    uint8_t *runs;                     /* by slot: granted, and not found stopped since */
    uint64_t *told;                    /* by slot: how far rank 0 knows a running hart to be */
    uint32_t first_slot, end_slot;
    uint32_t *stopped; /* harts that are to be reported */
    uint32_t n_stopped;
    uint64_t first_stop;  /* the time of the first of them; UINT64_MAX: there is none */
    bool urgent;          /* rank 0 has called one of them */
    uint64_t wanted;      /* the time that rank 0 waits for; UINT64_MAX: it knows that it has passed */
    uint64_t rank0_wants; /* that time, in any case */
    bool looks;           /* at the harts, whether or not one has rung */
    uint64_t reported_ms;
    uint64_t delay_us; /* hold */
    uint32_t bell;     /* the doorbell's count at the last look */
    int wake_fd;       /* an eventfd: control.wake_fd */
    struct wire in, out;
};

static struct slot *slot_at(const struct rack *r, uint32_t slot)
{
    return harts_slot(&r->machine.harts, slot);
}

static const struct cabinet *cabinet_of_slot(const struct rack *r, uint32_t slot)
{
    return &r->machine.cabinet[slot / (r->machine.config.topo.nodes_per_cabinet + 1)];
}

static uint32_t hart_of_slot(const struct rack *r, uint32_t slot)
{
    return slot % (r->machine.config.topo.nodes_per_cabinet + 1);
}

static uint8_t *memory_at(const struct rack *r, uint32_t slot, uint64_t addr)
{
    return machine_slot_window(&r->machine, slot) + addr;
}

static uint32_t node_of_slot(const struct rack *r, uint32_t slot)
{
    uint32_t each = r->machine.config.topo.nodes_per_cabinet;

    return slot / (each + 1) * each + hart_of_slot(r, slot);
}

/* ---- Commands ---- */

static void answer(const void *bytes, size_t n)
{
    struct wire w = {0};

    wire_append(&w, bytes, n);
    ranks_send(0, WIRE_ANSWER, &w);
}

static void answer_number(uint64_t number)
{
    answer(&number, sizeof number);
}

static void grant(struct rack *r, uint32_t index, bool spread, const uint8_t *bytes)
{
    struct slot *s = slot_at(r, index);
    struct wire_grant g;

    memcpy(&g, bytes, sizeof g);
    wire_take_lines(bytes + sizeof g, memory_at(r, index, NCU_MAILBOX_PA), r->known[index]);
    memcpy((uint8_t *)s + WIRE_HEAD_FROM, g.head, sizeof g.head);
    s->quantum_end = g.quantum_end;
    r->runs[index] = true;
    r->told[index] = 0;
    r->wanted = r->rank0_wants;
    r->looks = true;
    harts_grant(&r->machine.harts, index,
                &(struct harts_grant){.base_cycles = s->base_cycles,
                                      .budget_cycles = s->budget_cycles,
                                      .pass_cycles = s->pass_cycles,
                                      .quiet_cycles = g.quiet,
                                      .attention = s->attention,
                                      .watch = s->watch,
                                      .batched = s->batched,
                                      .spread = spread});
}

static void move(struct rack *r, const struct wire_record *record, const struct wire_move *with)
{
    struct wire bytes = {0};
    uint8_t *here = memory_at(r, record->slot, record->addr);

    if (record->kind == WIRE_MOVE) {
        memmove(here, memory_at(r, with->slot, with->addr), with->bytes);
        return;
    }
    if (record->kind == WIRE_GIVE) {
        wire_append(&bytes, here, with->bytes);
        ranks_send(with->rank, WIRE_BYTES, &bytes);
        return;
    }
    ranks_await(with->rank, WIRE_BYTES, &bytes, 0);
    memcpy(here, bytes.bytes, with->bytes);
    wire_free(&bytes);
}

/* Returns where the node may execute its bytes. */
static uint64_t share_text(struct rack *r, uint32_t slot, uint64_t addr, uint64_t bytes)
{
    struct machine *m = &r->machine;
    uint32_t cabinet = slot / (m->config.topo.nodes_per_cabinet + 1);
    int64_t offset = text_pool_share(m->text, cabinet, memory_at(r, slot, addr), bytes);

    return offset >= 0 ? CABINET_TEXT_BASE + (uint64_t)offset
                       : CABINET_WINDOW(hart_of_slot(r, slot), m->config.topo.ram_bytes) + addr;
}

static void keep_state(struct rack *r, uint32_t slot, bool keep)
{
    struct snapshot **s = &r->machine.snapshot[node_of_slot(r, slot)];

    snapshot_free(*s);
    *s = keep ? snapshot_take(cabinet_of_slot(r, slot), hart_of_slot(r, slot), slot_at(r, slot)) : NULL;
}

static bool same_state(struct rack *r, uint32_t slot)
{
    bool same = snapshot_matches(r->machine.snapshot[node_of_slot(r, slot)], slot_at(r, slot));

    keep_state(r, slot, false);
    return same;
}

/* ---- Life ---- */

static void set_up(struct rack *r, const struct wire_setup *s)
{
    struct machine *m = &r->machine;
    struct topo *t = &m->config.topo;

    r->options = (struct machine_options){.trace = TRACING_NONE,
                                          .lib = r->lib,
                                          .silent = true,
                                          .processors = s->processors,
                                          .harts = s->harts,
                                          .statistics = s->statistics,
                                          .user_traps = s->traps};
    *m = (struct machine){.options = &r->options,
                          .nodes = s->nodes,
                          .cabinets = s->cabinets,
                          .first_cabinet = s->first_cabinet,
                          .end_cabinet = s->end_cabinet};
    t->dim = s->dim;
    t->nodes_per_cabinet = s->nodes_per_cabinet;
    t->ram_bytes = s->ram_bytes;
    t->shared_text_kb = s->text_kb;
    t->code_mb = s->code_mb;
    r->first_slot = s->first_cabinet * (s->nodes_per_cabinet + 1);
    r->end_slot = s->end_cabinet * (s->nodes_per_cabinet + 1);
    if (r->end_slot > s->slots)
        r->end_slot = s->slots;
    r->known = memory_new(s->slots, sizeof *r->known);
    r->runs = memory_new(s->slots, sizeof *r->runs);
    r->told = memory_new(s->slots, sizeof *r->told);
    r->stopped = memory_new(s->slots, sizeof *r->stopped);
    r->n_stopped = 0;
    r->first_stop = r->wanted = r->rank0_wants = UINT64_MAX;
    r->up = true;
}

/* Answers with nothing, or with the line that says why there are no cabinets. */
static void start(struct rack *r, const uint8_t *bytes)
{
    struct wire_setup s;

    memcpy(&s, bytes, sizeof s);
    set_up(r, &s);
    if (machine_build_rack(&r->machine, s.io_nodes > 0, s.cycles_of_class) == 0) {
        r->bell = r->machine.harts.control->doorbell;
        r->machine.harts.control->wake_fd = (uint32_t)r->wake_fd;
        answer(NULL, 0);
        return;
    }
    r->failed = true;
    answer(r->machine.error, strlen(r->machine.error));
}

static void end(struct rack *r)
{
    if (!r->up)
        return;
    machine_free(&r->machine);
    free(r->known);
    free(r->runs);
    free(r->told);
    free(r->stopped);
    wire_free(&r->out);
    r->up = r->failed = false;
}

/* Returns the processor time of the QEMUs; one that a signal has stopped counts as if it worked, since it may go on. */
static uint64_t work_ns(struct rack *r)
{
    static uint64_t suspended_ns;

    for (uint32_t c = r->machine.first_cabinet; c < r->machine.end_cabinet; c++)
        if (cabinet_is_suspended(&r->machine.cabinet[c]))
            suspended_ns += 1000000000u;
    return machine_work_ns(&r->machine) + suspended_ns;
}

/* Executes a command. Returns false at the last one. */
static bool obey(struct rack *r, const struct wire_record *record, const uint8_t *bytes)
{
    uint64_t number = 0;
    struct wire_host host;

    if (record->bytes == sizeof number)
        memcpy(&number, bytes, sizeof number);
    switch (record->kind) {
    case WIRE_ASK:
        racks_host_find(&host, r->lib);
        answer(&host, sizeof host);
        break;
    case WIRE_SETUP:
        start(r, bytes);
        break;
    case WIRE_CONSTANTS:
        memcpy((uint8_t *)r->machine.harts.control + WIRE_CONSTANTS_FROM, bytes, WIRE_CONSTANTS_BYTES);
        break;
    case WIRE_WANTED:
        r->wanted = r->rank0_wants = record->addr;
        r->looks = true;
        break;
    case WIRE_GRANT:
        grant(r, record->slot, record->addr != 0, bytes);
        break;
    case WIRE_CALL:
        harts_call(&r->machine.harts, record->slot);
        r->urgent |= !r->runs[record->slot]; /* it has stopped, and waits to be reported */
        r->looks = true;
        break;
    case WIRE_WRITE:
        memcpy(memory_at(r, record->slot, record->addr), bytes, record->bytes);
        break;
    case WIRE_MOVE:
    case WIRE_GIVE:
    case WIRE_TAKE:
        move(r, record, (const struct wire_move *)bytes);
        break;
    case WIRE_READ:
        answer(memory_at(r, record->slot, record->addr), number);
        break;
    case WIRE_TEXT:
        answer_number(share_text(r, record->slot, record->addr, number));
        break;
    case WIRE_KEEP:
        keep_state(r, record->slot, record->addr != 0);
        break;
    case WIRE_SAME:
        answer_number(same_state(r, record->slot));
        break;
    case WIRE_ALIVE:
        answer_number(work_ns(r));
        break;
    case WIRE_END:
        end(r);
        return record->addr == 0;
    }
    return true;
}

/* For measurements (docs/hosts.md): us for which each message is held that comes from rank 0 or goes there, as if the
 * network took so much longer. */
static uint64_t delay_us(void)
{
    const char *text = getenv("NCUBE_RACK_DELAY_US");

    return text ? strtoul(text, NULL, 10) : 0;
}

static void hold(uint64_t us)
{
    if (us > 0)
        usleep((useconds_t)us);
}

/* ---- Reports ---- */

static void report_stopped(struct rack *r, uint32_t index)
{
    const struct slot *s = slot_at(r, index);

    wire_put(&r->out, WIRE_STOPPED, index, 0, (const uint8_t *)s + WIRE_HEAD_FROM, WIRE_HEAD_TO - WIRE_HEAD_FROM);
    wire_add(&r->out, (const uint8_t *)s + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    wire_add(&r->out, s->post, s->posts * sizeof *s->post);
    wire_add(&r->out, s->passed_trap, s->passed * sizeof *s->passed_trap);
    if (s->watch)
        wire_add(&r->out, s->registers, sizeof s->registers);
    wire_add_lines(&r->out, memory_at(r, index, NCU_MAILBOX_PA), r->known[index]);
}

/* How far a running hart is. Its traps come after its clocks, so that rank 0 knows all before those. */
static void report_running(struct rack *r, uint32_t index)
{
    const struct slot *s = slot_at(r, index);
    const uint64_t progress = harts_progress(&r->machine.harts, index), quiet = harts_quiet(&r->machine.harts, index);
    struct slot now;

    memcpy((uint8_t *)&now + WIRE_TAIL_FROM, (const uint8_t *)s + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    now.progress = progress;
    now.quiet = quiet;
    if (now.stops == s->go + 1 || quiet + now.passed == r->told[index]) /* if it has stopped, its report follows */
        return;
    r->told[index] = quiet + now.passed;
    wire_put(&r->out, WIRE_RUNS, index, 0, (const uint8_t *)&now + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    wire_add(&r->out, s->passed_trap, now.passed * sizeof *s->passed_trap);
}

static void note_stopped(struct rack *r, uint32_t index)
{
    const struct slot *s = slot_at(r, index);
    uint64_t first = s->posts > 0 ? s->post[0].cycles : s->cycles;

    r->runs[index] = false;
    r->stopped[r->n_stopped++] = index;
    r->urgent |= s->stop_soon != 0;
    if (first < r->first_stop)
        r->first_stop = first;
}

/* Injectors are on no list, and rank 0 waits for them. */
static void note_injectors(struct rack *r)
{
    for (uint32_t c = r->machine.first_cabinet; c < r->machine.end_cabinet; c++) {
        uint32_t index = r->machine.cabinet[c].first_slot + r->machine.cabinet[c].nodes;
        struct harts *h = &r->machine.harts;

        if (r->runs[index] && __atomic_load_n(&slot_at(r, index)->stops, __ATOMIC_SEQ_CST) != slot_at(r, index)->go) {
            harts_wait_injector(h, index, slot_at(r, index)->stops);
            note_stopped(r, index);
            r->urgent = true;
        }
    }
}

/* Says that a QEMU has ended, once. */
static void report_end(struct rack *r)
{
    char text[1024];

    for (uint32_t c = r->machine.first_cabinet; c < r->machine.end_cabinet && !r->failed; c++)
        if (cabinet_died(&r->machine.cabinet[c], text, sizeof text)) {
            wire_put(&r->out, WIRE_FAILED, 0, 0, text, strlen(text));
            ranks_send(0, WIRE_REPORT, &r->out);
            r->failed = true;
        }
}

static uint64_t lowest_clock(const struct rack *r)
{
    uint64_t lowest = UINT64_MAX;

    for (uint32_t index = r->first_slot; index < r->end_slot; index++)
        if (r->runs[index] && harts_progress(&r->machine.harts, index) < lowest)
            lowest = harts_progress(&r->machine.harts, index);
    return lowest;
}

static uint64_t next_time(const struct rack *r)
{
    return r->first_stop < r->wanted ? r->first_stop : r->wanted;
}

/* Rank 0 looks at its signals, and beats, when it hears something. */
#define SILENT_MOST_MS 100u

static void send_report(struct rack *r, uint64_t lowest)
{
    for (uint32_t k = 0; k < r->n_stopped; k++)
        report_stopped(r, r->stopped[k]);
    for (uint32_t index = r->first_slot; index < r->end_slot; index++)
        if (r->runs[index])
            report_running(r, index);
    r->n_stopped = 0;
    r->first_stop = UINT64_MAX;
    r->urgent = false;
    if (lowest >= r->wanted)
        r->wanted = UINT64_MAX;
    r->reported_ms = host_ms();
    if (r->out.n > 0) {
        hold(r->delay_us);
        ranks_send(0, WIRE_REPORT, &r->out);
    }
}

/* Looks at the harts if one has rung, and reports. Returns whether it is to be called again at once. */
static bool report(struct rack *r)
{
    struct harts *h = &r->machine.harts;
    uint64_t watched = next_time(r);
    uint32_t bell = harts_watch(h, watched);

    if (bell == r->bell && !r->looks)
        return false;
    r->bell = bell;
    for (int64_t index; (index = harts_take_stopped(h)) >= 0;)
        note_stopped(r, (uint32_t)index);
    note_injectors(r);
    uint64_t lowest = lowest_clock(r);
    bool any = r->n_stopped > 0 || lowest != UINT64_MAX;
    if (any && (r->urgent || lowest >= next_time(r) || host_ms() >= r->reported_ms + SILENT_MOST_MS))
        send_report(r, lowest);
    r->looks = next_time(r) < watched; /* a hart that passed that did not ring */
    if (!machine_renew_code(&r->machine))
        report_end(r);
    return true;
}

/* ---- The loop ---- */

static bool take_commands(struct rack *r, bool *goes_on)
{
    struct wire_record record;
    const uint8_t *bytes;
    bool any = false;

    for (; *goes_on && ranks_poll(0, WIRE_COMMANDS, &r->in, NULL); any = true) {
        hold(r->delay_us);
        for (size_t at = 0; *goes_on && wire_next(&r->in, &at, &record, &bytes);)
            *goes_on = obey(r, &record, bytes);
    }
    return any;
}

/* Sleeps until a command may have come, or a hart has rung. */
static void doze(struct rack *r, uint64_t *since_ns)
{
    struct control *c = r->up && !r->failed ? r->machine.harts.control : NULL;
    uint64_t rung;

    if (!c) {
        ranks_rest(since_ns, -1);
        return;
    }
    __atomic_store_n(&c->asleep, SLOT_POLLS, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->doorbell, __ATOMIC_SEQ_CST) == r->bell)
        ranks_rest(since_ns, r->wake_fd);
    __atomic_store_n(&c->asleep, 0, __ATOMIC_SEQ_CST);
    while (read(r->wake_fd, &rung, sizeof rung) == (ssize_t)sizeof rung)
        ;
}

void rack_serve(const char *lib)
{
    struct rack r = {.lib = lib, .delay_us = delay_us(), .wake_fd = eventfd(0, EFD_NONBLOCK)};
    bool goes_on = true;
    uint64_t since_ns = 0;

    while (goes_on) {
        bool any = take_commands(&r, &goes_on);

        if (r.up && !r.failed) {
            harts_begin(&r.machine.harts);
            any |= report(&r);
            if (signals_take_child())
                report_end(&r);
        }
        if (any)
            since_ns = 0;
        else if (goes_on)
            doze(&r, &since_ns);
    }
    wire_free(&r.in);
    close(r.wake_fd);
}

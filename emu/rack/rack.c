/*
 * The rack's loop: commands are executed in order; what harts do is reported (rack_report.h).
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
#include "emu/rack/priority.h"
#include "emu/rack/rack_report.h"
#include "emu/rack/ranks.h"
#include "emu/rack/rack_wire.h"
#include "emu/rack/racks_hosts.h"

static const struct cabinet *cabinet_of_slot(const struct rack *r, uint32_t slot)
{
    return &r->machine.cabinet[slot / (r->machine.config.topo.nodes_per_cabinet + 1)];
}

static uint32_t hart_of_slot(const struct rack *r, uint32_t slot)
{
    return slot % (r->machine.config.topo.nodes_per_cabinet + 1);
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

/* Returns the processor time of the QEMUs; one that a signal has stopped counts as if it worked, since it may go on. */
static uint64_t work_ns(struct rack *r)
{
    static uint64_t suspended_ns;

    for (uint32_t c = r->machine.first_cabinet; c < r->machine.end_cabinet; c++)
        if (cabinet_is_suspended(&r->machine.cabinet[c]))
            suspended_ns += 1000000000u;
    return machine_work_ns(&r->machine) + suspended_ns;
}

/* Says that it is there, if it has been asked. */
static void answer_looks(struct rack *r)
{
    struct wire look = {0}, alive = {0};

    r->looked_ms = host_ms();
    while (ranks_poll(0, WIRE_LOOK, &look, NULL)) {
        const uint64_t ns = r->up ? work_ns(r) : 0;

        wire_append(&alive, &ns, sizeof ns);
        ranks_send(0, WIRE_ALIVE, &alive);
    }
    wire_free(&look);
}

static void grant(struct rack *r, uint32_t index, bool spread, const uint8_t *bytes)
{
    struct slot *s = rack_slot(r, index);
    struct wire_grant g;

    memcpy(&g, bytes, sizeof g);
    wire_take_lines(bytes + sizeof g, rack_memory(r, index, NCU_MAILBOX_PA), r->known[index]);
    memcpy((uint8_t *)s + WIRE_HEAD_FROM, g.head, sizeof g.head);
    s->quantum_end = g.quantum_end;
    r->runs[index] = true;
    r->told[index] = g.progress + g.quiet;
    if (g.progress < r->told_lowest)
        r->told_lowest = g.progress;
    r->wanted = r->rank0_wants;
    r->looks = true;
    harts_grant(&r->machine.harts, index,
                &(struct harts_grant){.base_cycles = s->base_cycles,
                                      .budget_cycles = s->budget_cycles,
                                      .pass_cycles = s->pass_cycles,
                                      .silent_cycles = g.progress - s->base_cycles,
                                      .quiet_cycles = g.quiet,
                                      .attention = s->attention,
                                      .watch = s->watch,
                                      .batched = s->batched,
                                      .spread = spread});
}

static void move(struct rack *r, const struct wire_record *record, const struct wire_move *with)
{
    struct wire bytes = {0};
    uint64_t since_ns = 0;
    uint8_t *here = rack_memory(r, record->slot, record->addr);

    if (record->kind == WIRE_MOVE) {
        memmove(here, rack_memory(r, with->slot, with->addr), with->bytes);
        return;
    }
    if (record->kind == WIRE_GIVE) {
        wire_append(&bytes, here, with->bytes);
        ranks_send(with->rank, WIRE_BYTES, &bytes);
        return;
    }
    while (!ranks_poll(with->rank, WIRE_BYTES, &bytes, NULL)) {
        answer_looks(r);
        ranks_rest(&since_ns, -1);
    }
    memcpy(here, bytes.bytes, with->bytes);
    wire_free(&bytes);
}

/* Returns where the node may execute its bytes. */
static uint64_t share_text(struct rack *r, uint32_t slot, uint64_t addr, uint64_t bytes)
{
    struct machine *m = &r->machine;
    uint32_t cabinet = slot / (m->config.topo.nodes_per_cabinet + 1);
    int64_t offset = text_pool_share(m->text, cabinet, rack_memory(r, slot, addr), bytes);

    return offset >= 0 ? CABINET_TEXT_BASE + (uint64_t)offset
                       : CABINET_WINDOW(hart_of_slot(r, slot), m->config.topo.ram_bytes) + addr;
}

static void keep_state(struct rack *r, uint32_t slot, bool keep)
{
    struct snapshot **s = &r->machine.snapshot[node_of_slot(r, slot)];

    snapshot_free(*s);
    *s = keep ? snapshot_take(cabinet_of_slot(r, slot), hart_of_slot(r, slot), rack_slot(r, slot)) : NULL;
}

static bool same_state(struct rack *r, uint32_t slot)
{
    bool same = snapshot_matches(r->machine.snapshot[node_of_slot(r, slot)], rack_slot(r, slot));

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
    r->first_stop = r->told_lowest = r->wanted = r->rank0_wants = UINT64_MAX;
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
        priority_over_harts(true);
        return;
    }
    r->failed = true;
    answer(r->machine.error, strlen(r->machine.error));
}

static void end(struct rack *r)
{
    if (!r->up)
        return;
    priority_over_harts(false);
    machine_free(&r->machine);
    free(r->known);
    free(r->runs);
    free(r->told);
    free(r->stopped);
    wire_free(&r->out);
    r->up = r->failed = false;
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
        memcpy(rack_memory(r, record->slot, record->addr), bytes, record->bytes);
        break;
    case WIRE_MOVE:
    case WIRE_GIVE:
    case WIRE_TAKE:
        move(r, record, (const struct wire_move *)bytes);
        break;
    case WIRE_READ:
        answer(rack_memory(r, record->slot, record->addr), number);
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
    case WIRE_END:
        end(r);
        return record->addr == 0;
    }
    return true;
}

/* For measurements (docs/hosts.md): us by which each message is late that comes from rank 0 or goes there. */
static uint64_t delay_us(void)
{
    const char *text = getenv("NCUBE_RACK_DELAY_US");

    return text ? strtoul(text, NULL, 10) : 0;
}

/* ---- The loop ---- */

static bool take_commands(struct rack *r, bool *goes_on)
{
    struct wire_record record;
    const uint8_t *bytes;
    bool any = false;

    for (; *goes_on && ranks_poll(0, WIRE_COMMANDS, &r->in, NULL); any = true) {
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

#define LOOK_MS 100u /* rank 0 asks seldom: a look at each turn would cost more than that */

void rack_serve(const char *lib)
{
    struct rack r = {.lib = lib, .wake_fd = eventfd(0, EFD_NONBLOCK)};
    bool goes_on = true;
    uint64_t since_ns = 0;

    ranks_delay(delay_us());
    while (goes_on) {
        if (host_ms() >= r.looked_ms + LOOK_MS)
            answer_looks(&r);
        bool any = take_commands(&r, &goes_on);

        if (r.up && !r.failed) {
            harts_begin(&r.machine.harts);
            any |= rack_report(&r);
            if (signals_take_child())
                rack_report_end(&r);
        }
        if (any)
            since_ns = 0;
        else if (goes_on)
            doze(&r, &since_ns);
    }
    wire_free(&r.in);
    close(r.wake_fd);
    ranks_send(0, WIRE_DONE, &r.out);
}

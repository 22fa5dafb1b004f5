/* All records for a rack are collected, and sent when rank 0 waits for something: then to all racks, since one may need
 * bytes of another. */
#include "emu/rack/racks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/rack/ranks.h"
#include "emu/rack/racks_asking.h"
#include "emu/rack/racks_life.h"
#include "emu/rack/rack_wire.h"

/* A rack whose harts have not stopped, and whose QEMUs have worked no more than their timers do, so often in a row that
 * harts_sleep was silent: they hang. */
#define SILENCES_MOST 3u
#define IDLE_NS       60000000u

static struct racks *of(void *machine)
{
    return ((struct machine *)machine)->racks;
}

/* ---- Where nodes are ---- */

static uint32_t slots_per_cabinet(const struct machine *m)
{
    return m->config.topo.nodes_per_cabinet + 1;
}

static uint32_t rack_of_slot(const struct racks *r, uint32_t slot)
{
    uint32_t cabinet = slot / slots_per_cabinet(r->m), k = 0;

    while (cabinet >= r->rack[k].end_cabinet)
        k++;
    return k;
}

static uint8_t *mailbox_of_slot(const struct racks *r, uint32_t slot)
{
    return machine_slot_window(r->m, slot) + NCU_MAILBOX_PA;
}

static struct wire *out_to(struct racks *r, uint32_t slot)
{
    return &r->rack[rack_of_slot(r, slot)].out;
}

/* ---- Sending and waiting ---- */

/* Tells a rack what has changed for all of its harts. They see it no later than the grants that follow. */
static void tell_constants(const struct racks *r, struct rack *rack)
{
    const uint8_t *now = (const uint8_t *)r->m->harts.control + WIRE_CONSTANTS_FROM;

    if (memcmp(now, rack->constants, WIRE_CONSTANTS_BYTES) == 0)
        return;
    memcpy(rack->constants, now, WIRE_CONSTANTS_BYTES);
    wire_put(&rack->out, WIRE_CONSTANTS, 0, 0, now, WIRE_CONSTANTS_BYTES);
}

static uint32_t slots_end(const struct racks *r, const struct rack *rack)
{
    uint32_t end = rack->end_cabinet * slots_per_cabinet(r->m);

    return end < r->m->harts.count ? end : r->m->harts.count;
}

/* Returns true if one of a rack's harts runs, and may be before that time. */
static bool rack_runs(const struct racks *r, const struct rack *rack, uint64_t cycles)
{
    uint32_t end = slots_end(r, rack);

    for (uint32_t k = rack->first_cabinet * slots_per_cabinet(r->m); k < end; k++) {
        const struct slot *s = harts_slot(&r->m->harts, k);

        if (s->stops == s->go && s->progress < cycles)
            return true;
    }
    return false;
}

/* A rack whose harts have all passed that time has nothing to say about it. */
static void tell_wanted(struct racks *r)
{
    uint64_t wanted = r->m->harts.control->wanted;

    for (uint32_t k = 0; k < r->n; k++) {
        struct rack *rack = &r->rack[k];

        if (rack->wanted == wanted || (rack->out.n == 0 && !rack_runs(r, rack, wanted)))
            continue;
        rack->wanted = wanted;
        wire_put(&rack->out, WIRE_WANTED, 0, wanted, NULL, 0);
    }
}

/* ---- Reports ---- */

static void take_traps(struct slot *s, const uint8_t *bytes)
{
    memcpy(s->passed_trap, bytes, s->passed * sizeof *s->passed_trap);
}

/* The list of stopped harts is this process's own. */
static void take_tail(struct slot *s, const uint8_t *bytes)
{
    uint32_t next = s->next_stopped;

    memcpy((uint8_t *)s + WIRE_TAIL_FROM, bytes, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    s->next_stopped = next;
}

static void take_stopped(struct racks *r, uint32_t index, const uint8_t *bytes)
{
    struct slot *s = harts_slot(&r->m->harts, index);

    memcpy((uint8_t *)s + WIRE_HEAD_FROM, bytes, WIRE_HEAD_TO - WIRE_HEAD_FROM);
    bytes += WIRE_HEAD_TO - WIRE_HEAD_FROM;
    take_tail(s, bytes);
    bytes += WIRE_TAIL_TO - WIRE_TAIL_FROM;
    memcpy(s->post, bytes, s->posts * sizeof *s->post);
    bytes += s->posts * sizeof *s->post;
    take_traps(s, bytes);
    bytes += s->passed * sizeof *s->passed_trap;
    if (s->watch) {
        memcpy(s->registers, bytes, sizeof s->registers);
        bytes += sizeof s->registers;
    }
    wire_take_lines(bytes, mailbox_of_slot(r, index), r->known[index]);
    if (index % slots_per_cabinet(r->m) != r->m->cabinet[index / slots_per_cabinet(r->m)].nodes)
        harts_note_stopped(&r->m->harts, index); /* an injector is waited for by its number of stops */
}

static void take_running(struct racks *r, uint32_t index, const uint8_t *bytes)
{
    struct slot *s = harts_slot(&r->m->harts, index);

    take_tail(s, bytes);
    take_traps(s, bytes + WIRE_TAIL_TO - WIRE_TAIL_FROM);
}

static void take_report(struct racks *r, uint32_t rack)
{
    struct wire_record record;
    const uint8_t *bytes;

    for (size_t at = 0; wire_next(&r->in, &at, &record, &bytes);)
        switch (record.kind) {
        case WIRE_STOPPED:
            take_stopped(r, record.slot, bytes);
            break;
        case WIRE_RUNS:
            take_running(r, record.slot, bytes);
            break;
        case WIRE_FAILED:
            if (!r->failed)
                snprintf(r->why, sizeof r->why, "rack %u (%s): %.*s", rack + 1, ranks_host(rack + 1), (int)record.bytes,
                         (const char *)bytes);
            r->failed = true;
            break;
        }
}

/* Takes the reports that have come. */
static bool take_reports(struct racks *r)
{
    uint32_t who;
    bool any = false;

    for (; ranks_poll(RANKS_ANY, WIRE_REPORT, &r->in, &who); any = true)
        take_report(r, who - 1);
    if (any)
        r->busy_ms = host_ms();
    return any;
}

/* Asks all racks whether they are there, if none has reported for long. */
static void look_for_racks(struct racks *r)
{
    if (host_ms() < r->busy_ms + QUIET_MS)
        return;
    for (uint32_t k = 0; k < r->n && !r->failed; k++)
        racks_look_at(r, k);
    r->busy_ms = host_ms();
}

static bool far_await(void *machine, uint32_t bell, int limit_ms)
{
    struct racks *r = of(machine);
    struct control *c = r->m->harts.control;
    uint64_t end_ms = host_ms() + (uint64_t)limit_ms;
    uint64_t since_ns = 0;

    tell_wanted(r);
    racks_send_all(r);
    while (!signals_any() && !r->failed && c->doorbell == bell && host_ms() < end_ms)
        if (take_reports(r)) {
            __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
        } else {
            ranks_rest(&since_ns, -1);
            look_for_racks(r);
            if (ranks_lost() > 0)
                racks_lose_silent(r, ranks_lost() - 1);
        }
    return !r->failed;
}

/* ---- Harts ---- */

static void far_grant(void *machine, uint32_t index, bool spread)
{
    struct racks *r = of(machine);
    struct slot *s = harts_slot(&r->m->harts, index);
    struct wire_grant g = {.progress = s->progress, .quiet = s->quiet, .quantum_end = s->quantum_end};
    struct rack *rack = &r->rack[rack_of_slot(r, index)];

    tell_constants(r, rack);
    memcpy(g.head, (uint8_t *)s + WIRE_HEAD_FROM, sizeof g.head);
    wire_put(&rack->out, WIRE_GRANT, index, spread, &g, sizeof g);
    wire_add_lines(&rack->out, mailbox_of_slot(r, index), r->known[index]);
}

static void far_call(void *machine, uint32_t index)
{
    wire_put(out_to(of(machine), index), WIRE_CALL, index, 0, NULL, 0);
}

static void far_keep_state(void *machine, uint32_t index, bool keep)
{
    struct racks *r = of(machine);

    wire_put(out_to(r, r->m->slot_of[index]), WIRE_KEEP, r->m->slot_of[index], keep, NULL, 0);
}

static bool far_same_state(void *machine, uint32_t index)
{
    struct racks *r = of(machine);
    uint32_t slot = r->m->slot_of[index];

    wire_put(out_to(r, slot), WIRE_SAME, slot, 0, NULL, 0);
    return racks_ask_number(r, rack_of_slot(r, slot)) != 0;
}

/* ---- Memory ---- */

static void far_read(void *machine, uint32_t index, uint64_t addr, void *to, size_t bytes)
{
    struct racks *r = of(machine);
    uint32_t slot = r->m->slot_of[index], rack = rack_of_slot(r, slot);
    uint64_t n = bytes;

    wire_put(&r->rack[rack].out, WIRE_READ, slot, addr, &n, sizeof n);
    if (racks_ask(r, rack) && r->answer.n == bytes)
        memcpy(to, r->answer.bytes, bytes);
    else
        memset(to, 0, bytes);
}

static void far_write(void *machine, uint32_t index, uint64_t addr, const void *from, size_t bytes)
{
    struct racks *r = of(machine);

    wire_put(out_to(r, r->m->slot_of[index]), WIRE_WRITE, r->m->slot_of[index], addr, from, bytes);
}

static void far_move(void *machine, uint32_t to, uint64_t to_addr, uint32_t from, uint64_t from_addr, size_t bytes)
{
    struct racks *r = of(machine);
    uint32_t to_slot = r->m->slot_of[to], from_slot = r->m->slot_of[from];
    uint32_t giver = rack_of_slot(r, from_slot), taker = rack_of_slot(r, to_slot);
    const struct wire_move take = {.addr = from_addr, .bytes = bytes, .slot = from_slot, .rank = giver + 1};
    const struct wire_move give = {.addr = to_addr, .bytes = bytes, .slot = to_slot, .rank = taker + 1};

    if (bytes == 0)
        return;
    if (giver != taker)
        wire_put(&r->rack[giver].out, WIRE_GIVE, from_slot, from_addr, &give, sizeof give);
    wire_put(&r->rack[taker].out, giver == taker ? WIRE_MOVE : WIRE_TAKE, to_slot, to_addr, &take, sizeof take);
}

static uint64_t far_text(void *machine, uint32_t index, uint64_t addr, uint64_t bytes)
{
    struct racks *r = of(machine);
    uint32_t slot = r->m->slot_of[index];

    wire_put(out_to(r, slot), WIRE_TEXT, slot, addr, &bytes, sizeof bytes);
    return racks_ask_number(r, rack_of_slot(r, slot));
}

/* ---- The whole ---- */

static bool far_is_lost(void *machine)
{
    struct racks *r = of(machine);

    for (uint32_t k = 0; k < r->n && !r->failed; k++) {
        struct rack *rack = &r->rack[k];
        uint64_t before_ns = rack->work_ns;

        rack->work_ns = racks_look_at(r, k);
        rack->silences =
            !rack_runs(r, rack, UINT64_MAX) || rack->work_ns > before_ns + IDLE_NS ? 0 : rack->silences + 1;
        if (rack->silences >= SILENCES_MOST)
            racks_lose(r, k, "hangs: its QEMUs do not work");
    }
    return r->failed;
}

static bool far_failed(struct machine *m, char *text, size_t bytes)
{
    const struct racks *r = m->racks;

    if (r && r->failed)
        snprintf(text, bytes, "%s", r->why);
    return r && r->failed;
}

static struct machine_far far = {
    .harts = {far_grant, far_call, far_await},
    .memory = {far_read, far_write, far_move},
    .start = racks_start,
    .text = far_text,
    .keep_state = far_keep_state,
    .same_state = far_same_state,
    .is_lost = far_is_lost,
    .failed = far_failed,
    .stop = racks_stop,
};

const struct machine_far *racks_far(void)
{
    far.racks = ranks_count() - 1;
    return far.racks > 0 ? &far : NULL;
}

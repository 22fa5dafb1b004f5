/* Rank 0 does nothing about what is later than the lowest clock of a hart that runs. So a rack says nothing until that
 * passes the first stop that it has not reported, or the time that rank 0 waits for; or no hart runs. A request at that
 * time may have to wait until all harts have passed it: so a rack whose slowest has just reached it says so again when
 * it has. */
#include "emu/rack/rack_report.h"

#include <string.h>

#include "emu/base/host.h"
#include "emu/machine/renew.h"
#include "emu/rack/ranks.h"

struct slot *rack_slot(const struct rack *r, uint32_t slot)
{
    return harts_slot(&r->machine.harts, slot);
}

uint8_t *rack_memory(const struct rack *r, uint32_t slot, uint64_t addr)
{
    return machine_slot_window(&r->machine, slot) + addr;
}

static void report_stopped(struct rack *r, uint32_t index)
{
    const struct slot *s = rack_slot(r, index);

    wire_put(&r->out, WIRE_STOPPED, index, 0, (const uint8_t *)s + WIRE_HEAD_FROM, WIRE_HEAD_TO - WIRE_HEAD_FROM);
    wire_add(&r->out, (const uint8_t *)s + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    wire_add(&r->out, s->post, s->posts * sizeof *s->post);
    wire_add(&r->out, s->passed_trap, s->passed * sizeof *s->passed_trap);
    if (s->watch)
        wire_add(&r->out, s->registers, sizeof s->registers);
    wire_add_lines(&r->out, rack_memory(r, index, NCU_MAILBOX_PA), r->known[index]);
}

/* How far a running hart is. Its traps come after its clocks, so that rank 0 knows all before those. */
static void report_running(struct rack *r, uint32_t index)
{
    const struct slot *s = rack_slot(r, index);
    const uint64_t progress = harts_progress(&r->machine.harts, index), quiet = harts_quiet(&r->machine.harts, index);
    struct slot now;

    memcpy((uint8_t *)&now + WIRE_TAIL_FROM, (const uint8_t *)s + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    now.progress = progress;
    now.quiet = quiet;
    const uint64_t told = progress + quiet + now.passed;
    if (now.stops == s->go + 1 || told == r->told[index]) /* if it has stopped, its report follows */
        return;
    r->told[index] = told;
    wire_put(&r->out, WIRE_RUNS, index, 0, (const uint8_t *)&now + WIRE_TAIL_FROM, WIRE_TAIL_TO - WIRE_TAIL_FROM);
    wire_add(&r->out, s->passed_trap, now.passed * sizeof *s->passed_trap);
}

static void note_stopped(struct rack *r, uint32_t index)
{
    const struct slot *s = rack_slot(r, index);
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

        if (r->runs[index] &&
            __atomic_load_n(&rack_slot(r, index)->stops, __ATOMIC_SEQ_CST) != rack_slot(r, index)->go) {
            harts_wait_injector(h, index, rack_slot(r, index)->stops);
            note_stopped(r, index);
            r->urgent = true;
        }
    }
}

void rack_report_end(struct rack *r)
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

/* Rank 0 looks at its signals, and beats, when it hears something. */
#define SILENT_MOST_MS 100u

/* Returns true if rank 0 can do something about what has happened. */
static bool is_due(const struct rack *r, uint64_t lowest)
{
    return r->urgent || lowest >= r->first_stop || (lowest >= r->wanted && lowest > r->told_lowest) ||
           host_ms() >= r->reported_ms + SILENT_MOST_MS;
}

static uint64_t next_time(const struct rack *r)
{
    return r->first_stop < r->wanted ? r->first_stop : r->wanted;
}

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
    r->told_lowest = lowest;
    if (lowest > r->wanted)
        r->wanted = UINT64_MAX;
    r->reported_ms = host_ms();
    if (r->out.n > 0)
        ranks_send(0, WIRE_REPORT, &r->out);
}

bool rack_report(struct rack *r)
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
    if (any && is_due(r, lowest))
        send_report(r, lowest);
    r->looks = next_time(r) < watched; /* a hart that passed that did not ring */
    if (!machine_renew_code(&r->machine))
        rack_report_end(r);
    return true;
}

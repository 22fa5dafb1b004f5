/*
 * Which processors are home and others, where each hart is put, and when their number changes (placement.h, width.h).
 */
#include "emu/qemu/placement.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"

#define CLAIMS      "ncube-processor"
#define SPREAD_FROM 256u     /* harts that are spread at once, since all their kernels begin together */
#define PATIENCE_NS 1000000u /* where harts are spread; several harts may compute on one processor for so long */

/* A refusal by the host is ignored. */
static void keep_on(pid_t thread, int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(thread, sizeof set, &set);
}

void placement_init(struct harts *h, uint32_t most)
{
    int here = sched_getcpu();

    h->place = memory_new(h->count, 1);
    h->running[0] = h->count;
    h->claim.fd = -1;
    width_init(&h->width, h->count, 1, 0);
    if (here < 0 || sched_getaffinity(0, sizeof h->allowed, &h->allowed) != 0)
        return;
    if (most == 0 || most > HARTS_PROCESSORS_MAX)
        most = HARTS_PROCESSORS_MAX;
    h->claim = processors_claim(CLAIMS, &h->allowed, here);
    int home = h->claim.processor;
    h->processor[h->processors++] = home;
    for (int cpu = 0; cpu < CPU_SETSIZE && h->processors < most; cpu++)
        if (cpu != home && CPU_ISSET(cpu, &h->allowed))
            h->processor[h->processors++] = cpu;
    keep_on(0, home);
}

/* Returns the number of processors on which this hart may be placed. */
static uint32_t allowed_of(const struct harts *h, uint32_t index)
{
    if (h->cabinet_slots == 0)
        return h->processors;
    uint32_t left = h->count - placement_cabinet(h, index);

    return slots_carriers(h->control, left < h->cabinet_slots ? left : h->cabinet_slots);
}

/* ---- Where a hart runs ---- */

/* The thread of a hart moves with it. */
static void put_hart(struct harts *h, uint32_t index)
{
    keep_on((pid_t)h->control->slot[index].thread, h->processor[h->place[index]]);
}

/* A carrier stays on one processor, from when it has begun and is wanted. */
static void put_carrier(struct carrier *c, int processor)
{
    if (c->processor == (uint32_t)processor + 1 || c->thread == 0)
        return;
    c->processor = (uint32_t)processor + 1;
    keep_on((pid_t)c->thread, processor);
}

/* Returns the processor with the fewest running harts, but the preferred one unless a move makes them more even. */
static uint32_t least_busy(const struct harts *h, uint32_t processors, uint32_t preferred)
{
    uint32_t best = preferred;

    for (uint32_t p = 0; p < processors; p++)
        if (h->running[p] < h->running[best])
            best = p;
    return h->running[best] + 1 < h->running[preferred] ? best : preferred;
}

/* Harts that are neighbours are mostly on the same processor, and so are those of a cabinet, which share code. */
static uint32_t choose(const struct harts *h, uint32_t index, bool spread)
{
    if (!spread && h->width.now == 1)
        return 0;
    uint32_t most = allowed_of(h, index), width = h->width.now < most ? h->width.now : most;
    if (spread)
        return least_busy(h, most, h->place[index]);
    return least_busy(h, width, (uint32_t)((uint64_t)index * width / h->count));
}

void placement_choose(struct harts *h, uint32_t index, bool spread)
{
    uint32_t where = choose(h, index, spread);
    bool moves = h->place[index] != where;

    h->running[where]++;
    h->place[index] = (uint8_t)where;
    if (h->cabinet_slots > 0 && (moves || where > 0))
        put_carrier(placement_carrier(h, placement_cabinet(h, index) + where), h->processor[where]);
    else if (moves)
        put_hart(h, index);
}

void placement_leave(struct harts *h, uint32_t index)
{
    if (!h->far)
        h->running[h->place[index]]--;
}

void harts_start_on(struct harts *h, pid_t process, uint32_t first, uint32_t n, uint32_t turn)
{
    if (h->processors < 2)
        return;
    uint32_t where = turn % allowed_of(h, first);
    keep_on(process, h->processor[where]);
    for (uint32_t i = first; i < first + n; i++)
        h->place[i] = (uint8_t)where;
    h->running[0] -= n;
    h->running[where] += n;
}

/* ---- How many processors ---- */

static void set_patience(struct harts *h)
{
    h->control->patience = (struct patience){.ns = h->width.now > 1 ? h->patience_ns : 0, .weighs = h->width.weighs};
}

/* For tests: NCUBE_WIDTH=PROCESSORS or PROCESSORS,MICROSECONDS keeps harts on so many, with so much patience. */
static uint32_t fixed_width(struct harts *h)
{
    const char *text = getenv("NCUBE_WIDTH");
    unsigned processors = 0, patience_us = PATIENCE_NS / 1000;

    if (text && sscanf(text, "%u,%u", &processors, &patience_us) < 1)
        processors = 0;
    h->patience_ns = patience_us * UINT64_C(1000);
    return processors;
}

void placement_take_turns(struct harts *h)
{
    h->control->processors = h->processors > 0 ? h->processors : 1;
    width_init(&h->width, h->count, h->processors, fixed_width(h));
    set_patience(h);
}

static void give_up_others(struct harts *h, uint32_t first)
{
    for (; h->others >= first && h->others > 0; h->others--)
        processors_release(&h->other[h->others - 1]);
}

/* Claims one more processor, on which no other run is: it becomes the next in the list. */
static bool claim_other(struct harts *h)
{
    for (uint32_t p = 1 + h->others; p < h->processors; p++) {
        struct claim c = processors_claim_alone(CLAIMS, h->processor[p]);

        if (c.fd < 0)
            continue;
        h->processor[p] = h->processor[1 + h->others];
        h->processor[1 + h->others] = c.processor;
        h->other[h->others++] = c;
        return true;
    }
    return false;
}

static bool claim_others(struct harts *h, uint32_t width)
{
    if (h->claim.rank != 0)
        return false;
    while (1 + h->others < width)
        if (!claim_other(h))
            return false;
    return true;
}

void harts_may_spread(struct harts *h, uint64_t (*work_ns)(void *ctx))
{
    if (h->far || h->cabinet_slots == 0)
        return;
    h->work_ns = work_ns;
    if (h->count > SPREAD_FROM && !h->width.fixed && claim_others(h, 2))
        width_begin_with(&h->width, 2);
    set_patience(h);
}

/* Returns the processor time in which ncube and the cabinets have not waited for each other. On one processor they do
 * not wait with patience; and what runs on another one is not in the host's account of its process yet. */
static uint64_t work_ns(const struct harts *h)
{
    if (h->width.now == 1)
        return h->work_ns(h->ctx);
    uint64_t ns = useful_ns(&h->control->useful);
    for (uint32_t i = 0; i < h->count; i++)
        ns += placement_carrier(h, i)->useful.ns;
    return ns;
}

static void change_width(struct harts *h, uint64_t now_ns)
{
    if (!claim_others(h, h->width.now))
        width_refuse(&h->width, now_ns);
    if (h->width.other == 0)
        give_up_others(h, h->width.own);
    set_patience(h);
}

void placement_look(struct harts *h)
{
    if (!h->work_ns || !width_counts(&h->width))
        return;
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);
    if (!width_is_due(&h->width, now_ns))
        return;
    enum width_step step = width_look(&h->width, now_ns, work_ns(h) - h->begun_work_ns);
    if (step == WIDTH_GOES_ON)
        return;
    if (step == WIDTH_CHANGES)
        change_width(h, now_ns);
    h->begun_work_ns = work_ns(h);
}

/* ---- Where home is ---- */

/* Makes a processor home: it swaps places with the former home, if it is in the list. */
static void change_home(struct harts *h, int home)
{
    int before = h->processor[0];

    for (uint32_t p = 1; p < h->processors; p++)
        if (h->processor[p] == home)
            h->processor[p] = before;
    h->processor[0] = home;
}

/* Carriers, or threads of harts, go to their processors. */
static void place_threads(struct harts *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        uint32_t k = h->cabinet_slots > 0 ? i - placement_cabinet(h, i) : 0;

        if (h->cabinet_slots > 0 && k < h->processors)
            put_carrier(placement_carrier(h, i), h->processor[k]);
        else if (h->control->slot[i].thread != 0)
            put_hart(h, i);
    }
}

bool harts_follow(struct harts *h)
{
    if (h->processors == 0 || h->claim.rank == 0 || !processors_reclaim(&h->claim, &h->allowed))
        return false;
    change_home(h, h->claim.processor);
    keep_on(0, h->processor[0]);
    place_threads(h);
    return true;
}

void harts_rest(struct harts *h)
{
    if (h->processors == 0)
        return;
    processors_release(&h->claim);
    h->claim.rank = PROCESSORS_RANKS;
    width_rest(&h->width);
    set_patience(h);
    give_up_others(h, 1);
}

void harts_bring(const struct harts *h, pid_t thread)
{
    for (uint32_t i = 0; i < h->count; i++)
        if ((pid_t)h->control->slot[i].thread == thread || (pid_t)placement_carrier(h, i)->thread == thread)
            return;
    keep_on(thread, h->processor[0]);
}

void placement_free(struct harts *h)
{
    if (h->processors > 0)
        sched_setaffinity(0, sizeof h->allowed, &h->allowed);
    processors_release(&h->claim);
    give_up_others(h, 1);
    free(h->place);
}

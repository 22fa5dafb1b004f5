/*
 * Askers of the data cache (nsdisk/ext2/data_cache.h) against a simulator that says what is a hit, which command is
 * given and which block goes. Writers are in test_data_bytes.
 *
 * NSDISK_STEPS=1000000 for the long version (make check-cache).
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/ask_disk.h"

TestSuite(data_ask, .timeout = 36000);

/* ---- A simulator of reads ---- */

/* Plain lists in place of masks, rings and hashes. */
static struct {
    struct drive_cache set;
    uint32_t parts, group, blocks; /* parts of a block and of a group */
    bool there[PARTS], unasked[PARTS];
    uint64_t stamp[PARTS]; /* of a block, by its number; 0: it is not in the cache */
    uint64_t now;
    struct {
        uint32_t first, count, wanted;
        uint32_t waits[WAITERS], waiting; /* parts */
    } flight[80];
    uint32_t flights;
    uint32_t queue[WAITERS][3], queued; /* part, first, count */
    uint32_t hits, misses, prefetched, unused;
} sim;

static void sim_make(const struct drive_cache *set)
{
    memset(&sim, 0, sizeof sim);
    sim.set = *set;
    sim.parts = set->block_bytes / PART;
    sim.group = sim.parts * set->group_blocks;
    sim.blocks = set->kb / sim.parts;
}

static int sim_flight_of(uint32_t part)
{
    for (uint32_t i = 0; i < sim.flights; i++)
        if (part >= sim.flight[i].first && part < sim.flight[i].first + sim.flight[i].count)
            return (int)i;
    return -1;
}

static void sim_use(uint32_t part)
{
    sim.unasked[part] = false;
    if (sim.set.evict != DRIVE_CACHE_FIFO)
        sim.stamp[part / sim.parts] = ++sim.now;
}

static bool sim_has_unasked(uint32_t block)
{
    for (uint32_t i = 0; i < sim.parts; i++)
        if (sim.unasked[block * sim.parts + i])
            return true;
    return false;
}

/* The block that goes: by age; with used-first the blocks without a part that nobody has used come before. */
static uint32_t sim_victim(void)
{
    uint32_t best = UINT32_MAX, best_used = UINT32_MAX;

    for (uint32_t b = 0; b < PARTS / sim.parts; b++) {
        if (sim.stamp[b] == 0)
            continue;
        if (best == UINT32_MAX || sim.stamp[b] < sim.stamp[best])
            best = b;
        if (!sim_has_unasked(b) && (best_used == UINT32_MAX || sim.stamp[b] < sim.stamp[best_used]))
            best_used = b;
    }
    return sim.set.evict == DRIVE_CACHE_USED_FIRST && best_used != UINT32_MAX ? best_used : best;
}

static void sim_make_block(uint32_t block)
{
    uint32_t used = 0;

    for (uint32_t b = 0; b < PARTS / sim.parts; b++)
        used += sim.stamp[b] != 0;
    if (used == sim.blocks) {
        uint32_t victim = sim_victim();

        sim.stamp[victim] = 0;
        for (uint32_t p = victim * sim.parts; p < (victim + 1) * sim.parts; p++) {
            sim.unused += sim.unasked[p];
            sim.there[p] = sim.unasked[p] = false;
        }
    }
    sim.stamp[block] = ++sim.now;
}

static void sim_fly(uint32_t first, uint32_t count, uint32_t wanted)
{
    sim.flight[sim.flights].first = first;
    sim.flight[sim.flights].count = count;
    sim.flight[sim.flights].wanted = wanted;
    sim.flight[sim.flights++].waiting = 0;
}

/* Waits for what is in flight, or begins it: as much around the part as is neither there nor in flight. */
static bool sim_bring(uint32_t part, uint32_t first, uint32_t count)
{
    int f = sim_flight_of(part);
    uint32_t from = part, to = part + 1;

    if (f < 0 && sim.flights == sim.set.commands)
        return false;
    while (f < 0 && from > first && !sim.there[from - 1] && sim_flight_of(from - 1) < 0)
        from--;
    while (f < 0 && to < first + count && !sim.there[to] && sim_flight_of(to) < 0)
        to++;
    if (f < 0) {
        sim_fly(from, to - from, part);
        f = (int)sim.flights - 1;
    }
    sim.flight[f].waits[sim.flight[f].waiting++] = part;
    return true;
}

static enum data_answer sim_ask(uint32_t part, uint32_t first, uint32_t count)
{
    bool flies = sim_flight_of(part) >= 0;

    if (sim.there[part] || flies)
        sim.hits++;
    else
        sim.misses++;
    if (sim.there[part]) {
        sim_use(part);
        return DATA_HERE;
    }
    if ((flies || sim.queued == 0) && sim_bring(part, first, count))
        return flies ? DATA_UNDER_WAY : DATA_STARTED;
    memcpy(sim.queue[sim.queued++], (uint32_t[]){part, first, count}, sizeof sim.queue[0]);
    return DATA_NO_ROOM;
}

static void sim_ahead(uint32_t first, uint32_t count)
{
    for (uint32_t n = 0; n < sim.set.ahead_groups && count > 0 && sim.queued == 0; n++) {
        uint32_t part = sim.group - first % sim.group < count ? sim.group - first % sim.group : count;
        bool any = sim.flights == sim.set.commands;

        for (uint32_t p = first; p < first + part; p++)
            any = any || sim.there[p] || sim_flight_of(p) >= 0;
        if (!any)
            sim_fly(first, part, UINT32_MAX);
        first += part;
        count -= part;
    }
}

static void sim_land(void)
{
    typeof(sim.flight[0]) f = sim.flight[0];

    for (uint32_t p = f.first; p < f.first + f.count; p++) {
        if (sim.stamp[p / sim.parts] == 0)
            sim_make_block(p / sim.parts);
        sim.there[p] = true;
        sim.unasked[p] = p != f.wanted;
        sim.prefetched += p != f.wanted;
    }
    memmove(sim.flight, sim.flight + 1, --sim.flights * sizeof sim.flight[0]);
    for (uint32_t i = 0; i < f.waiting; i++)
        if (sim.there[f.waits[i]])
            sim_use(f.waits[i]);
    while (sim.queued > 0) {
        if (sim.there[sim.queue[0][0]])
            sim_use(sim.queue[0][0]);
        else if (!sim_bring(sim.queue[0][0], sim.queue[0][1], sim.queue[0][2]))
            return;
        memmove(sim.queue, sim.queue + 1, --sim.queued * sizeof sim.queue[0]);
    }
}

static void take_bytes(struct data_waiter *w, const uint8_t *bytes, int error)
{
    cr_assert(error == 0 && bytes && memcmp(bytes, disk.medium[w->part], PART) == 0, "part %u: others' bytes", w->part);
    waits[w - waiter] = false;
    waiting--;
}

static void expect_same_commands(uint32_t step)
{
    cr_assert_eq(disk.under_way, sim.flights, "step %u: %u commands, not %u", step, disk.under_way, sim.flights);
    for (uint32_t i = 0; i < sim.flights; i++)
        cr_assert(disk.line[i].first == sim.flight[i].first && disk.line[i].count == sim.flight[i].count,
                  "step %u, command %u: %u parts at %u, not %u at %u", step, i, disk.line[i].count, disk.line[i].first,
                  sim.flight[i].count, sim.flight[i].first);
}

static void sim_step(uint32_t step)
{
    uint32_t part = below(3) == 0 ? below(PARTS) : below(PARTS / 8), first, count;
    struct data_waiter *w = free_waiter();
    const uint8_t *bytes;

    extent_of(part, sim.group, &first, &count);
    if (below(4) == 0 || !w) {
        if (disk.under_way > 0) {
            end_oldest();
            data_cache_reap(d);
            sim_land();
        }
    } else if (below(8) == 0) {
        uint32_t n = PARTS - part < 3 * sim.group ? PARTS - part : 3 * sim.group;

        data_cache_ask_ahead(d, part, n);
        sim_ahead(part, n);
    } else {
        *w = (struct data_waiter){.done = take_bytes, .part = part, .first = first, .count = count};
        enum data_answer got = data_cache_ask(d, w, &bytes), expected = sim_ask(part, first, count);

        cr_assert_eq(got, expected, "step %u: part %u gives %d, not %d", step, part, (int)got, (int)expected);
        waits[w - waiter] = got != DATA_HERE;
        waiting += got != DATA_HERE;
        cr_assert(got != DATA_HERE || memcmp(bytes, disk.medium[part], PART) == 0);
    }
    expect_same_commands(step);
}

static void expect_same_counts(const char *name)
{
    struct drive_cache_counts c = data_cache_counts(d);
    uint32_t commands = 0;

    for (uint32_t p = 0; p < PARTS; p++)
        sim.unused += sim.unasked[p];
    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES; i++)
        commands += c.reads[i];
    cr_expect(c.hits == sim.hits && c.misses == sim.misses && c.requests == sim.hits + sim.misses, "%s", name);
    cr_expect(c.prefetched == sim.prefetched && c.unused == sim.unused, "%s", name);
    cr_expect_eq(commands, disk.commands, "%s", name);
}

static const struct ask_case sim_cases[] = {
    {"lru", {64, 1024, 8, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 0, 0}},
    {"lru, 64 commands", {64, 4096, 2, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 64, 0, 0}},
    {"fifo", {48, 2048, 4, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_FIFO, 4, 0, 0}},
    {"fifo, 64 commands, no groups", {50, 1024, 1, 3, DRIVE_CACHE_BACK, DRIVE_CACHE_FIFO, 64, 0, 0}},
    {"used first", {64, 1024, 8, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_USED_FIRST, 4, 0, 0}},
    {"used first, 64 commands", {100, 4096, 4, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_USED_FIRST, 64, 0, 0}},
};

Test(data_ask, gives_the_hits_commands_and_victims_of_a_simulator)
{
    for (size_t i = 0; i < sizeof sim_cases / sizeof *sim_cases; i++) {
        uint32_t steps = steps_wanted(20000);

        make(&sim_cases[i].set);
        sim_make(&sim_cases[i].set);
        random_state = 7 + i;
        for (uint32_t p = 0; p < PARTS; p++)
            memset(disk.medium[p], (int)(p * 7), PART);
        for (uint32_t step = 0; step < steps; step++)
            sim_step(step);
        while (disk.under_way > 0) {
            end_oldest();
            data_cache_reap(d);
            sim_land();
            expect_same_commands(steps);
        }
        cr_assert_eq(waiting, 0, "%s: %u have not been called", sim_cases[i].name, waiting);
        expect_same_counts(sim_cases[i].name);
        unmake();
    }
}

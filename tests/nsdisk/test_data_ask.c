/*
 * Askers of the data cache (nsdisk/ext2/data_cache.h), beside a fiber that waits: against a simulator that says what is
 * a hit, which command is given and which block goes; and against a model of all bytes, on a disk that ends its
 * commands late, where the power may fail behind each block.
 *
 * NSDISK_STEPS=1000000 for the long version.
 */
#include "nsdisk/ext2/data_cache.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/volume.h"

#define PART    1024u
#define PARTS   512u
#define WAITERS 200u

TestSuite(data_ask, .timeout = 1200);

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    return random_next(&random_state) % n;
}

static uint32_t steps_wanted(uint32_t usual)
{
    const char *wanted = getenv("NSDISK_STEPS");

    return wanted ? (uint32_t)atoi(wanted) : usual;
}

/* ---- A disk whose commands end when the test says so, the oldest first ---- */

struct given {
    struct blockdev_command *command;
    bool write;
    uint32_t first, count; /* parts */
    uint8_t *buf;
};

static struct {
    uint8_t medium[PARTS][PART];
    struct given line[80];
    uint32_t under_way;
    uint32_t commands;              /* given so far */
    uint32_t fail_per_mill;         /* of the commands that write */
    bool (*written)(uint32_t part); /* after each block; false: stop */
    bool gone[PARTS];               /* dropped: no command brings it */
    void (*meanwhile)(void);        /* while the fiber waits */
} disk;

static void disk_start(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c)
{
    struct given g = {c, write, (uint32_t)sector / 2, sectors / 2, buf};

    (void)ctx;
    for (uint32_t i = 0; i < disk.under_way; i++)
        cr_assert(write || disk.line[i].write || g.first >= disk.line[i].first + disk.line[i].count ||
                      disk.line[i].first >= g.first + g.count,
                  "part %u is read twice", g.first);
    for (uint32_t i = 0; i < g.count && !write; i++)
        cr_assert(!disk.gone[g.first + i], "part %u is read, though dropped", g.first + i);
    cr_assert_lt(disk.under_way, 80);
    disk.line[disk.under_way++] = g;
    disk.commands++;
}

static void end_oldest(void)
{
    struct given g = disk.line[0];
    bool fails = g.write && below(1000) < disk.fail_per_mill;

    memmove(disk.line, disk.line + 1, --disk.under_way * sizeof *disk.line);
    for (uint32_t i = 0; i < g.count && !fails; i++) {
        memcpy(g.write ? disk.medium[g.first + i] : g.buf + i * PART,
               g.write ? g.buf + i * PART : disk.medium[g.first + i], PART);
        if (g.write && disk.written)
            cr_assert(disk.written(g.first + i), "part %u on the medium", g.first + i);
    }
    g.command->status = fails ? -N_EIO : 0;
    g.command->done = true;
}

static void disk_wait(void *ctx, struct blockdev_command *c)
{
    (void)ctx;
    while (!c->done) {
        if (disk.meanwhile)
            disk.meanwhile();
        if (!c->done)
            end_oldest();
    }
}

static void write_log(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

static const struct blockdev dev = {.sectors = PARTS * 2, .start = disk_start, .wait = disk_wait};
static const struct cache_log quiet = {write_log, NULL};
static struct cache *cache;
static struct data_cache *d;

static void make(const struct drive_cache *set)
{
    memset(&disk, 0, sizeof disk);
    cache = cache_new(&dev, "df07", PART, CACHE_MIN_BLOCKS * PART, quiet);
    d = data_cache_new(cache, "df07", PART, set, quiet, (struct data_clock){0});
    cr_assert(cache && d);
    cache_attach_data(cache, d);
}

static void unmake(void)
{
    disk.meanwhile = NULL;
    data_cache_free(d);
    cache_free(cache);
}

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

static struct data_waiter waiter[WAITERS];
static bool waits[WAITERS];
static uint32_t waiting;

static void take_bytes(struct data_waiter *w, const uint8_t *bytes, int error)
{
    cr_assert(error == 0 && bytes && memcmp(bytes, disk.medium[w->part], PART) == 0, "part %u: others' bytes", w->part);
    waits[w - waiter] = false;
    waiting--;
}

static struct data_waiter *free_waiter(void)
{
    for (uint32_t i = 0; i < WAITERS; i++)
        if (!waits[i])
            return &waiter[i];
    return NULL;
}

/* The part's group is its file's, but for the first part of every third group. */
static void extent_of(uint32_t part, uint32_t group, uint32_t *first, uint32_t *count)
{
    *first = part & ~(group - 1);
    *count = group;
    if (group > 1 && *first / group % 3 == 0) {
        *count = part == *first ? 1 : group - 1;
        *first += part != *first;
    }
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

static const struct sim_case {
    const char *name;
    struct drive_cache set;
} sim_cases[] = {
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

/* ---- A model of all bytes ---- */

/* What the cache has taken; which bytes have changed since they were reported durable, and what those were. */
static struct {
    uint8_t bytes[PARTS][PART], durable[PARTS][PART];
    uint8_t promised[PARTS][PART]; /* by a flush that is going on */
    uint32_t writes[PARTS];
    bool changed[PARTS][PART];
    bool defined[PARTS];
    uint32_t users[PARTS]; /* waiters that ask for it */
    bool forgets;
    bool through[PARTS]; /* a write waits for the medium */
    const char *name;
    bool fails;
} model;

static uint8_t asked[WAITERS][PART]; /* what a write writes */
static uint32_t asked_at[WAITERS];   /* writes of its part before a read was asked for */

/* What the parts were before their last writes. */
#define VERSIONS 16u
static uint8_t version[VERSIONS][PARTS][PART];

static bool is_durable(uint32_t part)
{
    for (uint32_t i = 0; i < PART; i++)
        if (!model.changed[part][i] && disk.medium[part][i] != model.durable[part][i])
            return false;
    return true;
}

static void become_durable(uint32_t part)
{
    memcpy(model.durable[part], model.bytes[part], PART);
    memcpy(model.promised[part], model.bytes[part], PART);
    memset(model.changed[part], 0, PART);
    cr_assert(!model.defined[part] || is_durable(part), "%s: part %u was reported durable", model.name, part);
}

static void model_write(uint32_t part, uint32_t offset, const uint8_t *bytes, uint32_t n)
{
    memcpy(version[model.writes[part] % VERSIONS][part], model.bytes[part], PART);
    memcpy(model.bytes[part] + offset, bytes, n);
    memset(model.changed[part] + offset, 1, n);
    model.writes[part]++;
}

static uint32_t fill_random(uint8_t *bytes, uint32_t *offset)
{
    uint32_t from = below(3) == 0 ? below(PART) : below(4) * (PART / 4),
             n = 1 + below(below(2) == 0 ? 40 : PART - from);
    bool whole = below(3) == 0;

    *offset = whole ? 0 : from;
    n = whole ? PART : n < PART - from ? n : PART - from;
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)below(256);
    return n;
}

static void forget_waiter(struct data_waiter *w)
{
    waits[w - waiter] = false;
    waiting--;
    model.users[w->part]--;
}

/* Whether a part has these bytes, or had them since. */
static bool was_there(uint32_t part, const uint8_t *bytes, uint32_t since)
{
    if (memcmp(bytes, model.bytes[part], PART) == 0)
        return true;
    for (uint32_t i = since; i < model.writes[part]; i++)
        if (memcmp(bytes, version[i % VERSIONS][part], PART) == 0)
            return true;
    return false;
}

/* A neighbour was dropped before it came to this part: asks for this one alone. Returns whether that was so. */
static bool asks_again(struct data_waiter *w, int error)
{
    const uint8_t *bytes;
    int result;

    if (error == 0)
        return false;
    cr_assert(error == -N_EAGAIN && model.forgets, "%s: %d", model.name, error);
    w->first = w->part;
    w->count = 1;
    enum data_answer answer = w->from ? data_cache_ask_write(d, w, &result) : data_cache_ask(d, w, &bytes);
    if (answer == DATA_HERE)
        w->done(w, w->from ? NULL : bytes, 0);
    return true;
}

static void read_is_done(struct data_waiter *w, const uint8_t *bytes, int error)
{
    if (asks_again(w, error))
        return;
    cr_assert(was_there(w->part, bytes, asked_at[w - waiter]), "%s: part %u has other bytes", model.name, w->part);
    forget_waiter(w);
}

static void write_is_taken(const struct data_waiter *w)
{
    if (model.through[w->part])
        become_durable(w->part);
    else
        model_write(w->part, w->offset, w->from, w->bytes);
    model.through[w->part] = false;
}

static void write_is_done(struct data_waiter *w, const uint8_t *bytes, int error)
{
    if (asks_again(w, error))
        return;
    cr_assert_null(bytes);
    write_is_taken(w);
    forget_waiter(w);
}

/* Some part, with those of its group that are defined beside it. */
static bool choose(uint32_t *part, uint32_t *first, uint32_t *count)
{
    uint32_t group = data_cache_group(d);

    *part = below(3) == 0 ? below(PARTS) : below(PARTS / 8);
    if (!model.defined[*part])
        return false;
    for (*first = *part; (*first & (group - 1)) != 0 && model.defined[*first - 1]; --*first)
        ;
    for (*count = *part - *first + 1; ((*first + *count) & (group - 1)) != 0 && model.defined[*first + *count];
         ++*count)
        ;
    return true;
}

static void note_waits(struct data_waiter *w, bool wait)
{
    waits[w - waiter] = wait;
    waiting += wait;
    model.users[w->part] += wait;
}

static void ask_read(struct data_waiter *w)
{
    const uint8_t *bytes;

    w->done = read_is_done;
    if (model.through[w->part])
        return;
    enum data_answer answer = data_cache_ask(d, w, &bytes);
    cr_assert(answer != DATA_HERE || memcmp(bytes, model.bytes[w->part], PART) == 0, "%s: part %u", model.name,
              w->part);
    asked_at[w - waiter] = model.writes[w->part];
    note_waits(w, answer != DATA_HERE);
}

/* With "through" the bytes are in the cache before the write is answered. */
static void ask_write(struct data_waiter *w, const struct drive_cache *set)
{
    uint32_t offset, n = fill_random(asked[w - waiter], &offset);
    int error;

    if (set->write == DRIVE_CACHE_THROUGH && model.users[w->part] != 0)
        return;
    w->done = write_is_done;
    w->from = asked[w - waiter];
    w->offset = (uint16_t)offset;
    w->bytes = (uint16_t)n;
    w->ino = 12;
    if (set->write == DRIVE_CACHE_THROUGH) {
        model_write(w->part, offset, w->from, n);
        model.through[w->part] = true;
    }
    enum data_answer answer = data_cache_ask_write(d, w, &error);
    note_waits(w, answer != DATA_HERE);
    cr_assert(answer != DATA_HERE || error == 0);
    if (answer == DATA_HERE)
        write_is_taken(w);
}

static const struct drive_cache *settings;

static void act_as_asker(void)
{
    struct data_waiter *w = free_waiter();
    uint32_t part, first, count;

    if (!w || !choose(&part, &first, &count))
        return;
    *w = (struct data_waiter){.part = part, .first = first, .count = count};
    if (below(10) == 0)
        data_cache_ask_ahead(d, first, count);
    else if (below(2) == 0)
        ask_read(w);
    else
        ask_write(w, settings);
}

static void act_meanwhile(void)
{
    for (uint32_t n = below(3); n > 0; n--)
        act_as_asker();
    if (below(2) == 0)
        data_cache_reap(d);
}

static const uint8_t *fetch(uint32_t part, uint32_t first, uint32_t count)
{
    const uint8_t *bytes = data_cache_look(d, part);

    if (!bytes)
        cr_assert_eq(data_cache_fetch(d, first, count, part, &bytes), 0);
    return bytes;
}

static void write_on_fiber(uint32_t part, uint32_t first, uint32_t count)
{
    static uint8_t bytes[PART], whole[PART];
    uint32_t offset, n = fill_random(bytes, &offset);
    int error = data_cache_fills_later(d) ? data_cache_write_some(d, 12, part, offset, bytes, n) : -N_EAGAIN;

    if (error == -N_EAGAIN) {
        memcpy(whole, fetch(part, first, count), PART);
        memcpy(whole + offset, bytes, n);
        model_write(part, 0, whole, PART); /* nobody else writes it now */
        error = data_cache_write(d, 12, part, whole);
    }
    model_write(part, offset, bytes, n);
    cr_assert_eq(error, 0, "%s", model.name);
    cr_assert_eq(data_cache_settle(d, part), 0, "%s", model.name);
    if (settings->write == DRIVE_CACHE_THROUGH)
        become_durable(part);
}

/* What has been written before it began is durable; a write through that waits is perhaps in no block yet. */
static void flush(void)
{
    void (*meanwhile)(void) = disk.meanwhile;
    bool promised[PARTS];

    for (uint32_t part = 0; part < PARTS; part++) {
        promised[part] = !model.through[part];
        if (promised[part])
            memset(model.changed[part], 0, PART);
        memcpy(model.promised[part], model.bytes[part], PART);
    }
    disk.written = NULL;
    disk.meanwhile = below(2) == 0 ? NULL : meanwhile;
    cr_assert_eq(data_cache_flush(d), 0, "%s", model.name);
    disk.written = is_durable;
    disk.meanwhile = meanwhile;
    for (uint32_t part = 0; part < PARTS; part++) {
        if (promised[part])
            memcpy(model.durable[part], model.promised[part], PART);
        cr_assert(!model.defined[part] || is_durable(part), "%s: part %u after a flush", model.name, part);
    }
}

static void forget(uint32_t part)
{
    if (model.users[part] != 0)
        return;
    model.defined[part] = false;
    model.forgets = true;
    data_cache_forget(d, part, 1);
    model.forgets = false;
    disk.gone[part] = true;
    cr_assert(!data_cache_has(d, part, 1), "%s", model.name);
}

/* Meanwhile askers act, but not on the part that the fiber writes. */
static void act_as_fiber(void)
{
    uint32_t part, first, count;

    if (!choose(&part, &first, &count))
        return;
    switch (below(16)) {
    case 0:
        if (below(10) == 0)
            forget(part);
        return;
    case 1:
        if (below(10) == 0)
            flush();
        return;
    case 2:
        data_cache_ahead(d, first, count);
        return;
    case 3:
    case 4:
    case 5:
        if (model.users[part] != 0)
            return;
        model.defined[part] = false; /* so that askers leave it alone */
        write_on_fiber(part, first, count);
        model.defined[part] = true;
        return;
    default:
        if (!model.through[part]) {
            uint32_t writes = model.writes[part];
            bool same = memcmp(fetch(part, first, count), model.bytes[part], PART) == 0;

            cr_assert(same || writes != model.writes[part], "%s: part %u", model.name, part);
        }
    }
}

static void define_again(void)
{
    uint32_t part = below(PARTS);

    if (model.defined[part])
        return;
    for (uint32_t i = 0; i < disk.under_way; i++)
        if (part >= disk.line[i].first && part < disk.line[i].first + disk.line[i].count)
            return;
    model.defined[part] = true;
    disk.gone[part] = false;
    memcpy(model.bytes[part], disk.medium[part], PART);
    memcpy(model.durable[part], disk.medium[part], PART);
    memset(model.changed[part], 0, PART);
}

static void model_step(void)
{
    uint32_t what = below(8);

    if (what < 4)
        act_as_asker();
    else if (what < 6)
        act_as_fiber();
    else if (what == 6 && disk.under_way > 0)
        end_oldest();
    else
        data_cache_reap(d);
    if (below(50) == 0)
        define_again();
}

static void settle_all(void)
{
    disk.meanwhile = NULL;
    data_cache_reap(d);
    while (disk.under_way > 0 || waiting > 0) {
        cr_assert_gt(disk.under_way, 0, "%s: %u wait for nothing", model.name, waiting);
        end_oldest();
        data_cache_reap(d);
    }
}

static const struct sim_case model_cases[] = {
    {"through", {32, 2048, 2, 1, DRIVE_CACHE_THROUGH, DRIVE_CACHE_LRU, 4, 0, 0}},
    {"through, 64 commands", {64, 4096, 2, 2, DRIVE_CACHE_THROUGH, DRIVE_CACHE_FIFO, 64, 0, 0}},
    {"groups", {32, 1024, 4, 1, DRIVE_CACHE_GROUPS, DRIVE_CACHE_LRU, 4, 0, 0}},
    {"groups, later", {48, 2048, 4, 1, DRIVE_CACHE_GROUPS, DRIVE_CACHE_USED_FIRST, 64, 1, 0}},
    {"back", {16, 2048, 2, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_USED_FIRST, 4, 0, 0}},
    {"back, later", {32, 4096, 2, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 1, 0}},
    {"back, later, two groups", {8, 1024, 4, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_FIFO, 64, 1, 0}},
    {"back, large blocks", {64, 32768, 1, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 64, 1, 0}},
};

static void run_model(const struct sim_case *c, uint32_t steps)
{
    make(&c->set);
    settings = &c->set;
    memset(&model, 0, sizeof model);
    model.name = c->name;
    for (uint32_t p = 0; p < PARTS; p++) {
        memset(disk.medium[p], (int)(p * 7), PART);
        memcpy(model.bytes[p], disk.medium[p], PART);
        memcpy(model.durable[p], disk.medium[p], PART);
        model.defined[p] = true;
    }
    disk.written = is_durable;
    disk.meanwhile = act_meanwhile;
    for (uint32_t step = 0; step < steps; step++)
        model_step();
    settle_all();
    flush();
    struct drive_cache_counts counts = data_cache_counts(d);
    cr_expect_gt(counts.waits, 0);
    cr_expect_geq(counts.waits, counts.waiting_most);
    unmake();
}

Test(data_ask, askers_and_a_fiber_find_what_they_wrote_and_what_is_durable_stays)
{
    for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++) {
        random_state = 11 + i;
        run_model(&model_cases[i], steps_wanted(20000));
    }
}

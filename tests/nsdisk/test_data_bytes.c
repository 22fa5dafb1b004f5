/*
 * Askers of the data cache (nsdisk/ext2/data_cache.h), beside a fiber that waits, against a model of all bytes, on a
 * disk that ends its commands late, where the power may fail behind each block.
 *
 * NSDISK_STEPS=1000000 for the long version (make check-cache).
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/ask_disk.h"

TestSuite(data_bytes, .timeout = 36000);

/* ---- A model of all bytes ---- */

/* What the cache has taken; which bytes have changed since they were reported durable, and what those were. */
static struct {
    uint8_t bytes[PARTS][PART], durable[PARTS][PART];
    uint8_t promised[PARTS][PART]; /* by a flush that is going on */
    uint32_t writes[PARTS];
    bool changed[PARTS][PART];
    bool later[PARTS][PART]; /* since the flush began */
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
    memset(model.later[part], 0, PART);
    cr_assert(!model.defined[part] || is_durable(part), "%s: part %u was reported durable", model.name, part);
}

static void model_write(uint32_t part, uint32_t offset, const uint8_t *bytes, uint32_t n)
{
    memcpy(version[model.writes[part] % VERSIONS][part], model.bytes[part], PART);
    memcpy(model.bytes[part] + offset, bytes, n);
    memset(model.changed[part] + offset, 1, n);
    memset(model.later[part] + offset, 1, n);
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

/* What has been written before it began is durable at its end; a write through that waits is perhaps in no block yet.
 * Until then what was durable is. */
static void flush(void)
{
    void (*meanwhile)(void) = disk.meanwhile;
    bool promised[PARTS];

    for (uint32_t part = 0; part < PARTS; part++) {
        promised[part] = !model.through[part];
        memset(model.later[part], 0, PART);
        memcpy(model.promised[part], model.bytes[part], PART);
    }
    disk.meanwhile = below(2) == 0 ? NULL : meanwhile;
    cr_assert_eq(data_cache_flush(d), 0, "%s", model.name);
    disk.meanwhile = meanwhile;
    for (uint32_t part = 0; part < PARTS; part++) {
        if (promised[part]) {
            memcpy(model.changed[part], model.later[part], PART);
            memcpy(model.durable[part], model.promised[part], PART);
        }
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

static const struct ask_case model_cases[] = {
    {"through", {32, 2048, 2, 1, DRIVE_CACHE_THROUGH, DRIVE_CACHE_LRU, 4, 0, 0}},
    {"through, 64 commands", {64, 4096, 2, 2, DRIVE_CACHE_THROUGH, DRIVE_CACHE_FIFO, 64, 0, 0}},
    {"groups", {32, 1024, 4, 1, DRIVE_CACHE_GROUPS, DRIVE_CACHE_LRU, 4, 0, 0}},
    {"groups, later", {48, 2048, 4, 1, DRIVE_CACHE_GROUPS, DRIVE_CACHE_USED_FIRST, 64, 1, 0}},
    {"back", {16, 2048, 2, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_USED_FIRST, 4, 0, 0}},
    {"back, later", {32, 4096, 2, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 1, 0}},
    {"back, later, two groups", {8, 1024, 4, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_FIFO, 64, 1, 0}},
    {"back, large blocks", {64, 32768, 1, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 64, 1, 0}},
};

static void run_model(const struct ask_case *c, uint32_t steps)
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

Test(data_bytes, askers_and_a_fiber_find_what_they_wrote_and_what_is_durable_stays)
{
    for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++) {
        random_state = 11 + i;
        run_model(&model_cases[i], steps_wanted(20000));
    }
}

/*
 * The data cache: making it, room for blocks, reading, writing, flushing. Its commands are in data_transfer.c.
 */
#include "nsdisk/ext2/data_cache.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/data_cache_state.h"
#include "vertex/contract/errors.h"

/* ---- Making and unmaking ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void settle_sizes(struct data_cache *d)
{
    uint32_t block_bytes = larger(d->set.block_bytes, d->part_bytes);

    d->parts = block_bytes / d->part_bytes;
    d->parts_shift = data_log2(d->parts);
    d->group = d->parts * d->set.group_blocks;
    d->buffer_parts = larger(d->group, DRIVE_CACHE_BUFFER_MIN_BYTES / d->part_bytes);
    d->count = larger((uint32_t)(((uint64_t)d->set.kb << 10) / block_bytes), 2u * d->set.group_blocks);
}

/* Writes to all of it, so that a node's pages are taken now, and are one piece. */
static void *take(size_t bytes)
{
    void *at = malloc(bytes);

    if (at)
        memset(at, 0, bytes);
    return at;
}

static void link_blocks(struct data_cache *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        struct data_block *b = &d->block[i];

        b->bytes = d->bytes + (size_t)i * d->parts * d->part_bytes;
        b->owner = d->owners + (size_t)i * d->parts;
        b->range = d->ranges ? d->ranges + (size_t)i * d->parts : NULL;
        b->at.number = NOT_INDEXED;
        index_age_insert(&d->index, &b->at);
    }
}

static void link_transfers(struct data_cache *d)
{
    d->fetch = d->transfer + d->transfers;
    d->own = d->fetch + 1;
    for (uint32_t i = 0; i < d->transfers + DRIVE_CACHE_BUFFERS_WAITED; i++) {
        d->transfer[i].bytes = d->buffers + (size_t)i * d->buffer_parts * d->part_bytes;
        TAILQ_INIT(&d->transfer[i].waiters);
    }
    TAILQ_INIT(&d->no_room);
}

struct data_cache *data_cache_new(struct cache *cache, const char *volume, uint32_t part_bytes,
                                  const struct drive_cache *set, struct cache_log log, struct data_clock clock)
{
    struct data_cache *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct data_cache){
        .cache = cache, .volume = volume, .log = log, .clock = clock, .set = *set, .part_bytes = part_bytes};
    d->counts.drive = DRIVE_CACHE_COUNTING;
    settle_sizes(d);
    d->transfers = set->commands;
    size_t parts = (size_t)d->count * d->parts, transfers = d->transfers + DRIVE_CACHE_BUFFERS_WAITED;
    int index = index_init(&d->index, d->count);
    d->block = take(d->count * sizeof *d->block);
    d->order = take(d->count * sizeof *d->order);
    d->bytes = take(parts * part_bytes);
    d->owners = take(parts * sizeof *d->owners);
    d->transfer = take(transfers * sizeof *d->transfer);
    d->buffers = take(transfers * d->buffer_parts * part_bytes);
    if (data_cache_fills_later(d))
        d->ranges = take(parts * sizeof *d->ranges);
    if (index < 0 || !d->block || !d->order || !d->bytes || !d->owners || !d->transfer || !d->buffers ||
        (data_cache_fills_later(d) && !d->ranges)) {
        data_cache_free(d);
        return NULL;
    }
    link_blocks(d);
    link_transfers(d);
    return d;
}

uint32_t data_cache_group(const struct data_cache *d)
{
    return d->group;
}

uint32_t data_cache_ahead_groups(const struct data_cache *d)
{
    return d->set.ahead_groups;
}

bool data_cache_is_there(const struct data_cache *d, uint32_t part)
{
    return data_is_there(d, part);
}

bool data_cache_holds(const struct data_cache *d, uint32_t parts)
{
    return parts <= d->count * d->parts / 4;
}

bool data_cache_sets_aside(const struct data_cache *d)
{
    return d->set.misses == DRIVE_CACHE_MISSES_ASIDE;
}

bool data_cache_fills_later(const struct data_cache *d)
{
    return d->set.fill == DRIVE_CACHE_FILL_LATER && d->set.write != DRIVE_CACHE_THROUGH;
}

/* ---- Counts ---- */

uint64_t data_wait_begin(struct data_cache *d)
{
    d->counts.waits++;
    d->waiting++;
    if (d->waiting > d->counts.waiting_most)
        d->counts.waiting_most = d->waiting;
    return data_cycles(d);
}

void data_wait_end(struct data_cache *d, uint64_t since_cycles)
{
    d->waiting--;
    d->counts.wait_cycles += data_cycles(d) - since_cycles;
}

struct drive_cache_counts data_cache_counts(const struct data_cache *d)
{
    struct drive_cache_counts counts = d->counts;

    counts.drive = 0;
    for (uint32_t i = 0; i < d->count; i++)
        counts.unused += data_bits(d->block[i].unasked);
    return counts;
}

const struct drive_cache_counts *data_cache_counts_place(const struct data_cache *d)
{
    return &d->counts;
}

/* ---- Room ---- */

/* Whether writing the block, or reading the rest of its partial parts, has yet to begin. */
static bool is_idle(const struct data_cache *d, const struct data_block *b)
{
    uint32_t bits = b->dirty & ~(b->writing | b->failed), first = b->at.number << d->parts_shift;

    for (uint32_t i = 0; i < d->parts && (bits & ~b->partial) == 0; i++)
        if ((bits >> i & 1) && data_partial_run(d, first + i, 1, true) != 0)
            return true;
    return (bits & ~b->partial) != 0;
}

struct data_block *data_oldest(const struct data_cache *d, bool idle, struct data_block **dirty)
{
    struct data_block *unused = NULL;

    *dirty = NULL;
    for (struct index_entry *e = d->index.age.newer; e != &d->index.age; e = e->newer) {
        struct data_block *b = data_block_at(e);

        if (b->dirty == 0 && (b->unasked == 0 || d->set.evict != DRIVE_CACHE_USED_FIRST))
            return b;
        if (b->dirty == 0)
            unused = unused ? unused : b;
        else if (!*dirty && b->failed == 0 && (!idle || is_idle(d, b)))
            *dirty = b;
    }
    return unused;
}

int data_write_group(struct data_cache *d, uint32_t part)
{
    uint32_t first = data_group_of(d, part), end = first + d->group;
    int error = data_fill(d, first, end, true);

    return error < 0 ? error : data_write_parts(d, first, end, end, true);
}

/* A block to be given another number, on the fiber. */
static int make_room(struct data_cache *d, struct data_block **out)
{
    struct data_block *dirty, *b = data_oldest(d, false, &dirty);
    int error = 0;

    for (bool goes_on = true; !b && error == 0 && goes_on;) {
        goes_on = data_end_transfers_of(d, true, 0, UINT32_MAX);
        b = data_oldest(d, false, &dirty);
        if (!b && dirty) {
            error = data_write_group(d, dirty->at.number << d->parts_shift);
            b = data_oldest(d, false, &dirty);
            goes_on = true;
        }
    }
    *out = b;
    return b ? 0 : error < 0 ? error : -N_EIO;
}

void data_block_become(struct data_cache *d, struct data_block *b, uint32_t number)
{
    if (b->at.number != NOT_INDEXED) {
        if (d->evicted && b->valid != 0)
            d->evicted(d->evicted_ctx, b->at.number << d->parts_shift, b->valid, b->bytes);
        data_parts_drop(d, b, UINT32_MAX);
        index_remove(&d->index, &b->at);
    }
    d->due -= b->due;
    b->due = false;
    b->at.number = number;
    index_insert(&d->index, &b->at);
    index_touch(&d->index, &b->at);
}

int data_block_get(struct data_cache *d, uint32_t part, struct data_block **out, uint32_t *bit)
{
    struct data_block *b = NULL;

    *out = data_find(d, part, bit);
    int error = *out ? 0 : make_room(d, &b);
    if (error < 0)
        return error;
    if (!*out)
        *out = data_find(d, part, bit); /* an asker may have got it meanwhile */
    if (!*out)
        data_block_become(d, *out = b, part >> d->parts_shift);
    return 0;
}

/* ---- Reading ---- */

bool data_is_there(const struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    const struct data_block *b = data_find(d, part, &bit);

    return b && (b->valid & bit);
}

uint32_t data_partial_run(const struct data_cache *d, uint32_t at, uint32_t most, bool good)
{
    uint32_t n = 0;

    for (; n < most; n++) {
        uint32_t bit;
        const struct data_block *b = data_find(d, at + n, &bit);

        if (!b || (b->partial & ~(good ? b->failed : 0) & bit) == 0 || data_transfer_of(d, false, at + n, 1))
            break;
    }
    return n;
}

void data_use(struct data_cache *d, struct data_block *b, uint32_t bit)
{
    b->unasked &= ~bit;
    if (d->set.evict != DRIVE_CACHE_FIFO)
        index_touch(&d->index, &b->at);
}

void data_complete(struct data_cache *d, struct data_block *b, uint32_t part, struct transfer *t)
{
    const struct data_range *r = &b->range[part & (d->parts - 1)];
    uint8_t *at = data_part_at(d, b, part), *bytes = t->bytes + (size_t)(part - t->first) * d->part_bytes;
    uint32_t bit = 1u << (part & (d->parts - 1));

    memcpy(bytes + r->from, at + r->from, (size_t)(r->to - r->from));
    memcpy(at, bytes, d->part_bytes);
    b->partial &= ~bit;
    b->valid |= bit;
    d->partial--;
    data_note_landed(t, part);
}

static void complete_parts(struct data_cache *d, struct transfer *t)
{
    for (uint32_t i = 0; i < t->count && d->partial != 0; i++) {
        uint32_t bit;
        struct data_block *b = data_find(d, t->first + i, &bit);

        if (b && (b->partial & bit))
            data_complete(d, b, t->first + i, t);
    }
}

/* A block for parts that have come for an asker; NULL: there is no room now. */
static struct data_block *room_for(struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    struct data_block *dirty, *b = data_find(d, part, &bit);

    if (b)
        return b;
    b = data_oldest(d, true, &dirty);
    if (b)
        data_block_become(d, b, part >> d->parts_shift);
    else
        d->short_of_room = true;
    return b;
}

/* Parts of one block that have come, unless they are there already, and so perhaps newer. */
static void install_parts(struct data_cache *d, struct data_block *b, struct transfer *t, uint32_t first, uint32_t n)
{
    uint32_t unasked = 0;

    for (uint32_t part = first; part < first + n; part++) {
        uint32_t bit = 1u << (part & (d->parts - 1));

        if (data_has_landed(t, part))
            continue;
        data_note_landed(t, part);
        if ((b->valid | b->partial) & bit)
            continue;
        memcpy(data_part_at(d, b, part), t->bytes + (size_t)(part - t->first) * d->part_bytes, d->part_bytes);
        b->valid |= bit;
        if (part == t->wanted)
            continue;
        b->unasked |= bit;
        unasked++;
    }
    d->counts.prefetched += unasked;
}

static bool have_all_landed(const struct transfer *t, uint32_t first, uint32_t n)
{
    for (uint32_t part = first; part < first + n; part++)
        if (!data_has_landed(t, part))
            return false;
    return true;
}

void data_install(struct data_cache *d, struct transfer *t, bool on_fiber)
{
    complete_parts(d, t);
    for (uint32_t i = 0, n; i < t->count; i += n) {
        uint32_t bits, bit, first = t->first + i;
        struct data_block *b = data_find_run(d, first, t->count - i, &bits, &n);

        if (!b && have_all_landed(t, first, n))
            continue;
        if (!b && (on_fiber ? data_block_get(d, first, &b, &bit) < 0 : !(b = room_for(d, first))))
            return;
        install_parts(d, b, t, first, n);
    }
}

void data_end_reads_of(struct data_cache *d, uint32_t part)
{
    while (data_transfer_of(d, false, part, 1))
        data_end_transfers_of(d, false, part, 1);
}

const uint8_t *data_cache_look(struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    struct data_block *b = data_find(d, part, &bit);

    d->counts.requests++;
    if ((!b || (b->valid & bit) == 0) && data_transfer_of(d, false, part, 1)) {
        uint64_t since = data_wait_begin(d);

        data_end_reads_of(d, part);
        data_wait_end(d, since);
        b = data_find(d, part, &bit);
    }
    if (!b || (b->valid & bit) == 0) {
        d->counts.misses++;
        return NULL;
    }
    d->counts.hits++;
    data_use(d, b, bit);
    return data_part_at(d, b, part);
}

/* Only parts that are not there: one that is might be dirty, and go to the disk to make room for those before it. */
int data_cache_fetch(struct data_cache *d, uint32_t first, uint32_t count, uint32_t wanted, const uint8_t **bytes)
{
    uint64_t since = data_wait_begin(d);
    uint32_t bit;
    int error = 0;

    data_end_transfers_of(d, false, first, count);
    data_end_reads_of(d, wanted);
    if (!data_is_there(d, wanted)) {
        data_clip(d, wanted, &first, &count);
        data_start_read(d, d->fetch, first, count, wanted);
        error = data_transfer_end(d, d->fetch);
    }
    struct data_block *b = data_find(d, wanted, &bit);
    *bytes =
        b && (b->valid & bit) ? data_part_at(d, b, wanted) : d->fetch->bytes + (size_t)(wanted - first) * d->part_bytes;
    data_wait_end(d, since);
    return error;
}

bool data_cache_has(const struct data_cache *d, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit;
        const struct data_block *b = data_find(d, first + i, &bit);

        if (b && ((b->valid | b->partial) & bit))
            return true;
    }
    return data_transfer_of(d, false, first, count) != NULL;
}

void data_cache_ahead(struct data_cache *d, uint32_t first, uint32_t count)
{
    data_take_in(d);
    data_cache_ask_ahead(d, first, count);
}

/* ---- Blocks that go elsewhere ---- */

void data_cache_tell_evictions(struct data_cache *d,
                               void (*evicted)(void *ctx, uint32_t first, uint32_t valid, const uint8_t *bytes),
                               void *ctx)
{
    d->evicted = evicted;
    d->evicted_ctx = ctx;
}

void data_cache_keep(struct data_cache *d, uint32_t part, const uint8_t *bytes)
{
    struct data_block *b;
    uint32_t bit;

    if (data_block_get(d, part, &b, &bit) < 0)
        return;
    data_parts_clean(d, b, bit);
    memcpy(data_part_at(d, b, part), bytes, d->part_bytes);
    b->valid |= bit;
    data_use(d, b, bit);
}

uint32_t data_cache_free_blocks(const struct data_cache *d)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->count; i++)
        n += (d->block[i].valid | d->block[i].partial) == 0;
    return n;
}

/* ---- Dropping ---- */

void data_cache_forget(struct data_cache *d, uint32_t first, uint32_t count)
{
    data_ask_anew(d, first, count);
    data_end_transfers_of(d, false, first, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit;
        struct data_block *b = data_find(d, first + i, &bit);

        if (b && ((b->valid | b->partial) & bit))
            data_parts_drop(d, b, bit);
    }
}

void data_cache_forget_many(struct data_cache *d, uint32_t first, uint32_t count)
{
    data_ask_anew(d, first, count);
    data_end_transfers_of(d, false, first, count);
    for (uint32_t i = 0; i < d->count; i++) {
        struct data_block *b = &d->block[i];
        const uint32_t at = b->at.number << d->parts_shift;

        for (uint32_t part = 0; part < d->parts && b->at.number != NOT_INDEXED; part++)
            if (at + part - first < count && ((b->valid | b->partial) >> part & 1))
                data_parts_drop(d, b, 1u << part);
    }
}

bool data_cache_failed(const struct data_cache *d, uint32_t ino)
{
    for (uint32_t i = 0; i < d->count && d->failed != 0; i++)
        for (uint32_t part = 0; part < d->parts; part++)
            if ((d->block[i].failed >> part & 1) && d->block[i].owner[part] == ino)
                return true;
    return false;
}

static void refuse(struct data_waiters *waiters)
{
    struct data_waiter *w;

    while ((w = TAILQ_FIRST(waiters))) {
        TAILQ_REMOVE(waiters, w, next);
        w->done(w, NULL, -N_EIO);
    }
}

static void end_all(struct data_cache *d)
{
    for (struct transfer *t = d->transfer; t <= d->own; t++) {
        if (t->state == TRANSFER_FREE)
            continue;
        cache_await_data(d->cache, &t->command);
        refuse(&t->waiters);
    }
    refuse(&d->no_room);
}

void data_cache_free(struct data_cache *d)
{
    if (!d)
        return;
    if (d->own)
        end_all(d);
    *(volatile uint32_t *)&d->counts.drive = 0; /* for who reads them from outside */
    free(d->ranges);
    free(d->buffers);
    free(d->transfer);
    free(d->owners);
    free(d->bytes);
    free(d->order);
    free(d->block);
    free(d->index.hash);
    free(d);
}

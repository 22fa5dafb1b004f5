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
        b->at.number = NOT_INDEXED;
        index_age_insert(&d->index, &b->at);
    }
    size_t buffer = (size_t)d->buffer_parts * d->part_bytes;
    for (uint32_t i = 0; i < TRANSFERS; i++)
        d->transfer[i].bytes = d->buffers + i * buffer;
    d->fetch.bytes = d->buffers + TRANSFERS * buffer;
    d->own.bytes = d->fetch.bytes + buffer;
}

struct data_cache *data_cache_new(struct cache *cache, const char *volume, uint32_t part_bytes,
                                  const struct drive_cache *set, struct cache_log log)
{
    struct data_cache *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct data_cache){.cache = cache, .volume = volume, .log = log, .set = *set, .part_bytes = part_bytes};
    settle_sizes(d);
    size_t parts = (size_t)d->count * d->parts;
    int index = index_init(&d->index, d->count);
    d->block = take(d->count * sizeof *d->block);
    d->order = take(d->count * sizeof(struct data_block *));
    d->group_list = take(d->set.group_blocks * sizeof(struct data_block *));
    d->bytes = take(parts * part_bytes);
    d->owners = take(parts * sizeof *d->owners);
    d->buffers = take((size_t)DRIVE_CACHE_BUFFERS * d->buffer_parts * part_bytes);
    if (index < 0 || !d->block || !d->order || !d->group_list || !d->bytes || !d->owners || !d->buffers) {
        data_cache_free(d);
        return NULL;
    }
    link_blocks(d);
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

/* ---- Room ---- */

static int write_group_of(struct data_cache *d, uint32_t part, bool wait)
{
    bool full;
    uint32_t n = data_list_group(d, part, &full);

    return data_write_blocks(d, d->group_list, n, wait);
}

/* The oldest block without dirty parts, or NULL; *dirty is then the oldest that the drive has not refused yet. */
static struct data_block *oldest(struct data_cache *d, struct data_block **dirty)
{
    *dirty = NULL;
    for (struct index_entry *e = d->index.age.newer; e != &d->index.age; e = e->newer) {
        struct data_block *b = data_block_at(e);

        if (b->dirty == 0)
            return b;
        if (!*dirty && b->failed == 0)
            *dirty = b;
    }
    return NULL;
}

static int make_room(struct data_cache *d, struct data_block **out)
{
    struct data_block *dirty, *b = oldest(d, &dirty);
    int error = 0;

    if (!b) {
        data_end_writes(d);
        b = oldest(d, &dirty);
    }
    if (!b && dirty) {
        error = write_group_of(d, dirty->at.number << d->parts_shift, true);
        b = oldest(d, &dirty);
    }
    *out = b;
    return b ? 0 : error < 0 ? error : -N_EIO;
}

/* A block without parts, in the index. -N_EIO: all is dirty and the drive takes nothing. */
static int block_take(struct data_cache *d, uint32_t number, struct data_block **out)
{
    struct data_block *b;
    int error = make_room(d, &b);

    if (error < 0)
        return error;
    if (b->at.number != NOT_INDEXED) {
        data_parts_drop(d, b, UINT32_MAX);
        index_remove(&d->index, &b->at);
    }
    b->at.number = number;
    index_insert(&d->index, &b->at);
    index_touch(&d->index, &b->at);
    *out = b;
    return 0;
}

static int block_get(struct data_cache *d, uint32_t part, struct data_block **out, uint32_t *bit)
{
    *out = data_find(d, part, bit);
    return *out ? 0 : block_take(d, part >> d->parts_shift, out);
}

/* ---- Reading ---- */

void data_install(struct data_cache *d, const struct transfer *t, uint32_t wanted)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct data_block *b;
        uint32_t bit;

        if (block_get(d, t->first + i, &b, &bit) < 0)
            return;
        if (b->valid & bit)
            continue;
        memcpy(data_part_at(d, b, t->first + i), t->bytes + (size_t)i * d->part_bytes, d->part_bytes);
        b->valid |= bit;
        if (t->first + i == wanted)
            continue;
        b->unasked |= bit;
        d->counts.prefetched++;
    }
}

const uint8_t *data_cache_look(struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    struct data_block *b = data_find(d, part, &bit);

    if ((!b || (b->valid & bit) == 0) && data_end_transfers_of(d, false, part, 1))
        b = data_find(d, part, &bit);
    if (!b || (b->valid & bit) == 0) {
        d->counts.misses++;
        return NULL;
    }
    d->counts.hits++;
    b->unasked &= ~bit;
    if (d->set.evict == DRIVE_CACHE_LRU)
        index_touch(&d->index, &b->at);
    return data_part_at(d, b, part);
}

static bool is_there(const struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    const struct data_block *b = data_find(d, part, &bit);

    return b && (b->valid & bit);
}

/* Only parts that are not there: one that is might be dirty, and go to the disk to make room for those before it. */
int data_cache_fetch(struct data_cache *d, uint32_t first, uint32_t count, uint32_t wanted, const uint8_t **bytes)
{
    uint32_t from = wanted, to = wanted + 1;

    data_end_transfers_of(d, false, first, count);
    while (from > first && !is_there(d, from - 1))
        from--;
    while (to < first + count && !is_there(d, to))
        to++;
    data_transfer_start(d, &d->fetch, false, from, to - from);
    *bytes = d->fetch.bytes + (size_t)(wanted - from) * d->part_bytes;
    return data_transfer_end(d, &d->fetch, wanted);
}

bool data_cache_has(const struct data_cache *d, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_there(d, first + i))
            return true;
    for (uint32_t i = 0; i < TRANSFERS; i++)
        if (!d->transfer[i].write && data_transfer_has(&d->transfer[i], first, count))
            return true;
    return false;
}

void data_cache_ahead(struct data_cache *d, uint32_t first, uint32_t count)
{
    uint32_t end = first + count;

    data_reap(d);
    for (uint32_t groups = d->set.ahead_groups; first < end && groups > 0; groups--) {
        uint32_t next = (first & ~(d->group - 1)) + d->group, n = (next < end ? next : end) - first;
        struct transfer *t = data_cache_has(d, first, n) ? NULL : data_transfer_find_free(d);

        if (t)
            data_transfer_start(d, t, false, first, n);
        first = next;
    }
}

/* ---- Writing ---- */

int data_cache_write(struct data_cache *d, uint32_t ino, uint32_t part, const void *buf)
{
    struct data_block *b;
    uint32_t bit;

    data_end_transfers_of(d, false, part, 1);
    int error = block_get(d, part, &b, &bit);
    if (error < 0)
        return error;
    memcpy(data_part_at(d, b, part), buf, d->part_bytes);
    b->owner[part & (d->parts - 1)] = ino;
    data_parts_clean(d, b, bit);
    b->unasked &= ~bit;
    b->valid |= bit;
    b->dirty |= bit;
    d->dirty++;
    if (d->set.evict == DRIVE_CACHE_LRU)
        index_touch(&d->index, &b->at);
    return 0;
}

int data_cache_settle(struct data_cache *d, uint32_t part)
{
    bool full;

    if (d->set.write == DRIVE_CACHE_THROUGH)
        return write_group_of(d, part, true);
    data_reap(d);
    if (d->set.write == DRIVE_CACHE_GROUPS && data_list_group(d, part, &full) > 0 && full)
        write_group_of(d, part, false); /* an error is the next fsync's */
    return 0;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct data_block *a = *(struct data_block *const *)left, *b = *(struct data_block *const *)right;

    return a->at.number < b->at.number ? -1 : a->at.number > b->at.number;
}

int data_cache_flush(struct data_cache *d)
{
    uint32_t n = 0;

    if (d->dirty == 0)
        return 0;
    data_end_reads(d); /* from here on no block comes or goes */
    int error = data_end_writes(d);
    for (uint32_t i = 0; i < d->count; i++)
        if (d->block[i].dirty)
            d->order[n++] = &d->block[i];
    qsort(d->order, n, sizeof(struct data_block *), compare_numbers);
    int written = data_write_blocks(d, d->order, n, false);
    error = error < 0 ? error : written;
    written = data_end_writes(d);
    error = error < 0 ? error : written;
    return d->dirty == 0 ? 0 : error < 0 ? error : -N_EIO;
}

void data_cache_forget(struct data_cache *d, uint32_t first, uint32_t count)
{
    data_end_transfers_of(d, false, first, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit;
        struct data_block *b = data_find(d, first + i, &bit);

        if (b && (b->valid & bit))
            data_parts_drop(d, b, bit);
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

struct drive_cache_counts data_cache_counts(const struct data_cache *d)
{
    struct drive_cache_counts counts = d->counts;

    for (uint32_t i = 0; i < d->count; i++)
        counts.unused += data_bits(d->block[i].unasked);
    return counts;
}

void data_cache_free(struct data_cache *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < TRANSFERS; i++)
        if (d->transfer[i].busy)
            cache_wait_data(d->cache, d->transfer[i].write, d->transfer[i].first, d->transfer[i].count,
                            &d->transfer[i].command);
    free(d->buffers);
    free(d->owners);
    free(d->bytes);
    free(d->group_list);
    free(d->order);
    free(d->block);
    free(d->index.hash);
    free(d);
}

/*
 * Writing into the data cache, whole parts and some of their bytes, and flushing it. The fiber's calls are here, and
 * what askers' writes (data_ask.c) have in common with them.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/data_cache_state.h"
#include "vertex/contract/errors.h"

/* ---- Bytes of parts ---- */

static void become_dirty(struct data_cache *d, struct data_block *b, uint32_t part, uint32_t bit, uint32_t ino)
{
    data_parts_clean(d, b, bit);
    b->owner[part & (d->parts - 1)] = ino;
    b->dirty |= bit;
    d->dirty++;
    data_use(d, b, bit);
}

bool data_may_put(const struct data_cache *d, const struct data_block *b, uint32_t part, uint32_t offset, uint32_t n)
{
    uint32_t bit = 1u << (part & (d->parts - 1));

    if (n == d->part_bytes || (b && (b->valid & bit)))
        return true;
    if (!b || (b->partial & bit) == 0)
        return data_cache_fills_later(d);
    const struct data_range *r = &b->range[part & (d->parts - 1)];
    return offset <= r->to && offset + n >= r->from;
}

bool data_put(struct data_cache *d, struct data_block *b, uint32_t part, uint32_t ino, uint32_t offset,
              const uint8_t *bytes, uint32_t n)
{
    uint32_t bit = 1u << (part & (d->parts - 1));
    struct data_range r = {(uint16_t)offset, (uint16_t)(offset + n)};

    if (!data_may_put(d, b, part, offset, n))
        return false;
    if (b->partial & bit) {
        const struct data_range *old = &b->range[part & (d->parts - 1)];

        r.from = old->from < r.from ? old->from : r.from;
        r.to = old->to > r.to ? old->to : r.to;
    }
    memcpy(data_part_at(d, b, part) + offset, bytes, n);
    become_dirty(d, b, part, bit, ino);
    if ((b->valid & bit) || r.to - r.from == (int)d->part_bytes) {
        b->valid |= bit;
    } else {
        b->partial |= bit;
        d->partial++;
        b->range[part & (d->parts - 1)] = r;
    }
    return true;
}

/* ---- On the fiber ---- */

static int put_waiting(struct data_cache *d, uint32_t ino, uint32_t part, uint32_t offset, const void *buf,
                       uint32_t bytes)
{
    struct data_block *b;
    uint32_t bit;

    data_end_reads_of(d, part);
    if (!data_may_put(d, data_find(d, part, &bit), part, offset, bytes))
        return -N_EAGAIN;
    d->counts.requests++;
    int error = data_block_get(d, part, &b, &bit);
    if (error < 0)
        return error;
    return data_put(d, b, part, ino, offset, buf, bytes) ? 0 : -N_EAGAIN;
}

static int put(struct data_cache *d, uint32_t ino, uint32_t part, uint32_t offset, const void *buf, uint32_t bytes)
{
    uint32_t bit;
    struct data_block *dirty, *b = data_find(d, part, &bit);
    bool comes = data_transfer_of(d, false, part, 1) != NULL;

    if (!comes && b) {
        bool done = data_put(d, b, part, ino, offset, buf, bytes);

        d->counts.requests += done;
        return done ? 0 : -N_EAGAIN;
    }
    bool waits = comes || !data_oldest(d, false, &dirty);
    uint64_t since = waits ? data_wait_begin(d) : 0;
    int error = put_waiting(d, ino, part, offset, buf, bytes);
    if (waits)
        data_wait_end(d, since);
    return error;
}

int data_cache_write(struct data_cache *d, uint32_t ino, uint32_t part, const void *buf)
{
    return put(d, ino, part, 0, buf, d->part_bytes);
}

int data_cache_write_some(struct data_cache *d, uint32_t ino, uint32_t part, uint32_t offset, const void *buf,
                          uint32_t bytes)
{
    return put(d, ino, part, offset, buf, bytes);
}

uint8_t *data_cache_change(struct data_cache *d, uint32_t ino, uint32_t part)
{
    uint32_t bit;
    struct data_block *b = data_find(d, part, &bit);

    if (!b || (b->valid & bit) == 0 || data_transfer_of(d, false, part, 1))
        return NULL;
    d->counts.requests++;
    become_dirty(d, b, part, bit, ino);
    return data_part_at(d, b, part);
}

int data_cache_settle(struct data_cache *d, uint32_t part)
{
    uint32_t first = data_group_of(d, part), end = first + d->group;

    if (d->set.write == DRIVE_CACHE_THROUGH)
        return data_write_group(d, part);
    data_take_in(d);
    if (d->set.write == DRIVE_CACHE_GROUPS && data_group_is_full(d, part))
        data_write_parts(d, first, end, end, false); /* an error is the next fsync's */
    return 0;
}

/* ---- Flushing ---- */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static uint32_t list_dirty(struct data_cache *d)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->count; i++)
        if (d->block[i].dirty)
            d->order[n++] = d->block[i].at.number;
    qsort(d->order, n, sizeof d->order[0], compare_numbers);
    return n;
}

/* What askers write meanwhile is not waited for. */
int data_cache_flush(struct data_cache *d)
{
    int first_error = 0;

    if (d->dirty == 0)
        return 0;
    data_end_reads(d); /* from here on only askers make blocks come and go */
    int error = data_end_writes(d);
    first_error = error;
    uint32_t n = list_dirty(d);
    for (uint32_t i = 0; i < n && d->partial != 0; i++)
        data_fill(d, d->order[i] << d->parts_shift, (d->order[i] + 1) << d->parts_shift, false);
    data_end_reads(d);
    error = 0;
    for (uint32_t i = 0; i < n && error == 0; i++)
        error =
            data_write_parts(d, d->order[i] << d->parts_shift, (d->order[i] + 1) << d->parts_shift, UINT32_MAX, false);
    first_error = first_error < 0 ? first_error : error;
    error = data_end_writes(d);
    first_error = first_error < 0 ? first_error : error;
    if (d->dirty == 0 || (first_error == 0 && d->failed == 0))
        return 0;
    return first_error < 0 ? first_error : -N_EIO;
}

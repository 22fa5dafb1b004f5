/*
 * The commands of a data cache: reads that bring parts, writes that take dirty parts to the disk. data_cache.h tells
 * the life of a part.
 *
 * Ending a read puts parts into blocks, and may have to make room for them by writing others. Ending a write moves no
 * block.
 */
#include "nsdisk/ext2/data_cache_state.h"

#include <string.h>

#include "vertex/shared/text.h"

/* ---- Parts that change ---- */

void data_parts_clean(struct data_cache *d, struct data_block *b, uint32_t bits)
{
    d->dirty -= data_bits(b->dirty & bits);
    d->failed -= data_bits(b->failed & bits);
    b->dirty &= ~bits;
    b->failed &= ~bits;
    b->writing &= ~bits;
}

void data_parts_drop(struct data_cache *d, struct data_block *b, uint32_t bits)
{
    data_parts_clean(d, b, bits);
    d->counts.unused += data_bits(b->unasked & bits);
    b->valid &= ~bits;
    b->unasked &= ~bits;
}

static void report_failed(struct data_cache *d, uint32_t ino)
{
    char text[160];

    text_print(text, sizeof text,
               "%s: inode %u: its data could not be written to the drive; its next fsync or close reports the error",
               d->volume, ino);
    d->log.write(d->log.ctx, text);
}

static void part_fail(struct data_cache *d, struct data_block *b, uint32_t part, uint32_t bit, uint32_t *reported)
{
    uint32_t ino = b->owner[part & (d->parts - 1)];

    b->writing &= ~bit;
    if ((b->dirty & bit) == 0)
        return;
    if ((b->failed & bit) == 0 && ino != *reported)
        report_failed(d, *reported = ino);
    d->failed += (b->failed & bit) == 0;
    b->failed |= bit;
}

/* ---- Transfers ---- */

static void finish_write(struct data_cache *d, const struct transfer *t, bool failed)
{
    uint32_t reported = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t bit;
        struct data_block *b = data_find(d, t->first + i, &bit);

        if (!b || (b->writing & bit) == 0)
            continue;
        if (!failed)
            data_parts_clean(d, b, bit);
        else if (d->set.write == DRIVE_CACHE_THROUGH)
            data_parts_drop(d, b, bit); /* what the disk holds now is unknown */
        else
            part_fail(d, b, t->first + i, bit, &reported);
    }
}

int data_transfer_end(struct data_cache *d, struct transfer *t, uint32_t wanted)
{
    if (!t->busy)
        return 0;
    int error = cache_wait_data(d->cache, t->write, t->first, t->count, &t->command);
    if (t->write)
        finish_write(d, t, error < 0);
    else if (error == 0)
        data_install(d, t, wanted);
    t->busy = false;
    return error;
}

int data_end_writes(struct data_cache *d)
{
    int first_error = 0;

    for (uint32_t i = 0; i < TRANSFERS; i++) {
        int error = d->transfer[i].write ? data_transfer_end(d, &d->transfer[i], NOT_INDEXED) : 0;

        first_error = first_error < 0 ? first_error : error;
    }
    return first_error;
}

void data_end_reads(struct data_cache *d)
{
    for (uint32_t i = 0; i < TRANSFERS; i++)
        if (!d->transfer[i].write)
            data_transfer_end(d, &d->transfer[i], NOT_INDEXED);
}

void data_reap(struct data_cache *d)
{
    for (uint32_t i = 0; i < TRANSFERS; i++)
        if (d->transfer[i].command.done)
            data_transfer_end(d, &d->transfer[i], NOT_INDEXED);
}

bool data_transfer_has(const struct transfer *t, uint32_t first, uint32_t count)
{
    return t->busy && first < t->first + t->count && t->first < first + count;
}

bool data_end_transfers_of(struct data_cache *d, bool write, uint32_t first, uint32_t count)
{
    bool any = false;

    for (uint32_t i = 0; i < TRANSFERS; i++) {
        struct transfer *t = &d->transfer[i];

        if (t->write != write || !data_transfer_has(t, first, count))
            continue;
        data_transfer_end(d, t, NOT_INDEXED);
        any = true;
    }
    return any;
}

struct transfer *data_transfer_find_free(struct data_cache *d)
{
    for (uint32_t i = 0; i < TRANSFERS; i++)
        if (!d->transfer[i].busy)
            return &d->transfer[i];
    return NULL;
}

void data_transfer_start(struct data_cache *d, struct transfer *t, bool write, uint32_t first, uint32_t count)
{
    t->busy = true;
    t->write = write;
    t->first = first;
    t->count = count;
    cache_start_data(d->cache, write, first, count, t->bytes, &t->command);
}

/* ---- Writing back ---- */

static void count_write_back(struct data_cache *d, uint32_t count)
{
    uint32_t size = data_log2(count);

    d->counts.write_backs[size < DRIVE_CACHE_SIZES ? size : DRIVE_CACHE_SIZES - 1]++;
}

/* Starts to write dirty parts, in a buffer that is free; without one, or if the caller waits, it ends at once. */
static int write_run(struct data_cache *d, uint32_t first, uint32_t count, bool wait)
{
    data_end_transfers_of(d, true, first, count); /* so that the end of an older write is not taken for this one's */
    struct transfer *t = wait ? NULL : data_transfer_find_free(d);
    bool at_once = !t;

    t = at_once ? &d->own : t;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit;
        struct data_block *b = data_find(d, first + i, &bit);

        memcpy(t->bytes + (size_t)i * d->part_bytes, data_part_at(d, b, first + i), d->part_bytes);
        b->writing |= bit;
    }
    count_write_back(d, count);
    data_transfer_start(d, t, true, first, count);
    return at_once ? data_transfer_end(d, t, NOT_INDEXED) : 0;
}

int data_write_blocks(struct data_cache *d, struct data_block *const *block, uint32_t n, bool wait)
{
    uint32_t first = 0, count = 0;
    int error = 0;

    for (uint32_t i = 0; i < n * d->parts && error == 0; i++) {
        const struct data_block *b = block[i / d->parts];
        uint32_t part = (b->at.number << d->parts_shift) + i % d->parts;
        uint32_t held = b->writing | (wait ? b->failed : 0);
        bool writes = (b->dirty & ~held) >> i % d->parts & 1;

        if (count != 0 && (!writes || part != first + count || count == d->buffer_parts)) {
            error = write_run(d, first, count, wait);
            count = 0;
        }
        if (writes)
            first = count++ == 0 ? part : first;
    }
    return error == 0 && count != 0 ? write_run(d, first, count, wait) : error;
}

uint32_t data_list_group(struct data_cache *d, uint32_t part, bool *full)
{
    uint32_t first = part & ~(d->group - 1), all = d->parts == PARTS_MAX ? UINT32_MAX : (1u << d->parts) - 1, n = 0;

    *full = true;
    for (uint32_t at = first; at < first + d->group; at += d->parts) {
        uint32_t bit;
        struct data_block *b = data_find(d, at, &bit);

        *full = *full && b && (b->dirty & ~b->writing) == all;
        if (b)
            d->group_list[n++] = b;
    }
    return n;
}

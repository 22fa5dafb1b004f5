/*
 * The commands of a data cache: reads that bring parts, writes that take dirty parts to the disk. data_cache.h tells
 * the life of a part.
 *
 *   free -> under way -> landing: parts into blocks, or clean -> calling those who wait -> free
 *
 * Landing a read puts parts into blocks; on the fiber it may have to make room for them by writing others. Landing a
 * write moves no block.
 */
#include <string.h>

#include "nsdisk/ext2/data_cache_state.h"
#include "vertex/shared/text.h"

/* ---- Parts that change ---- */

void data_parts_clean(struct data_cache *d, struct data_block *b, uint32_t bits)
{
    if ((b->dirty & bits) == 0)
        return;
    d->dirty -= data_bits(b->dirty & bits);
    if (b->failed & bits)
        d->failed -= data_bits(b->failed & bits);
    if (b->partial & bits)
        d->partial -= data_bits(b->partial & bits);
    b->dirty &= ~bits;
    b->failed &= ~bits;
    b->writing &= ~bits;
    b->partial &= ~bits;
}

void data_parts_drop(struct data_cache *d, struct data_block *b, uint32_t bits)
{
    data_parts_clean(d, b, bits);
    if (b->unasked & bits)
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

/* ---- Starting ---- */

struct transfer *data_transfer_find_free(struct data_cache *d)
{
    for (uint32_t i = 0; i < d->transfers; i++)
        if (d->transfer[i].state == TRANSFER_FREE)
            return &d->transfer[i];
    return NULL;
}

/* Whether any of those parts that the transfer moves has not landed yet. */
static bool will_land(const struct transfer *t, uint32_t first, uint32_t count)
{
    uint32_t from = first > t->first ? first : t->first;

    while (from < first + count && from < t->first + t->count && data_has_landed(t, from))
        from++;
    return from < first + count && from < t->first + t->count;
}

static bool transfer_has(const struct transfer *t, uint32_t first, uint32_t count)
{
    if (t->state != TRANSFER_UNDER_WAY && t->state != TRANSFER_LANDING)
        return false;
    return first < t->first + t->count && t->first < first + count &&
           (t->state == TRANSFER_UNDER_WAY || will_land(t, first, count));
}

struct transfer *data_search_transfers(const struct data_cache *d, bool write, uint32_t first, uint32_t count)
{
    for (struct transfer *t = d->transfer; t <= d->own; t++)
        if (t->write == write && transfer_has(t, first, count))
            return t;
    return NULL;
}

static void count_command(uint32_t sizes[DRIVE_CACHE_SIZES], uint32_t count)
{
    uint32_t size = data_log2(count);

    sizes[size < DRIVE_CACHE_SIZES ? size : DRIVE_CACHE_SIZES - 1]++;
}

static void start(struct data_cache *d, struct transfer *t, bool write, uint32_t first, uint32_t count)
{
    t->state = TRANSFER_UNDER_WAY;
    t->write = write;
    t->first = first;
    t->count = count;
    TAILQ_INIT(&t->waiters);
    memset(t->landed, 0, sizeof t->landed);
    d->under_way[write]++;
    count_command(write ? d->counts.write_backs : d->counts.reads, count);
    cache_start_data(d->cache, write, first, count, t->bytes, &t->command);
}

void data_start_read(struct data_cache *d, struct transfer *t, uint32_t first, uint32_t count, uint32_t wanted)
{
    t->wanted = wanted;
    t->fills = false;
    start(d, t, false, first, count);
}

void data_start_write(struct data_cache *d, struct transfer *t, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0, n; i < count; i += n) {
        uint32_t bits;
        struct data_block *b = data_find_run(d, first + i, count - i, &bits, &n);

        memcpy(t->bytes + (size_t)i * d->part_bytes, data_part_at(d, b, first + i), (size_t)n * d->part_bytes);
        b->writing |= bits;
    }
    start(d, t, true, first, count);
}

void data_clip(const struct data_cache *d, uint32_t wanted, uint32_t *first, uint32_t *count)
{
    uint32_t low = *first, end = *first + *count, from = wanted, to = wanted + 1;

    for (const struct transfer *t = d->transfer; t <= d->own && d->under_way[false] != 0; t++) {
        if (t->write || !transfer_has(t, low, end - low))
            continue;
        if (t->first > wanted)
            end = t->first;
        else if (t->first + t->count <= wanted)
            low = t->first + t->count;
        else /* it has landed, and is gone; others have not */
            low = wanted, end = wanted + 1;
    }
    while (from > low && !data_is_there(d, from - 1))
        from--;
    while (to < end && !data_is_there(d, to))
        to++;
    *first = from;
    *count = to - from;
}

/* ---- Landing ---- */

static void fail_parts(struct data_cache *d, struct data_block *b, uint32_t bits, uint32_t *reported)
{
    for (uint32_t i = 0; i < d->parts; i++)
        if (bits >> i & 1)
            part_fail(d, b, i, 1u << i, reported);
}

static void land_write(struct data_cache *d, const struct transfer *t, bool failed)
{
    uint32_t reported = 0;

    for (uint32_t i = 0, n; i < t->count; i += n) {
        uint32_t bits;
        struct data_block *b = data_find_run(d, t->first + i, t->count - i, &bits, &n);

        if (b && !failed)
            data_parts_clean(d, b, b->writing & bits);
        else if (b && d->set.write == DRIVE_CACHE_THROUGH)
            data_parts_drop(d, b, b->writing & bits); /* what the disk holds now is unknown */
        else if (b)
            fail_parts(d, b, b->writing & bits, &reported);
    }
}

/* The rest of partial parts could not be read. */
static void fail_partial(struct data_cache *d, const struct transfer *t)
{
    uint32_t reported = 0;

    for (uint32_t i = 0, n; i < t->count && d->partial != 0; i += n) {
        uint32_t bits;
        struct data_block *b = data_find_run(d, t->first + i, t->count - i, &bits, &n);

        if (b)
            fail_parts(d, b, b->partial & bits, &reported);
    }
}

/* The part's bytes: what a read has brought, unless the part is in the cache. NULL: it was, has gone since, while the
 * fiber made room for others, and may have been written before that. */
static const uint8_t *bytes_for(struct data_cache *d, struct transfer *t, uint32_t part)
{
    uint32_t bit;
    struct data_block *b = data_find(d, part, &bit);
    bool current = !t->on_fiber || !data_has_landed(t, part);

    if (b && (b->partial & bit) && current)
        data_complete(d, b, part, t);
    if (b && (b->valid & bit)) {
        data_use(d, b, bit);
        return data_part_at(d, b, part);
    }
    return current ? t->bytes + (size_t)(part - t->first) * d->part_bytes : NULL;
}

static void call(struct data_cache *d, struct transfer *t, struct data_waiter *w, int error)
{
    const uint8_t *bytes = NULL;

    if (w->from) {
        data_ask_go_on_write(d, w, error);
        return;
    }
    if (w->waits && error == 0 && !(bytes = bytes_for(d, t, w->part))) {
        data_ask_again(d, w);
        return;
    }
    if (w->waits) /* else for the end itself */
        data_wait_end(d, w->since_cycles);
    w->waits = false;
    w->done(w, bytes, error);
}

void data_land(struct data_cache *d, struct transfer *t, bool on_fiber)
{
    int error = cache_end_data(d->cache, t->write, t->first, t->count, &t->command);
    struct data_waiter *w;

    t->state = TRANSFER_LANDING;
    t->on_fiber = on_fiber;
    if (t->write)
        land_write(d, t, error < 0);
    else if (error == 0)
        data_install(d, t, on_fiber);
    else
        fail_partial(d, t);
    t->state = TRANSFER_CALLING;
    d->under_way[t->write]--;
    while ((w = TAILQ_FIRST(&t->waiters))) {
        TAILQ_REMOVE(&t->waiters, w, next);
        call(d, t, w, error);
    }
    t->state = TRANSFER_FREE;
    data_ask_turn(d);
}

/* ---- Waiting, on the fiber ---- */

struct ending {
    struct data_waiter waiter;
    bool over;
    int error;
};

static void note_end(struct data_waiter *w, const uint8_t *bytes, int error)
{
    struct ending *e = (struct ending *)w; /* its first member */

    (void)bytes;
    e->over = true;
    e->error = error;
}

/* makes_room: for all that a read has brought. */
static int end_transfer(struct data_cache *d, struct transfer *t, bool makes_room)
{
    struct ending e = {.waiter.done = note_end};

    if (t->state != TRANSFER_UNDER_WAY)
        return 0;
    TAILQ_INSERT_TAIL(&t->waiters, &e.waiter, next);
    while (!e.over) {
        cache_await_data(d->cache, &t->command);
        if (!e.over)
            data_land(d, t, makes_room);
    }
    return e.error;
}

int data_transfer_end(struct data_cache *d, struct transfer *t)
{
    return end_transfer(d, t, true);
}

int data_end_writes(struct data_cache *d)
{
    int first_error = 0;

    for (uint32_t i = 0; i < d->transfers; i++) {
        int error = d->transfer[i].write ? data_transfer_end(d, &d->transfer[i]) : 0;

        first_error = first_error < 0 ? first_error : error;
    }
    return first_error;
}

void data_end_reads(struct data_cache *d)
{
    for (uint32_t i = 0; i < d->transfers; i++)
        if (!d->transfer[i].write)
            data_transfer_end(d, &d->transfer[i]);
}

void data_take_in(struct data_cache *d)
{
    if (d->under_way[false] + d->under_way[true] == 0)
        return;
    for (uint32_t i = 0; i < d->transfers; i++)
        if (d->transfer[i].state == TRANSFER_UNDER_WAY && d->transfer[i].command.done)
            data_land(d, &d->transfer[i], true);
}

bool data_end_transfers_of(struct data_cache *d, bool write, uint32_t first, uint32_t count)
{
    bool any = false;

    if (d->under_way[write] == 0)
        return false;
    for (uint32_t i = 0; i < d->transfers; i++) {
        struct transfer *t = &d->transfer[i];

        if (t->write != write || !transfer_has(t, first, count))
            continue;
        data_transfer_end(d, t);
        any = true;
    }
    return any;
}

/* ---- Writing back ---- */

static uint32_t writable_bits(const struct data_block *b, bool good)
{
    return b ? b->dirty & ~(b->writing | b->partial | (good ? b->failed : 0)) : 0;
}

static uint32_t ones_at_bottom(uint32_t bits)
{
    return (uint32_t)__builtin_ctzll(~(uint64_t)bits);
}

uint32_t data_writable(const struct data_cache *d, uint32_t at, uint32_t end, bool good)
{
    uint32_t count = 0, most = end - at < d->buffer_parts ? end - at : d->buffer_parts, bit;

    while (count < most) {
        uint32_t shift = (at + count) & (d->parts - 1);
        uint32_t n = ones_at_bottom(writable_bits(data_find(d, at + count, &bit), good) >> shift);

        count += n;
        if (n < d->parts - shift)
            break;
    }
    return count < most ? count : most;
}

/* The next part from `at` on, below end, that may be written; end: there is none. */
static uint32_t next_writable(const struct data_cache *d, uint32_t at, uint32_t end, bool good)
{
    while (at < end) {
        uint32_t bit, shift = at & (d->parts - 1), bits = writable_bits(data_find(d, at, &bit), good) >> shift;

        if (bits != 0)
            return at + (uint32_t)__builtin_ctz(bits);
        at += d->parts - shift;
    }
    return end;
}

/* Starts to write what one command may from `at` on, in a buffer that is free; without one, or if the caller waits, it
 * ends at once. Returns the parts, or -N_EIO. An older write ends before, so that its end is not taken for this
 * one's. */
static int write_run(struct data_cache *d, uint32_t at, uint32_t end, bool wait)
{
    uint32_t count;

    do
        count = data_writable(d, at, end, wait);
    while (count != 0 && data_end_transfers_of(d, true, at, count));
    if (count == 0)
        return 0;
    struct transfer *t = wait ? NULL : data_transfer_find_free(d);
    bool at_once = !t;
    t = at_once ? d->own : t;
    data_start_write(d, t, at, count);
    int error = at_once ? data_transfer_end(d, t) : 0;
    return error < 0 ? error : (int)count;
}

int data_write_parts(struct data_cache *d, uint32_t first, uint32_t end, uint32_t run_end, bool wait)
{
    while ((first = next_writable(d, first, end, wait)) < end) {
        int written = write_run(d, first, run_end, wait);

        if (written < 0)
            return written;
        first += (uint32_t)written;
    }
    return 0;
}

bool data_group_is_full(const struct data_cache *d, uint32_t part)
{
    uint32_t first = data_group_of(d, part), all = d->parts == PARTS_MAX ? UINT32_MAX : (1u << d->parts) - 1;

    for (uint32_t at = first; at < first + d->group; at += d->parts) {
        uint32_t bit;
        const struct data_block *b = data_find(d, at, &bit);

        if (!b || (b->dirty & ~(b->writing | b->partial)) != all)
            return false;
    }
    return true;
}

static struct transfer *under_way_read(const struct data_cache *d, uint32_t first, uint32_t count)
{
    for (struct transfer *t = d->transfer; t <= d->own; t++)
        if (t->state == TRANSFER_UNDER_WAY && !t->write && transfer_has(t, first, count))
            return t;
    return NULL;
}

int data_fill(struct data_cache *d, uint32_t first, uint32_t end, bool wait)
{
    int first_error = 0;
    struct transfer *comes;

    while (wait && d->partial != 0 && (comes = under_way_read(d, first, end - first)))
        end_transfer(d, comes, false);
    for (uint32_t at = first; at < end && d->partial != 0; at++) {
        uint32_t count = data_partial_run(d, at, end - at < d->buffer_parts ? end - at : d->buffer_parts, wait);
        struct transfer *t = wait ? NULL : data_transfer_find_free(d);

        if (count == 0)
            continue;
        bool at_once = !t;
        t = at_once ? d->own : t;
        data_start_read(d, t, at, count, NOT_INDEXED);
        t->fills = true;
        int error = at_once ? data_transfer_end(d, t) : 0;
        first_error = first_error < 0 ? first_error : error;
        at += count - 1;
    }
    return first_error;
}

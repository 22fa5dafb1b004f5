/* The block cache: see cache.h for the life of a block and the order of a flush. */
#include "nsdisk/ext2/cache.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

struct cache {
    const struct blockdev *dev;
    const char *volume;
    struct cache_log log;
    uint32_t block_bytes;
    uint32_t sectors; /* per block */
    uint32_t count;
    uint32_t dirty;
    bool mismatch;
    struct cache_block *block; /* [count] */
    struct cache_block age;    /* ring: age.older = most recently used, age.newer = least */
    struct cache_block **hash; /* [hash_mask + 1] */
    uint32_t hash_mask;
    struct cache_block **order; /* [count]: the dirty blocks, sorted, during a flush */
    uint8_t *bytes;             /* of all blocks */
    uint8_t *gather;            /* CACHE_GATHER_BYTES */
};

static const char *const type_name[BLOCK_TYPES] = {
    [BLOCK_DATA] = "data",
    [BLOCK_BITMAP] = "bitmap",
    [BLOCK_GROUPS] = "group descriptors",
    [BLOCK_INDIRECT_1] = "indirect",
    [BLOCK_INDIRECT_2] = "double indirect",
    [BLOCK_INDIRECT_3] = "triple indirect",
    [BLOCK_INODES] = "inodes",
    [BLOCK_ATTRIBUTES] = "attributes",
    [BLOCK_DIRECTORY] = "directory",
    [BLOCK_SUPER] = "superblock",
};

/* ---- Making and unmaking ---- */

static void age_insert(struct cache *c, struct cache_block *b)
{
    b->newer = &c->age;
    b->older = c->age.older;
    b->older->newer = b;
    c->age.older = b;
}

static void age_remove(struct cache_block *b)
{
    b->newer->older = b->older;
    b->older->newer = b->newer;
}

static void age_touch(struct cache *c, struct cache_block *b)
{
    if (c->age.older == b)
        return;
    age_remove(b);
    age_insert(c, b);
}

static uint32_t hash_size(uint32_t count)
{
    uint32_t size = 64;

    while (size < count)
        size *= 2;
    return size;
}

static void cache_link_blocks(struct cache *c)
{
    c->age.newer = c->age.older = &c->age;
    for (uint32_t i = 0; i < c->count; i++) {
        c->block[i].bytes = c->bytes + (size_t)i * c->block_bytes;
        age_insert(c, &c->block[i]);
    }
}

struct cache *cache_new(const struct blockdev *dev, const char *volume, uint32_t block_bytes, size_t cache_bytes,
                        struct cache_log log)
{
    struct cache *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->dev = dev;
    c->volume = volume;
    c->log = log;
    c->block_bytes = block_bytes;
    c->sectors = block_bytes / BLOCKDEV_SECTOR_BYTES;
    c->count = (uint32_t)(cache_bytes / block_bytes);
    if (c->count < CACHE_MIN_BLOCKS)
        c->count = CACHE_MIN_BLOCKS;
    uint32_t buckets = hash_size(c->count);
    c->hash_mask = buckets - 1;
    c->block = calloc(c->count, sizeof *c->block);
    c->hash = calloc(buckets, sizeof *c->hash);
    c->order = calloc(c->count, sizeof *c->order);
    c->bytes = malloc((size_t)c->count * block_bytes);
    c->gather = malloc(CACHE_GATHER_BYTES);
    if (!c->block || !c->hash || !c->order || !c->bytes || !c->gather) {
        cache_free(c);
        return NULL;
    }
    cache_link_blocks(c);
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    free(c->gather);
    free(c->bytes);
    free(c->order);
    free(c->hash);
    free(c->block);
    free(c);
}

/* ---- Disk ---- */

static int cache_disk_error(struct cache *c, const char *verb, uint32_t first, uint32_t count)
{
    char text[128];

    text_print(text, sizeof text, "%s: the drive failed to %s block %u (%u blocks)", c->volume, verb, first, count);
    c->log.write(c->log.ctx, text);
    return -N_EIO;
}

static int disk_read(struct cache *c, uint32_t first, uint32_t count, void *buf)
{
    if (c->dev->read(c->dev->ctx, (uint64_t)first * c->sectors, buf, count * c->sectors) < 0)
        return cache_disk_error(c, "read", first, count);
    return 0;
}

static int disk_write(struct cache *c, uint32_t first, uint32_t count, const void *buf)
{
    if (c->dev->write(c->dev->ctx, (uint64_t)first * c->sectors, buf, count * c->sectors) < 0)
        return cache_disk_error(c, "write", first, count);
    return 0;
}

/* ---- Finding ---- */

static struct cache_block **hash_bucket(struct cache *c, uint32_t number)
{
    return &c->hash[(number ^ number >> 11) & c->hash_mask];
}

static struct cache_block *hash_find(struct cache *c, uint32_t number)
{
    struct cache_block *b = *hash_bucket(c, number);

    while (b && b->number != number)
        b = b->hash_next;
    return b;
}

static void hash_insert(struct cache *c, struct cache_block *b)
{
    struct cache_block **bucket = hash_bucket(c, b->number);

    b->hash_next = *bucket;
    *bucket = b;
}

static void hash_remove(struct cache *c, struct cache_block *b)
{
    struct cache_block **at = hash_bucket(c, b->number);

    while (*at != b)
        at = &(*at)->hash_next;
    *at = b->hash_next;
}

static void mark_clean(struct cache *c, struct cache_block *b)
{
    c->dirty -= b->dirty;
    b->dirty = b->fresh = false;
}

static void block_drop(struct cache *c, struct cache_block *b)
{
    mark_clean(c, b);
    hash_remove(c, b);
    b->valid = false;
}

static struct cache_block *oldest_clean(struct cache *c)
{
    struct cache_block *b = c->age.newer;

    while (b != &c->age && (b->dirty || b->holds != 0))
        b = b->newer;
    return b == &c->age ? NULL : b;
}

/* An unused block, for `number`; not yet in the hash. */
static int block_take(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out)
{
    struct cache_block *b = oldest_clean(c);

    if (!b) {
        int error = cache_flush(c);

        if (error < 0)
            return error;
        b = oldest_clean(c);
        if (!b)
            return -N_ENOMEM;
    }
    if (b->valid)
        block_drop(c, b);
    b->number = number;
    b->type = (uint8_t)type;
    *out = b;
    return 0;
}

static void block_enter(struct cache *c, struct cache_block *b)
{
    b->valid = true;
    hash_insert(c, b);
    age_touch(c, b);
}

static int type_mismatch(struct cache *c, const struct cache_block *b, enum block_type type, const char *caller)
{
    char text[160];

    text_print(text, sizeof text, "%s: block %u is wanted as %s by %s, but is in use as %s: two owners", c->volume,
               b->number, type_name[type], caller, type_name[b->type]);
    c->log.write(c->log.ctx, text);
    c->mismatch = true;
    return -N_EIO;
}

static int still_held(struct cache *c, const struct cache_block *b, const char *caller)
{
    char text[160];

    text_print(text, sizeof text, "%s: block %u is freed by %s, but is in use as %s: two owners", c->volume, b->number,
               caller, type_name[b->type]);
    c->log.write(c->log.ctx, text);
    c->mismatch = true;
    return -N_EIO;
}

/* ---- Holding ---- */

int cache_get_for(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out, const char *caller)
{
    struct cache_block *b = hash_find(c, number);

    if (!b) {
        int error = block_take(c, number, type, &b);

        if (error == 0)
            error = disk_read(c, number, 1, b->bytes);
        if (error < 0)
            return error;
        block_enter(c, b);
    } else if (b->type != type) {
        return type_mismatch(c, b, type, caller);
    }
    age_touch(c, b);
    b->holds++;
    *out = b;
    return 0;
}

int cache_get_new_for(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out,
                      const char *caller)
{
    struct cache_block *b = hash_find(c, number);

    if (b)
        return type_mismatch(c, b, type, caller);
    int error = block_take(c, number, type, &b);
    if (error < 0)
        return error;
    memset(b->bytes, 0, c->block_bytes);
    block_enter(c, b);
    b->fresh = true;
    b->holds++;
    cache_mark_dirty(c, b);
    *out = b;
    return 0;
}

void cache_put(struct cache_block *b)
{
    if (b)
        b->holds--;
}

void cache_mark_dirty(struct cache *c, struct cache_block *b)
{
    c->dirty += !b->dirty;
    b->dirty = true;
}

bool cache_has(struct cache *c, uint32_t number)
{
    return hash_find(c, number);
}

static void forget(struct cache *c, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct cache_block *b = hash_find(c, first + i);

        if (b)
            block_drop(c, b);
    }
}

int cache_forget_for(struct cache *c, uint32_t first, uint32_t count, const char *caller)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cache_block *b = hash_find(c, first + i);

        if (b && b->holds != 0)
            return still_held(c, b, caller);
    }
    forget(c, first, count);
    return 0;
}

/* ---- File data ---- */

static int expect_data(struct cache *c, uint32_t first, uint32_t count, const char *caller)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cache_block *b = hash_find(c, first + i);

        if (b && b->type != BLOCK_DATA)
            return type_mismatch(c, b, BLOCK_DATA, caller);
    }
    return 0;
}

int cache_read_data_for(struct cache *c, uint32_t first, uint32_t count, void *buf, const char *caller)
{
    int error = expect_data(c, first, count, caller);

    return error < 0 ? error : disk_read(c, first, count, buf);
}

static void refresh_data(struct cache *c, uint32_t first, uint32_t count, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < count; i++, bytes += c->block_bytes) {
        struct cache_block *b = hash_find(c, first + i);

        if (b)
            memcpy(b->bytes, bytes, c->block_bytes);
    }
}

int cache_write_data_for(struct cache *c, uint32_t first, uint32_t count, const void *buf, const char *caller)
{
    int error = expect_data(c, first, count, caller);

    if (error < 0)
        return error;
    error = disk_write(c, first, count, buf);
    if (error < 0)
        forget(c, first, count); /* what the disk holds now is unknown */
    else
        refresh_data(c, first, count, buf);
    return error;
}

int cache_read_ahead(struct cache *c, uint32_t first, uint32_t count)
{
    if (count > CACHE_GATHER_BYTES / c->block_bytes)
        count = CACHE_GATHER_BYTES / c->block_bytes;
    if (count > c->count / 4)
        count = c->count / 4;
    if (hash_find(c, first))
        return 0;
    int error = disk_read(c, first, count, c->gather);
    for (uint32_t i = 0; error == 0 && i < count; i++) {
        struct cache_block *b = oldest_clean(c);

        if (!b || hash_find(c, first + i))
            break;
        error = block_take(c, first + i, BLOCK_DATA, &b);
        memcpy(b->bytes, c->gather + (size_t)i * c->block_bytes, c->block_bytes);
        block_enter(c, b);
    }
    return error;
}

/* ---- Flushing ---- */

static uint32_t flush_rank(const struct cache_block *b)
{
    bool early = b->fresh || b->type <= BLOCK_GROUPS;

    return early ? b->type : b->type + BLOCK_TYPES;
}

static int compare_rank(const void *left, const void *right)
{
    const struct cache_block *a = *(struct cache_block *const *)left;
    const struct cache_block *b = *(struct cache_block *const *)right;
    uint32_t rank_a = flush_rank(a), rank_b = flush_rank(b);

    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static uint32_t collect_dirty(struct cache *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->count; i++)
        if (c->block[i].dirty)
            c->order[n++] = &c->block[i];
    qsort(c->order, n, sizeof *c->order, compare_rank);
    return n;
}

/* How many of the sorted blocks from `run` on make one command: neighbours of one rank. */
static uint32_t run_length(const struct cache *c, struct cache_block *const *run, uint32_t n)
{
    uint32_t most = CACHE_GATHER_BYTES / c->block_bytes;
    uint32_t length = 1;

    while (length < n && length < most && run[length]->number == run[0]->number + length &&
           flush_rank(run[length]) == flush_rank(run[0]))
        length++;
    return length;
}

static int write_run(struct cache *c, struct cache_block **run, uint32_t length)
{
    const uint8_t *bytes = run[0]->bytes;

    if (length > 1) {
        for (uint32_t i = 0; i < length; i++)
            memcpy(c->gather + (size_t)i * c->block_bytes, run[i]->bytes, c->block_bytes);
        bytes = c->gather;
    }
    int error = disk_write(c, run[0]->number, length, bytes);
    for (uint32_t i = 0; error == 0 && i < length; i++)
        mark_clean(c, run[i]);
    return error;
}

int cache_flush(struct cache *c)
{
    if (c->dirty == 0)
        return 0;
    uint32_t n = collect_dirty(c);
    for (uint32_t i = 0; i < n;) {
        uint32_t length = run_length(c, c->order + i, n - i);
        int error = write_run(c, c->order + i, length);

        if (error < 0)
            return error;
        i += length;
    }
    return 0;
}

int cache_write_now(struct cache *c, struct cache_block *b)
{
    int error = disk_write(c, b->number, 1, b->bytes);

    if (error == 0)
        mark_clean(c, b);
    return error;
}

uint32_t cache_list_dirty(struct cache *c, struct cache_block *const **list)
{
    *list = c->order;
    return collect_dirty(c);
}

int cache_reserve(struct cache *c)
{
    return c->dirty >= c->count / 2 ? cache_flush(c) : 0;
}

bool cache_has_mismatch(const struct cache *c)
{
    return c->mismatch;
}

uint32_t cache_dirty_blocks(const struct cache *c)
{
    return c->dirty;
}

uint32_t cache_held_blocks(const struct cache *c)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < c->count; i++)
        held += c->block[i].holds != 0;
    return held;
}

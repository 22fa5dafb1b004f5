/* The block cache: see cache.h for the life of a block and the order of a flush. */
#include "nsdisk/ext2/cache.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/data_cache.h"
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
    struct block_index index;
    struct data_cache *data;    /* NULL: none */
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

static void cache_link_blocks(struct cache *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        c->block[i].bytes = c->bytes + (size_t)i * c->block_bytes;
        index_age_insert(&c->index, &c->block[i].at);
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
    int index = index_init(&c->index, c->count);
    c->block = calloc(c->count, sizeof *c->block);
    c->order = calloc(c->count, sizeof *c->order);
    c->bytes = malloc((size_t)c->count * block_bytes);
    c->gather = malloc(CACHE_GATHER_BYTES);
    if (!c->block || index < 0 || !c->order || !c->bytes || !c->gather) {
        cache_free(c);
        return NULL;
    }
    cache_link_blocks(c);
    return c;
}

void cache_attach_data(struct cache *c, struct data_cache *data)
{
    c->data = data;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    free(c->gather);
    free(c->bytes);
    free(c->order);
    free(c->index.hash);
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

static struct cache_block *block_at(struct index_entry *e)
{
    return (struct cache_block *)e; /* its first member */
}

static struct cache_block *hash_find(struct cache *c, uint32_t number)
{
    return block_at(index_find(&c->index, number));
}

static void mark_clean(struct cache *c, struct cache_block *b)
{
    c->dirty -= b->dirty;
    b->dirty = b->fresh = b->late = false;
}

static void block_drop(struct cache *c, struct cache_block *b)
{
    mark_clean(c, b);
    index_remove(&c->index, &b->at);
    b->valid = false;
}

static struct cache_block *oldest_clean(struct cache *c)
{
    struct index_entry *e = c->index.age.newer;

    while (e != &c->index.age && (block_at(e)->dirty || block_at(e)->holds != 0))
        e = e->newer;
    return e == &c->index.age ? NULL : block_at(e);
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
    b->at.number = number;
    b->type = (uint8_t)type;
    *out = b;
    return 0;
}

static void block_enter(struct cache *c, struct cache_block *b)
{
    b->valid = true;
    index_insert(&c->index, &b->at);
    index_touch(&c->index, &b->at);
}

/* `what` happens to the block, which is in use otherwise. */
static int two_owners(struct cache *c, const struct cache_block *b, const char *what, const char *caller)
{
    char text[160];

    text_print(text, sizeof text, "%s: block %u is %s by %s, but is in use as %s: two owners", c->volume, b->at.number,
               what, caller, type_name[b->type]);
    c->log.write(c->log.ctx, text);
    c->mismatch = true;
    return -N_EIO;
}

static int type_mismatch(struct cache *c, const struct cache_block *b, enum block_type type, const char *caller)
{
    char what[40];

    text_print(what, sizeof what, "wanted as %s", type_name[type]);
    return two_owners(c, b, what, caller);
}

/* A block that is not in this cache must not be a file's in the other one. */
static int expect_no_data(struct cache *c, uint32_t number, enum block_type type, const char *caller)
{
    const struct cache_block data = {.at.number = number, .type = BLOCK_DATA};

    return c->data && data_cache_has(c->data, number, 1) ? type_mismatch(c, &data, type, caller) : 0;
}

/* ---- Holding ---- */

int cache_get_for(struct cache *c, uint32_t number, enum block_type type, struct cache_block **out, const char *caller)
{
    struct cache_block *b = hash_find(c, number);

    if (!b) {
        int error = expect_no_data(c, number, type, caller);

        if (error == 0)
            error = block_take(c, number, type, &b);
        if (error == 0)
            error = disk_read(c, number, 1, b->bytes);
        if (error < 0)
            return error;
        block_enter(c, b);
    } else if (b->type != type) {
        return type_mismatch(c, b, type, caller);
    }
    index_touch(&c->index, &b->at);
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
    int error = expect_no_data(c, number, type, caller);
    if (error == 0)
        error = block_take(c, number, type, &b);
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
    b->late = false;
}

void cache_mark_late(struct cache *c, struct cache_block *b)
{
    bool late = !b->dirty || b->late;

    cache_mark_dirty(c, b);
    b->late = late;
}

bool cache_has(struct cache *c, uint32_t number)
{
    return hash_find(c, number) || (c->data && data_cache_has(c->data, number, 1));
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
            return two_owners(c, b, "freed", caller);
    }
    forget(c, first, count);
    if (c->data)
        data_cache_forget(c->data, first, count);
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

void cache_start_data(struct cache *c, bool write, uint32_t first, uint32_t count, void *buf,
                      struct blockdev_command *command)
{
    *command = (struct blockdev_command){.done = true};
    command->status = expect_data(c, first, count, __func__);
    if (command->status == 0)
        blockdev_start(c->dev, write, (uint64_t)first * c->sectors, buf, count * c->sectors, command);
}

void cache_await_data(struct cache *c, struct blockdev_command *command)
{
    blockdev_wait(c->dev, command);
}

int cache_end_data(struct cache *c, bool write, uint32_t first, uint32_t count, const struct blockdev_command *command)
{
    return command->status < 0 ? cache_disk_error(c, write ? "write" : "read", first, count) : 0;
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

void cache_keep_data(struct cache *c, uint32_t number, const void *bytes)
{
    struct cache_block *b = hash_find(c, number) ? NULL : oldest_clean(c);

    if (!b || block_take(c, number, BLOCK_DATA, &b) < 0)
        return;
    memcpy(b->bytes, bytes, c->block_bytes);
    block_enter(c, b);
}

/* ---- Flushing ---- */

#define RANK_LATE (2 * BLOCK_TYPES)

static uint32_t flush_rank(const struct cache_block *b)
{
    bool early = b->fresh || b->type <= BLOCK_GROUPS;

    return early ? b->type : b->late ? RANK_LATE : b->type + BLOCK_TYPES;
}

static int compare_rank(const void *left, const void *right)
{
    const struct cache_block *a = *(struct cache_block *const *)left;
    const struct cache_block *b = *(struct cache_block *const *)right;
    uint32_t rank_a = flush_rank(a), rank_b = flush_rank(b);

    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    return a->at.number < b->at.number ? -1 : a->at.number > b->at.number;
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

    while (length < n && length < most && run[length]->at.number == run[0]->at.number + length &&
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
    int error = disk_write(c, run[0]->at.number, length, bytes);
    for (uint32_t i = 0; error == 0 && i < length; i++)
        mark_clean(c, run[i]);
    return error;
}

/* Writes the dirty blocks up to a rank. */
static int flush_to(struct cache *c, uint32_t rank)
{
    int before = c->data ? data_cache_flush(c->data) : 0;

    if (before < 0 || c->dirty == 0)
        return before;
    uint32_t n = collect_dirty(c);
    for (uint32_t i = 0; i < n && flush_rank(c->order[i]) <= rank;) {
        uint32_t length = run_length(c, c->order + i, n - i);
        int error = write_run(c, c->order + i, length);

        if (error < 0)
            return error;
        i += length;
    }
    return 0;
}

int cache_flush(struct cache *c)
{
    return flush_to(c, RANK_LATE);
}

int cache_flush_but_late(struct cache *c)
{
    return flush_to(c, RANK_LATE - 1);
}

int cache_write_now(struct cache *c, struct cache_block *b)
{
    int error = disk_write(c, b->at.number, 1, b->bytes);

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

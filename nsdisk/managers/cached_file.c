/*
 * Files whose blocks are cached (manager.h): what ext2.h declares of files, without a volume.
 *
 *   part of the data cache   slot << SLOT_SHIFT | block of 4 KB in the view      slot 0: none, as block 0 of a volume;
 *                                                                            from GUEST_SLOTS on: peers.h
 *
 * The data cache's disk is the servers. A command reads and writes no more than the file has; what is behind its end is
 * zeros.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/map/window.h"
#include "nsdisk/managers/manager.h"
#include "nsdisk/managers/peers.h"
#include "vertex/contract/errors.h"

#define BLOCK_SHIFT   12u
#define BLOCK_BYTES   (1u << BLOCK_SHIFT)
#define BLOCK_SECTORS (BLOCK_BYTES / BLOCKDEV_SECTOR_BYTES)
#define SLOT_SHIFT    26u /* 256 GB of a view */
#define SLOTS         (1u << (32 - SLOT_SHIFT))
#define SLOT_BLOCKS   (1u << SLOT_SHIFT)
#define CACHED_BLOCK  16384u /* evicted together */
#define GROUP_BLOCKS  8u     /* fetched together */

_Static_assert(CACHED_BLOCK == PEER_PARTS * BLOCK_BYTES && GROUP_BLOCKS * PEER_PARTS <= 32, "bits of parts");

static struct ext2 volume;
static struct cached_file *slot_of[GUEST_SLOTS]; /* by slot */
static struct manager_counts *counts;            /* where ncube reads them */
static uint32_t blocks;                          /* of CACHED_BLOCK bytes */

static uint32_t slot_at(const struct ext2_inode *inode)
{
    return inode->ino;
}

/* ---- The servers as a disk ---- */

/* The file that a block is of, and where it is in the file's view. */
static struct cached_file *find(uint64_t sector, int64_t *at)
{
    const uint32_t part = (uint32_t)(sector / BLOCK_SECTORS);

    *at = (int64_t)(part & (SLOT_BLOCKS - 1)) << BLOCK_SHIFT;
    return slot_of[part >> SLOT_SHIFT];
}

/* How many of a command's bytes the file has. */
static uint64_t clip(const struct cached_file *f, int64_t at, uint32_t sectors)
{
    const uint64_t bytes = (uint64_t)sectors * BLOCKDEV_SECTOR_BYTES, size = f->inode.size_bytes;

    return (uint64_t)at >= size ? 0 : size - (uint64_t)at < bytes ? size - (uint64_t)at : bytes;
}

/* Reads parts of the file from its servers. */
static int read_served(struct cached_file *f, int64_t at, uint8_t *buf, uint32_t parts)
{
    const uint64_t n = clip(f, at, parts * BLOCK_SECTORS);
    const int64_t got = n > 0 ? clf_move(f->file, false, buf, n, at) : 0;

    if (got < 0) {
        f->error = (int)got;
        return -N_EIO;
    }
    counts->read += (uint64_t)got;
    memset(buf + got, 0, ((size_t)parts << BLOCK_SHIFT) - (size_t)got);
    return 0;
}

/* Puts what other managers have of the parts into buf: a bit for each. */
static uint32_t read_peers(uint32_t first, uint32_t parts, uint8_t *buf)
{
    static uint8_t block[CACHED_BLOCK];
    uint32_t there = 0;

    for (uint32_t at = first & ~(PEER_PARTS - 1); at < first + parts; at += PEER_PARTS) {
        const uint32_t valid = peers_fetch(at, block);

        for (uint32_t i = 0; i < PEER_PARTS && valid != 0; i++)
            if ((valid >> i & 1) && at + i >= first && at + i < first + parts) {
                memcpy(buf + ((size_t)(at + i - first) << BLOCK_SHIFT), block + ((size_t)i << BLOCK_SHIFT),
                       BLOCK_BYTES);
                there |= 1u << (at + i - first);
            }
    }
    return there;
}

/* Of a group of at most 32 parts. */
static int disk_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    int64_t at;
    struct cached_file *f = find(sector, &at);
    const uint32_t parts = sectors / BLOCK_SECTORS;
    const uint32_t there = read_peers((uint32_t)(sector / BLOCK_SECTORS), parts, buf);
    int error = 0;

    (void)ctx;
    for (uint32_t i = 0, n; i < parts && error == 0; i += n) {
        for (n = 0; i + n < parts && (there >> (i + n) & 1) == (there >> i & 1); n++)
            ;
        if ((there >> i & 1) == 0)
            error = read_served(f, at + ((int64_t)i << BLOCK_SHIFT), (uint8_t *)buf + ((size_t)i << BLOCK_SHIFT), n);
    }
    return error;
}

static int disk_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    int64_t at, put = 0;
    struct cached_file *f = find(sector, &at);
    const uint64_t n = clip(f, at, sectors);

    (void)ctx;
    if (n > 0)
        put = clf_move(f->file, true, (void *)buf, n, at);
    if (put < (int64_t)n) {
        f->error = put < 0 ? (int)put : -N_ENOSPC;
        return -N_EIO;
    }
    counts->written += n;
    return 0;
}

/* What fails is told to the client, by the server's error. */
static void write_nothing(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

/* ---- Making ---- */

int cached_begin(uint32_t kb, struct manager_counts *to)
{
    static const struct blockdev dev = {
        .read = disk_read, .write = disk_write, .sectors = (uint64_t)SLOTS * SLOT_BLOCKS * BLOCK_SECTORS};
    const struct drive_cache set = {.kb = kb,
                                    .block_bytes = CACHED_BLOCK,
                                    .group_blocks = GROUP_BLOCKS,
                                    .write = DRIVE_CACHE_THROUGH,
                                    .evict = DRIVE_CACHE_LRU,
                                    .commands = 1};
    const struct cache_log log = {write_nothing, NULL};

    volume.dev = dev;
    volume.block_bytes = BLOCK_BYTES;
    volume.block_shift = BLOCK_SHIFT;
    volume.pointers_shift = SLOT_SHIFT / 3;
    volume.file_max_bytes = (uint64_t)SLOT_BLOCKS << BLOCK_SHIFT;
    volume.bounce = malloc(CACHE_GATHER_BYTES);
    volume.cache = cache_new(&volume.dev, "cache", BLOCK_BYTES, 0, log);
    if (volume.cache && volume.bounce)
        volume.data = data_cache_new(volume.cache, "cache", BLOCK_BYTES, &set, log, (struct data_clock){NULL, NULL});
    if (!volume.data)
        return -N_ENOMEM;
    blocks = data_cache_free_blocks(volume.data);
    counts = to;
    peers_begin(volume.data, SLOT_SHIFT, counts);
    return 0;
}

struct ext2 *cached_volume(void)
{
    return &volume;
}

/* Looked at only when something has come or gone: hits leave it as it is. */
static uint32_t kb_most(void)
{
    static uint64_t bytes;
    static uint32_t most;

    if (bytes != counts->read + counts->written) {
        const uint32_t used = blocks - data_cache_free_blocks(volume.data);

        bytes = counts->read + counts->written;
        most = used > most ? used : most;
    }
    return most * (CACHED_BLOCK / 1024);
}

const struct manager_counts *cached_count(void)
{
    counts->cache = *data_cache_counts_place(volume.data); /* after each message: the cache is not gone through */
    counts->cache.drive = 0;
    counts->kb_most = kb_most();
    return counts;
}

/* ---- Opening ---- */

/* A client's file is the manager's only in the same blocks. */
static int find_slot(const struct cached_file *wanted, uint32_t *slot)
{
    *slot = 0;
    for (uint32_t i = 1; i < GUEST_SLOTS; i++)
        if (slot_of[i] && slot_of[i]->handle == wanted->handle)
            return -N_EINVAL;
        else if (!slot_of[i] && *slot == 0)
            *slot = i;
    return *slot == 0 ? -N_ENFILE : 0;
}

/* The blocks that are the manager's, as its view. */
static int see_blocks(struct cached_file *f)
{
    struct pattern *blocks = NULL, *view;
    int error = pattern_stripe(f->block, f->managers, &blocks);

    if (error < 0)
        return error;
    blocks->displacement = f->file->layout->pattern->displacement;
    error = clf_view_copy(blocks, (int32_t)f->element, &view);
    pattern_free(blocks);
    return error < 0 ? error : clf_view_set(f->file, view);
}

/* Clients hear of the manager's end by its presence. */
static int begin_presence(struct cached_file *f)
{
    int error = clf_presence_begin(f->file, &f->presence);

    f->presence_number = clf_presence_number(f->presence, 0);
    return error < 0 ? error : clf_presence_join(f->file, f->presence, f->presence_number, f->element);
}

static int open_file(struct cached_file *f, const char *text, size_t n)
{
    struct clf_layout *l;
    int64_t size;
    int error = clf_layout_parse(text, n, &l);

    if (error == 0)
        error = clf_file_of(f->handle, l, &f->file);
    if (error == 0) {
        f->file->place = f->element;
        error = see_blocks(f);
    }
    if (error == 0)
        error = clf_file_size(f->file, &size);
    if (error == 0)
        error = begin_presence(f);
    if (error == 0)
        f->inode.size_bytes = (uint64_t)clf_view_rank(f->file->sight, size);
    return error;
}

void cached_meet(const int *node, uint32_t n, uint32_t own)
{
    peers_set(node, n, own);
}

int cached_open(const struct cached_file *wanted, const char *text, size_t n, struct cached_file **out)
{
    struct cached_file *f = NULL;
    uint32_t slot;
    int error = wanted->managers < 1 || wanted->element >= (uint32_t)wanted->managers || wanted->block < 1 ||
                        wanted->block > CLF_BLOCK_MOST
                    ? -N_EINVAL
                    : find_slot(wanted, &slot);

    if (error == 0)
        f = malloc(sizeof *f);
    if (!f)
        return error < 0 ? error : -N_ENOMEM;
    *f = *wanted;
    f->inode = (struct ext2_inode){.fs = &volume, .ino = slot};
    slot_of[slot] = f;
    error = open_file(f, text, n);
    if (error < 0)
        ext2_inode_put(&f->inode);
    else
        *out = f;
    return error;
}

static void drop_from(const struct cached_file *f, uint32_t block)
{
    data_cache_forget_many(volume.data, f->inode.ino << SLOT_SHIFT | block, SLOT_BLOCKS - block);
    peers_forget(f->inode.ino << SLOT_SHIFT | block, SLOT_BLOCKS - block);
}

void cached_drop(uint64_t handle)
{
    int64_t size;

    for (uint32_t i = 1; i < GUEST_SLOTS; i++) {
        struct cached_file *f = slot_of[i];

        if (!f || f->handle != handle)
            continue;
        drop_from(f, 0);
        if (clf_file_size(f->file, &size) == 0)
            f->inode.size_bytes = (uint64_t)clf_view_rank(f->file->sight, size);
    }
}

/* ---- As ext2.h has it ---- */

int ext2_inode_put(struct ext2_inode *inode)
{
    struct cached_file *f = (struct cached_file *)inode;

    if (!f)
        return 0;
    drop_from(f, 0);
    slot_of[slot_at(inode)] = NULL;
    if (f->file) {
        clf_presence_end(f->file, f->presence);
        clf_file_close(f->file);
    }
    free(f);
    return 0;
}

int ext2_map_run(struct ext2_inode *inode, uint64_t file_block, uint32_t most, struct ext2_run *run)
{
    if (file_block >= SLOT_BLOCKS)
        return -N_EFBIG;
    *run = (struct ext2_run){slot_at(inode) << SLOT_SHIFT | (uint32_t)file_block, most};
    if (most > SLOT_BLOCKS - file_block)
        run->count = (uint32_t)(SLOT_BLOCKS - file_block);
    return 0;
}

/* The servers' error, where the data cache only knows that there was one. */
static int error_of(struct cached_file *f, int error)
{
    const int servers = f->error;

    f->error = 0;
    return error == -N_EIO && servers < 0 ? servers : error;
}

/* The bytes from `offset` on in its group of blocks, at most `bytes`. */
static uint32_t in_group(uint64_t offset, uint64_t bytes)
{
    const uint32_t group = CACHED_BLOCK * GROUP_BLOCKS, left = group - (uint32_t)(offset % group);

    return bytes < left ? (uint32_t)bytes : left;
}

int64_t ext2_read(struct ext2_inode *inode, uint64_t offset, void *buf, uint32_t bytes)
{
    uint32_t done = 0;

    if (offset >= inode->size_bytes)
        return 0;
    if (bytes > inode->size_bytes - offset)
        bytes = (uint32_t)(inode->size_bytes - offset);
    while (done < bytes) {
        const uint64_t at = offset + done;
        const uint32_t n = in_group(at, bytes - done);
        struct ext2_run run;
        int error = ext2_map_run(inode, at >> BLOCK_SHIFT, SLOT_BLOCKS, &run);

        if (error == 0)
            error = ext2_cached.read(inode, at >> BLOCK_SHIFT,
                                     (struct ext2_span){run.first, (uint32_t)(at % BLOCK_BYTES), n, run.count},
                                     (uint8_t *)buf + done, false);
        if (error < 0)
            return done > 0 ? (int64_t)done : error_of((struct cached_file *)inode, error);
        done += n;
    }
    return bytes;
}

/* Of blocks of 4 KB that are written whole, what others have is old. */
static void forget_whole(uint32_t part, uint32_t offset, uint32_t bytes)
{
    const uint32_t whole = (offset + bytes) / BLOCK_BYTES;

    if (whole > 0)
        peers_forget(part, whole);
}

/* A block behind the end has nothing to be read before it is written in part. */
int64_t ext2_write(struct ext2_inode *inode, uint64_t offset, const void *buf, uint32_t bytes)
{
    const uint64_t behind = (inode->size_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    uint32_t done = 0;

    while (done < bytes) {
        const uint64_t at = offset + done, size = inode->size_bytes;
        const bool fresh = at >= behind;
        uint32_t n = in_group(at, bytes - done);
        struct ext2_run run;

        n = !fresh && behind - at < n ? (uint32_t)(behind - at) : n;
        int error = ext2_map_run(inode, at >> BLOCK_SHIFT, 1, &run);
        if (error == 0 && at + n > size)
            inode->size_bytes = at + n;
        if (error == 0) /* who writes some bytes of a block brings it back first */
            forget_whole(run.first, (uint32_t)(at % BLOCK_BYTES), n);
        if (error == 0)
            error = ext2_cached.write(inode, at >> BLOCK_SHIFT,
                                      (struct ext2_span){run.first, (uint32_t)(at % BLOCK_BYTES), n, fresh ? 0 : 1},
                                      (const uint8_t *)buf + done);
        if (error < 0) {
            inode->size_bytes = size;
            return done > 0 ? (int64_t)done : error_of((struct cached_file *)inode, error);
        }
        done += n;
    }
    return bytes;
}

/* The servers have been told by the client. */
int ext2_set_size(struct ext2_inode *inode, uint64_t size_bytes)
{
    drop_from((struct cached_file *)inode, (uint32_t)(size_bytes >> BLOCK_SHIFT));
    inode->size_bytes = size_bytes;
    return 0;
}

/* What is here is clean. */
int ext2_sync(struct ext2 *fs)
{
    (void)fs;
    return 0;
}

/* ---- Where there is no volume, nothing but the bytes changes ---- */

int ext2_begin(struct ext2 *fs)
{
    (void)fs;
    return 0;
}

uint32_t ext2_now(const struct ext2 *fs)
{
    (void)fs;
    return 0;
}

int ext2_inode_store(struct ext2_inode *inode)
{
    (void)inode;
    return 0;
}

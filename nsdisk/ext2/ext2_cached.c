/*
 * The contents of files through the data cache: which blocks of a group are the file's, and when to read ahead.
 */
#include "nsdisk/ext2/ext2.h"

#include <string.h>

#include "vertex/contract/errors.h"

/* The file's part of a block's group on the disk: from the group's start, if the file goes on from there to the block,
 * else from the block on. */
static int file_part_of_group(struct ext2_inode *inode, uint64_t file_block, uint32_t block, struct ext2_run *run)
{
    uint32_t group = data_cache_group(inode->fs->data);
    uint32_t before = block & (group - 1);
    int error = 0;

    run->first = 0;
    if (before != 0 && file_block >= before)
        error = ext2_map_run(inode, file_block - before, group, run);
    if (error == 0 && (run->first != block - before || run->first == 0 || run->count <= before))
        error = ext2_map_run(inode, file_block, group - before, run);
    return error;
}

/* Asks for a block with its group. Returns whether it has to wait. */
static bool ask_for(struct ext2_inode *inode, uint64_t file_block, uint32_t block, struct data_waiter *w)
{
    const uint8_t *bytes;
    struct ext2_run run;

    if (file_part_of_group(inode, file_block, block, &run) < 0)
        return false;
    w->part = block;
    w->first = run.first;
    w->count = run.count;
    return data_cache_ask(inode->fs->data, w, &bytes) != DATA_HERE;
}

/* A block's bytes, brought with its group if they are not there; until the next call of anything. -N_EAGAIN: somebody
 * is to be called when they are. */
static int cached_block(struct ext2_inode *inode, uint64_t file_block, uint32_t block, const uint8_t **bytes)
{
    struct ext2 *fs = inode->fs;
    struct ext2_run run;

    if (fs->asker && !data_cache_is_there(fs->data, block) && ask_for(inode, file_block, block, fs->asker)) {
        fs->asker = NULL;
        return -N_EAGAIN;
    }
    *bytes = data_cache_look(fs->data, block);
    if (*bytes)
        return 0;
    int error = file_part_of_group(inode, file_block, block, &run);
    return error < 0 ? error : data_cache_fetch(fs->data, run.first, run.count, block, bytes);
}

/* After a read of this block: reads ahead where the file's blocks of a group end: at its end, or where the file goes on
 * elsewhere on the disk, as it may where no more blocks of its run are known. Errors are those of the read that comes
 * for what is read ahead. */
static void read_ahead(struct ext2_inode *inode, uint64_t file_block, uint32_t block, bool run_goes_on)
{
    const struct ext2 *fs = inode->fs;
    uint32_t group = data_cache_group(fs->data), groups = data_cache_ahead_groups(fs->data);
    bool group_goes_on = ((block + 1) & (group - 1)) != 0;
    struct ext2_run next;

    if (groups == 0 || (group_goes_on && run_goes_on) || file_block + 1 >= ext2_map_max_blocks(fs) ||
        (file_block + 1) << fs->block_shift >= inode->size_bytes)
        return;
    if (ext2_map_run(inode, file_block + 1, groups * group, &next) == 0 && next.first != 0 &&
        !(group_goes_on && next.first == block + 1))
        data_cache_ahead(fs->data, next.first, next.count);
}

static int cached_read(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, uint8_t *buf, bool small)
{
    const struct ext2 *fs = inode->fs;
    uint32_t run_end = s.block + s.old;

    (void)small;
    for (; s.bytes != 0; s.block++, file_block++) {
        uint32_t n = ext2_smaller(fs->block_bytes - s.offset, s.bytes);
        const uint8_t *from;
        int error = cached_block(inode, file_block, s.block, &from);

        if (error < 0)
            return error;
        memcpy(buf, from + s.offset, n);
        read_ahead(inode, file_block, s.block, s.block + 1 < run_end);
        buf += n;
        s.bytes -= n;
        s.offset = 0;
    }
    return 0;
}

/* The first of a file's blocks that is not there: the file's, and the disk's. False: all are, or it is not known. */
static bool find_absent(struct ext2_inode *inode, uint64_t offset, uint64_t bytes, uint64_t *file_block,
                        uint32_t *block)
{
    const struct ext2 *fs = inode->fs;
    uint64_t at = offset >> fs->block_shift, end = offset + bytes;

    if (end > inode->size_bytes)
        end = inode->size_bytes;
    end = (end + fs->block_bytes - 1) >> fs->block_shift;
    while (offset < inode->size_bytes && at < end) {
        struct ext2_run run;

        if (ext2_map_run(inode, at, (uint32_t)(end - at), &run) < 0)
            return false; /* the read says why */
        for (uint32_t i = 0; i < run.count && run.first != 0; i++)
            if (!data_cache_is_there(fs->data, run.first + i)) {
                *file_block = at + i;
                *block = run.first + i;
                return true;
            }
        at += run.count;
    }
    return false;
}

bool ext2_cached_has(struct ext2_inode *inode, uint64_t offset, uint64_t bytes)
{
    uint64_t file_block;
    uint32_t block;

    return !find_absent(inode, offset, bytes, &file_block, &block);
}

bool ext2_cached_ask(struct ext2_inode *inode, uint64_t offset, uint32_t bytes, struct data_waiter *w)
{
    uint64_t file_block;
    uint32_t block;

    return find_absent(inode, offset, bytes, &file_block, &block) && ask_for(inode, file_block, block, w);
}

/* Puts a block that is written in part together, in the volume's bounce buffer. */
static int complete_cached(struct ext2_inode *inode, uint64_t file_block, uint32_t block, bool fresh)
{
    struct ext2 *fs = inode->fs;
    const uint8_t *bytes;

    if (fresh) {
        memset(fs->bounce, 0, fs->block_bytes);
        return 0;
    }
    int error = cached_block(inode, file_block, block, &bytes);
    if (error == 0)
        memcpy(fs->bounce, bytes, fs->block_bytes);
    return error;
}

/* Writes n bytes within one block. What the block has beside them is read before, unless the cache does that later. */
static int write_in_block(struct ext2_inode *inode, uint64_t file_block, uint32_t block, uint32_t offset, bool fresh,
                          const uint8_t *buf, uint32_t n)
{
    struct ext2 *fs = inode->fs;

    if (n != fs->block_bytes) {
        bool later = !fresh && data_cache_fills_later(fs->data);
        int error = later ? data_cache_write_some(fs->data, inode->ino, block, offset, buf, n) : -N_EAGAIN;

        if (error != -N_EAGAIN)
            return error;
        error = complete_cached(inode, file_block, block, fresh);
        if (error < 0)
            return error;
        memcpy(fs->bounce + offset, buf, n);
        buf = fs->bounce;
    }
    return data_cache_write(fs->data, inode->ino, block, buf);
}

static int cached_write(struct ext2_inode *inode, uint64_t file_block, struct ext2_span s, const uint8_t *buf)
{
    const struct ext2 *fs = inode->fs;
    uint32_t group = data_cache_group(fs->data);
    int error = 0;

    for (; s.bytes != 0 && error == 0; s.block++, file_block++) {
        uint32_t n = ext2_smaller(fs->block_bytes - s.offset, s.bytes);

        error = write_in_block(inode, file_block, s.block, s.offset, s.old == 0, buf, n);
        buf += n;
        s.bytes -= n;
        s.offset = 0;
        if (error == 0 && (s.bytes == 0 || ((s.block + 1) & (group - 1)) == 0))
            error = data_cache_settle(fs->data, s.block);
    }
    return error;
}

static int cached_clear_tail(struct ext2_inode *inode, uint32_t block, uint32_t tail)
{
    static const uint8_t zeros[4096];
    const struct ext2 *fs = inode->fs;

    return cached_write(inode, inode->size_bytes >> fs->block_shift,
                        (struct ext2_span){block, tail, fs->block_bytes - tail, 1}, zeros);
}

/* All blocks of a write are old, or none is. */
const struct ext2_way ext2_cached = {cached_read, cached_write, cached_clear_tail, 0, false};

int ext2_write_error(const struct ext2_inode *inode)
{
    return inode->fs->data && data_cache_failed(inode->fs->data, inode->ino) ? -N_EIO : 0;
}

/* ---- Blocks where they are ---- */

#define CURSOR_BLOCKS 64u /* of a run that it asks for */

/* Where a file's block is; 0: nowhere. */
static int find_block(struct ext2_inode *inode, struct ext2_cursor *c, uint64_t file_block, uint32_t *block)
{
    if (file_block - c->file_block >= c->run.count) {
        int error = ext2_map_run(inode, file_block, CURSOR_BLOCKS, &c->run);

        if (error < 0)
            return error;
        c->file_block = file_block;
    }
    *block = c->run.first != 0 ? c->run.first + (uint32_t)(file_block - c->file_block) : 0;
    return 0;
}

int ext2_cached_look(struct ext2_inode *inode, struct ext2_cursor *c, uint64_t file_block, const uint8_t **bytes)
{
    static const uint8_t zeros[4096];
    uint32_t block;

    ext2_cached_looked(inode, c);
    int error = find_block(inode, c, file_block, &block);
    if (error < 0)
        return error;
    c->last = block;
    c->last_file_block = file_block;
    *bytes = zeros;
    return block != 0 ? cached_block(inode, file_block, block, bytes) : 0;
}

void ext2_cached_looked(struct ext2_inode *inode, const struct ext2_cursor *c)
{
    if (c->last != 0)
        read_ahead(inode, c->last_file_block, c->last, c->last_file_block + 1 - c->file_block < c->run.count);
}

int ext2_cached_change(struct ext2_inode *inode, struct ext2_cursor *c, uint64_t file_block, uint8_t **bytes)
{
    struct data_cache *data = inode->fs->data;
    uint32_t block;
    int error = find_block(inode, c, file_block, &block);

    *bytes = NULL;
    if (error < 0 || block == 0 || (c->last != 0 && (c->last ^ block) >= data_cache_group(data)))
        return error;
    *bytes = data_cache_change(data, inode->ino, block);
    if (*bytes)
        c->last = block;
    return 0;
}

int ext2_cached_changed(struct ext2_inode *inode, const struct ext2_cursor *c)
{
    int error = data_cache_settle(inode->fs->data, c->last);

    inode->mtime_s = inode->ctime_s = ext2_now(inode->fs);
    int stored = ext2_inode_store(inode);
    return error < 0 ? error : stored;
}

/*
 * Blocks, by their disk block [P2 section 3.0]: reads and writes within one, through the volume's data cache, and the
 * counts of a disk.
 */
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

/* A block that a request names, of a file of its handle. */
struct place {
    struct cfs_part *part;
    const struct cfs_part_run *run;
    uint32_t at; /* its place among the part's blocks */
};

static int find(struct cfs_call *c, struct place *place)
{
    c->disk->requests++;
    int error = cfs_part_get(c, c->r->handle, false, &place->part);
    if (error < 0)
        return error;
    place->run = cfs_part_find(place->part, c->r->block);
    if (!place->run)
        return -N_EINVAL;
    place->at = place->run->at + (c->r->block - place->run->first);
    return 0;
}

/* The block's bytes, brought with what its group has of the file. */
static int get(struct ext2 *fs, const struct cfs_part_run *run, uint32_t block, const uint8_t **bytes)
{
    uint32_t group = data_cache_group(fs->data);
    uint32_t first = block & ~(group - 1), end = first + group;

    *bytes = data_cache_look(fs->data, block);
    if (*bytes)
        return 0;
    first = first > run->first ? first : run->first;
    end = end < run->first + run->count ? end : run->first + run->count;
    return data_cache_fetch(fs->data, first, end - first, block, bytes);
}

/* When a group's last block is asked for: reads on in the file's part, which may go on elsewhere on the disk. */
static void read_ahead(struct ext2 *fs, const struct place *place, uint32_t block)
{
    const struct cfs_part *p = place->part;
    uint32_t group = data_cache_group(fs->data), groups = data_cache_ahead_groups(fs->data);

    if (groups == 0 || ((block + 1) & (group - 1)) != 0 || place->at + 1 >= p->blocks)
        return;
    for (uint32_t i = 0; i < p->runs; i++) {
        uint32_t skip = place->at + 1 - p->run[i].at;

        if (place->at + 1 >= p->run[i].at && skip < p->run[i].count) {
            uint32_t count = p->run[i].count - skip;

            data_cache_ahead(fs->data, p->run[i].first + skip, count < groups * group ? count : groups * group);
            return;
        }
    }
}

int64_t cfs_invoke_read(struct cfs_call *c)
{
    struct place place;
    const uint8_t *bytes;
    int error = find(c, &place);

    if (error < 0)
        return error;
    if (!cfs_bit(place.part->written, place.at)) {
        memset(c->reply, 0, c->r->bytes);
    } else {
        error = get(c->fs, place.run, c->r->block, &bytes);
        if (error < 0)
            return error;
        memcpy(c->reply, bytes + c->r->offset, c->r->bytes);
        read_ahead(c->fs, &place, c->r->block);
    }
    c->reply_bytes = c->r->bytes;
    return c->r->bytes;
}

/* Puts a block together that is written in part. */
static int complete(struct cfs_call *c, const struct place *place, uint8_t *whole)
{
    const uint8_t *bytes;

    if (!cfs_bit(place->part->written, place->at)) {
        memset(whole, 0, CFS_BLOCK_BYTES);
        return 0;
    }
    int error = get(c->fs, place->run, c->r->block, &bytes);
    if (error == 0)
        memcpy(whole, bytes, CFS_BLOCK_BYTES);
    return error;
}

int64_t cfs_invoke_write(struct cfs_call *c)
{
    struct place place;
    const uint8_t *from = c->data;
    int error = c->fs->read_only ? -N_EROFS : find(c, &place);

    if (error == 0 && c->n < CFS_BLOCK_BYTES) {
        error = complete(c, &place, c->reply);
        memcpy(c->reply + c->r->offset, c->data, c->n);
        from = c->reply;
    }
    if (error == 0)
        error = data_cache_write(c->fs->data, place.part->data->ino, c->r->block, from);
    if (error == 0)
        error = data_cache_settle(c->fs->data, c->r->block);
    if (error < 0)
        return error;
    uint8_t bit = (uint8_t)(1u << (place.at & 7));
    place.part->written_changed |= (place.part->written[place.at >> 3] & bit) == 0;
    place.part->written[place.at >> 3] |= bit;
    return c->r->bytes;
}

int64_t cfs_invoke_stat(struct cfs_call *c)
{
    const struct cfs_counts counts = {.blocks = c->fs->blocks,
                                      .blocks_free = c->fs->free_blocks + c->fs->freed_blocks,
                                      .requests = c->disk->requests,
                                      .cache = data_cache_counts(c->fs->data)};

    memcpy(c->reply, &counts, sizeof counts);
    c->reply_bytes = sizeof counts;
    return 0;
}

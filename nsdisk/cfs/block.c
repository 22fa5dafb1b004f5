/*
 * Blocks, by their disk block [P2 section 3.0]: reads and writes within one, through the volume's data cache, whose
 * askers they are: a request whose block is there never waits behind one whose block is not.
 *
 *   server.c: cfs_block_ask -> the part is known? -> its block? -> data_cache_ask -> there: reply
 *                                  |                                  `-> done, some time later: reply
 *                                  `-> no: cfs_invoke_block reads it on the fiber; then again
 *
 * A block that was never written is written whole, with zeros around what came. Until that is in the cache, other
 * requests for the block wait behind it: what the disk has there is another file's.
 */
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

static struct cfs_record *record_of(struct data_waiter *w)
{
    return (struct cfs_record *)((uint8_t *)w - offsetof(struct cfs_record, waiter));
}

/* The place of the request's block among the part's; -N_EINVAL: it is not the file's. */
static int64_t place_of(const struct cfs_part *p, uint32_t block, const struct cfs_part_run **run)
{
    *run = cfs_part_find(p, block);
    return *run ? (int64_t)(*run)->at + (block - (*run)->first) : -N_EINVAL;
}

static void set_written(struct cfs_part *p, uint32_t at)
{
    const uint8_t bit = (uint8_t)(1u << (at & 7));

    p->written_changed |= (p->written[at >> 3] & bit) == 0;
    p->written[at >> 3] |= bit;
}

/* When the last block that the file has in a group is asked for: reads on in its part, which may go on elsewhere on the
 * disk. `here`: the run with the block. */
static void read_ahead(struct ext2 *fs, const struct cfs_part *p, uint32_t block, uint32_t at,
                       const struct cfs_part_run *here)
{
    uint32_t group = data_cache_group(fs->data), groups = data_cache_ahead_groups(fs->data);
    bool last = ((block + 1) & (group - 1)) == 0 || block + 1 == here->first + here->count;

    if (groups == 0 || !last || at + 1 >= p->blocks)
        return;
    for (uint32_t i = 0; i < p->runs; i++) {
        uint32_t skip = at + 1 - p->run[i].at;

        if (at + 1 >= p->run[i].at && skip < p->run[i].count) {
            uint32_t count = p->run[i].count - skip;

            data_cache_ask_ahead(fs->data, p->run[i].first + skip, count < groups * group ? count : groups * group);
            return;
        }
    }
}

/* ---- Answers ---- */

static void reply(struct cfs_record *record, int64_t status, const uint8_t *bytes)
{
    struct cfs *cfs = record->cfs;
    const struct file_reply head = {record->r.seq, (int32_t)status};
    size_t n = bytes && status > 0 ? (size_t)status : 0;

    if (!record->gone)
        family_reply_parts(cfs->loop, record->from, record->type, &head, sizeof head, bytes, n);
    cfs_record_free(record);
}

/* Requests that have waited behind this one ask again, and so does one that frees the part's blocks. */
static void let_others_go_on(struct cfs_part *p, struct cfs_record *record)
{
    struct cfs_record *other;

    p->asks--;
    if (record->fresh)
        LIST_REMOVE(record, fresh_next);
    while ((other = STAILQ_FIRST(&record->followers))) {
        STAILQ_REMOVE_HEAD(&record->followers, next);
        cfs_block_ask(other);
    }
    while (p->asks == 0 && (other = STAILQ_FIRST(&p->freeing))) {
        STAILQ_REMOVE_HEAD(&p->freeing, next);
        cfs_run(other);
    }
}

/* The block is there, or not to be had. */
static void done(struct data_waiter *w, const uint8_t *bytes, int error)
{
    struct cfs_record *record = record_of(w);
    struct cfs_part *p = record->part;
    const struct cfs_part_run *run;
    int64_t at = place_of(p, record->r.block, &run);

    if (error == 0 && record->type == (int)N_CWRITE && at >= 0)
        set_written(p, (uint32_t)at);
    let_others_go_on(p, record);
    reply(record, error < 0 ? error : record->r.bytes, bytes ? bytes + record->r.offset : NULL);
}

/* ---- Asking ---- */

/* The waiter for the block, which its group's blocks of the same run come along with. */
static void set_waiter(struct cfs_record *record, const struct cfs_part *p, const struct cfs_part_run *run,
                       uint32_t group)
{
    struct data_waiter *w = &record->waiter;
    uint32_t block = record->r.block, first = block & ~(group - 1), end = first + group;

    first = first > run->first ? first : run->first;
    end = end < run->first + run->count ? end : run->first + run->count;
    *w = (struct data_waiter){.done = done,
                              .part = block,
                              .first = first,
                              .count = end - first,
                              .ino = p->data->ino,
                              .offset = record->r.offset,
                              .bytes = record->r.bytes};
}

/* Whether a first write of the block is under way, behind which the record then waits. */
static bool follows(const struct cfs_part *p, struct cfs_record *record)
{
    struct cfs_record *other;

    LIST_FOREACH(other, &p->fresh, fresh_next)
        if (other->r.block == record->r.block) {
            STAILQ_INSERT_TAIL(&other->followers, record, next);
            return true;
        }
    return false;
}

static void begin(struct cfs_record *record, struct cfs_part *p)
{
    record->part = p;
    p->asks++;
}

static void read_block(struct ext2 *fs, struct cfs_part *p, struct cfs_record *record, const struct cfs_part_run *run,
                       uint32_t at)
{
    static const uint8_t zeros[CFS_BLOCK_BYTES];
    const uint8_t *bytes;

    if (!cfs_bit(p->written, at)) {
        reply(record, record->r.bytes, zeros);
        return;
    }
    const uint32_t block = record->r.block;
    const bool here = data_cache_is_there(fs->data, block);

    if (here) /* the drive works while the server sends its reply, and pays for it */
        read_ahead(fs, p, block, at, run);
    set_waiter(record, p, run, data_cache_group(fs->data));
    begin(record, p);
    if (data_cache_ask(fs->data, &record->waiter, &bytes) == DATA_HERE) {
        p->asks--;
        reply(record, record->r.bytes, bytes + record->r.offset);
    }
    if (!here) /* behind the command that brings the block itself */
        read_ahead(fs, p, block, at, run);
}

/* What is written to a block for the first time becomes the whole block: the record has room for it. */
static void make_whole(struct cfs_record *record)
{
    memmove(record->data + record->r.offset, record->data, record->n);
    memset(record->data, 0, record->r.offset);
    memset(record->data + record->r.offset + record->n, 0, CFS_BLOCK_BYTES - record->r.offset - record->n);
    record->waiter.offset = 0;
    record->waiter.bytes = CFS_BLOCK_BYTES;
}

static void write_block(struct ext2 *fs, struct cfs_part *p, struct cfs_record *record, const struct cfs_part_run *run,
                        uint32_t at)
{
    int error;

    set_waiter(record, p, run, data_cache_group(fs->data));
    record->fresh = !cfs_bit(p->written, at);
    if (record->fresh) {
        make_whole(record);
        LIST_INSERT_HEAD(&p->fresh, record, fresh_next);
    }
    begin(record, p);
    record->waiter.from = record->data;
    if (data_cache_ask_write(fs->data, &record->waiter, &error) == DATA_HERE)
        done(&record->waiter, NULL, error);
}

static void ask(struct ext2 *fs, struct cfs_part *p, struct cfs_record *record)
{
    const struct cfs_part_run *run;
    int64_t at = place_of(p, record->r.block, &run);

    p->used = ++record->cfs->uses;
    if (record->type == (int)N_CWRITE && fs->read_only)
        at = -N_EROFS;
    else if (record->type == (int)N_CWRITE && at >= 0 && data_cache_failed(fs->data, p->data->ino))
        at = -N_EIO; /* the drive has not taken what was written before; N_CSYNC tries again */
    if (at < 0)
        reply(record, at, NULL);
    else if (!STAILQ_EMPTY(&p->freeing)) /* else it would wait for ever for them to end */
        STAILQ_INSERT_TAIL(&p->freeing, record, next);
    else if (follows(p, record))
        return;
    else if (record->type == (int)N_CREAD)
        read_block(fs, p, record, run, (uint32_t)at);
    else
        write_block(fs, p, record, run, (uint32_t)at);
}

void cfs_block_ask(struct cfs_record *record)
{
    struct ext2 *fs = server_volume(family_server(record->cfs->loop), record->r.disk);
    struct cfs_part *p = fs ? cfs_part_known(&record->cfs->disk[record->r.disk], record->r.handle) : NULL;

    if (p)
        ask(fs, p, record);
    else
        cfs_run(record);
}

int64_t cfs_invoke_block(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = cfs_part_get(c, c->r->handle, false, &p);

    if (error == 0 && !p->data)
        error = -N_EINVAL;
    if (error < 0)
        return error;
    c->waits = true;
    STAILQ_INSERT_TAIL(&c->cfs->loaded, c->record, next); /* the fiber must not wait within the cache's askers */
    family_call_back(c->cfs->loop);
    return 0;
}

void cfs_block_ask_loaded(struct cfs *cfs)
{
    struct cfs_record *record;

    while ((record = STAILQ_FIRST(&cfs->loaded))) {
        STAILQ_REMOVE_HEAD(&cfs->loaded, next);
        cfs_block_ask(record);
    }
}

/* ---- Counts ---- */

int64_t cfs_invoke_stat(struct cfs_call *c)
{
    const struct cfs_counts counts = {.blocks = c->fs->blocks,
                                      .blocks_free = c->fs->free_blocks + c->fs->freed_blocks,
                                      .cache = data_cache_counts(c->fs->data)};

    memcpy(c->reply, &counts, sizeof counts);
    c->reply_bytes = sizeof counts;
    return 0;
}

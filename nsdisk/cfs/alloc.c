/*
 * More and fewer blocks of a file's part on a disk: whole aligned groups of eight, close behind the last one [P2
 * section 3.0], as long as there are any; then what is free.
 */
#include <stdbool.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

static uint32_t goal_of(const struct ext2 *fs, const struct cfs_part *p)
{
    for (uint32_t i = 0; i < p->runs; i++)
        if (p->run[i].at + p->run[i].count == p->blocks)
            return p->run[i].first + p->run[i].count;
    return ext2_group_goal(fs, ext2_group_of_ino(fs, p->data->ino));
}

/* Takes up to eight blocks. Returns their number. */
static int take(struct ext2 *fs, uint32_t goal, uint32_t want, uint32_t *first)
{
    int n = want >= CFS_GROUP ? ext2_alloc_eight(fs, goal, first) : 0;

    if (n == 0 && want >= CFS_GROUP && fs->freed_blocks >= CFS_GROUP) { /* free once the disk says so */
        n = ext2_sync(fs);
        n = n < 0 ? n : ext2_alloc_eight(fs, goal, first);
    }
    return n != 0 ? n : ext2_alloc_blocks(fs, goal, want < CFS_GROUP ? want : CFS_GROUP, first);
}

/* Makes the part longer by up to `want` blocks, at most a group. Returns their number. */
static int lengthen(struct ext2 *fs, struct cfs_part *p, uint32_t want, struct cfs_run *run)
{
    uint32_t goal = goal_of(fs, p);
    int n = ext2_begin(fs);

    if (n == 0)
        n = ext2_map_prepare(p->data, p->blocks, want < CFS_GROUP ? want : CFS_GROUP, goal + CFS_GROUP);
    if (n > 0)
        n = take(fs, goal, (uint32_t)n, &run->first);
    if (n < 0)
        return n;
    run->count = (uint32_t)n;
    int error = cfs_part_append(p, run->first, run->count);
    if (error == 0)
        error = ext2_map_set(p->data, p->blocks - run->count, run->first, run->count);
    if (error < 0) {
        ext2_free_blocks(fs, run->first, run->count);
        return error;
    }
    p->data->size_bytes = (uint64_t)p->blocks * CFS_BLOCK_BYTES;
    return n;
}

static int prepare(struct cfs_call *c, struct cfs_part *p)
{
    int error = cfs_part_settle(c, p);

    if (error < 0 || p->data)
        return error;
    error = cfs_part_make_file(c, p->number, ".w", &p->data);
    if (error < 0)
        return error;
    ext2_inode_put(p->data);
    p->data = NULL;
    error = cfs_part_store_written(c, p, p->written);
    return error < 0 ? error : cfs_part_make_file(c, p->number, "", &p->data);
}

/* Adds a run to the reply's pairs. */
static void add_run(struct cfs_call *c, const struct cfs_run *run)
{
    struct cfs_run last = {0};

    if (c->reply_bytes > 0)
        memcpy(&last, c->reply + c->reply_bytes - sizeof last, sizeof last);
    if (c->reply_bytes > 0 && last.first + last.count == run->first) {
        last.count += run->count;
        memcpy(c->reply + c->reply_bytes - sizeof last, &last, sizeof last);
        return;
    }
    memcpy(c->reply + c->reply_bytes, run, sizeof *run);
    c->reply_bytes += sizeof *run;
}

static bool has_room(const struct cfs_call *c)
{
    return c->reply_bytes < CFS_ALLOC_RUNS_MAX * sizeof(struct cfs_run);
}

/* The part's blocks from a place on. */
static int64_t list_blocks(struct cfs_call *c, const struct cfs_part *p)
{
    uint64_t at = c->r->arg;

    for (uint32_t i = 0; i < p->runs && has_room(c); i++) {
        const struct cfs_part_run *r = &p->run[i];

        if (at < r->at || at - r->at >= r->count)
            continue;
        const uint32_t skip = (uint32_t)at - r->at;
        add_run(c, &(struct cfs_run){r->first + skip, r->count - skip});
        at += r->count - skip;
        i = UINT32_MAX; /* runs are sorted by their place on the disk: the next one may be anywhere */
    }
    return (int64_t)(at - c->r->arg);
}

int64_t cfs_invoke_alloc(struct cfs_call *c)
{
    struct cfs_part *p;
    uint32_t done = 0;
    const bool list = c->r->op == 1, bad = c->r->op > 1 || (!list && (c->r->arg == 0 || c->r->arg > CFS_ALLOC_MAX));
    int result = bad ? -N_EINVAL : cfs_part_get(c, c->r->handle, !list, &p);

    if (result == 0 && list)
        return list_blocks(c, p);
    if (result == 0)
        result = c->fs->read_only ? -N_EROFS : prepare(c, p);
    while (result >= 0 && done < c->r->arg && has_room(c)) {
        struct cfs_run run;

        result = lengthen(c->fs, p, (uint32_t)c->r->arg - done, &run);
        if (result < 0)
            break;
        done += run.count;
        add_run(c, &run);
    }
    if (done > 0) {
        int stored = ext2_inode_store(p->data);

        result = stored < 0 ? stored : result == -N_ENOSPC ? 0 : result;
    }
    return result < 0 ? result : (int64_t)done;
}

/* The bits of blocks that go are clear on the disk before another file, or this one, can have the blocks. */
static int cut(struct cfs_call *c, struct cfs_part *p, uint32_t blocks)
{
    if (blocks >= p->blocks)
        return 0;
    cfs_part_cut(p, blocks);
    int error = cfs_disk_sync(c);
    return error < 0 ? error : ext2_set_size(p->data, (uint64_t)blocks * CFS_BLOCK_BYTES);
}

int64_t cfs_invoke_free(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = c->r->op > 2 ? -N_EINVAL : cfs_part_get(c, c->r->handle, false, &p);

    if (error == 0 && c->fs->read_only)
        error = -N_EROFS;
    if (error < 0)
        return error;
    if (p->asks > 0) { /* for blocks that may go */
        STAILQ_INSERT_TAIL(&p->freeing, c->record, next);
        c->waits = true;
        return 0;
    }
    if (c->r->op == 1)
        return cfs_part_remove(c, p);
    const uint32_t arg = c->r->arg > UINT32_MAX ? UINT32_MAX : (uint32_t)c->r->arg;
    return cut(c, p, c->r->op == 0 ? arg : arg < p->blocks ? p->blocks - arg : 0);
}

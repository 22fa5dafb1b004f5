/*
 * Views, and reading through them (view.h). The engine of libpio/map says where a view's bytes lie; a plan of the view
 * and the whole file gives the runs of a range in file order.
 *
 * Without a data cache, runs whose gaps are smaller than a block make a group, of a sieve's bytes at most. A group of
 * several runs is read as one piece of the file, and its runs are copied from that. A data cache has groups of its own,
 * and the runs of a block are copied from where it is there: a sieve would be another copy, also of what nobody wants.
 * merge.c writes.
 */
#include "nsdisk/serve/view.h"

#include <errno.h>
#include <stdlib.h>

#include "libpio/map/pattern.h"
#include "vertex/contract/errors.h"

#define FILE_MOST ((int64_t)1 << 50) /* bytes; more than any volume's */

struct view {
    struct pattern *pattern; /* of one element */
    struct plan *plan;       /* PLAN_A: the file; PLAN_B: the view */
};

/* ---- Making ---- */

static int error_of(int error)
{
    switch (-error) {
    case 0:
        return 0;
    case E2BIG:
        return -N_E2BIG;
    case EOVERFLOW:
        return -N_EOVERFLOW;
    case ENOMEM:
        return -N_ENOMEM;
    default:
        return -N_EINVAL;
    }
}

int view_make(const void *packed, size_t n, struct view **out)
{
    struct view *view = calloc(1, sizeof *view);

    if (!view)
        return -N_ENOMEM;
    int error = pattern_unpack(packed, n, &view->pattern);
    if (error == 0 && view->pattern->element[0].bytes == 0)
        error = -EINVAL;
    if (error == 0)
        error = plan_make_file(view->pattern, 0, &view->plan);
    if (error < 0) {
        view_free(view);
        return error_of(error);
    }
    *out = view;
    return 0;
}

void view_free(struct view *view)
{
    if (!view)
        return;
    plan_free(view->plan);
    pattern_free(view->pattern);
    free(view);
}

/* The memory that it takes. */
static size_t bytes_of(const struct view *view)
{
    if (!view)
        return 0;
    return sizeof *view + sizeof *view->pattern + sizeof *view->pattern->element + sizeof *view->plan +
           ((size_t)view->pattern->element[0].nodes + (size_t)view->plan->body.nodes) * sizeof(struct falls);
}

int view_replace(struct view_room *room, struct view **place, const void *packed, size_t n)
{
    struct view *made = NULL;
    const size_t others = room->bytes - bytes_of(*place);
    int error = n > 0 ? view_make(packed, n, &made) : 0;

    if (error == 0 && made && others + bytes_of(made) > room->most_bytes)
        error = -N_ENOMEM;
    if (error < 0) {
        view_free(made);
        return error;
    }
    view_free(*place);
    *place = made;
    room->bytes = others + bytes_of(made);
    return 0;
}

/* ---- Where its bytes lie ---- */

/* Whether the view's bytes up to `end` lie in a file that can be. */
static bool is_in_reach(const struct pattern *view, uint64_t end)
{
    uint64_t periods = end / (uint64_t)view->element[0].bytes;

    return view->displacement < FILE_MOST && periods < (uint64_t)(FILE_MOST / view->period);
}

bool view_range(const struct view *view, uint64_t offset, uint32_t bytes, int64_t *first, int64_t *end)
{
    if (!is_in_reach(view->pattern, offset + bytes))
        return false;
    *first = view_file(view, (int64_t)offset);
    *end = view_file(view, (int64_t)(offset + bytes - 1)) + 1;
    return true;
}

int64_t view_file(const struct view *view, int64_t at)
{
    return pattern_file(view->pattern, 0, at);
}

int64_t view_rank(const struct view *view, int64_t file)
{
    return plan_bytes(view->plan, file);
}

void view_runs(const struct view *view, int64_t from, int64_t to, bool (*each)(void *ctx, const struct plan_run *run),
               void *ctx)
{
    plan_runs(view->plan, from, to, each, ctx);
}

int64_t view_gather(const struct view *view, int64_t from, int64_t to, void *packed, const void *file, int64_t at)
{
    return plan_gather(view->plan, from, to, packed, file, at);
}

int64_t view_scatter(const struct view *view, int64_t from, int64_t to, void *file, int64_t at, const void *packed)
{
    return plan_scatter(view->plan, from, to, file, at, packed);
}

/* ---- Reading from a data cache ---- */

/* Takes what the view has of each block from where it is. Returns bytes, or the error that stopped the first. */
static int64_t read_cached(const struct view *view, struct ext2_inode *inode, int64_t offset, int64_t first,
                           int64_t end, uint8_t *to)
{
    const struct ext2 *fs = inode->fs;
    struct ext2_cursor cursor = {0};
    int64_t done = 0;

    end = end < (int64_t)inode->size_bytes ? end : (int64_t)inode->size_bytes;
    for (int64_t at = first; at < end; at = view_file(view, offset + done)) {
        const int64_t block = at >> fs->block_shift, begin = block << fs->block_shift;
        const int64_t block_end = begin + fs->block_bytes;
        const uint8_t *bytes;
        int error = ext2_cached_look(inode, &cursor, (uint64_t)block, &bytes);

        if (error < 0)
            return done > 0 ? done : error;
        done += view_gather(view, at, block_end < end ? block_end : end, to + done, bytes, begin);
    }
    ext2_cached_looked(inode, &cursor);
    return done;
}

/* ---- Reading ---- */

struct transfer {
    const struct view *view;
    struct ext2_inode *inode;
    uint8_t *sieve;
    uint8_t *to;
    int64_t done;  /* bytes of the view */
    int64_t error; /* that stopped it, or 0 */
    bool short_of; /* the end of the file */
    /* the group */
    int64_t first, end; /* in the file; equal: none */
    uint32_t runs;
};

static int64_t read_sieved(struct transfer *t, uint32_t bytes)
{
    const struct plan *plan = t->view->plan;
    int64_t n = ext2_read(t->inode, (uint64_t)t->first, t->sieve, bytes);

    if (n >= 0 && n < bytes && t->first + n < (int64_t)t->inode->size_bytes)
        return -N_EIO; /* it stopped before the end: what follows is not known */
    if (n < 0)
        return n;
    plan_gather(plan, t->first, t->first + n, t->to + t->done, t->sieve, t->first);
    return plan_bytes(plan, t->first + n) - plan_bytes(plan, t->first);
}

/* Reads the group. False: no more. */
static bool read_group(struct transfer *t)
{
    const struct plan *plan = t->view->plan;
    uint32_t bytes = (uint32_t)(t->end - t->first);

    if (bytes == 0)
        return true;
    int64_t wanted = plan_bytes(plan, t->end) - plan_bytes(plan, t->first);
    int64_t n = t->runs > 1 ? read_sieved(t, bytes) : ext2_read(t->inode, (uint64_t)t->first, t->to + t->done, bytes);
    t->first = t->end = 0;
    t->runs = 0;
    if (n < 0)
        t->error = n;
    else
        t->done += n;
    t->short_of = n < wanted;
    return !t->short_of;
}

static bool add_run(void *ctx, const struct plan_run *run)
{
    struct transfer *t = ctx;
    int64_t end = run->file + run->bytes;
    bool goes_on = t->runs == 1 && run->file == t->end;
    bool is_near = t->runs > 0 && run->file - t->end < t->inode->fs->block_bytes;

    if (goes_on || (is_near && end - t->first <= VIEW_SIEVE_BYTES)) {
        t->runs += run->file > t->end;
        t->end = end;
        return true;
    }
    if (!read_group(t))
        return false;
    t->first = run->file;
    t->end = end;
    t->runs = 1;
    return true;
}

int64_t view_read(const struct view *view, uint8_t *sieve, struct ext2_inode *inode, uint64_t offset, void *buf,
                  uint32_t bytes)
{
    struct transfer t = {.view = view, .inode = inode, .sieve = sieve, .to = buf};
    int64_t first, end;

    if (bytes == 0 || !view_range(view, offset, bytes, &first, &end))
        return 0;
    if (inode->fs->data)
        return read_cached(view, inode, (int64_t)offset, first, end, buf);
    plan_runs(view->plan, first, end, add_run, &t);
    if (!t.short_of)
        read_group(&t);
    return t.done > 0 ? t.done : t.error;
}

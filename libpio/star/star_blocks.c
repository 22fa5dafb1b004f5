/*
 * Blocks of the IB segment on their way [P4 Figures 6 and 9]: out in superblocks, which this node gives to itself by
 * turns; in with the whole piece in which they lie, which stays in one of a few buffers, the least recently used goes.
 */
#include <errno.h>
#include <string.h>

#include "libpio/star/star_copy.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_transfer.h"

/* The superblock of the n-th block that this node gives out. */
static int64_t superblock_of(const struct cs_file *f, int64_t n)
{
    return f->ib->base + star_group.rank + n / f->ib->per_superblock * star_group.size;
}

int64_t star_blocks_place(const struct cs_file *f, uint32_t number)
{
    return f->ib->begin + (int64_t)number * f->ib_block;
}

int64_t star_blocks_used(const struct cs_file *f)
{
    return f->ib->given > 0 ? superblock_of(f, f->ib->given - 1) + 1 : f->superblocks;
}

/* ---- Errors ---- */

void star_ib_note(struct cs_file *f, long i, int error)
{
    if (error && !f->ib->vp[i].error)
        f->ib->vp[i].error = error;
    star_note(f, error, INT64_MAX);
}

void star_blocks_lose(struct cs_file *f, const struct star_owner *owner, int64_t n, int error)
{
    for (int64_t k = 0; k < n; k++) {
        star_ib_note(f, owner[k].vp, error);
        f->ib->is_lost(f, owner[k].vp, owner[k].block);
    }
}

void star_blocks_settle(struct cs_file *f)
{
    struct star_ib *ib = f->ib;

    if (!ib->behind.is_under_way)
        return;
    int error = star_behind_end(&ib->behind, f->store, f->handle);
    if (error)
        star_blocks_lose(f, ib->spare_owner, ib->per_superblock, error);
    star_note(f, error, INT64_MAX);
    ib->safe = ib->behind_blocks;
    ib->has_landed(f);
}

/* ---- In ---- */

static int hash(int kind, int64_t number)
{
    return (int)((uint64_t)(number * 2 + kind) * 11400714819323198485u >> 58);
}

static struct star_piece *find_piece(struct star_ib *ib, int kind, int64_t number)
{
    for (int k = ib->head[hash(kind, number)]; k >= 0; k = ib->piece[k].follower)
        if (ib->piece[k].kind == kind && ib->piece[k].number == number)
            return &ib->piece[k];
    return NULL;
}

static void unlink_piece(struct star_ib *ib, struct star_piece *p)
{
    int *at = &ib->head[hash(p->kind, p->number)];

    if (p->kind < 0)
        return;
    while (&ib->piece[*at] != p)
        at = &ib->piece[*at].follower;
    *at = p->follower;
    p->kind = -1;
}

static int read_piece(struct cs_file *f, int kind, int64_t number, struct star_piece **piece)
{
    struct star_ib *ib = f->ib;
    struct star_piece *p = &ib->piece[0];
    int handle = kind == STAR_DATA ? f->handle : f->directory_handle;

    for (int k = 1; k < ib->pieces; k++)
        if (ib->piece[k].used < p->used)
            p = &ib->piece[k];
    unlink_piece(ib, p);
    star_blocks_settle(f);
    if (handle < 0)
        return -EIO;
    /* What this session writes is not read ahead. */
    int64_t limit = kind == STAR_DATA ? ib->begin / f->ib_superblock + f->superblocks : f->directory_superblocks;
    int64_t got = star_ahead_read(&ib->ahead[kind], f->store, handle, number, 0, limit, &p->bytes);
    f->counts.requests[0]++;
    f->counts.superblocks[0]++;
    if (got < 0)
        return (int)got;
    memset(p->bytes + got, 0, (size_t)(f->ib_superblock - got));
    p->kind = kind;
    p->number = number;
    p->follower = ib->head[hash(kind, number)];
    ib->head[hash(kind, number)] = (int)(p - ib->piece);
    *piece = p;
    return 0;
}

/* What of the piece with that file offset is in the superblock that is being filled; NULL: nothing. */
static char *in_superblock(const struct cs_file *f, int64_t at)
{
    const struct star_ib *ib = f->ib;
    int64_t from = ib->begin + ib->open_superblock * f->ib_superblock;

    return ib->open_superblock >= 0 && at >= from && at < from + f->ib_superblock ? ib->superblock + (at - from) : NULL;
}

int star_blocks_read(struct cs_file *f, int kind, int64_t at, char *to, int64_t n)
{
    while (n > 0) {
        int64_t number = at / f->ib_superblock, within = at % f->ib_superblock, part = f->ib_superblock - within;
        const char *open = kind == STAR_DATA ? in_superblock(f, at) : NULL;
        struct star_piece *p = open ? NULL : find_piece(f->ib, kind, number);
        int error = open || p ? 0 : read_piece(f, kind, number, &p);

        if (error)
            return error;
        part = part < n ? part : n;
        memcpy(to, open ? open : p->bytes + within, (size_t)part);
        if (p)
            p->used = ++f->ib->clock;
        at += part;
        to += part;
        n -= part;
    }
    return 0;
}

int star_blocks_get(struct cs_file *f, uint32_t number, char *to)
{
    struct star_ib *ib = f->ib;
    int64_t superblock = number / ib->per_superblock, within = (number - superblock * ib->per_superblock) * f->ib_block;
    const char *from = ib->superblock;

    if (superblock != ib->open_superblock) {
        int64_t piece = ib->begin / f->ib_superblock + superblock;
        struct star_piece *p = find_piece(ib, STAR_DATA, piece);
        int error = p ? 0 : read_piece(f, STAR_DATA, piece, &p);

        if (error)
            return error;
        p->used = ++ib->clock;
        from = p->bytes;
    }
    star_copy_block(to, from + within, f->ib_block);
    return 0;
}

int star_blocks_entry(struct cs_file *f, int64_t at, const uint32_t **entry)
{
    int64_t number = at / f->ib_superblock;
    struct star_piece *p = find_piece(f->ib, STAR_DIRECTORY, number);
    int error = p ? 0 : read_piece(f, STAR_DIRECTORY, number, &p);

    if (error)
        return error;
    p->used = ++f->ib->clock;
    *entry = (const uint32_t *)__builtin_assume_aligned(p->bytes + at % f->ib_superblock, 4);
    return 0;
}

void star_blocks_stop(struct cs_file *f)
{
    for (int kind = 0; kind < 2; kind++)
        star_ahead_stop(&f->ib->ahead[kind], f->store);
}

void star_blocks_forget(struct cs_file *f)
{
    if (f->ib)
        star_blocks_stop(f);
    for (int k = 0; f->ib && k < f->ib->pieces; k++)
        unlink_piece(f->ib, &f->ib->piece[k]);
}

void star_blocks_forget_directory(struct cs_file *f)
{
    star_ahead_stop(&f->ib->ahead[STAR_DIRECTORY], f->store);
    for (int k = 0; k < f->ib->pieces; k++)
        if (f->ib->piece[k].kind == STAR_DIRECTORY)
            unlink_piece(f->ib, &f->ib->piece[k]);
}

/* ---- Out ---- */

int star_blocks_write(struct cs_file *f, int kind, int64_t at, const char *from, int64_t n)
{
    char *open = kind == STAR_DATA ? in_superblock(f, at) : NULL; /* a block lies within a superblock */

    if (open) {
        memcpy(open, from, (size_t)n);
        f->ib->superblock_is_dirty = true;
        return 0;
    }
    for (int64_t done = 0; done < n;) {
        int64_t within = (at + done) % f->ib_superblock, part = f->ib_superblock - within;
        struct star_piece *p = find_piece(f->ib, kind, (at + done) / f->ib_superblock);

        part = part < n - done ? part : n - done;
        if (p)
            memcpy(p->bytes + within, from + done, (size_t)part);
        done += part;
    }
    star_blocks_settle(f);
    star_ahead_stop(&f->ib->ahead[kind], f->store);
    int64_t written = f->store->write(kind == STAR_DATA ? f->handle : f->directory_handle, from, n, at);
    f->counts.requests[1]++;
    return written < 0 ? (int)written : 0;
}

/* Goes on before the full superblock is written, in the other one. */
static int flush_behind(struct cs_file *f)
{
    struct star_ib *ib = f->ib;
    char *full = ib->superblock;
    struct star_owner *owner = ib->owner;
    int64_t at = ib->begin + ib->open_superblock * f->ib_superblock;

    star_blocks_settle(f);
    f->counts.requests[1]++;
    f->counts.superblocks[1]++;
    ib->superblock_is_dirty = false;
    ib->superblock = ib->spare;
    ib->spare = full;
    ib->owner = ib->spare_owner;
    ib->spare_owner = owner;
    ib->open_superblock = -1;
    ib->filled = 0;
    ib->behind_blocks = ib->given;
    int error = star_behind_start(&ib->behind, f->store, f->handle, full, f->ib_superblock, at);
    if (error)
        star_blocks_lose(f, owner, ib->per_superblock, error);
    if (!ib->behind.is_under_way) {
        ib->safe = ib->given;
        ib->has_landed(f);
    }
    return error;
}

int star_blocks_flush(struct cs_file *f)
{
    struct star_ib *ib = f->ib;

    star_blocks_settle(f);
    if (ib->open_superblock < 0 || !ib->superblock_is_dirty)
        return 0;
    int64_t written = f->store->write(f->handle, ib->superblock, ib->filled * f->ib_block,
                                      ib->begin + ib->open_superblock * f->ib_superblock);
    int error = written < 0 ? (int)written : 0;
    f->counts.requests[1]++;
    f->counts.superblocks[1]++;
    ib->superblock_is_dirty = false;
    if (error)
        star_blocks_lose(f, ib->owner, ib->filled, error);
    ib->safe = ib->given;
    ib->has_landed(f);
    return error;
}

int star_blocks_append(struct cs_file *f, long i, int64_t j, const char *from, uint32_t *number)
{
    struct star_ib *ib = f->ib;

    if (ib->filled == 0) {
        int64_t superblock = superblock_of(f, ib->given);

        if (superblock >= (int64_t)STAR_NONE / ib->per_superblock - 1)
            return -EFBIG;
        ib->open_superblock = superblock;
        memset(ib->superblock, 0, (size_t)f->ib_superblock);
    }
    star_copy_block(ib->superblock + ib->filled * f->ib_block, from, f->ib_block);
    ib->superblock_is_dirty = true;
    ib->owner[ib->filled] = (struct star_owner){i, j};
    *number = (uint32_t)(ib->open_superblock * ib->per_superblock + ib->filled);
    ib->given++;
    return ++ib->filled < ib->per_superblock ? 0 : flush_behind(f);
}

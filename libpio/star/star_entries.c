/*
 * Entries of .dir on their way out [P4 5.2.2, 5.2.4, Figure 6]: a full one goes to the next place in this node's
 * superblock of the directory, which goes out as a whole. Its `next` is not known then. It is set later, before this
 * node reads what it has written, or at the end: superblocks are read in reverse order, the last first, so that each
 * entry finds the number of the one that follows it.
 *
 *     superblock (being filled) --full--> full: waits until its blocks are in the file --> written while others fill
 *     link: from the last one back: work <- read, `next` set, written behind
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_parts.h"
#include "libpio/star/star_transfer.h"

static size_t entry_bytes(const struct cs_file *f)
{
    return (size_t)star_entry_words(f) * sizeof(uint32_t);
}

/* The superblock of the n-th entry that this node gives out. */
static int64_t superblock_of(const struct cs_file *f, int64_t n)
{
    return f->ib->directory_base + star_group.rank + n / f->ib->entries_per * star_group.size;
}

int64_t star_entries_used(const struct cs_file *f)
{
    return f->ib->entries.given > 0 ? superblock_of(f, f->ib->entries.given - 1) + 1 : f->directory_superblocks;
}

/* The k-th entry of a superblock. */
static uint32_t *entry_in(const struct cs_file *f, char *superblock, int64_t k)
{
    return (uint32_t *)__builtin_assume_aligned(superblock + k * (int64_t)entry_bytes(f), 4);
}

/* Words are copied one by one: a memcpy that does not know that they are aligned takes a node ten times as long. */
static void copy_entry(const struct cs_file *f, uint32_t *to, const uint32_t *from)
{
    for (int64_t k = star_entry_words(f); k-- > 0;)
        to[k] = from[k];
}

/* Whether an entry is in the superblock that is being filled. */
static bool is_open(const struct cs_file *f, uint32_t number)
{
    const struct star_entries *e = &f->ib->entries;

    return e->filled > 0 && number >= e->begin && number < e->begin + f->ib->entries_per;
}

static void note(struct star_entries *e, int error)
{
    e->error = e->error ? e->error : error;
}

/* In CS_EACH a node makes the file alone; else all have opened it. */
static int open_directory(struct cs_file *f)
{
    return f->directory_handle >= 0 ? 0 : star_open_part(f, ".dir", O_RDWR | O_CREAT, &f->directory_handle);
}

static int write_directory(const struct cs_file *f, const char *from, int64_t number)
{
    int64_t written = f->store->write(f->directory_handle, from, f->ib_superblock, number * f->ib_superblock);

    return written < 0 ? (int)written : 0;
}

/* Where there is no descriptor for .dir, those of the data serve, which are opened again. */
static int write_instead_of_data(struct cs_file *f, const char *from, int64_t number)
{
    star_settle(f);
    star_blocks_settle(f);
    star_blocks_stop(f);
    f->store->close(f->handle);
    int error = open_directory(f);
    if (!error) {
        error = write_directory(f, from, number);
        f->store->close(f->directory_handle);
        f->directory_handle = -1;
    }
    f->handle = f->store->open(f->name, O_RDWR, star_layout_of(f));
    return error ? error : f->handle < 0 ? f->handle : 0;
}

static int write_superblock(struct cs_file *f, const char *from, int64_t number, bool behind)
{
    int error = open_directory(f);

    f->counts.requests[1]++;
    if (error == -EMFILE)
        return write_instead_of_data(f, from, number);
    if (error || !behind)
        return error ? error : write_directory(f, from, number);
    return star_behind_start(&f->ib->entries.behind, f->store, f->directory_handle, from, f->ib_superblock,
                             number * f->ib_superblock);
}

static void end_write(struct cs_file *f)
{
    note(&f->ib->entries, star_behind_end(&f->ib->entries.behind, f->store, f->directory_handle));
}

void star_entries_go_on(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;

    if (!e->waits || e->needs > f->ib->safe)
        return;
    e->waits = false;
    note(e, write_superblock(f, e->full, e->full_number, true));
    f->counts.directory_superblocks++;
}

void star_entries_settle(struct cs_file *f)
{
    if (f->ib->entries.waits)
        star_blocks_flush(f); /* what it waits for */
    end_write(f);
}

static void turn_over(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;
    char *full = e->superblock;

    star_entries_settle(f);
    e->superblock = e->full;
    e->full = full;
    e->full_number = e->begin / f->ib->entries_per;
    e->needs = f->ib->given;
    e->waits = true;
    e->is_dirty = false;
    e->filled = 0;
    star_entries_go_on(f);
}

static int begin_superblock(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;
    int64_t superblock = superblock_of(f, e->given);

    if (superblock >= (int64_t)STAR_NONE / f->ib->entries_per - 1)
        return -EFBIG;
    e->begin = (uint32_t)(superblock * f->ib->entries_per);
    memset(e->superblock, 0xff, (size_t)f->ib_superblock);
    return 0;
}

int star_entries_append(struct cs_file *f, const uint32_t *words, uint32_t *number)
{
    struct star_entries *e = &f->ib->entries;
    int error = e->error;

    if (!error && e->filled == 0)
        error = begin_superblock(f);
    if (error)
        return error;
    copy_entry(f, entry_in(f, e->superblock, e->filled), words);
    *number = (uint32_t)(e->begin + e->filled);
    e->given++;
    e->is_dirty = true;
    if (++e->filled == f->ib->entries_per)
        turn_over(f);
    return e->error;
}

int star_entries_put(struct cs_file *f, uint32_t number, const uint32_t *words)
{
    struct star_entries *e = &f->ib->entries;

    if (is_open(f, number)) {
        copy_entry(f, entry_in(f, e->superblock, number - e->begin), words);
        e->is_dirty = true;
        return 0;
    }
    star_entries_settle(f); /* it may be there */
    e->full_number = -1;
    int error = open_directory(f);
    if (!error)
        error = star_blocks_write(f, STAR_DIRECTORY, number * (int64_t)entry_bytes(f), (const char *)words,
                                  (int64_t)entry_bytes(f));
    note(e, error);
    return error;
}

int star_entries_get(struct cs_file *f, uint32_t number, const uint32_t **words)
{
    struct star_entries *e = &f->ib->entries;

    if (is_open(f, number)) {
        *words = entry_in(f, e->superblock, number - e->begin);
        return 0;
    }
    star_entries_settle(f);
    return star_blocks_entry(f, number * (int64_t)entry_bytes(f), words);
}

int star_entries_flush(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;

    star_entries_settle(f);
    if (!e->error && e->is_dirty) {
        note(e, write_superblock(f, e->superblock, e->begin / f->ib->entries_per, false));
        f->counts.directory_superblocks++;
        e->is_dirty = false;
    }
    return e->error;
}

/* ---- Links ---- */

/* Sets `next` where the entry lies in memory, and where its VP has it. */
static void set_next(const struct cs_file *f, long i, uint32_t *entry, uint32_t number, uint32_t next)
{
    entry[1] = next;
    if (f->ib->vp[i].which >= 0 && f->ib->vp[i].number == number)
        star_entry_of(f, i)[1] = next;
}

/* Entries `from` to `to` of a superblock of this node, from the last back. */
static void link_superblock(const struct cs_file *f, char *superblock, int64_t number, int64_t from, int64_t to)
{
    for (int64_t k = to - 1; k >= from; k--) {
        uint32_t *entry = entry_in(f, superblock, k), own = (uint32_t)(number * f->ib->entries_per + k);
        long i = star_shape_local(f->shape, (long)entry[0]);

        if (i < 0) /* what it has been given, it finds again */
            continue;
        set_next(f, i, entry, own, f->ib->vp[i].follows);
        f->ib->vp[i].follows = own;
    }
}

/* Reads a superblock of .dir to `work`, if it is not in memory still. */
static int read_back(struct cs_file *f, int64_t number, int64_t low)
{
    struct star_entries *e = &f->ib->entries;

    f->counts.linked_superblocks++;
    if (number == e->full_number) {
        char *full = e->full;

        e->full = e->work;
        e->work = full;
        e->full_number = -1;
        return 0;
    }
    int64_t limit = star_entries_used(f);
    int64_t got =
        star_ahead_read(&f->ib->ahead[STAR_DIRECTORY], f->store, f->directory_handle, number, low, limit, &e->work);

    f->counts.requests[0]++;
    return got < 0 ? (int)got : got < f->ib_superblock ? -EIO : 0;
}

/* Writes `work` behind. */
static void write_back(struct cs_file *f, int64_t number)
{
    struct star_entries *e = &f->ib->entries;
    char *work = e->work;

    end_write(f);
    e->work = e->full;
    e->full = work;
    e->full_number = number;
    note(e, write_superblock(f, e->full, number, true));
}

static void link_new_entries(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;
    int64_t per = f->ib->entries_per, low = superblock_of(f, e->linked);

    for (int64_t to = e->given; to > e->linked && !e->error;) {
        int64_t begin = (to - 1) / per * per, from = begin > e->linked ? begin : e->linked;
        int64_t number = superblock_of(f, begin);
        bool is_here = is_open(f, (uint32_t)(number * per));

        if (!is_here)
            note(e, read_back(f, number, low));
        if (!e->error)
            link_superblock(f, is_here ? e->superblock : e->work, number, from - begin, to - begin);
        if (is_here)
            e->is_dirty = true;
        else if (!e->error)
            write_back(f, number);
        to = from;
    }
    end_write(f);
    if (!e->error)
        e->linked = e->given;
}

/* Whether an entry was there before these, and gets one behind it. */
static bool has_link(const struct star_vp *vp)
{
    return vp->follows != STAR_NONE && vp->linked != STAR_NONE;
}

/* Writes the parts of `work` that are this node's: those of others may change meanwhile. */
static void write_own_entries(struct cs_file *f, int64_t number)
{
    struct star_entries *e = &f->ib->entries;
    int64_t per = f->ib->entries_per, bytes = (int64_t)entry_bytes(f);

    for (int64_t k = 0, n; k < per && !e->error; k += n) {
        bool own = star_shape_local(f->shape, (long)*entry_in(f, e->work, k)) >= 0;

        for (n = 1; k + n < per && (star_shape_local(f->shape, (long)*entry_in(f, e->work, k + n)) >= 0) == own;)
            n++;
        int64_t written = own ? f->store->write(f->directory_handle, e->work + k * bytes, n * bytes,
                                                number * f->ib_superblock + k * bytes)
                              : 0;
        f->counts.requests[1] += own;
        note(e, written < 0 ? (int)written : 0);
    }
}

/* Sets `next` of the entries that VPs i to i + n - 1 had before, which lie in one superblock. */
static void link_old_entries(struct cs_file *f, long i, long n)
{
    struct star_entries *e = &f->ib->entries;
    int64_t per = f->ib->entries_per, number = f->ib->vp[i].linked / per;
    bool is_here = is_open(f, f->ib->vp[i].linked);

    if (!is_here)
        note(e, read_back(f, number, number));
    for (; n > 0 && !e->error; n--, i++) {
        struct star_vp *vp = &f->ib->vp[i];
        uint32_t *entry = entry_in(f, is_here ? e->superblock : e->work, vp->linked % per);

        if (!has_link(vp))
            continue;
        if (entry[0] != (uint32_t)cs_number(f->shape, i))
            star_ib_note(f, i, -EIO);
        else
            set_next(f, i, entry, vp->linked, vp->follows);
    }
    if (!e->error && is_here)
        e->is_dirty = true;
    else if (!e->error)
        write_own_entries(f, number);
}

int star_entries_link(struct cs_file *f)
{
    struct star_entries *e = &f->ib->entries;
    long local = f->shape->local;

    star_entries_settle(f);
    if (e->error || e->linked == e->given)
        return e->error;
    star_blocks_forget_directory(f);
    link_new_entries(f);
    for (long i = 0, n; i < local && !e->error; i += n) {
        int64_t number = f->ib->vp[i].linked / f->ib->entries_per;

        for (n = 1; has_link(&f->ib->vp[i]) && i + n < local &&
                    (!has_link(&f->ib->vp[i + n]) || f->ib->vp[i + n].linked / f->ib->entries_per == number);)
            n++;
        if (has_link(&f->ib->vp[i]))
            link_old_entries(f, i, n);
    }
    for (long i = 0; i < local && !e->error; i++) {
        struct star_vp *vp = &f->ib->vp[i];

        if (vp->follows != STAR_NONE) {
            vp->first = vp->linked == STAR_NONE ? vp->follows : vp->first;
            vp->linked = vp->last;
        }
        vp->follows = STAR_NONE;
    }
    star_ahead_stop(&f->ib->ahead[STAR_DIRECTORY], f->store);
    return e->error;
}

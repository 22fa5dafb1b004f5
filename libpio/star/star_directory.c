/*
 * The directory of the IB segment [P4 5.2.2, Figure 7]: .first has each VP's first and last entry and its bytes, .dir
 * entries of a VP, the number of the next one, and k numbers of blocks. Entries are read one by one, as blocks of the
 * VP are asked for. They are written when the file is closed: the node knows then what follows each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"

#define FIRST_BYTES 16 /* of a VP in .first */

static int64_t words_of_entry(const struct cs_file *f)
{
    return f->ib_pointers + 2;
}

static int64_t entry_bytes(const struct cs_file *f)
{
    return 4 * words_of_entry(f);
}

static int64_t entries_of_superblock(const struct cs_file *f)
{
    return f->ib->entries_per;
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Words of the files, which lie on multiples of 4 in memory: nodes and hosts are little-endian, too. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of .first and .dir");

static uint32_t get_word(const unsigned char *at)
{
    uint32_t word;

    memcpy(&word, __builtin_assume_aligned(at, 4), sizeof word);
    return word;
}

static void put_word(unsigned char *at, uint32_t word)
{
    memcpy(__builtin_assume_aligned(at, 4), &word, sizeof word);
}

/* How many VPs from local number i on have numbers that follow each other. */
static long run_of(const struct cs_file *f, long i)
{
    long n = 1;

    while (i + n < f->shape->local && cs_number(f->shape, i + n) == cs_number(f->shape, i) + n)
        n++;
    return n;
}

/* ---- .first ---- */

static void take_first(const struct cs_file *f, struct star_vp *vp, const unsigned char *at)
{
    uint64_t bytes = get_word(at + 8) | (uint64_t)get_word(at + 12) << 32;

    vp->next = get_word(at);
    vp->last = get_word(at + 4);
    vp->bad_bytes = bytes;
    vp->is_bad = bytes > (uint64_t)INT32_MAX * (uint64_t)f->ib_block || (bytes == 0) != (vp->next == STAR_NONE) ||
                 (bytes == 0) != (vp->last == STAR_NONE);
    if (vp->is_bad)
        return;
    vp->bytes = (int64_t)bytes;
    vp->all_entries = ceiling(ceiling(vp->bytes, f->ib_block), f->ib_pointers);
    vp->changed_from = ceiling(vp->bytes, f->ib_block);
}

int star_directory_begin(struct cs_file *f)
{
    struct star_ib *ib = f->ib;
    long local = f->shape->local;
    unsigned char *all = malloc((size_t)local * FIRST_BYTES + 1);
    int error = all ? 0 : -ENOMEM;

    for (long i = 0, n; !error && i < local; i += n) {
        n = run_of(f, i);
        int64_t got = f->store->read(f->first_handle, all, n * FIRST_BYTES, cs_number(f->shape, i) * FIRST_BYTES);

        f->counts.requests[0]++;
        error = got < 0 ? (int)got : got < n * FIRST_BYTES ? -EIO : 0;
        for (long k = 0; !error && k < n; k++)
            take_first(f, &ib->vp[i + k], all + k * FIRST_BYTES);
    }
    free(all);
    return error;
}

/* ---- .dir ---- */

int star_directory_reach(struct cs_file *f, long i, int64_t j)
{
    struct star_vp *vp = &f->ib->vp[i];

    if (j >= INT32_MAX)
        return -EFBIG;
    if (j >= vp->room) {
        int64_t room = j < 7 ? 8 : j + j / 2;
        uint32_t *block = realloc(vp->block, (size_t)room * sizeof *block);

        if (!block)
            return -ENOMEM;
        vp->block = block;
        vp->room = room;
    }
    while (vp->blocks <= j)
        vp->block[vp->blocks++] = STAR_NONE;
    return 0;
}

/* For the number of one more entry. */
static int make_room(struct star_vp *vp)
{
    int64_t room = vp->entries < 4 ? 4 : vp->entries * 2;
    uint32_t *list = vp->entries < vp->entry_room ? vp->entry : realloc(vp->entry, (size_t)room * sizeof *list);

    if (!list)
        return -ENOMEM;
    vp->entry_room = list == vp->entry && vp->entries < vp->entry_room ? vp->entry_room : room;
    vp->entry = list;
    return 0;
}

/* Takes the VP's next entry, which must be its own, behind the one before it, and the last if it is to be that. */
static int take_entry(struct cs_file *f, long i)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t most = f->superblocks * (f->ib_superblock / f->ib_block), bytes = entry_bytes(f);
    int64_t blocks = ceiling(vp->bytes, f->ib_block), known = vp->entries * f->ib_pointers;
    uint32_t number = vp->next;

    if (number >= f->directory_superblocks * entries_of_superblock(f) ||
        (vp->entries > 0 && number <= vp->entry[vp->entries - 1]))
        return -EIO;
    const unsigned char *entry = NULL;
    int error = make_room(vp);
    if (!error)
        error = star_blocks_entry(f, number * bytes, &entry);
    bool is_last = vp->entries + 1 == vp->all_entries;
    if (!error && (get_word(entry) != (uint32_t)cs_number(f->shape, i) ||
                   (get_word(entry + 4) == STAR_NONE) != is_last || (is_last && number != vp->last)))
        error = -EIO;
    for (int64_t k = 0; !error && k < f->ib_pointers; k++) {
        uint32_t block = get_word(entry + 8 + 4 * k);

        if (block != STAR_NONE && (block >= most || known + k >= blocks))
            error = -EIO;
        else if (known + k < blocks)
            error = star_directory_reach(f, i, known + k);
        if (!error && known + k < blocks)
            vp->block[known + k] = block;
    }
    if (!error) {
        vp->entry[vp->entries++] = number;
        vp->next = get_word(entry + 4);
    }
    return error;
}

int star_directory_find(struct cs_file *f, long i, int64_t j)
{
    struct star_vp *vp = &f->ib->vp[i];
    int error = 0;

    while (!error && vp->entries < vp->all_entries && vp->entries * f->ib_pointers <= j)
        error = take_entry(f, i);
    return error;
}

/* ---- Writing it ---- */

/* New entries of this node. */
struct writer {
    int64_t given;  /* so far */
    int64_t number; /* of the next */
    int64_t filled; /* of its superblock */
    unsigned char *superblock;
};

static int64_t superblock_of(const struct cs_file *f, int64_t n)
{
    return f->ib->directory_base + star_group.rank + n / entries_of_superblock(f) * star_group.size;
}

/* The number of this node's next entry but one. */
static uint32_t number_behind(const struct cs_file *f, const struct writer *w)
{
    if (w->filled + 1 < entries_of_superblock(f))
        return (uint32_t)(w->number + 1);
    return (uint32_t)(superblock_of(f, w->given + 1) * entries_of_superblock(f));
}

static void make_entry(const struct cs_file *f, long i, int64_t which, uint32_t next, unsigned char *entry)
{
    const struct star_vp *vp = &f->ib->vp[i];

    put_word(entry, (uint32_t)cs_number(f->shape, i));
    put_word(entry + 4, next);
    for (int64_t k = 0, j = which * f->ib_pointers; k < f->ib_pointers; k++, j++)
        put_word(entry + 8 + 4 * k, j < vp->blocks ? vp->block[j] : STAR_NONE);
}

static int put_superblock(struct cs_file *f, struct writer *w)
{
    int64_t written = f->store->write(f->directory_handle, w->superblock, f->ib_superblock,
                                      superblock_of(f, w->given - 1) * f->ib_superblock);

    f->counts.requests[1]++;
    f->counts.directory_superblocks++;
    memset(w->superblock, 0xff, (size_t)f->ib_superblock);
    w->filled = 0;
    return written < 0 ? (int)written : 0;
}

/* The VP's entries from the first that differs on: those that the file has where they lie. */
static int put_entries(struct cs_file *f, struct writer *w, long i, unsigned char *entry)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t all = ceiling(vp->blocks, f->ib_pointers), per = entries_of_superblock(f), old = vp->entries;
    int64_t which = vp->changed_from / f->ib_pointers;
    int error = 0;

    if (vp->changed_from >= vp->blocks)
        return 0;
    if (which == old && old > 0)
        which--; /* its `next` changes */
    for (; which < all && !error; which++) {
        bool is_old = which < old;
        uint32_t next = which + 1 >= all  ? STAR_NONE
                        : which + 1 < old ? vp->entry[which + 1]
                        : is_old          ? (uint32_t)w->number
                                          : number_behind(f, w);

        make_entry(f, i, which, next, entry);
        if (is_old) {
            int64_t written =
                f->store->write(f->directory_handle, entry, entry_bytes(f), vp->entry[which] * entry_bytes(f));
            f->counts.requests[1]++;
            error = written < 0 ? (int)written : 0;
            vp->last = vp->entry[which];
            continue;
        }
        if (which == 0)
            vp->next = (uint32_t)w->number; /* the first of all */
        vp->last = (uint32_t)w->number;
        memcpy(w->superblock + w->filled * entry_bytes(f), entry, (size_t)entry_bytes(f));
        w->number = number_behind(f, w);
        w->given++;
        if (++w->filled == per)
            error = put_superblock(f, w);
    }
    return error;
}

static int put_first(struct cs_file *f)
{
    long local = f->shape->local;
    unsigned char *all = malloc((size_t)local * FIRST_BYTES + 1);
    int error = all ? 0 : -ENOMEM;

    for (long i = 0, n; !error && i < local; i += n) {
        n = run_of(f, i);
        for (long k = 0; k < n; k++) {
            const struct star_vp *vp = &f->ib->vp[i + k];
            unsigned char *at = all + k * FIRST_BYTES;

            if (vp->is_bad) {
                put_word(at, vp->next);
                put_word(at + 4, vp->last);
                put_word(at + 8, (uint32_t)vp->bad_bytes);
                put_word(at + 12, (uint32_t)(vp->bad_bytes >> 32));
                continue;
            }
            put_word(at, vp->bytes == 0 ? STAR_NONE : vp->entries > 0 ? vp->entry[0] : vp->next);
            put_word(at + 4, vp->bytes == 0 ? STAR_NONE : vp->last);
            put_word(at + 8, (uint32_t)vp->bytes);
            put_word(at + 12, (uint32_t)(vp->bytes >> 32));
        }
        int64_t written = f->store->write(f->first_handle, all, n * FIRST_BYTES, cs_number(f->shape, i) * FIRST_BYTES);
        f->counts.requests[1]++;
        error = written < 0 ? (int)written : 0;
    }
    free(all);
    return error;
}

int star_directory_end(struct cs_file *f, int64_t *used)
{
    struct writer w = {.superblock = malloc((size_t)f->ib_superblock)};
    unsigned char *entry = malloc((size_t)entry_bytes(f));
    int error = w.superblock && entry ? 0 : -ENOMEM;

    w.number = superblock_of(f, 0) * entries_of_superblock(f);
    if (!error)
        memset(w.superblock, 0xff, (size_t)f->ib_superblock);
    for (long i = 0; !error && i < f->shape->local; i++)
        error = put_entries(f, &w, i, entry);
    if (!error && w.filled > 0)
        error = put_superblock(f, &w);
    if (!error)
        error = put_first(f);
    *used = w.given > 0 ? superblock_of(f, w.given - 1) + 1 : f->directory_superblocks;
    free(w.superblock);
    free(entry);
    return error;
}

/*
 * The directory of the IB segment [P4 5.2.2, Figure 7]: .first has each VP's first and last entry and its bytes, .dir
 * entries of a VP, the number of the next one, and k numbers of blocks. One entry of each VP is in memory. Writing, it
 * gets its place when it is full (star_entries.c); reading, it is found from the one before it, or from the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"

#define FIRST_BYTES 16 /* of a VP in .first */

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

/* ---- .first ---- */

static void take_first(const struct cs_file *f, struct star_vp *vp, const unsigned char *at)
{
    uint64_t bytes = get_word(at + 8) | (uint64_t)get_word(at + 12) << 32;

    vp->first = get_word(at);
    vp->last = vp->linked = get_word(at + 4);
    vp->bad_bytes = bytes;
    vp->is_bad = bytes > (uint64_t)INT32_MAX * (uint64_t)f->ib_block || (bytes == 0) != (vp->first == STAR_NONE) ||
                 (bytes == 0) != (vp->last == STAR_NONE);
    if (vp->is_bad)
        return;
    vp->bytes = (int64_t)bytes;
    vp->entries = ceiling(ceiling(vp->bytes, f->ib_block), f->ib_pointers);
}

int star_directory_begin(struct cs_file *f)
{
    struct star_ib *ib = f->ib;
    long local = f->shape->local;
    unsigned char *all = malloc((size_t)local * FIRST_BYTES + 1);
    int error = all ? 0 : -ENOMEM;

    for (long i = 0, n; !error && i < local; i += n) {
        n = star_shape_run(f->shape, i);
        int64_t got = f->store->read(f->first_handle, all, n * FIRST_BYTES, cs_number(f->shape, i) * FIRST_BYTES);

        f->counts.requests[0]++;
        error = got < 0 ? (int)got : got < n * FIRST_BYTES ? -EIO : 0;
        for (long k = 0; !error && k < n; k++)
            take_first(f, &ib->vp[i + k], all + k * FIRST_BYTES);
    }
    free(all);
    return error;
}

/* ---- Entries ---- */

static int64_t blocks_of(const struct cs_file *f, const struct star_vp *vp)
{
    return ceiling(vp->bytes, f->ib_block);
}

/* Gives the entry in memory its place, or brings it there. */
static int put_entry(struct cs_file *f, long i)
{
    struct star_vp *vp = &f->ib->vp[i];
    int error = 0;

    if (vp->which < 0 || !vp->entry_is_dirty)
        return 0;
    vp->entry_is_dirty = false;
    if (vp->number != STAR_NONE)
        return star_entries_put(f, vp->number, star_entry_of(f, i));
    error = star_entries_append(f, star_entry_of(f, i), &vp->number);
    if (vp->number != STAR_NONE) {
        vp->last = vp->number;
        vp->entries++;
    }
    return error;
}

/* A new entry behind the last, which is dirty if it is one without blocks. */
static void make_entry(struct cs_file *f, long i, bool is_hole)
{
    struct star_vp *vp = &f->ib->vp[i];
    uint32_t *entry = star_entry_of(f, i);

    for (int64_t k = star_entry_words(f); k-- > 1;)
        entry[k] = STAR_NONE;
    entry[0] = (uint32_t)cs_number(f->shape, i);
    vp->which = vp->entries;
    vp->number = STAR_NONE;
    vp->entry_is_dirty = is_hole;
}

/* Takes entry `number` of the VP to memory, which must be its own, and the last if it is to be that. */
static int take_entry(struct cs_file *f, long i, int64_t which, uint32_t number)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t blocks = blocks_of(f, vp), most = star_blocks_used(f) * f->ib->per_superblock;
    bool is_last = which + 1 == vp->entries;
    const uint32_t *entry = NULL;

    if (number >= star_entries_used(f) * f->ib->entries_per)
        return -EIO;
    int error = star_entries_get(f, number, &entry);
    if (error)
        return error;
    if (entry[0] != (uint32_t)cs_number(f->shape, i) || (entry[1] == STAR_NONE) != is_last ||
        (!is_last && entry[1] <= number) || (is_last && number != vp->last))
        return -EIO;
    for (int64_t k = 0, j = which * f->ib_pointers; k < f->ib_pointers; k++, j++)
        if (entry[2 + k] != STAR_NONE && (entry[2 + k] >= most || j >= blocks))
            return -EIO;
    memcpy(star_entry_of(f, i), entry, (size_t)star_entry_words(f) * sizeof *entry);
    vp->which = which;
    vp->number = number;
    return 0;
}

/* Goes along the chain, from the entry in memory or from the first. */
static int find_entry(struct cs_file *f, long i, int64_t which)
{
    struct star_vp *vp = &f->ib->vp[i];
    int error = vp->linked == vp->last ? 0 : star_entries_link(f);
    bool goes_on = vp->which >= 0 && vp->which < which && vp->number != STAR_NONE;
    int64_t at = goes_on ? vp->which + 1 : 0;
    uint32_t number = goes_on ? star_entry_of(f, i)[1] : vp->first;

    vp->which = -1;
    for (; !error && at <= which; number = star_entry_of(f, i)[1])
        error = take_entry(f, i, at++, number);
    if (error)
        vp->which = -1;
    return error;
}

/* Entries on their way may have more than the stream: what has been lost, and what followed it. */
static int mend(struct cs_file *f, long i)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t blocks = blocks_of(f, vp), keep = ceiling(blocks, f->ib_pointers);
    uint32_t words[16], number;
    const uint32_t *entry = words;
    int error = star_entries_link(f);

    number = vp->first;
    vp->is_cut = false;
    for (int64_t at = 0; !error && at < vp->entries && keep <= vp->entries; at++) {
        error = number == STAR_NONE ? -EIO : star_entries_get(f, number, &entry);
        if (error)
            break;
        memcpy(words, entry, (size_t)star_entry_words(f) * sizeof *words);
        uint32_t own = number;
        number = words[1];
        for (int64_t k = 0; k < f->ib_pointers; k++)
            if (at * f->ib_pointers + k >= blocks)
                words[2 + k] = STAR_NONE;
        if (at + 1 == keep)
            words[1] = STAR_NONE, vp->last = vp->linked = own;
        if (at >= keep)
            words[0] = words[1] = STAR_NONE; /* an entry without a use */
        if (at + 1 >= keep)
            error = star_entries_put(f, own, words);
    }
    if (keep <= vp->entries) {
        vp->entries = keep;
        vp->which = -1;
        vp->entry_is_dirty = false;
    }
    if (vp->entries == 0)
        vp->first = vp->last = vp->linked = STAR_NONE;
    return error;
}

int star_directory_hold(struct cs_file *f, long i, int64_t j)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t within = j - vp->which * f->ib_pointers; /* of the entry in memory; most often the next one begins */
    int64_t which = vp->which < 0                                 ? j / f->ib_pointers
                    : within == f->ib_pointers                    ? vp->which + 1
                    : (uint64_t)within < (uint64_t)f->ib_pointers ? vp->which
                                                                  : j / f->ib_pointers;

    if (j >= INT32_MAX)
        return -EFBIG;
    if (vp->which == which && !vp->is_cut)
        return 0;
    int error = put_entry(f, i);
    if (!error && vp->is_cut)
        error = mend(f, i);
    if (error || vp->which == which)
        return error;
    if (which < vp->entries)
        return find_entry(f, i, which);
    while (!error && vp->entries < which) {
        make_entry(f, i, true);
        error = put_entry(f, i);
    }
    if (!error)
        make_entry(f, i, false);
    return error;
}

int star_directory_placed(struct cs_file *f, long i, int64_t j)
{
    struct star_vp *vp = &f->ib->vp[i];

    if (vp->which < 0 || *star_slot_of(f, i, j) == STAR_NONE) /* it has been cut meanwhile */
        return 0;
    vp->entry_is_dirty = true;
    return j + 1 == (vp->which + 1) * f->ib_pointers ? put_entry(f, i) : 0;
}

void star_directory_cut(struct cs_file *f, long i, int64_t j)
{
    struct star_vp *vp = &f->ib->vp[i];

    if (j * f->ib_block < vp->bytes)
        vp->bytes = j * f->ib_block;
    if (vp->held >= j) {
        star_blocks_let_go(vp);
        vp->is_dirty = false;
    }
    vp->is_cut = true;
    if (vp->which >= 0 && vp->which * f->ib_pointers >= j) {
        vp->which = -1;
        vp->entry_is_dirty = false;
    }
    for (int64_t k = 0; vp->which >= 0 && k < f->ib_pointers; k++)
        if (vp->which * f->ib_pointers + k >= j)
            star_entry_of(f, i)[2 + k] = STAR_NONE;
}

/* ---- The end ---- */

int star_directory_put_first(struct cs_file *f)
{
    long local = f->shape->local;
    unsigned char *all = malloc((size_t)local * FIRST_BYTES + 1);
    int error = all ? 0 : -ENOMEM;

    for (long i = 0, n; !error && i < local; i += n) {
        n = star_shape_run(f->shape, i);
        for (long k = 0; k < n; k++) {
            const struct star_vp *vp = &f->ib->vp[i + k];
            unsigned char *at = all + k * FIRST_BYTES;

            if (vp->is_bad) {
                put_word(at, vp->first);
                put_word(at + 4, vp->last);
                put_word(at + 8, (uint32_t)vp->bad_bytes);
                put_word(at + 12, (uint32_t)(vp->bad_bytes >> 32));
                continue;
            }
            put_word(at, vp->bytes == 0 ? STAR_NONE : vp->first);
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
    int error = 0;

    for (long i = 0; !error && i < f->shape->local; i++) {
        struct star_vp *vp = &f->ib->vp[i];

        if (vp->which == vp->entries && vp->number == STAR_NONE) /* its blocks may be in the buffer only, or a hole */
            vp->entry_is_dirty = vp->which * f->ib_pointers < blocks_of(f, vp);
        error = put_entry(f, i);
    }
    for (long i = 0; !error && i < f->shape->local; i++)
        error = f->ib->vp[i].is_cut ? mend(f, i) : 0;
    if (!error)
        error = star_entries_link(f);
    if (!error)
        error = star_entries_flush(f);
    *used = star_entries_used(f);
    return error;
}

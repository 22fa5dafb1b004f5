/*
 * A VP's stream in IB mode. Offsets in the NB and CB segments are where these modes have put them; behind, the VP has
 * blocks of its own, of which one is in its buffer. A block that is full, or that makes room for another, goes to its
 * place, or is given one.
 */
#include "libpio/star/star_ib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/row_move.h"
#include "libpio/star/star_copy.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_transfer.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Entering and leaving ---- */

/* Writes this node's blocks of the collective buffer: nobody else need come. */
static void write_own_row(struct cs_file *f)
{
    star_settle(f);
    if (f->holds && f->is_dirty) {
        int error = f->is_bad ? -EIO : star_move_own(f, true, f->row.file, f->row.block, f->buffer);

        star_note(f, error, f->row.at);
    }
    star_drop(f);
}

static int make_state(struct cs_file *f, struct star_ib *ib)
{
    size_t local = (size_t)f->shape->local;

    ib->vp = calloc(local + 1, sizeof *ib->vp);
    ib->buffer = malloc(local * (size_t)f->ib_block + 1);
    ib->superblock = malloc((size_t)f->ib_superblock);
    ib->spare = malloc((size_t)f->ib_superblock);
    ib->piece = calloc((size_t)f->read_buffers, sizeof *ib->piece);
    ib->entry = malloc((local + 1) * (size_t)star_entry_words(f) * sizeof *ib->entry);
    ib->owner = malloc((size_t)ib->per_superblock * sizeof *ib->owner);
    ib->spare_owner = malloc((size_t)ib->per_superblock * sizeof *ib->owner);
    ib->entries.superblock = malloc((size_t)f->ib_superblock);
    ib->entries.full = malloc((size_t)f->ib_superblock);
    ib->entries.work = malloc((size_t)f->ib_superblock);
    if (!ib->vp || !ib->buffer || !ib->superblock || !ib->spare || !ib->piece || !ib->entry || !ib->owner ||
        !ib->spare_owner || !ib->entries.superblock || !ib->entries.full || !ib->entries.work)
        return -ENOMEM;
    for (int kind = 0; kind < 2; kind++) {
        ib->ahead[kind] =
            (struct star_ahead){.bytes = malloc((size_t)f->ib_superblock), .piece_bytes = f->ib_superblock, .last = -1};
        if (!ib->ahead[kind].bytes)
            return -ENOMEM;
    }
    for (ib->pieces = 0; ib->pieces < f->read_buffers; ib->pieces++) {
        ib->piece[ib->pieces] = (struct star_piece){.kind = -1, .bytes = malloc((size_t)f->ib_superblock)};
        if (!ib->piece[ib->pieces].bytes)
            return -ENOMEM;
    }
    return 0;
}

static void free_state(const struct cs_file *f, struct star_ib *ib)
{
    for (int k = 0; ib->piece && k < f->read_buffers; k++)
        free(ib->piece[k].bytes);
    for (int kind = 0; kind < 2; kind++)
        free(ib->ahead[kind].bytes);
    free(ib->piece);
    free(ib->vp);
    free(ib->buffer);
    free(ib->superblock);
    free(ib->spare);
    free(ib->entry);
    free(ib->owner);
    free(ib->spare_owner);
    free(ib->entries.superblock);
    free(ib->entries.full);
    free(ib->entries.work);
    free(ib);
}

void star_ib_free(struct cs_file *f)
{
    if (f->ib) {
        star_blocks_settle(f);
        star_entries_settle(f);
        star_blocks_stop(f);
        free_state(f, f->ib);
    }
    f->ib = NULL;
}

/* The first superblock of a session is a multiple of P. */
static int64_t begin_of_turns(int64_t given)
{
    return (given + star_group.size - 1) / star_group.size * star_group.size;
}

/* -1: no power of two */
static int shift_of(int64_t n)
{
    return (n & (n - 1)) == 0 ? __builtin_ctzll((unsigned long long)n) : -1;
}

void star_ib_ends(struct cs_file *f)
{
    struct star_ib *ib = f->ib;
    int64_t block = f->segments.nb_block;

    ib->end = star_segments_end(&f->segments);
    ib->begin = (star_segments_file_end(&f->segments) + f->ib_superblock - 1) / f->ib_superblock * f->ib_superblock;
    for (long i = 0; f->cut > 0 && i < f->shape->local; i++) {
        int64_t left = f->cut - cs_number(f->shape, i) * block;

        ib->vp[i].bytes = left < 0 ? 0 : least(left, block);
    }
}

int star_ib_begin(struct cs_file *f)
{
    if (f->ib)
        return 0;
    struct star_ib *ib = calloc(1, sizeof *ib);

    if (ib) {
        memset(ib->head, 0xff, sizeof ib->head);
        ib->open_superblock = -1;
        ib->per_superblock = f->ib_superblock / f->ib_block;
        ib->entries_per = f->ib_superblock / (4 * star_entry_words(f));
        ib->entries.full_number = -1;
        ib->has_landed = star_entries_go_on;
        ib->is_lost = star_directory_cut;
        ib->block_shift = shift_of(f->ib_block);
        ib->base = begin_of_turns(f->superblocks);
        ib->directory_base = begin_of_turns(f->directory_superblocks);
    }
    int error = ib ? make_state(f, ib) : -ENOMEM;
    for (long i = 0; !error && i < f->shape->local; i++) {
        struct star_vp *vp = &ib->vp[i];

        star_blocks_let_go(vp);
        vp->which = -1;
        vp->number = vp->first = vp->last = vp->linked = vp->follows = STAR_NONE;
    }
    f->ib = ib;
    if (!error && f->first_handle >= 0)
        error = star_directory_begin(f);
    if (!error && f->cut > 0)
        star_ib_ends(f);
    if (error && ib)
        star_ib_free(f);
    return error;
}

int star_ib_enter(struct cs_file *f)
{
    int error = star_ib_begin(f);

    if (error || f->mode == CS_IB)
        return error;
    write_own_row(f);
    star_blocks_forget(f);
    star_ib_ends(f);
    for (long i = 0; i < f->shape->local; i++) {
        f->ib->vp[i].at = f->at;
        f->ib->vp[i].is_at_end = f->is_at_end;
    }
    f->mode = CS_IB;
    return 0;
}

void star_ib_follow(struct cs_file *f)
{
    if (star_ib_enter(f) < 0)
        write_own_row(f);
}

/* ---- The buffer of a VP ---- */

static const char nothing[8] __attribute__((aligned(8)));

static char *buffer_of(const struct cs_file *f, long i)
{
    return f->ib->buffer + i * f->ib_block;
}

/* Gives the block in the buffer its place, or brings it there. */
static int put_held(struct cs_file *f, long i)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t j = vp->held;

    if (j < 0 || !vp->is_dirty)
        return 0;
    vp->is_dirty = false;
    uint32_t *slot = star_slot_of(f, i, j), number = *slot;
    if (number != STAR_NONE)
        return star_blocks_write(f, STAR_DATA, star_blocks_place(f, number), buffer_of(f, i), f->ib_block);
    int error = star_blocks_append(f, i, j, buffer_of(f, i), slot);
    return error || vp->is_cut ? error : star_directory_placed(f, i, j);
}

/* Makes the buffer hold block j, whose entry is in memory; covers: all of it will be written. */
static int hold(struct cs_file *f, long i, int64_t j, bool covers)
{
    struct star_vp *vp = &f->ib->vp[i];
    uint32_t number = *star_slot_of(f, i, j);
    int error = 0;

    if (!covers && number == STAR_NONE)
        memset(buffer_of(f, i), 0, (size_t)f->ib_block);
    if (!covers && number != STAR_NONE)
        error = star_blocks_get(f, number, buffer_of(f, i));
    if (!error) {
        vp->held = j;
        vp->held_at = f->ib->end + j * f->ib_block;
    }
    return error;
}

/* Where n bytes from the VP's offset on lie, if they are within the block in the buffer; else NULL. This is the way of
 * most small items. room: bytes of a block less n. */
static inline char *in_buffer(const struct cs_file *f, long i, int64_t room)
{
    const struct star_vp *vp = &f->ib->vp[i];
    int64_t within = vp->at - vp->held_at;

    return within >= 0 && within <= room ? buffer_of(f, i) + within : NULL;
}

/* ---- Transfers ---- */

int64_t star_ib_end(const struct cs_file *f, long i)
{
    return f->ib->vp[i].bytes > 0 ? star_segments_end(&f->segments) + f->ib->vp[i].bytes
                                  : star_segments_end(&f->segments);
}

/* Whether the VP is where blocks lie in rows. */
static bool is_in_row(const struct cs_file *f, long i)
{
    return f->ib->vp[i].at < f->ib->end || f->cut > 0;
}

/* A part in the NB or CB segment, or in a row that is cut, within one block. */
static int64_t move_in_row(struct cs_file *f, long i, bool writes, char *buf, int64_t n)
{
    struct star_vp *vp = &f->ib->vp[i];
    const bool is_whole = vp->at < f->ib->end;
    struct star_row row = is_whole
                              ? star_segments_row(&f->segments, vp->at)
                              : (struct star_row){f->segments.nb_block, star_segments_nb_end(&f->segments), f->ib->end};
    int64_t within = vp->at - row.at,
            at = row.file + star_place(&f->order, cs_number(f->shape, i)) * row.block + within;

    n = least(least(n, row.block - within), (is_whole ? star_segments_end(&f->segments) : star_ib_end(f, i)) - vp->at);
    int error = writes ? star_blocks_write(f, STAR_DATA, at, buf, n) : star_blocks_read(f, STAR_DATA, at, buf, n);
    return error ? error : n;
}

/* Makes the buffer hold block j of the VP. */
static int reach(struct cs_file *f, long i, int64_t j, bool covers)
{
    struct star_vp *vp = &f->ib->vp[i];

    if (vp->held == j)
        return 0;
    int error = put_held(f, i);
    star_blocks_let_go(vp);
    if (!error)
        error = star_directory_hold(f, i, j);
    return error ? error : hold(f, i, j, covers);
}

/* A part in the IB segment, within one block. */
static int64_t move_in_block(struct cs_file *f, long i, bool writes, char *buf, int64_t n)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t at = vp->at - f->ib->end, j = f->ib->block_shift >= 0 ? at >> f->ib->block_shift : at / f->ib_block;
    int64_t within = at - j * f->ib_block;

    n = least(n, f->ib_block - within);
    int error = reach(f, i, j, writes && n == f->ib_block);
    if (error)
        return error;
    if (!writes) {
        star_copy(buf, buffer_of(f, i) + within, n);
        return n;
    }
    star_copy(buffer_of(f, i) + within, buf, n);
    vp->is_dirty = true;
    vp->bytes = at + n > vp->bytes ? at + n : vp->bytes;
    if (within + n == f->ib_block) {
        error = put_held(f, i);
        star_blocks_let_go(vp);
    }
    return error ? error : n;
}

static int64_t move(struct cs_file *f, long i, bool writes, char *buf, int64_t n)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t done = 0, part = 0;

    if (vp->is_bad)
        star_ib_note(f, i, -EIO);
    while (done < n && part >= 0 && !vp->is_bad) {
        part = is_in_row(f, i) ? move_in_row(f, i, writes, buf + done, n - done)
                               : move_in_block(f, i, writes, buf + done, n - done);
        if (part > 0) {
            done += part;
            vp->at += part;
        }
    }
    if (part < 0)
        star_ib_note(f, i, (int)part);
    return done;
}

/* One VP; `end` is where the segments before IB end. Inlined where all VPs move, with what is the same for all. */
static inline int64_t write_vp(struct cs_file *f, long i, const char *from, int64_t n, int64_t end)
{
    struct star_vp *vp = &f->ib->vp[i];

    if (vp->error) /* what follows what is lost would lie in a wrong place */
        return vp->moved = 0;
    if (f->appends && n > 0)
        vp->at = star_ib_end(f, i);
    char *to = n > 0 ? in_buffer(f, i, f->ib_block - n - 1) : NULL; /* what fills it up goes the other way */
    if (!to)
        return vp->moved = move(f, i, true, (char *)from, n);
    star_copy(to, from, n);
    vp->at += n;
    vp->is_dirty = true;
    if (vp->at - end > vp->bytes)
        vp->bytes = vp->at - end;
    return vp->moved = n;
}

static inline int64_t read_vp(struct cs_file *f, long i, char *to, int64_t n, int64_t end)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t left = end + vp->bytes - vp->at;

    if (n > 0 && left < n)
        vp->is_at_end = true;
    const char *from = n > 0 && left >= n ? in_buffer(f, i, f->ib_block - n) : NULL;
    if (!from)
        return vp->moved = move(f, i, false, to, least(n, left < 0 ? 0 : left));
    star_copy(to, from, n);
    vp->at += n;
    return vp->moved = n;
}

int64_t star_ib_write(struct cs_file *f, long i, const char *from, int64_t n)
{
    return write_vp(f, i, from, n, f->ib->end);
}

int64_t star_ib_read(struct cs_file *f, long i, char *to, int64_t n)
{
    return read_vp(f, i, to, n, f->ib->end);
}

/* A VP's offset moves on by 8 bytes, which have been written to its block. */
static inline void note_8(struct star_vp *vp, int64_t end)
{
    vp->at += 8;
    vp->moved = 8;
    vp->is_dirty = true;
    vp->bytes = vp->at - end > vp->bytes ? vp->at - end : vp->bytes;
}

/* Moves 8 bytes of a VP, which lie on a multiple of 8, within the block in its buffer; false: it has moved nothing.
 * These few instructions are what most items of most programs cost. room: bytes of a block that need not be behind. */
static inline bool move_8(struct star_vp *vp, bool writes, char *buffer, char *element, int64_t room, int64_t end)
{
    uint64_t within = (uint64_t)(vp->at - vp->held_at);

    if (within > (uint64_t)room || within % 8 || (writes ? vp->error != 0 : vp->at + 8 > end + vp->bytes))
        return false;
    if (writes) {
        star_copy_8(buffer + within, element);
        note_8(vp, end);
    } else {
        star_copy_8(element, buffer + within);
        vp->at += 8;
        vp->moved = 8;
    }
    return true;
}

/* The two other items of a small block: the last, which makes it full, and the first, where it has no place yet.
 * Writes 8 bytes on a multiple of 8; false: it has written nothing, as something else must be done, too. */
static inline bool edge_8(struct cs_file *f, long i, char *buffer, const char *element)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t end = f->ib->end, block = f->ib_block, at = vp->at - end, k;

    if (vp->error || vp->is_bad || vp->is_cut)
        return false;
    if (vp->held >= 0 && vp->at - vp->held_at == block - 8) {
        star_copy_8(buffer + block - 8, element);
        note_8(vp, end);
        int error = put_held(f, i); /* which may lose blocks that lie before */
        star_blocks_let_go(vp);
        if (error) {
            star_ib_note(f, i, error);
            vp->at -= 8;
            vp->moved = 0;
        }
        return true;
    }
    k = vp->held < 0 && at >= 0 && (at & (block - 1)) == 0 ? at >> f->ib->block_shift : -1;
    if (k < 0 || star_directory_hold(f, i, k) < 0 || *star_slot_of(f, i, k) != STAR_NONE)
        return false;
    vp->held = k;
    vp->held_at = vp->at;
    star_copy_8(buffer, element);
    for (int64_t n = 8; n < block; n += 8)
        star_copy_8(buffer + n, nothing);
    note_8(vp, end);
    return true;
}

/* Reads the first item of a block. False: it has read nothing, as something else must be done, too. */
static inline bool begin_8(struct cs_file *f, long i, const char *buffer, char *element)
{
    struct star_vp *vp = &f->ib->vp[i];
    int64_t at = vp->at - f->ib->end;

    if (at < 0 || (at & (f->ib_block - 1)) != 0 || at + 8 > vp->bytes || vp->is_bad ||
        reach(f, i, at >> f->ib->block_shift, false) < 0)
        return false;
    star_copy_8(element, buffer);
    vp->at += 8;
    vp->moved = 8;
    return true;
}

/* Inlined for writes and for reads, so that what most items cost does not ask which it is. */
__attribute__((always_inline)) static inline int64_t move_all(struct cs_file *f, bool writes, const struct cs_par *v,
                                                              int64_t n)
{
    int64_t end = f->ib->end, all = n, block = f->ib_block, room = block - 8 - writes, step = v->stride;
    char *element = v->at, *buffer = f->ib->buffer;
    struct star_vp *vp = f->ib->vp; /* it is not looked up again after each copy, which may change anything */
    bool is_quick = n == 8 && !(writes && f->appends) && block % 8 == 0 && room >= 0 && step % 8 == 0 &&
                    star_is_aligned(element, buffer);
    /* Blocks of one item, or none that is a power of two, go the long way. */
    bool has_edges = is_quick && f->ib->block_shift > 3 && f->cut == 0;

    for (long i = 0, local = f->shape->local; i < local; i++, vp++, element += step, buffer += block) {
        if (is_quick && move_8(vp, writes, buffer, element, room, end))
            continue;
        bool is_done = has_edges && (writes ? edge_8(f, i, buffer, element) : begin_8(f, i, buffer, element));
        int64_t moved = is_done ? vp->moved : writes ? write_vp(f, i, element, n, end) : read_vp(f, i, element, n, end);

        all = moved < all ? moved : all;
    }
    return all;
}

int64_t star_ib_move_all(struct cs_file *f, bool writes, const struct cs_par *v, int64_t n)
{
    return writes ? move_all(f, true, v, n) : move_all(f, false, v, n);
}

/* ---- All VPs ---- */

void star_ib_flush(struct cs_file *f)
{
    for (long i = 0; f->ib && i < f->shape->local; i++)
        star_ib_note(f, i, put_held(f, i));
    if (!f->ib)
        return;
    star_blocks_stop(f);
    star_note(f, star_blocks_flush(f), INT64_MAX);
}

bool star_ib_has_bytes(const struct cs_file *f)
{
    for (long i = 0; f->ib && i < f->shape->local; i++)
        if (f->ib->vp[i].bytes > 0)
            return true;
    return false;
}

/*
 * cs_fwrite, cs_fread and what is made of them [P4 5.2, 5.3]: the detection of the mode, the agreement, the transfer.
 *
 *     check arguments -> detect the mode -> agree (one reduction) -> NB: a row straight from the variable
 *                                                                    CB: through the collective buffer (star_buffer.c)
 *
 * Where the mode changes from NB to CB, that happens on all nodes at once.
 */
#include "libpio/star/star_transfer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/detect.h"
#include "libpio/star/row_move.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_copy.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_parts.h"

/* A call. Numbers are each VP's, or one for all. */
struct transfer {
    struct cs_par v;
    bool writes;
    const int *size, *nitems;
    int one_size, one_nitems;
    int *items;          /* [local], or NULL: whole items moved */
    bool is_line;        /* each VP reads up to a newline */
    int error;           /* this node cannot take part */
    int64_t bytes, most; /* of each active VP: least, greatest */
    int64_t moved;       /* of each VP */
};

static int size_of(const struct transfer *t, long i)
{
    return t->size ? t->size[i] : t->one_size;
}

static int nitems_of(const struct transfer *t, long i)
{
    return t->nitems ? t->nitems[i] : t->one_nitems;
}

/* ---- Arguments ---- */

static int take_bytes(struct transfer *t, long i)
{
    int64_t size = size_of(t, i), nitems = nitems_of(t, i);

    if (size < 0 || nitems < 0 || size * nitems > INT_MAX)
        return -EINVAL;
    t->bytes = size * nitems < t->bytes ? size * nitems : t->bytes;
    t->most = size * nitems > t->most ? size * nitems : t->most;
    return 0;
}

/* Finds the least and the greatest number of bytes of this node's active VPs. */
static int measure(struct transfer *t, const struct cs_shape *s)
{
    int error = 0;

    t->bytes = INT64_MAX;
    t->most = -1;
    if (!t->size)
        return take_bytes(t, 0);
    for (long i = cs_next_active_(-1); i >= 0 && i < s->local && !error; i = cs_next_active_(i))
        error = take_bytes(t, i);
    return error;
}

static int check(const struct cs_file *f, struct transfer *t)
{
    const struct cs_shape *current = star_current_shape();

    if (!current || !t->v.shape || !star_shape_same(current, f->shape) || !star_shape_same(t->v.shape, f->shape) ||
        t->v.stride < 0 || current->local != f->shape->local || t->v.shape->local != f->shape->local)
        return -EINVAL;
    int error = t->error ? t->error : measure(t, f->shape);
    if (!error && (t->writes ? !f->writes : !f->reads))
        error = -EBADF;
    if (!error && f->mode != CS_IB && f->at > PATTERN_OFFSET_MAX / 4 / f->shape->vps - STAR_CB_BLOCK_MAX - INT_MAX)
        error = -EFBIG;
    return error;
}

/* ---- The agreement ---- */

/* Rule 8: an external file is an array of items that have the size of the first read. What a last row lacks is each
 * VP's end, as in IB. */
static int settle_external(struct cs_file *f, int64_t bytes)
{
    int64_t size = f->store->size(f->handle), row = bytes * f->shape->vps;
    int error = star_agree_on(size < 0 ? (int)size : 0);

    f->counts.reductions++;
    if (error)
        return error;
    if (size > 0)
        f->segments.nb_block = bytes;
    f->segments.nb_rows = size / row;
    f->cut = size % row;
    f->segments.has_ib = f->cut > 0;
    f->is_external = false;
    if (f->ib)
        star_ib_ends(f);
    return 0;
}

static enum cs_mode detect(const struct cs_file *f, const struct transfer *t)
{
    struct star_wish wish = {.writes = t->writes,
                             .all_active = star_all_active(),
                             .is_uniform = t->most < 0 || t->bytes == t->most,
                             .at = f->at,
                             .bytes = t->most,
                             .stride = t->v.stride};
    struct star_segments segments = f->segments;

    if (t->is_line)
        return CS_IB;
    if (f->is_external) /* whatever it moves is its NB block */
        segments.nb_block = t->most, segments.nb_rows = 1;
    if (f->shape->local == 0) /* it agrees to all */
        return f->mode > f->least ? f->mode : f->least;
    enum cs_mode mode = star_detect(&segments, f->mode, &wish);
    return mode > f->least ? mode : f->least;
}

/* What all nodes agree on, in *mode. */
static int agree(struct cs_file *f, struct transfer *t, int error, enum cs_mode *mode)
{
    struct star_vote vote = {.call = t->writes ? STAR_WRITE : STAR_READ,
                             .fd = f->fd,
                             .error = f->error ? f->error : error,
                             .has_vps = error == 0 && f->shape->local > 0 && star_any_active(),
                             .bytes = t->bytes,
                             .bytes_most = t->most};

    vote.mode = error ? f->mode : detect(f, t);
    *mode = vote.mode;
    if (f->is_trusted)
        return vote.error || vote.mode == CS_NB ? vote.error : -EINVAL;
    f->counts.reductions++;
    error = star_agree(&vote);
    *mode = vote.bytes != vote.bytes_most ? CS_IB : (enum cs_mode)vote.mode;
    t->bytes = vote.bytes;
    t->most = vote.bytes_most;
    return error;
}

/* ---- The transfers ---- */

/* How many of the bytes the streams have; where they have fewer, each VP is at its end. */
static int64_t bytes_there(struct cs_file *f, int64_t bytes)
{
    int64_t left = star_segments_end(&f->segments) - f->at;

    left = left < 0 ? 0 : left;
    f->is_at_end = f->is_at_end || left < bytes;
    return left < bytes ? left : bytes;
}

static int move_nb(struct cs_file *f, struct transfer *t)
{
    int64_t bytes = t->writes ? t->most : bytes_there(f, t->most);

    if (bytes < t->most)
        return 0;
    if (t->writes && f->segments.nb_block == 0)
        f->segments.nb_block = bytes;
    int error = star_move_row(f, t->writes, f->at * f->shape->vps, bytes, t->v.at);
    star_note(f, error, t->writes ? f->at : INT64_MAX);
    f->at += bytes;
    if (t->writes)
        star_segments_grow(&f->segments, CS_NB, f->at);
    t->moved = error ? 0 : bytes;
    return error;
}

/* Makes the buffer hold the row with the VPs' offset: `covers` says that all of it will be written. */
static int hold(struct cs_file *f, const struct star_row *row, bool covers)
{
    if (f->holds && f->row.file == row->file)
        return 0;
    int error = f->is_dirty ? star_flush(f) : 0;
    bool is_there = row->at < star_segments_end(&f->segments);

    f->row = *row;
    f->holds = true;
    f->is_bad = false;
    if (is_there && !covers) {
        star_settle(f);
        int failed = star_move_row(f, false, row->file, row->block, f->buffer);

        f->is_bad = failed != 0;
        star_note(f, failed, INT64_MAX);
        error = error ? error : failed;
    } else if (!covers) {
        memset(f->buffer, 0, (size_t)(row->block * f->shape->local));
    }
    return error;
}

/* Between the blocks in the buffer and the variable. */
static void copy(struct cs_file *f, const struct transfer *t, int64_t within, int64_t bytes)
{
    char *block = f->buffer + within, *element = t->v.at + t->moved;

    char *to = t->writes ? block : element;
    const char *from = t->writes ? element : block;
    int64_t to_step = t->writes ? f->row.block : t->v.stride, from_step = t->writes ? t->v.stride : f->row.block;
    long n = f->shape->local;

    if (to_step == bytes && from_step == bytes)
        memcpy(to, from, (size_t)(bytes * n));
    else if (bytes == 8 && (to_step | from_step) % 8 == 0 && star_is_aligned(to, from))
        for (long i = 0; i < n; i++, to += to_step, from += from_step)
            star_copy_8(to, from);
    else
        for (long i = 0; i < n; i++, to += to_step, from += from_step)
            memcpy(to, from, (size_t)bytes);
}

static int move_cb(struct cs_file *f, struct transfer *t)
{
    int64_t bytes = t->writes ? t->most : bytes_there(f, t->most), failed_at = INT64_MAX;
    int error = 0;

    while (t->moved < bytes) {
        struct star_row row = star_segments_row(&f->segments, f->at);
        int64_t within = f->at - row.at, left = row.block - within;
        int64_t n = bytes - t->moved < left ? bytes - t->moved : left;
        int result = hold(f, &row, t->writes && n == row.block);

        copy(f, t, within, n);
        f->at += n;
        if (t->writes) {
            star_segments_grow(&f->segments, CS_CB, f->at);
            f->is_dirty = true;
        }
        if (n == left && f->is_dirty) /* full */
            star_flush_behind(f);
        else if (n == left) /* used up */
            star_drop(f);
        result = result ? result : f->error;
        if (result && !error) {
            error = result;
            failed_at = t->moved;
        }
        t->moved += n;
    }
    t->moved = error ? failed_at : t->moved;
    return error;
}

/* Up to and with a newline; returns the bytes read. */
static int64_t read_line(struct cs_file *f, long i, char *to, int64_t n)
{
    int64_t done = 0;

    while (done < n && (done == 0 || to[done - 1] != '\n') && star_ib_read(f, i, to + done, 1) == 1)
        done++;
    return f->ib->vp[i].moved = done;
}

/* Each VP for itself [P4 5.2.2: a VP emulation loop]. */
static void move_ib(struct cs_file *f, struct transfer *t)
{
    if (!t->size && CS__everywhere && !t->is_line) {
        t->moved = star_ib_move_all(f, t->writes, &t->v, t->most);
        return;
    }
    for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i)) {
        int64_t n = (int64_t)size_of(t, i) * nitems_of(t, i);
        char *element = t->v.at + i * t->v.stride;

        if (t->is_line)
            element[read_line(f, i, element, n)] = '\0';
        else if (t->writes)
            star_ib_write(f, i, element, n);
        else
            star_ib_read(f, i, element, n);
    }
}

/* Whether a write puts something behind the NB segment that is none of its rows. */
static bool ends_nb(const struct cs_file *f, const struct transfer *t, enum cs_mode mode)
{
    const struct star_segments *s = &f->segments;

    return mode > CS_NB && s->nb_rows > 0 && s->cb_bytes == 0 && !s->has_ib &&
           (mode == CS_IB || f->at + t->most > star_segments_end(s));
}

/* Says in .meta which write has ended the NB segment, and why. The mode is the call's; f->mode is what it was before.
 * Node 0's words count. */
static void note_reason(struct cs_file *f, const struct transfer *t, enum cs_mode mode)
{
    int64_t n = t->most;
    int length = (int)sizeof f->reason;

    if (!t->writes || !ends_nb(f, t, mode) || f->reason[0])
        return;
    if (t->bytes != n)
        snprintf(f->reason, (size_t)length, "a write of %lld to %lld bytes of each at offset %lld", (long long)t->bytes,
                 (long long)n, (long long)f->at);
    else if (mode == CS_IB)
        snprintf(f->reason, (size_t)length, "a write of %lld bytes at offset %lld %s", (long long)n, (long long)f->at,
                 f->mode == CS_IB || star_all_active() ? "after a call of one node alone"
                                                       : "while some virtual processors are inactive");
    else if (t->v.stride != n)
        snprintf(f->reason, (size_t)length, "a write of %lld bytes at offset %lld that lie %lld apart", (long long)n,
                 (long long)f->at, (long long)t->v.stride);
    else
        snprintf(f->reason, (size_t)length, "a write of %lld bytes at offset %lld, not of %lld", (long long)n,
                 (long long)f->at, (long long)f->segments.nb_block);
}

/* What rows of the call need that do not go directly: nothing has moved yet. Last for the first of them. */
static int prepare_rows(struct cs_file *f, const struct transfer *t, enum cs_mode mode)
{
    if (mode == CS_IB || star_way_of(f) == CS_DIRECTLY)
        return 0;
    if (mode == CS_NB)
        return star_prepare_row(f, f->at * f->shape->vps, t->most);
    const struct star_row first = star_segments_row(&f->segments, f->at);
    const struct star_row last = star_segments_row(&f->segments, f->at + t->most - 1);
    int error = star_prepare_row(f, last.file, last.block);

    return error ? error : star_prepare_row(f, first.file, first.block);
}

/* Goes to the mode that all have agreed on, and moves. */
static int carry_out(struct cs_file *f, struct transfer *t, enum cs_mode mode)
{
    note_reason(f, t, mode);
    if (mode == CS_IB && !f->all_ib) {
        int error = star_agree_on(star_ib_enter(f));

        f->counts.reductions++;
        if (error)
            return error;
        f->all_ib = true;
    }
    if (mode == CS_CB && !f->has_buffer) {
        int error = star_agree_on(star_make_buffer(f));

        f->counts.reductions++;
        if (error)
            return error;
        f->has_buffer = true;
    }
    int error = prepare_rows(f, t, mode);
    if (!error && t->writes && (mode == CS_IB || ends_nb(f, t, mode)))
        error = star_transition(f, mode);
    if (error)
        return error;
    if (mode != CS_CB || !t->writes)
        star_settle(f);
    f->mode = mode;
    f->counts.calls[mode]++;
    if (mode == CS_NB)
        move_nb(f, t);
    else if (mode == CS_CB)
        move_cb(f, t);
    else
        move_ib(f, t);
    return 0;
}

static int64_t moved_by(const struct cs_file *f, const struct transfer *t, long i)
{
    return t->most > 0 && f->mode == CS_IB ? f->ib->vp[i].moved : t->moved;
}

/* Returns the least number of whole items of this node's active VPs; INT_MAX: there are none. */
static long count_items(const struct cs_file *f, const struct transfer *t)
{
    long least = INT_MAX;

    if (!t->size && (f->mode != CS_IB || CS__everywhere))
        return t->one_size == 0 ? 0 : f->shape->local > 0 && star_any_active() ? t->moved / t->one_size : INT_MAX;
    for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i)) {
        int size = size_of(t, i), items = size > 0 ? (int)(moved_by(f, t, i) / size) : 0;

        if (t->items)
            t->items[i] = items;
        least = items < least ? items : least;
    }
    return least;
}

static long transfer(CS_FILE *file, struct transfer *t)
{
    struct cs_file *f = star_file(file);
    enum cs_mode mode = CS_IB;

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    int64_t was_at = f->at;
    int error = check(f, t);
    if (!error && f->appends && t->writes)
        f->at = star_segments_end(&f->segments);
    error = agree(f, t, error, &mode);
    if (!error && t->most > 0 && f->is_external)
        error = t->bytes == t->most && !t->is_line ? settle_external(f, t->most) : -EINVAL;
    if (f->cut > 0 && f->at + t->most > star_segments_end(&f->segments))
        mode = CS_IB;
    if (mode == CS_IB) /* where each appends by itself, and who does not take part stays where it is */
        f->at = was_at;
    if (!error && t->most > 0)
        error = carry_out(f, t, mode);
    else
        f->at = was_at; /* nothing has moved */
    if (error)
        return star_fail_at(f->name, "", error);
    if (f->error) /* a short count says so, as fwrite does */
        star_fail_at(f->name, "", f->error);
    return count_items(f, t);
}

static struct transfer transfer_of(struct cs_par v, bool writes)
{
    return (struct transfer){.v = v, .writes = writes};
}

static long transfer_equal(struct cs_par v, bool writes, int size, int nitems, CS_FILE *f)
{
    struct transfer t = transfer_of(v, writes);

    t.one_size = size;
    t.one_nitems = nitems;
    long items = transfer(f, &t);
    return items < nitems ? items : nitems;
}

long cs_fwrite(struct cs_par v, int size, int nitems, CS_FILE *f)
{
    return transfer_equal(v, true, size, nitems, f);
}

long cs_fread(struct cs_par v, int size, int nitems, CS_FILE *f)
{
    return transfer_equal(v, false, size, nitems, f);
}

static int transfer_each(struct cs_par v, bool writes, const int *size, const int *nitems, CS_FILE *f, int *items)
{
    struct transfer t = transfer_of(v, writes);

    t.size = size;
    t.nitems = nitems;
    t.items = items;
    return transfer(f, &t) < 0 ? -1 : 0;
}

int cs_fwrite_par(struct cs_par v, const int *size, const int *nitems, CS_FILE *f, int *items)
{
    return transfer_each(v, true, size, nitems, f, items);
}

int cs_fread_par(struct cs_par v, const int *size, const int *nitems, CS_FILE *f, int *items)
{
    return transfer_each(v, false, size, nitems, f, items);
}

/* ---- One byte ---- */

int cs_fputc(struct cs_par c, CS_FILE *f)
{
    return cs_fwrite(c, 1, 1, f) < 1 ? EOF : 0; /* the low byte comes first */
}

int cs_fgetc(struct cs_par c, CS_FILE *f)
{
    struct transfer t = transfer_of(c, false);

    t.one_size = t.one_nitems = 1;
    if (transfer(f, &t) < 0)
        return EOF;
    for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i)) {
        unsigned char byte = (unsigned char)c.at[i * c.stride];
        int value = moved_by(f, &t, i) > 0 ? byte : EOF;

        memcpy(c.at + i * c.stride, &value, sizeof value);
    }
    return 0;
}

/* ---- Strings ---- */

int cs_fgets(struct cs_par s, int n, CS_FILE *f)
{
    struct transfer t = transfer_of(s, false);

    t.one_size = 1;
    t.one_nitems = n >= 1 && s.stride >= n ? n - 1 : -1; /* refused by all */
    t.is_line = true;
    if (n == 1)
        for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i))
            s.at[i * s.stride] = '\0';
    return transfer(f, &t) < 0 ? -1 : 0;
}

int cs_fputs(struct cs_par s, CS_FILE *f)
{
    long local = s.shape ? s.shape->local : 0;
    int *size = malloc((size_t)(2 * local + 1) * sizeof *size), *one = size + local;
    struct transfer t = transfer_of(s, true);

    for (long i = 0; size && i < local; i++) {
        size_t n = cs_active(i) ? strnlen(s.at + i * s.stride, (size_t)s.stride) : 0;

        size[i] = s.stride > 0 && n < (size_t)s.stride ? (int)n : -1;
        one[i] = 1;
    }
    t.size = size;
    t.nitems = one;
    t.error = size ? 0 : -ENOMEM;
    long done = transfer(f, &t);
    bool is_whole = done >= 0 && (f->error == 0);
    free(size);
    return is_whole ? 0 : EOF;
}

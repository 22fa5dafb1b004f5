/*
 * Writes that are carried out as one (merge.h).
 *
 * lay() puts the bytes of all writes in a window of the file into memory, in order of arrival, and marks which bytes of
 * the window those are. An extent is a piece of the window to be written: marked bytes, and gaps of less than a block
 * between them, which are read first. So no block in a hole is allocated for a gap, and an extent ends with a byte of a
 * write, so that the file does not grow beyond it. Bytes that are on the medium already are marked, too, as they may
 * join others to one extent; but no extent begins or ends with them.
 *
 * A block within the file that a data cache has takes a shorter way, block by block as far as its group: nothing is
 * marked, no gap is read, and the bytes are copied once. "On the medium" then means what the cache's `write` says.
 */
#include "nsdisk/serve/merge.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/map/covered.h"
#include "nsdisk/serve/pages.h"
#include "vertex/contract/errors.h"

#define WINDOW_BYTES       (128u << 10)
#define WINDOW_LEAST_BYTES (32u << 10) /* where memory is short */

/* ---- Making ---- */

static struct merge *make(uint32_t window_bytes)
{
    struct merge *m = calloc(1, sizeof *m);
    size_t bytes = window_bytes + covered_bytes(window_bytes) + VIEW_SIEVE_BYTES;

    if (!m)
        return NULL;
    m->window = malloc(bytes);
    if (!m->window) {
        free(m);
        return NULL;
    }
    pages_touch(m->window, bytes);
    m->window_bytes = window_bytes;
    m->covered = (uint64_t *)(m->window + window_bytes);
    m->sieve = m->window + window_bytes + covered_bytes(window_bytes);
    return m;
}

struct merge *merge_new(void)
{
    struct merge *m = make(WINDOW_BYTES);

    return m ? m : make(WINDOW_LEAST_BYTES);
}

void merge_free(struct merge *m)
{
    if (!m)
        return;
    free(m->window);
    free(m);
}

/* The first byte from `from` on that some write has, or none has, if `flip` is ~0; the window's end: there is none. */
static int64_t find(const struct merge *m, int64_t from, uint64_t flip)
{
    return covered_find(m->covered, from, m->bytes_used, flip);
}

/* ---- Writes ---- */

/* Where byte n of it lies in the file; of as many as it has: its end. */
static int64_t byte_at(const struct merge_write *w, int64_t n)
{
    return n == w->bytes ? w->end : w->view ? view_file(w->view, (int64_t)w->offset + n) : w->first + n;
}

/* How many of its bytes lie below file byte x, which is not below its first byte. */
static int64_t bytes_below(const struct merge_write *w, int64_t x)
{
    return w->view ? view_rank(w->view, x) - (int64_t)w->offset : x - w->first;
}

/* n of its bytes are on the medium. */
static void note_done(struct merge_write *w, int64_t n)
{
    w->done = n;
    w->next = byte_at(w, n);
}

/* The write's first byte in the file from `at` on; its end: it has none. */
static int64_t first_from(const struct merge_write *w, int64_t at)
{
    if (at <= w->first)
        return w->first;
    if (at >= w->end || !w->view)
        return at < w->end ? at : w->end;
    return view_file(w->view, view_rank(w->view, at));
}

/* Behind the write's last byte below `at`. */
static int64_t last_below(const struct merge_write *w, int64_t at)
{
    if (at >= w->end)
        return w->end;
    return w->view ? view_file(w->view, view_rank(w->view, at) - 1) + 1 : at;
}

/* The first byte from `at` on that is not known to be on the medium; the write's end: it has none. */
static int64_t first_missing(const struct merge_write *w, int64_t at)
{
    return w->next >= at ? w->next : first_from(w, at);
}

struct laying {
    struct merge *m;
    const struct merge_write *w;
};

static void lay_bytes(struct merge *m, int64_t file, const uint8_t *from, int64_t bytes)
{
    memcpy(m->window + (file - m->at), from, (size_t)bytes);
    covered_add(m->covered, file - m->at, file - m->at + bytes);
}

static bool lay_run(void *ctx, const struct plan_run *run)
{
    const struct laying *l = ctx;

    lay_bytes(l->m, run->file, l->w->data + (run->in[PLAN_B] - (int64_t)l->w->offset), run->bytes);
    return true;
}

static void lay_write(struct merge *m, const struct merge_write *w)
{
    int64_t from = w->first > m->at ? w->first : m->at, end = m->at + m->bytes_used;
    int64_t to = w->end < end ? w->end : end;

    if (from >= to)
        return;
    if (w->view)
        view_runs(w->view, from, to, lay_run, &(struct laying){m, w});
    else
        lay_bytes(m, from, w->data + (from - w->first), to - from);
}

static bool is_complete(const struct merge_write *w)
{
    return w->next == w->end;
}

/* The oldest write that is not complete; NULL: all are. */
static const struct merge_write *oldest(const struct merge *m)
{
    for (uint32_t i = m->answered; i < m->writes; i++)
        if (!is_complete(&m->write[i]))
            return &m->write[i];
    return NULL;
}

/* Lays the window out around byte `wanted`: from the lowest byte in reach that is not written, or where its block
 * begins, so that whole blocks are aligned in memory as in the file. */
static void lay(struct merge *m, int64_t wanted)
{
    int64_t reach = wanted - m->window_bytes / 2, end = 0;

    m->at = wanted;
    for (uint32_t i = 0; i < m->writes; i++) {
        const struct merge_write *w = &m->write[i];
        int64_t next = first_missing(w, reach);

        if (next < w->end && next < m->at)
            m->at = next;
        end = w->end > end ? w->end : end;
    }
    m->at -= m->at % m->inode->fs->block_bytes;
    m->bytes_used = end - m->at < m->window_bytes ? end - m->at : m->window_bytes;
    memset(m->covered, 0, covered_bytes(m->bytes_used));
    for (uint32_t i = 0; i < m->writes; i++)
        lay_write(m, &m->write[i]);
}

/* ---- Extents ---- */

struct extent {
    int64_t from, to; /* in the window */
    bool gaps;
};

/* The first extent from `at` on. */
static struct extent next_extent(const struct merge *m, int64_t at)
{
    struct extent e = {.from = find(m, at, 0)};

    e.to = find(m, e.from, ~0ull);
    for (;;) {
        int64_t from = find(m, e.to, 0), to = find(m, from, ~0ull);

        if (from == m->bytes_used || from - e.to >= m->inode->fs->block_bytes || to - e.from > VIEW_SIEVE_BYTES)
            return e;
        e.to = to;
        e.gaps = true;
    }
}

/* Cuts off what is on the medium already at both ends. */
static void trim(const struct merge *m, struct extent *e)
{
    int64_t from = m->at + e->from, to = m->at + e->to, first = to, last = from;

    for (uint32_t i = m->answered; i < m->writes; i++) {
        const struct merge_write *w = &m->write[i];
        int64_t next = first_missing(w, from);

        if (next >= to || next == w->end)
            continue;
        int64_t end = last_below(w, to);
        first = next < first ? next : first;
        last = end > last ? end : last;
    }
    e->from = first - m->at;
    e->to = last - m->at;
}

/* Fills the gaps of an extent with what the file has there; beyond its end are zeros. */
static int64_t fill_gaps(struct merge *m, const struct extent *e)
{
    int64_t at = m->at + e->from, bytes = e->to - e->from;
    int64_t n = ext2_read(m->inode, (uint64_t)at, m->sieve, (uint32_t)bytes);

    if (n >= 0 && n < bytes && at + n < (int64_t)m->inode->size_bytes)
        return -N_EIO; /* it stopped before the end: what follows is not known */
    if (n < 0)
        return n;
    memset(m->sieve + n, 0, (size_t)(bytes - n));
    for (int64_t from = find(m, e->from, ~0ull); from < e->to;) {
        int64_t to = find(m, from, 0);

        memcpy(m->window + from, m->sieve + (from - e->from), (size_t)(to - from));
        from = find(m, to, ~0ull);
    }
    return 0;
}

static void note_written(struct merge *m, int64_t from, int64_t to)
{
    for (uint32_t i = m->answered; i < m->writes; i++) {
        struct merge_write *w = &m->write[i];

        if (w->next < from || w->next >= to)
            continue;
        note_done(w, to >= w->end ? w->bytes : bytes_below(w, to));
    }
}

/* Writes an extent. Returns whether all of it was. */
static bool write_extent(struct merge *m, const struct extent *e)
{
    int64_t n = e->gaps ? fill_gaps(m, e) : 0, from = e->from;

    while (n >= 0 && from < e->to) { /* what a short write has left says why */
        n = ext2_write(m->inode, (uint64_t)(m->at + from), m->window + from, (uint32_t)(e->to - from));
        if (n > 0) {
            note_written(m, m->at + from, m->at + from + n);
            from += n;
        }
    }
    m->error = n < 0 ? n : 0;
    return n >= 0;
}

/* ---- Blocks in a data cache ---- */

/* Copies the write's bytes of file bytes from .. to-1 into a block, of which block[0] is byte `at`. */
static void lay_in_block(struct merge_write *w, uint8_t *block, int64_t at, int64_t from, int64_t to)
{
    const bool goes_on = w->next >= from && w->next < to; /* else it is there, and only laid over an older one */
    int64_t n = goes_on ? w->done : bytes_below(w, from);

    from = goes_on ? w->next : from;
    if (w->view) {
        n += view_scatter(w->view, from, to, block + (from - at), from, w->data + n);
    } else {
        memcpy(block + (from - at), w->data + n, (size_t)(to - from));
        n += to - from;
    }
    if (goes_on)
        note_done(w, n);
}

/* All writes' bytes of a block, in order of arrival. */
static void lay_all_in_block(struct merge *m, uint8_t *block, int64_t at, int64_t end)
{
    bool over = false; /* an older one has just been laid */

    for (uint32_t i = 0; i < m->writes; i++) {
        struct merge_write *w = &m->write[i];
        const int64_t from = w->first > at ? w->first : at, to = w->end < end ? w->end : end;

        if (from >= to || (w->next >= to && !over))
            continue;
        lay_in_block(w, block, at, from, to);
        over = true;
    }
}

/* Whether what all writes have of a block lies within the file. */
static bool is_within(const struct merge *m, int64_t at, int64_t end)
{
    const int64_t size = (int64_t)m->inode->size_bytes;

    for (uint32_t i = 0; i < m->writes && end > size; i++)
        if (m->write[i].first < end && m->write[i].end > size)
            return false;
    return at < size;
}

/* What was laid at and behind `from` did not reach the medium. */
static void note_lost(struct merge *m, int64_t from)
{
    for (uint32_t i = m->answered; i < m->writes; i++) {
        struct merge_write *w = &m->write[i];

        if (w->next <= from)
            continue;
        note_done(w, from <= w->first ? 0 : bytes_below(w, from));
    }
}

/* Changes the block of the oldest write's next byte, and those behind it that are in its group. Returns whether there
 * is any; m->error: that they did not reach the medium. */
static bool change_blocks(struct merge *m, const struct merge_write *w)
{
    const uint32_t shift = m->inode->fs->block_shift;
    const int64_t first = w->next >> shift << shift;
    struct ext2_cursor cursor = {0};
    int error = ext2_begin(m->inode->fs);

    while (error == 0 && !is_complete(w)) {
        const int64_t at = w->next >> shift << shift, end = at + m->inode->fs->block_bytes;
        uint8_t *bytes;

        if (!is_within(m, at, end))
            break;
        error = ext2_cached_change(m->inode, &cursor, (uint64_t)(at >> shift), &bytes);
        if (!bytes)
            break;
        lay_all_in_block(m, bytes, at, end);
    }
    if (cursor.last == 0)
        return false;
    const int changed = ext2_cached_changed(m->inode, &cursor);
    m->error = error < 0 ? error : changed;
    if (m->error < 0)
        note_lost(m, first);
    return true;
}

/* ---- The group ---- */

static bool place(struct merge_write *w)
{
    if (w->view)
        return view_range(w->view, w->offset, (uint32_t)w->bytes, &w->first, &w->end);
    w->first = (int64_t)w->offset;
    w->end = w->first + w->bytes;
    return w->offset <= (uint64_t)(INT64_MAX - w->bytes);
}

bool merge_add(struct merge *m, struct ext2_inode *inode, const struct view *view, uint64_t offset, uint32_t bytes,
               const uint8_t *data)
{
    struct merge_write w = {.view = view, .offset = offset, .bytes = bytes, .data = data};

    if (m->writes == MERGE_WRITES || (m->inode && m->inode != inode) || bytes == 0 || !place(&w))
        return false;
    w.next = w.first;
    m->inode = inode;
    m->write[m->writes++] = w;
    return true;
}

static void answer_complete(struct merge *m, const struct merge_calls *calls)
{
    while (m->answered < m->writes && is_complete(&m->write[m->answered])) {
        if (calls->answer)
            calls->answer(calls->ctx, m->answered);
        m->answered++;
    }
}

/* Writes the extent with byte `wanted`. laid: writes that are in the window; 0: it is empty. */
static bool write_extent_of(struct merge *m, int64_t wanted, uint32_t *laid)
{
    struct extent e = {0};

    if (*laid != m->writes || wanted < m->at || wanted >= m->at + m->bytes_used) {
        lay(m, wanted);
        *laid = m->writes;
    }
    do
        e = next_extent(m, e.to);
    while (m->at + e.to <= wanted);
    trim(m, &e);
    return write_extent(m, &e);
}

/* Goes on with the oldest write's next byte. */
bool merge_run(struct merge *m, const struct merge_calls *calls)
{
    const struct merge_write *w;
    uint32_t laid = 0;

    while ((w = oldest(m))) {
        if (m->inode->fs->data && change_blocks(m, w)) {
            if (m->error < 0)
                return false;
        } else if (!write_extent_of(m, w->next, &laid)) {
            return false;
        }
        answer_complete(m, calls);
        if (calls->more)
            calls->more(calls->ctx);
    }
    return true;
}

void merge_end(struct merge *m)
{
    m->inode = NULL;
    m->writes = m->answered = 0;
}

int64_t merge_write_view(struct merge *m, const struct view *view, struct ext2_inode *inode, uint64_t offset,
                         const void *buf, uint32_t bytes)
{
    if (bytes == 0)
        return 0;
    if (!merge_add(m, inode, view, offset, bytes, buf))
        return -N_EFBIG;
    merge_run(m, &(struct merge_calls){0});
    const struct merge_write *w = &m->write[0];
    int64_t done = w->done;
    merge_end(m);
    return done > 0 ? done : m->error;
}

/*
 * Uses of a plan: counting its bytes, listing its runs, copying them. One walk in file order hands out rows: runs of
 * one length at even distances in the file and in both elements.
 */
#include <errno.h>
#include <string.h>

#include "libpio/map/pattern.h"

/* ---- Counting ---- */

int64_t plan_file(const struct plan *p, int64_t k)
{
    int64_t at;

    if (p->body.bytes == 0)
        return -1;
    if (__builtin_mul_overflow(k / p->body.bytes, p->period, &at) ||
        __builtin_add_overflow(at, p->from + falls_select(&p->body, k % p->body.bytes), &at) || at > PATTERN_OFFSET_MAX)
        return -EOVERFLOW;
    return at;
}

int64_t plan_bytes(const struct plan *p, int64_t end)
{
    if (end <= p->from)
        return 0;
    int64_t periods = (end - p->from) / p->period;
    return periods * p->body.bytes + falls_rank(&p->body, (end - p->from) % p->period);
}

/* ---- The walk ---- */

struct row {
    int64_t file, in[2], bytes; /* of the first run */
    int64_t stride, step[2], count;
    int64_t rows, row_stride, row_step[2]; /* the row occurs so often; 1 where it is cut */
};

struct walk {
    const struct falls *node;
    int64_t from, to; /* file offsets */
    bool (*each)(void *ctx, const struct row *row);
    void *ctx;
};

/* Hands out the part of one run that lies in the walk's range. */
static bool hand_out_part(const struct walk *w, const struct row *row, int64_t block)
{
    struct row part = {.file = row->file + block * row->stride, .bytes = row->bytes, .count = 1, .rows = 1};
    int64_t cut = w->from > part.file ? w->from - part.file : 0, end = part.file + part.bytes;

    for (int s = 0; s < 2; s++)
        part.in[s] = row->in[s] + block * row->step[s] + cut;
    part.file += cut;
    part.bytes = (end < w->to ? end : w->to) - part.file;
    return part.bytes <= 0 || w->each(w->ctx, &part);
}

/* The blocks of a row that end after `from`, and those that begin before `to`: *first to *last. */
static void clip(const struct walk *w, const struct row *row, int64_t length, int64_t *first, int64_t *last)
{
    int64_t low = w->from - row->file - length, high = w->to - 1 - row->file;

    *first = low < 0 ? 0 : low / row->stride + 1;
    *last = high < 0 ? -1 : high / row->stride < row->count - 1 ? high / row->stride : row->count - 1;
}

static bool hand_out(const struct walk *w, const struct row *row)
{
    int64_t first, last;

    if (row->file >= w->from && row->file + (row->count - 1) * row->stride + row->bytes <= w->to)
        return w->each(w->ctx, row);
    clip(w, row, row->bytes, &first, &last);
    if (first > last)
        return true;
    if (!hand_out_part(w, row, first))
        return false;
    if (last > first + 1) {
        struct row middle = *row;

        middle.file += (first + 1) * row->stride;
        middle.count = last - first - 1;
        for (int s = 0; s < 2; s++)
            middle.in[s] += (first + 1) * row->step[s];
        if (!w->each(w->ctx, &middle))
            return false;
    }
    return last == first || hand_out_part(w, row, last);
}

/* Hands out the one row that is in each of the blocks low..high of f, none of which is cut: then there is nothing to be
 * done for each block. */
static bool hand_out_rows(const struct walk *w, const struct falls *f, const struct row *base, int64_t low,
                          int64_t high)
{
    const struct falls *child = &w->node[f->child];
    struct row all = {.file = base->file + f->left + low * f->stride + child->left,
                      .bytes = child->length,
                      .stride = child->stride,
                      .count = child->count,
                      .rows = high - low + 1,
                      .row_stride = f->stride};

    for (int s = 0; s < 2; s++) {
        all.in[s] = base->in[s] + f->in[s].at + low * f->in[s].step + child->in[s].at;
        all.step[s] = child->in[s].step;
        all.row_step[s] = f->in[s].step;
    }
    if (all.count == 1) { /* one run in each block: they are a row */
        all.count = all.rows;
        all.stride = all.row_stride;
        all.step[0] = all.row_step[0];
        all.step[1] = all.row_step[1];
        all.rows = 1;
    }
    return w->each(w->ctx, &all);
}

static bool walk_list(const struct walk *w, int32_t first, int32_t n, const struct row *base);

static bool walk_blocks(const struct walk *w, const struct falls *f, const struct row *base, int64_t low, int64_t high)
{
    for (int64_t block = low; block <= high; block++) {
        const struct row inner = {.file = base->file + f->left + block * f->stride,
                                  .in = {base->in[0] + f->in[0].at + block * f->in[0].step,
                                         base->in[1] + f->in[1].at + block * f->in[1].step}};

        if (!walk_list(w, f->child, f->children, &inner))
            return false;
    }
    return true;
}

/* Walks the blocks of a node that has children. */
static bool walk_node(const struct walk *w, const struct falls *f, const struct row *base)
{
    const struct row row = {.file = base->file + f->left, .stride = f->stride, .count = f->count};
    int64_t low, high;

    clip(w, &row, f->length, &low, &high);
    if (f->children > 1 || w->node[f->child].children > 0)
        return walk_blocks(w, f, base, low, high);
    int64_t first = row.file + low * f->stride >= w->from ? low : low + 1; /* those that are not cut: first..last */
    int64_t last = row.file + high * f->stride + f->length <= w->to ? high : high - 1;
    if (first >= last)
        return walk_blocks(w, f, base, low, high);
    return walk_blocks(w, f, base, low, first - 1) && hand_out_rows(w, f, base, first, last) &&
           walk_blocks(w, f, base, last + 1, high);
}

static bool walk_list(const struct walk *w, int32_t first, int32_t n, const struct row *base)
{
    for (const struct falls *f = &w->node[first], *end = f + n; f < end; f++) {
        if (base->file + f->left >= w->to)
            break;
        if (f->children > 0) {
            if (!walk_node(w, f, base))
                return false;
            continue;
        }
        const struct row row = {.file = base->file + f->left,
                                .in = {base->in[0] + f->in[0].at, base->in[1] + f->in[1].at},
                                .bytes = f->length,
                                .stride = f->stride,
                                .step = {f->in[0].step, f->in[1].step},
                                .count = f->count,
                                .rows = 1};
        if (!hand_out(w, &row))
            return false;
    }
    return true;
}

/* The periods are the blocks of a node above all others. */
static void walk_plan(const struct plan *p, struct walk *w)
{
    const struct row base = {.file = p->from};
    struct falls all = {.length = p->period, .stride = p->period, .child = p->body.top, .children = p->body.tops};

    w->node = p->body.node;
    w->from = w->from < p->from ? p->from : w->from;
    if (p->body.bytes == 0 || w->from >= w->to)
        return;
    all.count = (w->to - 1 - p->from) / p->period + 1;
    all.in[0].step = p->step[0];
    all.in[1].step = p->step[1];
    walk_node(w, &all, &base);
}

/* ---- Runs ---- */

struct lister {
    bool (*each)(void *ctx, const struct plan_run *run);
    void *ctx;
};

static bool list_row(void *ctx, const struct row *row)
{
    const struct lister *l = ctx;

    for (int64_t j = 0; j < row->rows; j++) {
        struct plan_run run = {
            .file = row->file + j * row->row_stride,
            .in = {row->in[0] + j * row->row_step[0], row->in[1] + j * row->row_step[1]},
            .bytes = row->bytes,
        };

        for (int64_t i = 0; i < row->count; i++) {
            if (!l->each(l->ctx, &run))
                return false;
            run.file += row->stride;
            run.in[0] += row->step[0];
            run.in[1] += row->step[1];
        }
    }
    return true;
}

void plan_runs(const struct plan *p, int64_t from, int64_t to, bool (*each)(void *ctx, const struct plan_run *run),
               void *ctx)
{
    struct lister l = {each, ctx};
    struct walk w = {.from = from, .to = to, .each = list_row, .ctx = &l};

    walk_plan(p, &w);
}

/* ---- Bytes ---- */

struct mover {
    char *to;
    const char *from;
    int64_t to_from, from_from; /* element offsets, or packed ones, of the memories' first bytes */
    int to_side, from_side;     /* PACKED: packed */
    int64_t moved;
};

enum { PACKED = 2 };

#define WORD 8

static inline bool is_aligned(const char *to, int64_t to_step, const char *from, int64_t from_step)
{
    return (((uintptr_t)to | (uintptr_t)from | (uint64_t)to_step | (uint64_t)from_step) & (WORD - 1)) == 0;
}

/* On a node, a turn of a loop costs as much as its load and store: several words are copied in a turn, and a step that
 * is known is no instruction. A host's processor has the next words under way by itself, and more of them only compete
 * for its cache. */
#ifdef __riscv
#define ON_NODE true
#else
#define ON_NODE false
#endif

/* `count` aligned words. */
static inline void copy_words(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count)
{
#ifdef __riscv
#pragma GCC unroll 8
#endif
    for (int64_t i = 0; i < count; i++) {
        memcpy(__builtin_assume_aligned(to, WORD), __builtin_assume_aligned(from, WORD), WORD);
        to += to_step;
        from += from_step;
    }
}

/* The first words of `count` aligned runs. */
static void copy_first_words(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count)
{
    if (ON_NODE && to_step == WORD)
        copy_words(to, WORD, from, from_step, count);
    else if (ON_NODE && from_step == WORD)
        copy_words(to, to_step, from, WORD, count);
    else
        copy_words(to, to_step, from, from_step, count);
}

/* `count` aligned runs of a few words each. */
static void copy_aligned(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t bytes, int64_t count)
{
#define ALIGNED_ROW_OF(n)                                                                        \
    case n:                                                                                      \
        for (; count > 0; count--, to += to_step, from += from_step)                             \
            memcpy(__builtin_assume_aligned(to, WORD), __builtin_assume_aligned(from, WORD), n); \
        break
    switch (bytes) {
        ALIGNED_ROW_OF(16);
        ALIGNED_ROW_OF(24);
        ALIGNED_ROW_OF(32);
        ALIGNED_ROW_OF(64);
    default:
        for (int64_t word = 0; word < bytes; word += WORD)
            copy_first_words(to + word, to_step, from + word, from_step, count);
    }
#undef ALIGNED_ROW_OF
}

/* What copy_aligned copies faster than a call of memcpy for each run. */
static inline bool is_few_words(int64_t bytes)
{
    return bytes % WORD == 0 && (ON_NODE ? bytes <= 16 * WORD : bytes <= 4 * WORD || bytes == 8 * WORD);
}

/* `count` runs of one length: a loop for each length that a compiler makes loads and stores of. */
static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t bytes, int64_t count)
{
#define ROW_OF(n)                                              \
    case n:                                                    \
        for (int64_t i = 0; i < count; i++)                    \
            memcpy(to + i * to_step, from + i * from_step, n); \
        break
    switch (bytes) {
        ROW_OF(1);
        ROW_OF(2);
        ROW_OF(4);
        ROW_OF(8);
        ROW_OF(16);
        ROW_OF(32);
        ROW_OF(64);
    default:
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * to_step, from + i * from_step, (size_t)bytes);
    }
#undef ROW_OF
}

/* A row as it lies in two memories: `count` pieces of `bytes`, and that `rows` times. */
struct copy {
    char *to;
    const char *from;
    int64_t bytes, count, rows;
    int64_t to_step, from_step; /* from one piece to the next */
    int64_t to_next, from_next; /* from one row to the next */
};

/* Makes one piece of those that touch in both memories. */
static void join_pieces(struct copy *c)
{
    if (c->to_step != c->bytes || c->from_step != c->bytes)
        return;
    c->bytes *= c->count;
    c->count = 1;
}

static void simplify(struct copy *c)
{
    const struct copy old = *c;

    join_pieces(c);
    /* On a node, the longer loop becomes the inner one. On a host, the pieces of a row are in its cache together. */
    if (c->count == 1 || (ON_NODE && c->count < c->rows)) {
        c->rows = c->count;
        c->count = old.rows;
        c->to_step = old.to_next;
        c->from_step = old.from_next;
        c->to_next = old.to_step;
        c->from_next = old.from_step;
        join_pieces(c);
    }
}

static bool move_row(void *ctx, const struct row *row)
{
    struct mover *m = ctx;
    int64_t bytes = row->count * row->bytes;
    bool to_packed = m->to_side == PACKED, from_packed = m->from_side == PACKED;
    struct copy c = {.to = m->to + (to_packed ? m->moved : row->in[m->to_side] - m->to_from),
                     .from = m->from + (from_packed ? m->moved : row->in[m->from_side] - m->from_from),
                     .bytes = row->bytes,
                     .count = row->count,
                     .rows = row->rows,
                     .to_step = to_packed ? row->bytes : row->step[m->to_side],
                     .from_step = from_packed ? row->bytes : row->step[m->from_side],
                     .to_next = to_packed ? bytes : row->row_step[m->to_side],
                     .from_next = from_packed ? bytes : row->row_step[m->from_side]};

    simplify(&c);
    bool words = is_few_words(c.bytes) && is_aligned(c.to, c.to_step | c.to_next, c.from, c.from_step | c.from_next);

    for (int64_t j = 0; j < c.rows; j++, c.to += c.to_next, c.from += c.from_next) {
        if (words)
            copy_aligned(c.to, c.to_step, c.from, c.from_step, c.bytes, c.count);
        else
            copy_row(c.to, c.to_step, c.from, c.from_step, c.bytes, c.count);
    }
    m->moved += row->rows * bytes;
    return true;
}

static int64_t move(const struct plan *p, int64_t from, int64_t to, struct mover m)
{
    struct walk w = {.from = from, .to = to, .each = move_row, .ctx = &m};

    walk_plan(p, &w);
    return m.moved;
}

int64_t plan_copy(const struct plan *p, int64_t from, int64_t to, void *b, int64_t b_from, const void *a,
                  int64_t a_from)
{
    return move(
        p, from, to,
        (struct mover){
            .to = b, .to_from = b_from, .to_side = PLAN_B, .from = a, .from_from = a_from, .from_side = PLAN_A});
}

int64_t plan_gather(const struct plan *p, int64_t from, int64_t to, void *packed, const void *a, int64_t a_from)
{
    return move(p, from, to,
                (struct mover){.to = packed, .to_side = PACKED, .from = a, .from_from = a_from, .from_side = PLAN_A});
}

int64_t plan_scatter(const struct plan *p, int64_t from, int64_t to, void *a, int64_t a_from, const void *packed)
{
    return move(p, from, to,
                (struct mover){.to = a, .to_from = a_from, .to_side = PLAN_A, .from = packed, .from_side = PACKED});
}

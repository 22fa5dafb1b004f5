/*
 * Sets of nested FALLS: lookups by descent (rank, select, find), and the builder of falls.h with its simplifications.
 */
#include "libpio/map/falls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/numbers.h"

/* Of any set: patterns from text have at most PATTERN_DEPTH_MAX levels, bit permutations one for each group of bits,
 * and plans as many as both elements together. */
#define DEPTH_MAX 128

/* ---- Looking up ---- */

/* The last of n siblings that begins at or before x; NULL if x is before all. Most lists have one. */
static inline const struct falls *sibling_at(const struct falls *first, int32_t n, int64_t x)
{
    if (n == 0 || x < first->left)
        return NULL;
    return &first[FIRST_NOT(1, n, i, first[i].left <= x) - 1];
}

/* The last of n siblings that has at most k bytes of the set before it; the first one has none. */
static inline const struct falls *sibling_with(const struct falls *first, int32_t n, int64_t k)
{
    return &first[FIRST_NOT(1, n, i, first[i].before <= k) - 1];
}

/* distance / step of a node, without the division where it has one block, or for the first. The caller subtracts what
 * it makes up; the empty instruction keeps gcc from making a second division of that, which costs a node 40 cycles. */
static inline int64_t times(const struct falls *f, int64_t distance, int64_t step)
{
    int64_t blocks = f->count == 1 || distance < step ? 0 : distance / step;

    __asm__("" : "+r"(blocks));
    return blocks;
}

int64_t falls_rank(const struct falls_set *set, int64_t x)
{
    const struct falls *first = &set->node[set->top];
    int32_t n = set->tops;
    int64_t rank = 0;

    for (;;) {
        const struct falls *f = sibling_at(first, n, x);

        if (!f)
            return rank;
        rank += f->before;
        x -= f->left;
        int64_t block = times(f, x, f->stride);
        if (block >= f->count)
            return rank + f->count * f->bytes;
        rank += block * f->bytes;
        x -= block * f->stride;
        if (x >= f->length)
            return rank + f->bytes;
        if (f->children == 0)
            return rank + x;
        first = &set->node[f->child];
        n = f->children;
    }
}

int64_t falls_select(const struct falls_set *set, int64_t k)
{
    int32_t n = set->tops;
    int64_t x = 0;

    if (k < 0 || k >= set->bytes)
        return -1;
    for (const struct falls *f = &set->node[set->top];;) {
        f = sibling_with(f, n, k);
        k -= f->before;
        int64_t block = times(f, k, f->bytes);
        x += f->left + block * f->stride;
        k -= block * f->bytes;
        if (f->children == 0)
            return x + k;
        n = f->children;
        f = &set->node[f->child];
    }
}

int64_t falls_next(const struct falls_set *set, int64_t x)
{
    return falls_select(set, falls_rank(set, x < 0 ? 0 : x));
}

int64_t falls_previous(const struct falls_set *set, int64_t x)
{
    return x < 0 ? -1 : falls_select(set, falls_rank(set, x + 1) - 1);
}

/* Descends to byte x of the set. Returns how many bytes lie together from it on, and sets *place; -1: it has none. */
static inline int64_t descend(const struct falls_set *set, int64_t x, int side, int64_t *place)
{
    const struct falls *first = &set->node[set->top];
    int32_t n = set->tops;
    int64_t at = 0;

    for (;;) {
        const struct falls *f = sibling_at(first, n, x);

        if (!f)
            return -1;
        x -= f->left;
        int64_t block = times(f, x, f->stride);
        x -= block * f->stride;
        if (block >= f->count || x >= f->length)
            return -1;
        at += f->in[side].at + block * f->in[side].step;
        if (f->children == 0) {
            *place = at + x;
            return f->length - x;
        }
        first = &set->node[f->child];
        n = f->children;
    }
}

bool falls_find(const struct falls_set *set, int64_t x, int side, int64_t *place)
{
    int64_t at;

    if (descend(set, x, side, &at) < 0)
        return false;
    if (place)
        *place = at;
    return true;
}

int64_t falls_run_end(const struct falls_set *set, int64_t x)
{
    int64_t place, bytes = descend(set, x, PLAN_A, &place);

    return bytes < 0 ? -1 : x + bytes;
}

/* ---- Making ---- */

/* Makes room for `all` nodes in an array. Returns false, with b->error set, if that fails. */
static bool grow(struct falls_build *b, struct falls **array, int32_t all, int32_t *room)
{
    int32_t more = *room > 0 ? 2 * *room : 16;

    if (all > PATTERN_NODES_MAX) {
        b->error = -E2BIG;
        return false;
    }
    more = more < all ? all : more;
    struct falls *larger = realloc(*array, (size_t)more * sizeof **array);
    if (!larger) {
        b->error = -ENOMEM;
        return false;
    }
    *array = larger;
    *room = more;
    return true;
}

static inline bool make_room(struct falls_build *b, struct falls **array, int32_t all, int32_t *room)
{
    return !b->error && (all <= *room || grow(b, array, all, room));
}

void falls_build_free(struct falls_build *b)
{
    free(b->node);
    free(b->list);
}

/* True of a single block, and of blocks that touch, in the file and in both elements. */
static inline bool is_run(const struct falls *f)
{
    return f->children == 0 &&
           (f->count == 1 || (f->stride == f->length && f->in[0].step == f->length && f->in[1].step == f->length));
}

static void set_run(struct falls *f, int64_t length)
{
    f->count = 1;
    f->length = f->stride = f->bytes = f->in[0].step = f->in[1].step = length;
}

/* True if the run f begins where the run `last` ends, in the file and in both elements. */
static bool continues(const struct falls *last, const struct falls *f)
{
    return is_run(last) && last->left + last->length == f->left && last->in[0].at + last->length == f->in[0].at &&
           last->in[1].at + last->length == f->in[1].at;
}

/* True if the run f, of `length` bytes, is the next one of the row of runs `last`. */
static bool is_next_in_row(const struct falls *last, const struct falls *f, int64_t length)
{
    if (last->children > 0 || last->length != length)
        return false;
    if (last->count == 1)
        return true; /* any two runs of one length are a row */
    for (int side = 0; side < 2; side++)
        if (last->in[side].at + last->count * last->in[side].step != f->in[side].at)
            return false;
    return last->left + last->count * last->stride == f->left;
}

static void add_to_row(struct falls *last, const struct falls *f)
{
    if (last->count == 1) {
        last->stride = f->left - last->left;
        for (int side = 0; side < 2; side++)
            last->in[side].step = f->in[side].at - last->in[side].at;
    }
    last->count++;
}

/* Appends a copy of f, of which `length` is the run's, or -1: it is none. */
static void append(struct falls_build *b, const struct falls *f, int64_t length)
{
    if (b->nodes_most > 0 && b->nodes + b->listed >= b->nodes_most) {
        b->error = b->error ? b->error : -E2BIG;
        return;
    }
    if (!make_room(b, &b->list, b->listed + 1, &b->list_room))
        return;
    struct falls *new = &b->list[b->listed++];
    *new = *f;
    if (length >= 0)
        set_run(new, length);
    else if (f->children == 0)
        new->bytes = f->length;
    else if (f->count == 1) {
        new->stride = f->length;
        new->in[0].step = new->in[1].step = f->bytes;
    }
}

void falls_push(struct falls_build *b, int32_t mark, const struct falls *f)
{
    struct falls *last = b->listed > mark ? &b->list[b->listed - 1] : NULL;
    int64_t length = is_run(f) ? f->length * f->count : -1;

    if (last && length >= 0 && continues(last, f))
        set_run(last, last->length + length);
    else if (last && length >= 0 && is_next_in_row(last, f, length))
        add_to_row(last, f);
    else
        append(b, f, length);
}

/* Moves the list from `mark` on to the nodes, as children of f. */
static void close_list(struct falls_build *b, int32_t mark, struct falls *f)
{
    f->child = b->nodes;
    f->children = b->listed - mark;
    f->bytes = 0;
    bool fits = make_room(b, &b->node, b->nodes + f->children, &b->node_room);
    for (int32_t i = mark; fits && i < b->listed; i++) {
        b->list[i].before = f->bytes;
        f->bytes += b->list[i].count * b->list[i].bytes;
        b->node[b->nodes++] = b->list[i];
    }
    b->listed = mark;
}

static void shift(struct falls *f, const struct falls *by)
{
    f->left += by->left;
    for (int side = 0; side < 2; side++)
        f->in[side].at += by->in[side].at;
}

/* Replaces a block that occurs once by its children, which are pushed to the list that begins at outer_mark. */
static void unwrap(struct falls_build *b, int32_t outer_mark, int32_t mark, const struct falls *f)
{
    int32_t end = b->listed;

    b->listed = mark;
    for (int32_t i = mark; i < end; i++) {
        struct falls child = b->list[i]; /* pushing overwrites it */

        shift(&child, f);
        falls_push(b, outer_mark, &child);
    }
}

/* True if the rows of `child`, one in each block of f, form a single row with even distances. */
static bool row_goes_on(const struct falls *child, const struct falls *f)
{
    for (int side = 0; side < 2; side++)
        if (child->count * child->in[side].step != f->in[side].step)
            return false;
    return child->count * child->stride == f->stride;
}

void falls_wrap(struct falls_build *b, int32_t outer_mark, int32_t mark, const struct falls *f)
{
    struct falls outer = *f;

    if (b->error || b->listed == mark)
        return;
    if (f->count == 1) {
        unwrap(b, outer_mark, mark, f);
        return;
    }
    if (b->listed == mark + 1) {
        struct falls *child = &b->list[mark];

        if (child->count == 1 || row_goes_on(child, f)) {
            struct falls joined = *child;

            shift(&joined, f);
            joined.count = child->count * f->count;
            if (child->count == 1) {
                joined.stride = f->stride;
                joined.in[0].step = f->in[0].step;
                joined.in[1].step = f->in[1].step;
            }
            b->listed = mark;
            falls_push(b, outer_mark, &joined);
            return;
        }
    }
    int64_t first = b->list[mark].left;
    struct falls by = {.left = -first};
    for (int32_t i = mark; i < b->listed; i++)
        shift(&b->list[i], &by);
    const struct falls *last = &b->list[b->listed - 1];
    outer.left += first;
    outer.length = last->left + (last->count - 1) * last->stride + last->length;
    close_list(b, mark, &outer);
    falls_push(b, outer_mark, &outer);
}

void falls_free(struct falls_set *set)
{
    free((void *)set->node);
    *set = (struct falls_set){0};
}

static int depth_of(const struct falls_set *set, int32_t first, int32_t n, int most)
{
    int deepest = 0;

    for (int32_t i = first; i < first + n && deepest <= most; i++) {
        int below = set->node[i].children > 0 ? depth_of(set, set->node[i].child, set->node[i].children, most - 1) : 0;

        if (below + 1 > deepest)
            deepest = below + 1;
    }
    return deepest;
}

static bool list_ascends(const struct falls_set *set, int32_t first, int32_t n)
{
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        if (f->in[0].at != f->before || (f->count > 1 && f->in[0].step != f->bytes) ||
            (f->children > 0 && !list_ascends(set, f->child, f->children)))
            return false;
    }
    return true;
}

/* Closes the outermost list, without a look at the places. */
static int finish(struct falls_build *b, struct falls_set *set)
{
    struct falls all = {0};

    close_list(b, 0, &all);
    if (b->error)
        return b->error;
    *set = (struct falls_set){
        .node = b->node, .nodes = b->nodes, .top = all.child, .tops = all.children, .bytes = all.bytes};
    if (depth_of(set, set->top, set->tops, DEPTH_MAX) > DEPTH_MAX) {
        *set = (struct falls_set){0}; /* the nodes are still the builder's */
        return -E2BIG;
    }
    b->node = NULL; /* the set owns them now */
    return 0;
}

int falls_finish(struct falls_build *b, struct falls_set *set)
{
    int error = finish(b, set);

    if (!error)
        set->ascending = list_ascends(set, set->top, set->tops);
    return error;
}

static void number(struct falls *node, int32_t first, int32_t n)
{
    for (int32_t i = first; i < first + n; i++) {
        node[i].in[0].at = node[i].before;
        node[i].in[0].step = node[i].bytes;
        node[i].in[1].at = node[i].in[1].step = 0;
        if (node[i].children > 0)
            number(node, node[i].child, node[i].children);
    }
}

int falls_finish_by_rank(struct falls_build *b, struct falls_set *set)
{
    int error = finish(b, set);

    if (error)
        return error;
    number((struct falls *)set->node, set->top, set->tops);
    set->ascending = true;
    return 0;
}

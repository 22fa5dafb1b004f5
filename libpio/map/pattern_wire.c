/*
 * Elements of patterns as bytes, in which one program sends a view to another [P3 section 6.3.1]. Numbers are
 * little-endian:
 *
 *   0  displacement  8     of the pattern
 *   8  period        8
 *   16 nodes         8     their number; they follow in preorder: a node, its first child with all below it, ...
 *
 *   0  left          8     of a node: as in struct falls
 *   8  length        8
 *   16 stride        8     equal to length if count is 1
 *   24 count         8
 *   32 children      4
 *   36 zero          4
 *
 * A whole pattern is the number of elements, and for each its length and bytes; or what pattern_array makes it of,
 * which is shorter and sooner made:
 *
 *   0  -dims         8     below zero
 *   8  displacement  8
 *   16 item          8
 *   24 size, kind, k, procs   8 each, for each dimension
 *
 * Bytes from outside are checked as they are taken, and only whole ones make a pattern; places and sums are computed,
 * not sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/falls.h"

#define HEAD_BYTES 24
#define NODE_BYTES 40

/* On a node, a byte costs as much as a word that is aligned, as all are in a message. */
static bool is_word(const void *at, int bytes)
{
    return bytes == 8 && (uintptr_t)at % 8 == 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static void put(uint8_t *to, int bytes, int64_t value)
{
    if (is_word(to, bytes)) {
        memcpy(__builtin_assume_aligned(to, 8), &value, 8);
        return;
    }
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)((uint64_t)value >> 8 * i);
}

static int64_t get(const uint8_t *from, int bytes)
{
    uint64_t value = 0;

    if (is_word(from, bytes)) {
        memcpy(&value, __builtin_assume_aligned(from, 8), 8);
        return (int64_t)value;
    }
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return (int64_t)value;
}

/* ---- Packing ---- */

/* Writes a list of siblings with all that is below them, and returns the byte behind it. */
static uint8_t *pack_list(uint8_t *to, const struct falls_set *set, int32_t first, int32_t n)
{
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        put(to, 8, f->left);
        put(to + 8, 8, f->length);
        put(to + 16, 8, f->count > 1 ? f->stride : f->length);
        put(to + 24, 8, f->count);
        put(to + 32, 4, f->children);
        put(to + 36, 4, 0);
        to = pack_list(to + NODE_BYTES, set, f->child, f->children);
    }
    return to;
}

int64_t pattern_pack(const struct pattern *p, int32_t element, void *bytes, size_t room)
{
    if (element < 0 || element >= p->elements || !p->element[element].ascending)
        return -EINVAL;
    const struct falls_set *set = &p->element[element];
    size_t all = HEAD_BYTES + (size_t)set->nodes * NODE_BYTES;
    if (all <= room) {
        uint8_t *to = bytes;

        put(to, 8, p->displacement);
        put(to + 8, 8, p->period);
        put(to + 16, 8, set->nodes);
        pack_list(to + HEAD_BYTES, set, set->top, set->tops);
    }
    return (int64_t)all;
}

/* ---- Unpacking ---- */

struct packed {
    const uint8_t *at;
    int32_t left; /* nodes that have not been read */
};

/* Takes the next node, and checks it against `within`, the bytes of its parent's block, and *end, the byte behind its
 * sibling before it, which it moves on. */
static int take_node(struct packed *from, int64_t within, int64_t *end, struct falls *f, int32_t *children)
{
    const uint8_t *at = from->at;
    int64_t last, below;

    if (from->left == 0)
        return -EINVAL;
    from->at += NODE_BYTES;
    from->left--;
    *f = (struct falls){
        .left = get(at, 8), .length = get(at + 8, 8), .stride = get(at + 16, 8), .count = get(at + 24, 8)};
    below = get(at + 32, 8); /* the zero is their upper half */
    if (f->left < *end || f->length < 1 || f->count < 1 || f->stride < f->length ||
        (f->count == 1 && f->stride != f->length) || below < 0 || below > from->left)
        return -EINVAL;
    if (__builtin_mul_overflow(f->count - 1, f->stride, &last) || __builtin_add_overflow(last, f->left, &last) ||
        __builtin_add_overflow(last, f->length, &last))
        return -EOVERFLOW;
    *children = (int32_t)below;
    *end = last;
    return last > within ? -EINVAL : 0;
}

/* Checks `n` siblings and all that is below them, and pushes them to the list that begins at `mark`; n < 0: as many as
 * there are. */
static int push_list(struct falls_build *b, struct packed *from, int32_t n, int64_t within, int depth, int32_t mark)
{
    int64_t end = 0;

    if (depth > PATTERN_LEVELS_MAX)
        return -E2BIG;
    for (int32_t i = 0; n < 0 ? from->left > 0 : i < n; i++) {
        struct falls f;
        int32_t children, inner = b->listed;
        int error = take_node(from, within, &end, &f, &children);

        if (error)
            return error;
        falls_lies_as_in_file(&f);
        if (children == 0) {
            falls_push(b, mark, &f);
            continue;
        }
        error = push_list(b, from, children, f.length, depth + 1, inner);
        if (error)
            return error;
        falls_wrap(b, mark, inner, &f);
    }
    return 0;
}

int pattern_unpack(const void *bytes, size_t n, struct pattern **p)
{
    const uint8_t *head = bytes;

    if (n < HEAD_BYTES)
        return -EINVAL;
    int64_t displacement = get(head, 8), period = get(head + 8, 8), nodes = get(head + 16, 8);
    if (displacement < 0 || period < 1 || nodes < 0)
        return -EINVAL;
    if (displacement > PATTERN_OFFSET_MAX / 2 || period > PATTERN_OFFSET_MAX / 2)
        return -EOVERFLOW;
    if (nodes > PATTERN_NODES_MAX)
        return -E2BIG;
    if (n != HEAD_BYTES + (size_t)nodes * NODE_BYTES)
        return -EINVAL;
    struct pattern *new = pattern_new(displacement, period, 1);
    if (!new)
        return -ENOMEM;
    struct falls_build b = {0};
    struct packed from = {.at = head + HEAD_BYTES, .left = (int32_t)nodes};
    int error = push_list(&b, &from, -1, period, 1, 0);
    return pattern_finish_view(&b, error, new, p);
}

/* ---- Whole patterns ---- */

#define ARRAY_BYTES     24
#define DIMENSION_BYTES 32

static int64_t pack_array(const struct pattern *p, uint8_t *to, size_t room)
{
    size_t all = ARRAY_BYTES + (size_t)p->dims * DIMENSION_BYTES;

    if (all > room)
        return (int64_t)all;
    put(to, 8, -(int64_t)p->dims);
    put(to + 8, 8, p->displacement);
    put(to + 16, 8, p->item);
    for (int d = 0; d < p->dims; d++) {
        uint8_t *at = to + ARRAY_BYTES + d * DIMENSION_BYTES;

        put(at, 8, p->dimension[d].size);
        put(at + 8, 8, p->dimension[d].kind);
        put(at + 16, 8, p->dimension[d].k);
        put(at + 24, 8, p->dimension[d].procs);
    }
    return (int64_t)all;
}

static int unpack_array(const uint8_t *from, size_t n, struct pattern **p)
{
    struct pattern_dimension dimension[PATTERN_DEPTH_MAX];
    int64_t below_zero = get(from, 8), dims = below_zero < -PATTERN_DEPTH_MAX ? 0 : -below_zero;

    if (dims == 0 || n != ARRAY_BYTES + (size_t)dims * DIMENSION_BYTES)
        return -EINVAL;
    int64_t displacement = get(from + 8, 8);
    if (displacement < 0)
        return -EINVAL;
    if (displacement > PATTERN_OFFSET_MAX / 2)
        return -EOVERFLOW;
    for (int d = 0; d < dims; d++) {
        const uint8_t *at = from + ARRAY_BYTES + d * DIMENSION_BYTES;
        int64_t kind = get(at + 8, 8), procs = get(at + 24, 8);

        if (kind < 0 || kind > 127 || procs < 1 || procs > PATTERN_ELEMENTS_MAX)
            return -EINVAL;
        dimension[d] = (struct pattern_dimension){get(at, 8), (char)kind, get(at + 16, 8), (int32_t)procs};
    }
    int error = pattern_array((int)dims, dimension, get(from + 16, 8), p);
    if (!error)
        (*p)->displacement = displacement;
    return error;
}

int64_t pattern_pack_all(const struct pattern *p, void *bytes, size_t room)
{
    uint8_t *to = bytes;
    int64_t all = 8;

    if (p->dims > 0)
        return pack_array(p, to, room);
    if (room >= 8)
        put(to, 8, p->elements);
    for (int32_t e = 0; e < p->elements; e++) {
        int64_t n = pattern_pack(p, e, NULL, 0);

        if (n < 0)
            return n;
        if ((uint64_t)(all + 8 + n) <= room) {
            put(to + all, 8, n);
            pattern_pack(p, e, to + all + 8, (size_t)n);
        }
        all += 8 + n;
    }
    return all;
}

/* Unpacks the next element into `whole`, whose first one it is if e is 0. */
static int unpack_element(const uint8_t *bytes, size_t n, struct pattern *whole, int32_t e)
{
    struct pattern *one;
    int error = pattern_unpack(bytes, n, &one);

    if (error)
        return error;
    if (e == 0) {
        whole->displacement = one->displacement;
        whole->period = one->period;
    }
    if (one->displacement != whole->displacement || one->period != whole->period)
        error = -EINVAL;
    if (!error) {
        whole->element[e] = one->element[0];
        one->element[0].node = NULL;
    }
    pattern_free(one);
    return error;
}

int pattern_unpack_all(const void *bytes, size_t n, struct pattern **p)
{
    const uint8_t *from = bytes;
    size_t at = 8;
    int error = 0;

    if (n >= ARRAY_BYTES && get(from, 8) < 0)
        return unpack_array(from, n, p);
    if (n < 8 || get(from, 8) < 1 || get(from, 8) > PATTERN_ELEMENTS_MAX)
        return -EINVAL;
    int32_t elements = (int32_t)get(from, 8);
    struct pattern *whole = pattern_new(0, 0, elements);
    if (!whole)
        return -ENOMEM;
    for (int32_t e = 0; e < elements && !error; e++) {
        int64_t length = n - at >= 8 ? get(from + at, 8) : -1;

        if (length < 0 || (uint64_t)length > n - at - 8) {
            error = -EINVAL;
            break;
        }
        error = unpack_element(from + at + 8, (size_t)length, whole, e);
        at += 8 + (size_t)length;
    }
    if (!error && at != n)
        error = -EINVAL;
    return pattern_hand_over(whole, error, p);
}

/*
 * Copies between memory laid out in any way and a packed sequence (datatype.h), of any part of it: a long message is
 * packed piece by piece on its way.
 */
#include <string.h>

#include "libpio/mpi/types/datatype.h"

/* What is copied: `packed` is where the byte `from` of a layout goes, or comes from. */
struct copying {
    char *packed;
    bool packs;
};

static void copy(struct copying *c, char *at, long bytes)
{
    if (c->packs)
        memcpy(c->packed, at, (size_t)bytes);
    else
        memcpy(at, c->packed, (size_t)bytes);
    c->packed += bytes;
}

/* Whole pieces of 8, 4 or 2 bytes, or others, a stride apart. */
static void copy_pieces(struct copying *c, char *at, long bytes, long stride, long n)
{
#define COPY_PIECES(size)                                        \
    for (long i = 0; i < n; i++, at += stride, packed += (size)) \
        if (packs)                                               \
            __builtin_memcpy(packed, at, (size));                \
        else                                                     \
            __builtin_memcpy(at, packed, (size))
    char *packed = c->packed;
    bool packs = c->packs;
    uintptr_t aligned = (uintptr_t)at | (uintptr_t)packed | (uintptr_t)stride | (uintptr_t)bytes;

    if (bytes == 8 && aligned % 8 == 0) {
        if (packs)
            for (long i = 0; i < n; i++, at += stride, packed += 8)
                *(uint64_t *)packed = *(uint64_t *)at;
        else
            for (long i = 0; i < n; i++, at += stride, packed += 8)
                *(uint64_t *)at = *(uint64_t *)packed;
    } else if (bytes == 4 && aligned % 4 == 0) {
        if (packs)
            for (long i = 0; i < n; i++, at += stride, packed += 4)
                *(uint32_t *)packed = *(uint32_t *)at;
        else
            for (long i = 0; i < n; i++, at += stride, packed += 4)
                *(uint32_t *)at = *(uint32_t *)packed;
    } else {
        COPY_PIECES((size_t)bytes);
    }
    c->packed = packed;
#undef COPY_PIECES
}

static void copy_layout(struct copying *c, const struct mpi_layout *l, char *at, long from, long to);

static void copy_repeated(struct copying *c, const struct mpi_layout *l, char *at, long from, long to)
{
    long size = l->of->bytes, i = from / size, done = i * size;

    if (from > done || to < done + size) { /* begins within an element */
        copy_layout(c, l->of, at + i * l->stride, from - done, to - done < size ? to - done : size);
        i++;
        done += size;
    }
    if (to <= done)
        return;
    long whole = (to - done) / size;
    if (l->of->count == 0 && l->of->parts == 0) {
        copy_pieces(c, at + i * l->stride, size, l->stride, whole);
        i += whole;
    } else {
        for (long end = i + whole; i < end; i++)
            copy_layout(c, l->of, at + i * l->stride, 0, size);
    }
    done += whole * size;
    if (to > done)
        copy_layout(c, l->of, at + i * l->stride, 0, to - done);
}

/* The part that has the byte `from`. */
static int find_part(const struct mpi_layout *l, long from)
{
    int low = 0, high = l->parts - 1;

    while (low < high) {
        int middle = (low + high + 1) / 2;

        if (l->part[middle].before <= from)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void copy_parts(struct copying *c, const struct mpi_layout *l, char *at, long from, long to)
{
    for (int i = find_part(l, from); i < l->parts && l->part[i].before < to; i++) {
        const struct mpi_part *p = &l->part[i];
        long first = from > p->before ? from - p->before : 0, end = to - p->before;

        copy_layout(c, p->of, at + p->at, first, end < p->of->bytes ? end : p->of->bytes);
    }
}

static void copy_layout(struct copying *c, const struct mpi_layout *l, char *at, long from, long to)
{
    if (from >= to)
        return;
    if (l->count > 0)
        copy_repeated(c, l, at, from, to);
    else if (l->parts > 0)
        copy_parts(c, l, at, from, to);
    else
        copy(c, at + from, to - from);
}

static void copy_elements(struct copying *c, const struct mpi_type *t, int count, char *buf, long from, long to)
{
    const struct mpi_layout all = {t->size * count, count, t->extent, t->layout, 0, NULL};

    if (from >= to)
        return;
    if (t->is_dense)
        copy(c, buf + from, to - from);
    else
        copy_layout(c, &all, buf, from, to);
}

void mpi_pack(const struct mpi_type *t, int count, const void *buf, long from, long to, void *packed)
{
    struct copying c = {packed, true};

    copy_elements(&c, t, count, (char *)buf, from, to); /* which packing only reads */
}

void mpi_unpack(const struct mpi_type *t, int count, void *buf, long from, long to, const void *packed)
{
    struct copying c = {(char *)packed, false};

    copy_elements(&c, t, count, buf, from, to);
}

void mpi_copy(const struct mpi_type *from_type, int from_count, const void *from, const struct mpi_type *to_type,
              int to_count, void *to, long bytes)
{
    char piece[512];

    if (from_type->is_dense)
        mpi_unpack(to_type, to_count, to, 0, bytes, from);
    else if (to_type->is_dense)
        mpi_pack(from_type, from_count, from, 0, bytes, to);
    else
        for (long at = 0, end; at < bytes; at = end) {
            end = bytes - at < (long)sizeof piece ? bytes : at + (long)sizeof piece;
            mpi_pack(from_type, from_count, from, at, end, piece);
            mpi_unpack(to_type, to_count, to, at, end, piece);
        }
}

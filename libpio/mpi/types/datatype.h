/*
 * Types [4]: where in memory the bytes of an element lie, and copies between there and a packed sequence.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/mpi/base/handles.h"
#include "libpio/mpi/base/inside.h"

/* Where bytes lie. A layout is dense: `bytes` from its address on; or `count` times another one, `stride` apart; or
 * parts, each at its place. */
struct mpi_layout {
    long bytes;  /* of data */
    long count;  /* 0: dense, or parts */
    long stride; /* bytes, of any sign */
    const struct mpi_layout *of;
    int parts; /* 0: none */
    const struct mpi_part *part;
};

struct mpi_part {
    long at;     /* bytes from the layout's address */
    long before; /* bytes of data of the parts before */
    const struct mpi_layout *of;
};

/* Elements that operations of MPI_Reduce know. */
enum mpi_basic {
    BASIC_NONE, /* several different ones */
    BASIC_BYTE,
    BASIC_CHAR,
    BASIC_INT8,
    BASIC_UINT8,
    BASIC_INT16,
    BASIC_UINT16,
    BASIC_INT32,
    BASIC_UINT32,
    BASIC_INT64,
    BASIC_UINT64,
    BASIC_FLOAT,
    BASIC_DOUBLE,
    BASIC_LONG_DOUBLE,
    BASIC_BOOL,
    BASIC_FLOAT_COMPLEX,
    BASIC_DOUBLE_COMPLEX,
    BASIC_LONG_DOUBLE_COMPLEX,
    BASIC_FLOAT_INT,
    BASIC_DOUBLE_INT,
    BASIC_LONG_INT,
    BASIC_2INT,
    BASIC_SHORT_INT,
    BASIC_LONG_DOUBLE_INT,
};

struct mpi_type {
    long size; /* bytes of data */
    long lb, extent;
    long true_lb, true_extent;
    bool is_dense; /* elements one after the other are `size` bytes each, from their address on */
    bool is_committed;
    enum mpi_basic basic;
    const struct mpi_layout *layout;
    /* The size, where it is dense, committed and short; else 0. A message of such elements needs no further look. The
     * struct has 64 bytes, so that an index is a shift. */
    long quick_size;
};

#define TYPES_QUICK_BYTES (1 << 20) /* the most: times any count it is a number */

#define TYPES_BASIC 0x27 /* the indexes of predefined types are below this, from 1 on */
extern const struct mpi_type mpi_basic_types[TYPES_BASIC];

extern struct handle_table mpi_made_types; /* of the program: struct made_type, which begins with struct mpi_type */
extern int mpi_under_way;                  /* requests that are not done */
extern int mpi_kept; /* requests that may be started again, and messages that Mprobe has taken: what these name stays */

/* NULL: no such type. */
static inline const struct mpi_type *mpi_find_type(MPI_Datatype handle)
{
    uintptr_t index = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;

    if (__builtin_expect(index - 1 < TYPES_BASIC - 1, 1))
        return &mpi_basic_types[index];
    return handle_find(&mpi_made_types, HANDLE_TYPE, handle);
}

/* Copy the bytes from `from` to before `to` of `count` elements' data into `packed`, and from there. */
void mpi_pack(const struct mpi_type *t, int count, const void *buf, long from, long to, void *packed);
void mpi_unpack(const struct mpi_type *t, int count, void *buf, long from, long to, const void *packed);
/* Copies the first bytes of elements to others. */
void mpi_copy(const struct mpi_type *from_type, int from_count, const void *from, const struct mpi_type *to_type,
              int to_count, void *to, long bytes);

/*
 * Types that a program makes [4.1]: how each was made, where its bytes lie, and its place in the table of handles.
 */
#pragma once

#include "libpio/mpi/types/datatype.h"

/* Elements of a type, one after the other in its map. */
struct made_block {
    long count;
    const struct mpi_type *of;
};

struct made_type {
    struct mpi_type type;       /* first */
    struct made_type *next;     /* of those that die when no request is under way */
    int uses;                   /* by its handles, and by types that are made of it */
    int align;                  /* of its elements */
    bool has_lb, has_ub;        /* set by MPI_Type_create_resized, also in a part [4.1.7] */
    struct made_memory *memory; /* of its layouts */
    int blocks;
    struct made_block *block; /* in the order of the map */
    struct made_envelope {
        int combiner, ints, aints, types;
        int *number;
        MPI_Aint *address;
        MPI_Datatype *datatype;
    } how;
};

/* What a type is made of while it is built. */
struct made_piece {
    long size, lb, ub, true_lb, true_ub;
    bool has_lb, has_ub, is_empty; /* empty: it has no entries at all */
    int align;
    const struct mpi_layout *layout;
};

/* Begins a type; NULL: no memory. */
struct made_type *made_new(int combiner, int ints, int aints, int types);
/* Gives it a handle, and its layout; or drops it: MPI_ERR_NO_MEM. */
int made_finish(struct made_type *t, const struct made_piece *p, MPI_Datatype *handle);
void made_drop(struct made_type *t);

/* NULL: the handle is of no type that a program has made. */
struct made_type *made_find(MPI_Datatype handle);
/* NULL: the type is predefined. */
const struct made_type *made_of(const struct mpi_type *t);
/* Adds a block to a type that is being made: so many elements of another. */
void made_add_block(struct made_type *t, long count, const struct mpi_type *of);
/* Gives a handle back. */
void made_free(MPI_Datatype handle);
/* A handle of that type: the given one if it is predefined, else a new one; MPI_DATATYPE_NULL: no memory. */
MPI_Datatype made_new_handle(const struct mpi_type *t, MPI_Datatype given);

/* What is attached to a type is copied with it, and deleted with it (type_records.c); NULL: nothing is attached to any.
 * Classes. */
int type_records_copy(MPI_Datatype from, MPI_Datatype to) __attribute__((weak));
int type_records_delete(MPI_Datatype type) __attribute__((weak));

struct made_piece piece_of(const struct mpi_type *t);
/* `count` times a piece, `stride` bytes apart. */
struct made_piece piece_repeat(struct made_type *t, const struct made_piece *p, long count, long stride);
/* Several, each at its place. */
struct made_piece piece_join(struct made_type *t, const struct made_piece *p, const long *at, int n);

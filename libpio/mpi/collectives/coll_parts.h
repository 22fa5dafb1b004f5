/* The parts of all ranks in a buffer of the program, of calls like MPI_Gather [5.5 to 5.8]. */
#pragma once

#include "libpio/mpi/collectives/collectives.h"

/* The parts of all ranks in a buffer of the program: `count` elements each, or counts[]; one after the other, or at
 * displs[], in elements, or in bytes where each part has a type of its own. */
struct parts {
    void *buf;
    const struct mpi_type *type;
    int count;
    const int *counts, *displs;
    const MPI_Datatype *types;
    enum { PARTS_EQUAL, PARTS_V, PARTS_W } kind; /* V: with counts and displs, W: with types, too */
};

static inline const struct mpi_type *parts_type(const struct parts *p, int rank)
{
    return p->types ? mpi_find_type(p->types[rank]) : p->type;
}

static inline int parts_count(const struct parts *p, int rank)
{
    return p->counts ? p->counts[rank] : p->count;
}

static inline int parts_bytes(const struct parts *p, int rank)
{
    return (int)parts_type(p, rank)->size * parts_count(p, rank);
}

static inline char *parts_place(const struct parts *p, int rank)
{
    if (p->types)
        return (char *)p->buf + p->displs[rank];
    return (char *)p->buf + p->type->extent * (p->displs ? p->displs[rank] : (long)rank * p->count);
}

/* Checks them, and finds p->type where all have one. A class. */
int parts_check(struct parts *p, int size, MPI_Datatype datatype);

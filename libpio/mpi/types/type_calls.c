/*
 * Constructors of types [4.1.2 to 4.1.4], and what is done with types.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/types/made_types.h"

/* ---- What constructors share ---- */

static const struct mpi_type *old_type(MPI_Datatype handle, int *error)
{
    const struct mpi_type *t = mpi_find_type(handle);

    if (!t && *error == MPI_SUCCESS)
        *error = mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)handle, 0);
    return t;
}

static void check_counts(int n, const int counts[], int *error)
{
    if (*error == MPI_SUCCESS && n < 0)
        *error = mpi_error(MPI_ERR_COUNT, "%ld", n, 0);
    for (int i = 0; counts && i < n && *error == MPI_SUCCESS; i++)
        if (counts[i] < 0)
            *error = mpi_error(MPI_ERR_ARG, "block %ld has %ld elements", i, counts[i]);
}

/* A type of one old type, in so many elements. */
static struct made_type *begin(int combiner, int ints, int aints, MPI_Datatype of, const struct mpi_type *old,
                               long count, int *error)
{
    struct made_type *t = *error == MPI_SUCCESS ? made_new(combiner, ints, aints, 1) : NULL;

    if (!t && *error == MPI_SUCCESS)
        *error = mpi_error(MPI_ERR_NO_MEM, "no memory for a type", 0, 0);
    if (!t)
        return NULL;
    t->how.datatype[0] = of;
    made_add_block(t, count, old);
    return t;
}

/* The way out: `t` is NULL after an error. */
static int finish(struct made_type *t, const struct made_piece *p, int error, MPI_Datatype *newtype)
{
    if (error == MPI_SUCCESS)
        error = made_finish(t, p, newtype);
    return error == MPI_SUCCESS ? error : mpi_fail_alone(error);
}

/* ---- Constructors ---- */

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_contiguous", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    check_counts(count, NULL, &error);
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_CONTIGUOUS, 1, 0, oldtype, old, count, &error);
    if (t) {
        t->how.number[0] = count;
        p = piece_of(old);
        p = piece_repeat(t, &p, count, old->extent);
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_contiguous);

/* The stride in bytes. */
static struct made_piece make_vector(struct made_type *t, const struct mpi_type *old, int count, int length,
                                     long stride)
{
    struct made_piece p = piece_of(old);

    p = piece_repeat(t, &p, length, old->extent);
    return piece_repeat(t, &p, count, stride);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_vector", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    check_counts(count, NULL, &error);
    check_counts(1, &blocklength, &error);
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_VECTOR, 3, 0, oldtype, old, (long)count * blocklength, &error);
    if (t) {
        t->how.number[0] = count;
        t->how.number[1] = blocklength;
        t->how.number[2] = stride;
        p = make_vector(t, old, count, blocklength, stride * old->extent);
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_vector);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_create_hvector", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    check_counts(count, NULL, &error);
    check_counts(1, &blocklength, &error);
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_HVECTOR, 2, 1, oldtype, old, (long)count * blocklength, &error);
    if (t) {
        t->how.number[0] = count;
        t->how.number[1] = blocklength;
        t->how.address[0] = stride;
        p = make_vector(t, old, count, blocklength, stride);
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_create_hvector);

/* Blocks of one type: lengths, or all of one length; displacements in elements or in bytes, the other is NULL. */
struct blocks {
    int combiner, count;
    const int *lengths, *displacements;
    const MPI_Aint *addresses;
    int length;
};

static long all_elements(const struct blocks *b)
{
    long n = 0;

    for (int i = 0; i < b->count; i++)
        n += b->lengths ? b->lengths[i] : b->length;
    return n;
}

static void note_blocks(struct made_type *t, const struct blocks *b)
{
    int *number = t->how.number;

    *number++ = b->count;
    if (!b->lengths)
        *number++ = b->length;
    for (int i = 0; b->lengths && i < b->count; i++)
        *number++ = b->lengths[i];
    for (int i = 0; b->displacements && i < b->count; i++)
        *number++ = b->displacements[i];
    for (int i = 0; b->addresses && i < b->count; i++)
        t->how.address[i] = b->addresses[i];
}

static int make_blocks(const struct blocks *b, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    mpi_must_run();
    check_counts(b->count, b->lengths, &error);
    if (!b->lengths)
        check_counts(1, &b->length, &error);
    const struct mpi_type *old = old_type(oldtype, &error);
    int n = b->count < 0 ? 0 : b->count, ints = 1 + (b->lengths ? n : 1) + (b->displacements ? n : 0);
    struct made_type *t = begin(b->combiner, ints, b->addresses ? n : 0, oldtype, old,
                                error == MPI_SUCCESS ? all_elements(b) : 0, &error);
    struct made_piece *piece = t ? malloc((size_t)(n + 1) * (sizeof *piece + sizeof(long))) : NULL;
    if (t && !piece) {
        made_drop(t);
        error = mpi_error(MPI_ERR_NO_MEM, "no memory for %ld blocks", n, 0);
    } else if (t) {
        long *at = (long *)(piece + n);
        struct made_piece one = piece_of(old);

        note_blocks(t, b);
        for (int i = 0; i < n; i++) {
            piece[i] = piece_repeat(t, &one, b->lengths ? b->lengths[i] : b->length, old->extent);
            at[i] = b->addresses ? b->addresses[i] : b->displacements[i] * old->extent;
        }
        p = piece_join(t, piece, at, n);
    }
    free(piece);
    return finish(t, &p, error, newtype);
}

int PMPI_Type_indexed(int count, const int lengths[], const int displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    MPI_ENTER("Type_indexed", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return make_blocks(&(struct blocks){MPI_COMBINER_INDEXED, count, lengths, displacements, NULL, 0}, oldtype,
                       newtype);
}
MPI_NAME(Type_indexed);

int PMPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MPI_ENTER("Type_create_hindexed", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return make_blocks(&(struct blocks){MPI_COMBINER_HINDEXED, count, lengths, NULL, displacements, 0}, oldtype,
                       newtype);
}
MPI_NAME(Type_create_hindexed);

int PMPI_Type_create_indexed_block(int count, int length, const int displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype *newtype)
{
    MPI_ENTER("Type_create_indexed_block", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return make_blocks(&(struct blocks){MPI_COMBINER_INDEXED_BLOCK, count, NULL, displacements, NULL, length}, oldtype,
                       newtype);
}
MPI_NAME(Type_create_indexed_block);

int PMPI_Type_create_hindexed_block(int count, int length, const MPI_Aint displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    MPI_ENTER("Type_create_hindexed_block", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return make_blocks(&(struct blocks){MPI_COMBINER_HINDEXED_BLOCK, count, NULL, NULL, displacements, length}, oldtype,
                       newtype);
}
MPI_NAME(Type_create_hindexed_block);

int PMPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                            MPI_Datatype *newtype)
{
    struct made_piece p = {0}, *piece = NULL;
    struct made_type *t = NULL;
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_create_struct", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    check_counts(count, lengths, &error);
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        old_type(types[i], &error);
    if (error == MPI_SUCCESS) {
        t = made_new(MPI_COMBINER_STRUCT, 1 + count, count, count);
        piece = malloc((size_t)(count + 1) * sizeof *piece);
        if (!t || !piece) {
            error = mpi_error(MPI_ERR_NO_MEM, "no memory for %ld blocks", count, 0);
            if (t)
                made_drop(t);
        }
    }
    if (error == MPI_SUCCESS) {
        t->how.number[0] = count;
        for (int i = 0; i < count; i++) {
            const struct mpi_type *old = mpi_find_type(types[i]);

            p = piece_of(old);
            piece[i] = piece_repeat(t, &p, lengths[i], old->extent);
            t->how.number[1 + i] = lengths[i];
            t->how.address[i] = displacements[i];
            t->how.datatype[i] = types[i];
            made_add_block(t, lengths[i], old);
        }
        p = piece_join(t, piece, displacements, count);
    }
    free(piece);
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_create_struct);

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_create_resized", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_RESIZED, 0, 2, oldtype, old, 1, &error);
    if (t) {
        t->how.address[0] = lb;
        t->how.address[1] = extent;
        p = piece_of(old);
        p.lb = lb;
        p.ub = lb + extent;
        p.has_lb = p.has_ub = true;
        p.is_empty = false;
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_create_resized);

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_dup", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_DUP, 0, 0, oldtype, old, 1, &error);
    if (t)
        p = piece_of(old);
    error = finish(t, &p, error, newtype);
    if (error == MPI_SUCCESS && old->is_committed)
        PMPI_Type_commit(newtype);
    int copied = error == MPI_SUCCESS && type_records_copy ? type_records_copy(oldtype, *newtype) : MPI_SUCCESS;
    if (copied == MPI_SUCCESS)
        return error;
    type_records_delete(*newtype);
    made_free(*newtype);
    *newtype = MPI_DATATYPE_NULL;
    return mpi_fail_alone(copied);
}
MPI_NAME(Type_dup);

/* ---- Arrays ---- */

/* Dimension number i in the order of memory, the fastest first. */
static int fastest(int i, int ndims, int order)
{
    return order == MPI_ORDER_C ? ndims - 1 - i : i;
}

/* The piece at its place in the whole array, which are the bounds. */
static struct made_piece within(struct made_type *t, const struct made_piece *p, long at, long whole)
{
    struct made_piece all = piece_join(t, p, &at, 1);

    all.lb = 0;
    all.ub = whole;
    all.has_lb = all.has_ub = true;
    all.is_empty = false;
    return all;
}

int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[], int order,
                              MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_create_subarray", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (ndims < 1 || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
        error = mpi_error(MPI_ERR_ARG, "%ld dimensions, order %ld", ndims, order);
    for (int i = 0; i < ndims && error == MPI_SUCCESS; i++)
        if (sizes[i] < 1 || subsizes[i] < 1 || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            error = mpi_error(MPI_ERR_ARG, "dimension %ld begins at %ld", i, starts[i]);
    const struct mpi_type *old = old_type(oldtype, &error);
    long n = 1;
    for (int i = 0; i < ndims && error == MPI_SUCCESS; i++)
        n *= subsizes[i];
    struct made_type *t = begin(MPI_COMBINER_SUBARRAY, 3 * ndims + 2, 0, oldtype, old, n, &error);
    if (t) {
        long stride = old->extent, at = 0;

        p = piece_of(old);
        for (int i = 0; i < ndims; i++) {
            int d = fastest(i, ndims, order);

            p = piece_repeat(t, &p, subsizes[d], stride);
            at += starts[d] * stride;
            stride *= sizes[d];
        }
        p = within(t, &p, at, stride);
        t->how.number[0] = ndims;
        memcpy(t->how.number + 1, sizes, (size_t)ndims * sizeof(int));
        memcpy(t->how.number + 1 + ndims, subsizes, (size_t)ndims * sizeof(int));
        memcpy(t->how.number + 1 + 2 * ndims, starts, (size_t)ndims * sizeof(int));
        t->how.number[1 + 3 * ndims] = order;
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_create_subarray);

/* One dimension of a distributed array: of `size` elements, process `rank` of `procs` has blocks of `length`. */
static struct made_piece distribute(struct made_type *t, const struct made_piece *p, long size, long rank, long procs,
                                    long length, long stride)
{
    long round = procs * length, first = rank * length;
    long whole = size < first ? 0 : (size - first + round - length) / round, rest; /* blocks that are not cut off */

    if (size < first + length)
        whole = 0;
    rest = size - first - whole * round;
    rest = rest < 0 ? 0 : rest < length ? rest : length;
    struct made_piece block = piece_repeat(t, p, length, stride), part[2];
    part[0] = piece_repeat(t, &block, whole, round * stride);
    part[1] = piece_repeat(t, p, rest, stride);
    const long at[] = {first * stride, (first + whole * round) * stride};
    return piece_join(t, part, at, 2);
}

static int check_distribution(int size, int distrib, int darg, int procs, long *length)
{
    if (distrib == MPI_DISTRIBUTE_NONE && procs == 1)
        *length = size;
    else if (distrib == MPI_DISTRIBUTE_BLOCK)
        *length = darg == MPI_DISTRIBUTE_DFLT_DARG ? (size + procs - 1) / procs : darg;
    else if (distrib == MPI_DISTRIBUTE_CYCLIC)
        *length = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg;
    else
        return mpi_error(MPI_ERR_ARG, "distribution %ld over %ld processes", distrib, procs);
    if (*length < 1 || (distrib == MPI_DISTRIBUTE_BLOCK && *length * procs < size))
        return mpi_error(MPI_ERR_ARG, "blocks of %ld of %ld elements", *length, size);
    return MPI_SUCCESS;
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
                            const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct made_piece p = {0};
    int error = MPI_SUCCESS;
    long procs = 1, length, n = 1;

    MPI_ENTER("Type_create_darray", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (ndims < 1 || rank < 0 || rank >= size || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
        error = mpi_error(MPI_ERR_ARG, "rank %ld of %ld", rank, size);
    for (int i = 0; i < ndims && error == MPI_SUCCESS; i++) {
        procs *= psizes[i];
        if (gsizes[i] < 1 || psizes[i] < 1)
            error = mpi_error(MPI_ERR_ARG, "dimension %ld has %ld elements", i, gsizes[i]);
        else
            error = check_distribution(gsizes[i], distribs[i], dargs[i], psizes[i], &length);
    }
    if (error == MPI_SUCCESS && procs != size)
        error = mpi_error(MPI_ERR_ARG, "a grid of %ld for %ld processes", procs, size);
    const struct mpi_type *old = old_type(oldtype, &error);
    struct made_type *t = begin(MPI_COMBINER_DARRAY, 4 * ndims + 4, 0, oldtype, old, n, &error);
    if (t) {
        long stride = old->extent;

        p = piece_of(old);
        for (int i = 0; i < ndims; i++) {
            int d = fastest(i, ndims, order), below = 1;

            for (int k = d + 1; k < ndims; k++) /* processes are in the order of rows [4.1.4] */
                below *= psizes[k];
            check_distribution(gsizes[d], distribs[d], dargs[d], psizes[d], &length);
            p = distribute(t, &p, gsizes[d], rank / below % psizes[d], psizes[d], length, stride);
            stride *= gsizes[d];
        }
        p = within(t, &p, 0, stride);
        t->block[0].count = old->size > 0 ? p.size / old->size : 0;
        int *number = t->how.number;
        const int *lists[] = {gsizes, distribs, dargs, psizes};
        *number++ = size;
        *number++ = rank;
        *number++ = ndims;
        for (int k = 0; k < 4; k++, number += ndims)
            memcpy(number, lists[k], (size_t)ndims * sizeof(int));
        *number = order;
    }
    return finish(t, &p, error, newtype);
}
MPI_NAME(Type_create_darray);

/* ---- Commit, free, contents ---- */

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    struct made_type *t = made_find(*datatype);
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_commit", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!t && !old_type(*datatype, &error))
        return mpi_fail_alone(error);
    if (t) {
        t->type.is_committed = true;
        t->type.quick_size = t->type.is_dense && t->type.size <= TYPES_QUICK_BYTES ? t->type.size : 0;
    }
    return MPI_SUCCESS;
}
MPI_NAME(Type_commit);

int PMPI_Type_free(MPI_Datatype *datatype)
{
    struct made_type *t = made_find(*datatype);

    MPI_ENTER("Type_free", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none that was made", (long)*datatype, 0));
    int error = type_records_delete ? type_records_delete(*datatype) : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    made_free(*datatype);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Type_free);

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *integers, int *addresses, int *datatypes, int *combiner)
{
    const struct made_type *t = made_find(datatype);
    int error = MPI_SUCCESS;

    MPI_ENTER("Type_get_envelope", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!t && !old_type(datatype, &error))
        return mpi_fail_alone(error);
    *integers = t ? t->how.ints : 0;
    *addresses = t ? t->how.aints : 0;
    *datatypes = t ? t->how.types : 0;
    *combiner = t ? t->how.combiner : MPI_COMBINER_NAMED;
    return MPI_SUCCESS;
}
MPI_NAME(Type_get_envelope);

/* Made types in it are new handles, which the program frees [4.1.13]. */
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                           int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[])
{
    const struct made_type *t = made_find(datatype);

    MPI_ENTER("Type_get_contents", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none that was made", (long)datatype, 0));
    if (max_integers < t->how.ints || max_addresses < t->how.aints || max_datatypes < t->how.types)
        return mpi_fail_alone(
            mpi_error(MPI_ERR_ARG, "there are more than %ld integers, or other items", max_integers, 0));
    memcpy(integers, t->how.number, (size_t)t->how.ints * sizeof(int));
    memcpy(addresses, t->how.address, (size_t)t->how.aints * sizeof(MPI_Aint));
    for (int i = 0; i < t->how.types; i++)
        datatypes[i] = made_new_handle(t->block[i].of, t->how.datatype[i]);
    return MPI_SUCCESS;
}
MPI_NAME(Type_get_contents);

/*
 * What all reductions are made of (reduction.h). An operation works on elements that lie an extent apart. The elements
 * of derived types travel packed, and are unpacked for the function of the program, which alone can combine them.
 */
#include "libpio/mpi/collectives/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/messages/request.h"

static const struct reduction *current; /* whose function is called; there is one at a time */

/* ---- Functions of the program ---- */

/* `inout` = `in` OP `inout`, both laid out as the type says. */
static void call_function(char *in, char *inout, int n)
{
    MPI_Datatype handle = current->datatype;

    current->function(in, inout, &n, &handle);
}

/* The operation for collect.h: into[i] = low[i] OP high[i], where `into` is one of the two. */
static void combine(void *into, const void *low, const void *high, int n)
{
    const struct mpi_type *t = current->type;
    long bytes = n * t->size;

    if (current->is_packed) {
        mpi_unpack(t, n, current->low, 0, bytes, low);
        mpi_unpack(t, n, current->high, 0, bytes, high);
        call_function(current->low, current->high, n);
        mpi_pack(t, n, current->high, 0, bytes, into);
        return;
    }
    call_function((char *)low, (char *)high, n); /* `high` may be changed: it is `into`, or scratch memory */
    if (into != high)
        memcpy(into, high, (size_t)bytes);
}

/* ---- Memory ---- */

static long span_of(const struct mpi_type *t, int count)
{
    long gap = t->extent < 0 ? -t->extent : t->extent;

    return count > 0 ? t->true_extent + (count - 1) * gap : 0;
}

/* Where element 0 is to be so that all `count` lie in the memory from `at` on. */
static char *place_of(const struct mpi_type *t, int count, char *at)
{
    return at - t->true_lb + (t->extent < 0 ? (count - 1) * -t->extent : 0);
}

int reduction_begin(struct reduction *r, int count)
{
    const struct mpi_type *t = r->type;
    bool is_function = r->function != NULL;

    r->is_packed = is_function && !t->is_dense;
    r->element_bytes = r->is_packed ? t->size : t->extent;
    r->bytes = r->element_bytes * count;
    long span = r->is_packed ? span_of(t, count) : 0, aligned = (r->bytes + 15) & ~15l;
    long all = 2 * aligned + 2 * span;
    bool are_few = r->few && all <= REDUCTION_FEW_BYTES;
    r->memory = are_few ? NULL : malloc((size_t)all + 16);
    if (!r->memory && !are_few)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", all, 0);
    r->elements = are_few ? r->few : r->memory;
    r->room = r->elements + aligned;
    r->low = place_of(t, count, r->elements + 2 * aligned);
    r->high = place_of(t, count, r->elements + 2 * aligned + span);
    r->count = count;
    current = r;
    return MPI_SUCCESS;
}

/* Mostly it is one element. */
static inline void copy(void *to, const void *from, long bytes)
{
    if (bytes == 8 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0)
        *(uint64_t *)to = *(const uint64_t *)from;
    else
        memcpy(to, from, (size_t)bytes);
}

void reduction_read(const struct reduction *r, const void *buf)
{
    if (r->is_packed)
        mpi_pack(r->type, r->count, buf, 0, r->bytes, r->elements);
    else
        copy(r->elements, buf, r->bytes);
}

void reduction_write(const struct reduction *r, void *buf, const char *elements)
{
    if (r->is_packed)
        mpi_unpack(r->type, r->count, buf, 0, r->bytes, elements);
    else if (r->type->is_dense)
        copy(buf, elements, r->bytes);
    else
        for (int i = 0; i < r->count; i++) { /* a pair */
            char packed[32];

            mpi_pack(r->type, 1, elements + i * r->type->extent, 0, r->type->size, packed);
            mpi_unpack(r->type, 1, (char *)buf + i * r->type->extent, 0, r->type->size, packed);
        }
}

void reduction_combine(const struct reduction *r, void *into, const void *low, const void *high)
{
    current = r;
    if (r->count > 0)
        (r->function ? combine : r->operation)(into, low, high, r->count);
}

struct collect_reduction reduction_for_collect(const struct reduction *r)
{
    return (struct collect_reduction){r->elements, r->room, r->count, (int)r->element_bytes,
                                      r->function ? combine : r->operation};
}

int reduction_find(struct reduction *r, MPI_Op op)
{
    r->operation = mpi_predefined_operation(op, r->type->basic);
    r->function = NULL;
    r->commutes = true;
    if (r->operation)
        return MPI_SUCCESS;
    if (mpi_find_made_operation && mpi_find_made_operation(op, r))
        return MPI_SUCCESS;
    return mpi_error(MPI_ERR_OP, "0x%lx is none for the type 0x%lx", (long)op, (long)r->datatype);
}

int reduction_check(struct reduction *r, const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                    MPI_Op op, bool needs_recvbuf)
{
    int error;

    r->datatype = datatype;
    r->type = check_data(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype, &error);
    if (error == MPI_SUCCESS && needs_recvbuf)
        check_data(recvbuf, count, datatype, &error);
    if (error == MPI_SUCCESS)
        error = reduction_find(r, op);
    return error;
}

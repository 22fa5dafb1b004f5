/*
 * Packing [4.2], addresses [4.1.5], extents, and the elements that a status tells of [4.1.11].
 */
#include <limits.h>
#include <string.h>

#include "libpio/mpi/messages/request.h"
#include "libpio/mpi/types/made_types.h"

/* ---- Pack ---- */

/* Checks what both have, and that the packed data is within the buffer. */
static const struct mpi_type *check(const void *buf, int count, MPI_Datatype datatype, int size, const int *position,
                                    int *error)
{
    const struct mpi_type *t = check_data(buf, count, datatype, error);

    if (*error == MPI_SUCCESS && (*position < 0 || size < *position))
        *error = mpi_error(MPI_ERR_ARG, "position %ld of %ld bytes", *position, size);
    if (*error == MPI_SUCCESS && t->size * count > size - *position)
        *error = mpi_error(MPI_ERR_TRUNCATE, "%ld bytes, and room for %ld", t->size * count, size - *position);
    return t;
}

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
              MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Pack", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_type *t = check(inbuf, incount, datatype, outsize, position, &error);
    if (error == MPI_SUCCESS) {
        mpi_pack(t, incount, inbuf, 0, t->size * incount, (char *)outbuf + *position);
        *position += (int)t->size * incount;
    }
    return mpi_leave(c, error);
}
MPI_NAME(Pack);

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
                MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Unpack", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_type *t = check(outbuf, outcount, datatype, insize, position, &error);
    if (error == MPI_SUCCESS) {
        mpi_unpack(t, outcount, outbuf, 0, t->size * outcount, (const char *)inbuf + *position);
        *position += (int)t->size * outcount;
    }
    return mpi_leave(c, error);
}
MPI_NAME(Unpack);

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Pack_size", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    if (!t || incount < 0)
        return mpi_fail(c, t ? mpi_error(MPI_ERR_COUNT, "%ld", incount, 0)
                             : mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    *size = t->size * incount > INT_MAX ? MPI_UNDEFINED : (int)t->size * incount;
    return MPI_SUCCESS;
}
MPI_NAME(Pack_size);

/* ---- Addresses ---- */

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}
MPI_NAME(Get_address);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return base + disp;
}
MPI_NAME(Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return addr1 - addr2;
}
MPI_NAME(Aint_diff);

/* ---- Sizes ---- */

#define TELL(name, call, number, low, first, high, second)                                      \
    int PMPI_##name(MPI_Datatype datatype, number *low, number *high)                           \
    {                                                                                           \
        const struct mpi_type *t = mpi_find_type(datatype);                                     \
                                                                                                \
        MPI_ENTER(call, NULL, MPI_NO_PEER, MPI_NO_PEER);                                        \
        if (!t)                                                                                 \
            return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0)); \
        *low = t->first;                                                                        \
        *high = t->second;                                                                      \
        return MPI_SUCCESS;                                                                     \
    }                                                                                           \
    MPI_NAME(name);

TELL(Type_get_extent_x, "Type_get_extent_x", MPI_Count, lb, lb, extent, extent)
TELL(Type_get_true_extent, "Type_get_true_extent", MPI_Aint, lb, true_lb, extent, true_extent)
TELL(Type_get_true_extent_x, "Type_get_true_extent_x", MPI_Count, lb, true_lb, extent, true_extent)

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Type_size_x", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    *size = t->size;
    return MPI_SUCCESS;
}
MPI_NAME(Type_size_x);

/* ---- Elements of predefined types ---- */

/* How many bytes the first element of a predefined type has: of a pair, the value. */
static long first_bytes(const struct mpi_type *t)
{
    return t->layout->parts > 0 ? t->layout->part[0].of->bytes : t->basic == BASIC_2INT ? (long)sizeof(int) : t->size;
}

/* How many elements the first `bytes` of data of this type are, at most one element's; -1: they end within one. */
static MPI_Count elements_in(const struct mpi_type *t, long bytes)
{
    const struct made_type *made = made_of(t);
    MPI_Count n = 0;

    if (!made && bytes == 0)
        return 0;
    if (!made)
        return bytes == t->size ? (first_bytes(t) < t->size ? 2 : 1) : bytes == first_bytes(t) ? 1 : -1;
    for (int i = 0; i < made->blocks && bytes > 0; i++) {
        const struct made_block *b = &made->block[i];
        long whole = b->of->size > 0 ? bytes / b->of->size : 0;

        whole = whole < b->count ? whole : b->count;
        n += whole > 0 ? whole * elements_in(b->of, b->of->size) : 0;
        bytes -= whole * b->of->size;
        if (whole < b->count && bytes > 0 && b->of->size > 0) {
            MPI_Count rest = elements_in(b->of, bytes);

            return rest < 0 ? -1 : n + rest;
        }
    }
    return n;
}

/* MPI_UNDEFINED: the data ends within an element. */
static MPI_Count count_elements(const struct mpi_type *t, MPI_Count bytes)
{
    if (t->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    MPI_Count whole = bytes / t->size, rest = elements_in(t, (long)(bytes % t->size));
    return rest < 0 ? MPI_UNDEFINED : (whole > 0 ? whole * elements_in(t, t->size) : 0) + rest;
}

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Get_elements_x", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    *count = count_elements(t, status->mpi_bytes);
    return MPI_SUCCESS;
}
MPI_NAME(Get_elements_x);

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Get_elements", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    MPI_Count n = count_elements(t, status->mpi_bytes);
    *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}
MPI_NAME(Get_elements);

static int set_elements(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    if (!t || count < 0)
        return mpi_fail_alone(t ? mpi_error(MPI_ERR_COUNT, "%ld", (long)count, 0)
                                : mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    MPI_Count each = elements_in(t, t->size), whole = each > 0 ? count / each : 0;
    long bytes = 0;
    while (each > 0 && bytes < t->size && elements_in(t, bytes) != count - whole * each)
        bytes++;
    status->mpi_bytes = whole * t->size + bytes;
    return MPI_SUCCESS;
}

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    MPI_ENTER("Status_set_elements", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return set_elements(status, datatype, count);
}
MPI_NAME(Status_set_elements);

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    MPI_ENTER("Status_set_elements_x", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return set_elements(status, datatype, count);
}
MPI_NAME(Status_set_elements_x);

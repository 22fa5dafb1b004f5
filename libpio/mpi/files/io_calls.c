/*
 * Pointers and accesses [13.4]. An access is done when the call returns, the nonblocking ones, too. Blocking collective
 * calls are of all members together; nonblocking ones, in which nobody may wait, are each process's own access.
 */
#include "libpio/mpi/types/datatype.h"
#include "libpio/mpi/files/io_file.h"
#include "libpio/mpi/messages/requests.h"

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    IO_ENTER("File_get_type_extent");
    return PMPI_Type_get_extent(datatype, &lb, extent);
}
MPI_NAME(File_get_type_extent);

/* ---- Pointers ---- */

/* The bytes of the view up to the end of the file, in etypes, as a whole [13.4.3]. */
static MPI_Offset end_of(const struct mpi_file *f)
{
    MPI_Offset size = f->store->size(f->fd);

    if (f->view.plan)
        return plan_bytes(f->view.plan, size);
    return size > f->view.displacement ? size - f->view.displacement : 0;
}

int io_seek(struct mpi_file *f, MPI_Offset offset, int whence, MPI_Offset current, MPI_Offset *at)
{
    MPI_Offset base = whence == MPI_SEEK_CUR ? current : whence == MPI_SEEK_END ? end_of(f) : 0;

    if (whence < MPI_SEEK_SET || whence > MPI_SEEK_END)
        return mpi_error(MPI_ERR_ARG, "%ld is no place to seek from", whence, 0);
    *at = base + offset * f->view.etype_bytes;
    return *at < 0 ? mpi_error(MPI_ERR_ARG, "%ld is before the file", (long)offset, 0) : MPI_SUCCESS;
}

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    MPI_Offset at;

    IO_ENTER("File_seek");
    int error = io_seek(f, offset, whence, f->position, &at);
    if (error == MPI_SUCCESS)
        f->position = at;
    return io_leave(f, error);
}
MPI_NAME(File_seek);

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    IO_ENTER("File_get_position");
    *offset = f->position / f->view.etype_bytes;
    return MPI_SUCCESS;
}
MPI_NAME(File_get_position);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    IO_ENTER("File_get_byte_offset");
    if (offset < 0)
        return io_leave(f, mpi_error(MPI_ERR_ARG, "offset %ld", (long)offset, 0));
    *disp = io_place(&f->view, offset * f->view.etype_bytes);
    return MPI_SUCCESS;
}
MPI_NAME(File_get_byte_offset);

/* ---- Accesses ---- */

int io_check(const struct mpi_file *f, const void *buf, int count, MPI_Datatype datatype, bool writes,
             const struct mpi_type **t)
{
    int error;

    *t = check_data(buf, count, datatype, &error);
    if (error == MPI_SUCCESS && f->amode & (writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY))
        error = io_error_of(writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS, "%s is open for the other direction only",
                            f->name);
    if (error == MPI_SUCCESS && (*t)->size * count % f->view.etype_bytes != 0)
        error =
            mpi_error(MPI_ERR_ARG, "%ld bytes are no number of etypes of %ld", (*t)->size * count, f->view.etype_bytes);
    return error;
}

/* Takes part in a collective access without any data; returns the own error. */
static int join(struct mpi_file *f, io_mover *move, bool writes, int error)
{
    const struct mpi_note own = mpi_noted(error);
    long moved;

    move(f, 0, NULL, 0, mpi_find_type(MPI_BYTE), writes, &moved);
    return mpi_error_again(&own, error);
}

/* At a place, or, if it is -1, at the individual pointer. In a collective access, the others wait for one that is in
 * error. */
int io_access(struct mpi_file *f, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, bool writes,
              MPI_Status *status, io_mover *move)
{
    const struct mpi_type *t;
    MPI_Offset at = offset == IO_INDIVIDUAL ? f->position : offset * f->view.etype_bytes;
    long moved = 0;
    int error = io_check(f, buf, count, datatype, writes, &t);

    if (error == MPI_SUCCESS && offset < 0 && offset != IO_INDIVIDUAL)
        error = mpi_error(MPI_ERR_ARG, "offset %ld", (long)offset, 0);
    if (error == MPI_SUCCESS && offset != IO_INDIVIDUAL && f->amode & MPI_MODE_SEQUENTIAL)
        error = mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "the file is open for sequential access", 0, 0);
    if (error == MPI_SUCCESS)
        error = move(f, at, (void *)buf, count, t, writes, &moved);
    else if (move != io_move)
        error = join(f, move, writes, error);
    if (error == MPI_SUCCESS && offset == IO_INDIVIDUAL)
        f->position += moved - moved % f->view.etype_bytes;
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
    return error;
}

int io_give_request(struct mpi_file *f, int error, const MPI_Status *status, MPI_Request *request)
{
    struct mpi_request *r = error == MPI_SUCCESS ? requests_new() : NULL;

    if (error != MPI_SUCCESS)
        return error;
    if (!r)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a request", 0, 0);
    r->comm = f->comm;
    r->peer = r->tag = MPI_NO_PEER;
    r->is_active = r->done = true;
    r->error = MPI_SUCCESS;
    r->forget = NULL;
    r->status = *status;
    *request = r->handle;
    return MPI_SUCCESS;
}

#define BLOCKING(name, buffer, writes)                                                                           \
    int PMPI_File_##name##_at(MPI_File fh, MPI_Offset offset, buffer *buf, int count, MPI_Datatype datatype,     \
                              MPI_Status *status)                                                                \
    {                                                                                                            \
        IO_ENTER("File_" #name "_at");                                                                           \
        return io_leave(f, io_access(f, offset, buf, count, datatype, writes, status, io_move));                 \
    }                                                                                                            \
    MPI_NAME(File_##name##_at);                                                                                  \
    int PMPI_File_##name##_at_all(MPI_File fh, MPI_Offset offset, buffer *buf, int count, MPI_Datatype datatype, \
                                  MPI_Status *status)                                                            \
    {                                                                                                            \
        IO_ENTER("File_" #name "_at_all");                                                                       \
        return io_leave(f, io_access(f, offset, buf, count, datatype, writes, status, io_move_all));             \
    }                                                                                                            \
    MPI_NAME(File_##name##_at_all);                                                                              \
    int PMPI_File_##name(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)         \
    {                                                                                                            \
        IO_ENTER("File_" #name);                                                                                 \
        return io_leave(f, io_access(f, IO_INDIVIDUAL, buf, count, datatype, writes, status, io_move));          \
    }                                                                                                            \
    MPI_NAME(File_##name);                                                                                       \
    int PMPI_File_##name##_all(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)   \
    {                                                                                                            \
        IO_ENTER("File_" #name "_all");                                                                          \
        return io_leave(f, io_access(f, IO_INDIVIDUAL, buf, count, datatype, writes, status, io_move_all));      \
    }                                                                                                            \
    MPI_NAME(File_##name##_all);

BLOCKING(read, void, false)
BLOCKING(write, const void, true)

/* The body of a nonblocking call. */
#define BEGIN(call, offset, writes)                                                   \
    MPI_Status status;                                                                \
                                                                                      \
    IO_ENTER(call);                                                                   \
    int error = io_access(f, offset, buf, count, datatype, writes, &status, io_move); \
    return io_leave(f, io_give_request(f, error, &status, request))

#define NONBLOCKING(name, buffer, writes)                                                                        \
    int PMPI_File_##name##_at(MPI_File fh, MPI_Offset offset, buffer *buf, int count, MPI_Datatype datatype,     \
                              MPI_Request *request)                                                              \
    {                                                                                                            \
        BEGIN("File_" #name "_at", offset, writes);                                                              \
    }                                                                                                            \
    MPI_NAME(File_##name##_at);                                                                                  \
    int PMPI_File_##name##_at_all(MPI_File fh, MPI_Offset offset, buffer *buf, int count, MPI_Datatype datatype, \
                                  MPI_Request *request)                                                          \
    {                                                                                                            \
        BEGIN("File_" #name "_at_all", offset, writes);                                                          \
    }                                                                                                            \
    MPI_NAME(File_##name##_at_all);                                                                              \
    int PMPI_File_##name(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Request *request)       \
    {                                                                                                            \
        BEGIN("File_" #name, IO_INDIVIDUAL, writes);                                                             \
    }                                                                                                            \
    MPI_NAME(File_##name);                                                                                       \
    int PMPI_File_##name##_all(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Request *request) \
    {                                                                                                            \
        BEGIN("File_" #name "_all", IO_INDIVIDUAL, writes);                                                      \
    }                                                                                                            \
    MPI_NAME(File_##name##_all);

NONBLOCKING(iread, void, false)
NONBLOCKING(iwrite, const void, true)

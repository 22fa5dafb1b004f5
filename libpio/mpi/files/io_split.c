/*
 * Split collective calls [13.4.5]: the first half does the work, the second tells of it. A file has one at a time.
 */
#include "libpio/mpi/files/io_file.h"

int io_begin_split(struct mpi_file *f)
{
    if (f->is_split)
        return mpi_error(MPI_ERR_OTHER, "a split collective call has begun already", 0, 0);
    f->is_split = true;
    return MPI_SUCCESS;
}

int io_keep_split(struct mpi_file *f, int error)
{
    f->is_split = error == MPI_SUCCESS;
    return error;
}

int io_end_split(struct mpi_file *f, MPI_Status *status)
{
    if (!f->is_split)
        return mpi_error(MPI_ERR_OTHER, "no split collective call has begun", 0, 0);
    f->is_split = false;
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, f->split.mpi_bytes);
    return MPI_SUCCESS;
}

static int begin(struct mpi_file *f, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, bool writes)
{
    int error = io_begin_split(f);

    if (error == MPI_SUCCESS)
        error = io_keep_split(f, io_access(f, offset, buf, count, datatype, writes, &f->split, io_move_all));
    return error;
}

#define SPLIT(name, buffer, writes)                                                                                \
    int PMPI_File_##name##_at_all_begin(MPI_File fh, MPI_Offset offset, buffer *buf, int count, MPI_Datatype type) \
    {                                                                                                              \
        IO_ENTER("File_" #name "_at_all_begin");                                                                   \
        return io_leave(f, begin(f, offset, buf, count, type, writes));                                            \
    }                                                                                                              \
    MPI_NAME(File_##name##_at_all_begin);                                                                          \
    int PMPI_File_##name##_all_begin(MPI_File fh, buffer *buf, int count, MPI_Datatype type)                       \
    {                                                                                                              \
        IO_ENTER("File_" #name "_all_begin");                                                                      \
        return io_leave(f, begin(f, IO_INDIVIDUAL, buf, count, type, writes));                                     \
    }                                                                                                              \
    MPI_NAME(File_##name##_all_begin);                                                                             \
    int PMPI_File_##name##_at_all_end(MPI_File fh, buffer *buf, MPI_Status *status)                                \
    {                                                                                                              \
        (void)buf;                                                                                                 \
        IO_ENTER("File_" #name "_at_all_end");                                                                     \
        return io_leave(f, io_end_split(f, status));                                                               \
    }                                                                                                              \
    MPI_NAME(File_##name##_at_all_end);                                                                            \
    int PMPI_File_##name##_all_end(MPI_File fh, buffer *buf, MPI_Status *status)                                   \
    {                                                                                                              \
        (void)buf;                                                                                                 \
        IO_ENTER("File_" #name "_all_end");                                                                        \
        return io_leave(f, io_end_split(f, status));                                                               \
    }                                                                                                              \
    MPI_NAME(File_##name##_all_end);

SPLIT(read, void, false)
SPLIT(write, const void, true)

/*
 * The shared pointer [13.4.4]: a counter at the server that has the file's first part (N_FADD), in bytes of the view.
 * It is of rank 0's descriptor there; each rank adds to it by one of its own, and no rank waits for another.
 */
#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/mpi/files/io_file.h"
#include "libpio/mpi/types/datatype.h"
#include "libpio/ndevices/striped_names.h"
#include "vertex/contract/traps.h"

struct io_shared {
    int fd;         /* of the file's first part, or, of a striped one, of its volume */
    uint64_t owner; /* rank 0's there */
};

/* ---- The counter ---- */

static int open_first(const struct mpi_file *f)
{
    const char *rest;
    char path[STRIPED_PATH_BYTES];
    const struct striped_volume *striped = f->store->first ? NULL : striped_find(f->name, &rest);

    if (!striped)
        return f->store->first ? f->store->first(f->fd) : dup(f->fd);
    return striped_part(striped, 0, "/", path) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY);
}

/* Adds to the counter of that owner; 0: begins rank 0's. *was: before. A class. */
static int add(struct mpi_file *f, uint64_t owner, MPI_Offset value, MPI_Offset *was)
{
    struct file_counter k = {owner, value};
    long ufid = ndevice_ufid(f->shared->fd), result = ufid < 0 ? ufid : trap_fadd(ufid, &k);

    if (result < 0) {
        errno = (int)-result;
        return io_error(f->store, f->name);
    }
    f->shared->owner = k.owner;
    *was = k.value;
    return MPI_SUCCESS;
}

/* The place of the pointer, which moves on by so many bytes of the view. A class. */
static int take_pointer(struct mpi_file *f, MPI_Offset moves, MPI_Offset *at)
{
    return add(f, f->shared->owner, moves, at);
}

/* What that rank has in value[n], for all; nobody is before it in the next call. A class, also that of the rank. */
static int from_rank(struct mpi_file *f, int rank, int error, MPI_Offset *value)
{
    struct group *g = engine_group(f->comm);
    const struct mpi_note own = mpi_noted(error);
    struct {
        MPI_Offset value;
        uint64_t owner;
        long error;
    } told = {*value, f->shared->owner, error};
    int failed = collective_error(f->comm, collect_broadcast(g, &told, sizeof told, collect_place(g, rank),
                                                             COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_MAKE)));

    *value = told.value;
    f->shared->owner = told.owner;
    return failed != MPI_SUCCESS       ? failed
           : g->rank == rank           ? mpi_error_again(&own, error)
           : told.error != MPI_SUCCESS ? mpi_error((int)told.error, "at rank %ld", rank, 0)
                                       : MPI_SUCCESS;
}

int io_shared_open(struct mpi_file *f)
{
    MPI_Offset was = 0;
    int error = MPI_SUCCESS;

    f->shared = calloc(1, sizeof *f->shared);
    if (!f->shared)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a shared pointer", 0, 0);
    f->shared->fd = open_first(f);
    if (f->shared->fd < 0)
        error = io_error(f->store, f->name);
    else if (f->comm->group.rank == 0)
        error = add(f, 0, 0, &was);
    int told = from_rank(f, 0, error, &was);
    return error == MPI_SUCCESS ? told : error;
}

void io_shared_close(struct mpi_file *f)
{
    close(f->shared->fd);
    free(f->shared);
    f->shared = NULL;
}

int io_shared_reset(struct mpi_file *f, MPI_Offset at)
{
    MPI_Offset was = 0;
    int error = io_meet(f);

    if (error != MPI_SUCCESS)
        return error;
    if (f->comm->group.rank == 0)
        error = add(f, 0, at, &was);
    return from_rank(f, 0, error, &was);
}

/* In the order of ranks: each begins where those before it end. The last one knows how far that is. */
static int take_in_order(struct mpi_file *f, MPI_Offset own, MPI_Offset *at)
{
    struct group *g = engine_group(f->comm);
    int64_t end = own, room;
    const struct collect_reduction x = {&end, &room, 1, sizeof end, collect_sum_int64s};
    MPI_Offset first = 0;
    int last = g->size - 1;
    int error = collective_error(f->comm, collect_scan(g, &x, NULL, COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_SCAN)));

    if (error == MPI_SUCCESS && g->rank == last)
        error = take_pointer(f, end, &first);
    if (error == MPI_SUCCESS || g->rank == last)
        error = from_rank(f, last, error, &first);
    *at = first + end - own;
    return error;
}

/* In an ordered access one that is in error takes its place with no bytes: the others wait for it. */
static int move_at_pointer(struct mpi_file *f, const void *buf, int count, MPI_Datatype datatype, bool writes,
                           bool ordered, MPI_Status *status)
{
    const struct mpi_type *t;
    MPI_Offset at = 0;
    long moved = 0;
    int error = io_check(f, buf, count, datatype, writes, &t);

    if (ordered) {
        const struct mpi_note own = mpi_noted(error);
        int taken = take_in_order(f, error == MPI_SUCCESS ? t->size * count : 0, &at);

        error = error == MPI_SUCCESS ? taken : mpi_error_again(&own, error);
    } else if (error == MPI_SUCCESS) {
        error = take_pointer(f, t->size * count, &at);
    }
    if (error == MPI_SUCCESS)
        error = io_move(f, at, (void *)buf, count, t, writes, &moved);
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
    return error;
}

/* ---- The calls ---- */

#define SHARED(name, buffer, writes)                                                                                 \
    int PMPI_File_##name##_shared(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)    \
    {                                                                                                                \
        IO_ENTER("File_" #name "_shared");                                                                           \
        return io_leave(f, move_at_pointer(f, buf, count, datatype, writes, false, status));                         \
    }                                                                                                                \
    MPI_NAME(File_##name##_shared);                                                                                  \
    int PMPI_File_i##name##_shared(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Request *request) \
    {                                                                                                                \
        MPI_Status status;                                                                                           \
                                                                                                                     \
        IO_ENTER("File_i" #name "_shared");                                                                          \
        int error = move_at_pointer(f, buf, count, datatype, writes, false, &status);                                \
        return io_leave(f, io_give_request(f, error, &status, request));                                             \
    }                                                                                                                \
    MPI_NAME(File_i##name##_shared);                                                                                 \
    int PMPI_File_##name##_ordered(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)   \
    {                                                                                                                \
        IO_ENTER("File_" #name "_ordered");                                                                          \
        return io_leave(f, move_at_pointer(f, buf, count, datatype, writes, true, status));                          \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered);                                                                                 \
    int PMPI_File_##name##_ordered_begin(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype)                 \
    {                                                                                                                \
        IO_ENTER("File_" #name "_ordered_begin");                                                                    \
        int error = io_begin_split(f);                                                                               \
        if (error == MPI_SUCCESS)                                                                                    \
            error = io_keep_split(f, move_at_pointer(f, buf, count, datatype, writes, true, &f->split));             \
        return io_leave(f, error);                                                                                   \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered_begin);                                                                           \
    int PMPI_File_##name##_ordered_end(MPI_File fh, buffer *buf, MPI_Status *status)                                 \
    {                                                                                                                \
        (void)buf;                                                                                                   \
        IO_ENTER("File_" #name "_ordered_end");                                                                      \
        return io_leave(f, io_end_split(f, status));                                                                 \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered_end);

SHARED(read, void, false)
SHARED(write, const void, true)

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    MPI_Offset current = 0, at = 0;

    IO_ENTER("File_seek_shared");
    int error = f->comm->group.rank == 0 ? take_pointer(f, 0, &current) : MPI_SUCCESS;
    error = from_rank(f, 0, error, &current);
    if (error == MPI_SUCCESS)
        error = io_seek(f, offset, whence, current, &at);
    if (error == MPI_SUCCESS)
        error = io_shared_reset(f, at);
    return io_leave(f, error);
}
MPI_NAME(File_seek_shared);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    IO_ENTER("File_get_position_shared");
    int error = take_pointer(f, 0, offset);
    *offset /= f->view.etype_bytes;
    return io_leave(f, error);
}
MPI_NAME(File_get_position_shared);

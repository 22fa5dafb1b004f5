/*
 * Files of MPI: open and close, sizes, hints, errors [13.2, 13.7]. A file is made by rank 0; the others open it then.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/groups.h"
#include "libpio/mpi/base/info.h"
#include "libpio/mpi/files/io_file.h"

/* ---- Open ---- */

static int check_mode(int amode, const char *name)
{
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);

    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return io_error_of(MPI_ERR_AMODE, "%s: not one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR", name);
    if ((amode & (MPI_MODE_CREATE | MPI_MODE_EXCL) && access == MPI_MODE_RDONLY) ||
        (amode & MPI_MODE_SEQUENTIAL && access == MPI_MODE_RDWR))
        return io_error_of(MPI_ERR_AMODE, "%s: modes that exclude each other", name);
    return MPI_SUCCESS;
}

static int flags_of(int amode, bool makes)
{
    int flags = amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;

    if (makes)
        flags |= (amode & MPI_MODE_CREATE ? O_CREAT : 0) | (amode & MPI_MODE_EXCL ? O_EXCL : 0);
    return flags;
}

/* All members hear of the worst error of one. */
static int agree(struct mpi_comm *c, int error)
{
    struct group *g = engine_group(c);
    const struct mpi_note own = mpi_noted(error);
    int worst = error, room;
    int failed = collective_error(
        c, collect_all_reduce(g, &(struct collect_reduction){&worst, &room, 1, sizeof worst, collect_greatest_ints},
                              COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE)));

    if (failed != MPI_SUCCESS)
        return failed;
    return error == MPI_SUCCESS && worst != MPI_SUCCESS ? mpi_error(worst, "at another rank", 0, 0)
           : error != MPI_SUCCESS                       ? mpi_error_again(&own, error)
                                                        : MPI_SUCCESS;
}

/* Rank 0 first, which alone makes the file. */
static int open_everywhere(struct mpi_file *f)
{
    struct mpi_comm *c = f->comm;
    int error = MPI_SUCCESS, is_first = c->group.rank == 0;

    f->fd = -1;
    for (int turn = 0; turn < 2 && error == MPI_SUCCESS; turn++) {
        if (is_first == !turn) {
            f->fd = f->store->open(f, flags_of(f->amode, is_first));
            error = f->fd < 0 ? io_error(f->store, f->name) : MPI_SUCCESS;
        }
        error = agree(c, error);
    }
    if (error != MPI_SUCCESS && f->fd >= 0)
        f->store->close(f->fd);
    return error;
}

static struct mpi_file *new_file(const char *filename, int amode, MPI_Info info, int *error)
{
    const char *name;
    const struct io_store *store = io_store_of(filename, &name);
    struct mpi_file *f = calloc(1, sizeof *f + strlen(name) + 1);

    MPI_File handle = f ? io_new_handle(f) : NULL;
    if (!handle) {
        free(f);
        *error = mpi_error(MPI_ERR_NO_MEM, "no memory for a file", 0, 0);
        return NULL;
    }
    f->handle = handle;
    f->errhandler = io_errhandler_at_first;
    mpi_use_errhandler(f->errhandler, 1);
    f->store = store;
    f->amode = amode;
    f->info = info;
    f->holders = info_number(info, "cb_nodes");
    strcpy(f->name, name);
    return f;
}

static void drop_file(struct mpi_file *f)
{
    MPI_Comm comm = f->comm ? f->comm->handle : MPI_COMM_NULL;

    io_drop_view(f);
    mpi_use_errhandler(f->errhandler, -1);
    io_free_handle(f->handle);
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_free(&comm);
    free(f);
}

/* A communicator for the file, which is called after it. */
static int make_comm(struct mpi_comm *parent, struct mpi_file *f)
{
    int number[2], error = comms_agree(parent, number, false);

    if (error == MPI_SUCCESS)
        error = comms_make(parent, number[0], NULL, 0, &f->comm);
    if (error != MPI_SUCCESS)
        return error;
    mpi_use_errhandler(f->comm->errhandler, -1);
    f->comm->errhandler = MPI_ERRORS_RETURN;
    strncpy(f->comm->name, f->name, sizeof f->comm->name - 1);
    return MPI_SUCCESS;
}

static int open_file(struct mpi_comm *c, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    int error = check_mode(amode, filename);
    struct mpi_file *f = error == MPI_SUCCESS ? new_file(filename, amode, info, &error) : NULL;

    *fh = MPI_FILE_NULL;
    if (!f)
        return error;
    error = make_comm(c, f);
    if (error == MPI_SUCCESS)
        error = open_everywhere(f);
    if (error == MPI_SUCCESS && f->store->opened && f->store->opened(f) < 0)
        error = io_error(f->store, f->name);
    if (error == MPI_SUCCESS) {
        error = io_set_view(f, 0, MPI_BYTE, MPI_BYTE);
        if (error == MPI_SUCCESS && io_shared_open)
            error = io_shared_open(f);
        if (amode & MPI_MODE_APPEND)
            f->position = f->store->size(f->fd);
        if (amode & MPI_MODE_APPEND && error == MPI_SUCCESS && io_shared_reset)
            error = io_shared_reset(f, f->position);
    }
    if (error == MPI_SUCCESS) {
        f->info = MPI_INFO_NULL;
        *fh = f->handle;
        return MPI_SUCCESS;
    }
    error = io_fail_without_file(error); /* the text may name the file */
    drop_file(f);
    return -error;
}

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("File_open", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = c->local ? mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0) : info_check(info);
    if (error == MPI_SUCCESS)
        error = open_file(c, filename, amode, info, fh);
    return error > 0 ? io_fail_without_file(error) : -error;
}
MPI_NAME(File_open);

/* ---- Close, delete ---- */

static int close_file(struct mpi_file *f)
{
    struct mpi_comm *c = f->comm;
    bool deletes = f->amode & MPI_MODE_DELETE_ON_CLOSE;

    if (f->is_split)
        return mpi_error(MPI_ERR_OTHER, "a split collective call has not ended", 0, 0);
    int error = agree(c, MPI_SUCCESS); /* nobody needs the shared pointer now */
    if (error == MPI_SUCCESS && io_shared_close)
        io_shared_close(f);
    io_drop_view(f);
    if (f->store->close(f->fd) < 0)
        error = io_error(f->store, f->name);
    if (deletes)
        error = agree(c, error);
    if (deletes && c->group.rank == 0 && error == MPI_SUCCESS && f->store->unlink(f->name) < 0)
        error = io_error(f->store, f->name);
    return deletes ? agree(c, error) : error;
}

int PMPI_File_close(MPI_File *fh)
{
    struct mpi_file *f = io_find(*fh);

    MPI_ENTER("File_close", f ? f->comm : NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!f)
        return io_no_file(*fh);
    int error = io_leave(f, close_file(f));
    if (!f->is_split) {
        drop_file(f);
        *fh = MPI_FILE_NULL;
    }
    return error;
}
MPI_NAME(File_close);

int PMPI_File_delete(const char *filename, MPI_Info info)
{
    const char *name;
    const struct io_store *store = io_store_of(filename, &name);

    (void)info;
    MPI_ENTER("File_delete", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    return store->unlink(name) < 0 ? io_fail_without_file(io_error(store, name)) : MPI_SUCCESS;
}
MPI_NAME(File_delete);

/* ---- What is known of one, and set of it ---- */

/* Rank 0 does it for all, and all hear of it. */
static int do_once(struct mpi_file *f, int (*act)(int fd, off_t size), MPI_Offset size)
{
    int error = MPI_SUCCESS;

    if (size < 0)
        error = mpi_error(MPI_ERR_ARG, "%ld bytes", (long)size, 0);
    else if (f->amode & MPI_MODE_RDONLY)
        error = io_error_of(MPI_ERR_READ_ONLY, "%s is open to read", f->name);
    error = agree(f->comm, error);
    if (error == MPI_SUCCESS && f->comm->group.rank == 0 && act(f->fd, size) < 0)
        error = io_error(f->store, f->name);
    return agree(f->comm, error);
}

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    IO_ENTER("File_set_size");
    return io_leave(f, do_once(f, f->store->set_size, size));
}
MPI_NAME(File_set_size);

static int grow(struct mpi_file *f, MPI_Offset size)
{
    bool viewed = f->view.by_server;

    if (viewed) /* the store's places are the view's */
        f->store->set_view(f->fd, NULL, 0);
    int error = do_once(f, f->store->preallocate, size);
    if (viewed)
        io_set_view(f, f->view.displacement, f->view.etype, f->view.filetype);
    return error;
}

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    IO_ENTER("File_preallocate");
    return io_leave(f, grow(f, size));
}
MPI_NAME(File_preallocate);

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    IO_ENTER("File_get_size");
    *size = f->store->size(f->fd);
    return io_leave(f, *size < 0 ? io_error(f->store, f->name) : MPI_SUCCESS);
}
MPI_NAME(File_get_size);

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    IO_ENTER("File_get_group");
    return groups_of(&f->comm->group, group);
}
MPI_NAME(File_get_group);

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    IO_ENTER("File_get_amode");
    *amode = f->amode;
    return MPI_SUCCESS;
}
MPI_NAME(File_get_amode);

/* The layout of a file is chosen when it is made; no other hint is taken. */
int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    IO_ENTER("File_set_info");
    return io_leave(f, info_check(info));
}
MPI_NAME(File_set_info);

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    IO_ENTER("File_get_info");
    return io_leave(f, info_new(info_used));
}
MPI_NAME(File_get_info);

int PMPI_File_sync(MPI_File fh)
{
    IO_ENTER("File_sync");
    int error = f->amode & MPI_MODE_RDONLY || f->store->sync(f->fd) == 0 ? MPI_SUCCESS : io_error(f->store, f->name);
    return io_leave(f, agree(f->comm, error));
}
MPI_NAME(File_sync);

/* A call may be several requests, and others' may come between, so atomic mode cannot be had [13.6.1]. */
int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    IO_ENTER("File_set_atomicity");
    return io_leave(f, flag ? mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "atomic mode", 0, 0) : MPI_SUCCESS);
}
MPI_NAME(File_set_atomicity);

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    IO_ENTER("File_get_atomicity");
    *flag = 0;
    return MPI_SUCCESS;
}
MPI_NAME(File_get_atomicity);

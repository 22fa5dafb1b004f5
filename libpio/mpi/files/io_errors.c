/*
 * Handles of files, and errors of calls on them [8.3.3, 13.7].
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"
#include "libpio/mpi/files/io_file.h"

static struct handle_table table;
MPI_Errhandler io_errhandler_at_first = MPI_ERRORS_RETURN;

struct mpi_file *io_find(MPI_File handle)
{
    return handle_find(&table, HANDLE_FILE, handle);
}

MPI_File io_new_handle(struct mpi_file *f)
{
    return handle_new(&table, HANDLE_FILE, f);
}

void io_free_handle(MPI_File handle)
{
    handle_free(&table, handle);
}

/* ---- Errors ---- */

__attribute__((noinline)) int io_fail(MPI_Errhandler handler, MPI_File handle, const struct mpi_comm *c, int class)
{
    mpi_any_errhandler *function = handler == MPI_ERRORS_RETURN ? NULL : mpi_errhandler_function(handler);

    if (handler == MPI_ERRORS_ARE_FATAL)
        mpi_end_by_error(c, class);
    if (function)
        function(&handle, &class);
    return class;
}

int io_leave(struct mpi_file *f, int class)
{
    return class == MPI_SUCCESS ? class : io_fail(f->errhandler, f->handle, f->comm, class);
}

int io_fail_without_file(int class)
{
    mpi_must_run();
    return io_fail(io_errhandler_at_first, MPI_FILE_NULL, mpi_world.comm[0], class);
}

int io_no_file(MPI_File handle)
{
    return io_fail_without_file(mpi_error(MPI_ERR_FILE, "0x%lx is none", (long)handle, 0));
}

/* Of the last error of a file: its class, and "NAME, at //VOLUME/PATH". */
static struct {
    int class;
    char text[256];
} last;

const char *io_error_text(int class)
{
    return class == last.class ? last.text : NULL;
}

int io_error_of(int class, const char *why, const char *name)
{
    last.class = class;
    strlcpy(last.text, name, sizeof last.text);
    return mpi_error(class, why, (long)last.text, 0);
}

int io_error(const struct io_store *store, const char *name)
{
    static const struct {
        int number, class;
    } known[] = {{ENOENT, MPI_ERR_NO_SUCH_FILE},   {ENOTDIR, MPI_ERR_NO_SUCH_FILE}, {EEXIST, MPI_ERR_FILE_EXISTS},
                 {EACCES, MPI_ERR_ACCESS},         {EPERM, MPI_ERR_ACCESS},         {EROFS, MPI_ERR_READ_ONLY},
                 {ENOSPC, MPI_ERR_NO_SPACE},       {EDQUOT, MPI_ERR_QUOTA},         {EINVAL, MPI_ERR_BAD_FILE},
                 {ENAMETOOLONG, MPI_ERR_BAD_FILE}, {EISDIR, MPI_ERR_BAD_FILE},      {ENOMEM, MPI_ERR_NO_MEM}};
    const int number = errno;
    const char *at = store->failed_path ? store->failed_path() : "";

    int class = MPI_ERR_IO;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number)
            class = known[i].class;
    io_error_of(class, "%s", name);
    if (*at) {
        strlcat(last.text, ", at ", sizeof last.text);
        strlcat(last.text, at, sizeof last.text);
    }
    return class == MPI_ERR_IO ? mpi_error(class, "%s: error %ld", (long)last.text, number) : class;
}

/* ---- Error handlers [8.3.3] ---- */

int PMPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
{
    MPI_ENTER("File_create_errhandler", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return mpi_new_errhandler((mpi_any_errhandler *)function, errhandler);
}
MPI_NAME(File_create_errhandler);

/* The handler of a file, or of those that are opened. */
static MPI_Errhandler *handler_of(MPI_File fh)
{
    struct mpi_file *f = io_find(fh);

    return f ? &f->errhandler : fh == MPI_FILE_NULL ? &io_errhandler_at_first : NULL;
}

int PMPI_File_set_errhandler(MPI_File fh, MPI_Errhandler errhandler)
{
    MPI_Errhandler *own = handler_of(fh);

    MPI_ENTER("File_set_errhandler", NULL, MPI_NO_PEER, MPI_NO_PEER);
    int error = mpi_check_errhandler(errhandler);
    if (!own || error != MPI_SUCCESS)
        return own ? io_fail_without_file(error) : io_no_file(fh);
    mpi_use_errhandler(errhandler, 1);
    mpi_use_errhandler(*own, -1);
    *own = errhandler;
    return MPI_SUCCESS;
}
MPI_NAME(File_set_errhandler);

int PMPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *errhandler)
{
    MPI_Errhandler *own = handler_of(fh);

    MPI_ENTER("File_get_errhandler", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!own)
        return io_no_file(fh);
    *errhandler = *own;
    mpi_use_errhandler(*own, 1);
    return MPI_SUCCESS;
}
MPI_NAME(File_get_errhandler);

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    struct mpi_file *f = io_find(fh);

    MPI_ENTER("File_call_errhandler", f ? f->comm : NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!f)
        return io_no_file(fh);
    io_leave(f, errorcode);
    return MPI_SUCCESS;
}
MPI_NAME(File_call_errhandler);

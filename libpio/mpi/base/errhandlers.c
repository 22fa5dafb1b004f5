/*
 * Error handlers of communicators, and what error codes mean [8.3, 8.4].
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"

struct handler {
    mpi_any_errhandler *function;
    int uses; /* by its handles, and by communicators */
};

static struct handle_table handlers;

/* ---- Uses ---- */

static bool is_predefined(MPI_Errhandler handle)
{
    return handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_RETURN;
}

void mpi_use_errhandler(MPI_Errhandler handle, int uses)
{
    struct handler *h = handle_find(&handlers, HANDLE_ERRHANDLER, handle);

    if (!h)
        return;
    h->uses += uses;
    if (h->uses > 0)
        return;
    handle_free(&handlers, handle);
    free(h);
    if (handlers.used == 0)
        handle_drop(&handlers);
}

static void call_errhandler(struct mpi_comm *c, int code)
{
    struct handler *h = handle_find(&handlers, HANDLE_ERRHANDLER, c->errhandler);
    MPI_Comm handle = c->handle;

    if (h)
        h->function(&handle, &code);
}

int mpi_check_errhandler(MPI_Errhandler handle)
{
    return is_predefined(handle) || handle_find(&handlers, HANDLE_ERRHANDLER, handle)
               ? MPI_SUCCESS
               : mpi_error(MPI_ERR_ARG, "0x%lx is no error handler", (long)handle, 0);
}

/* ---- The calls ---- */

mpi_any_errhandler *mpi_errhandler_function(MPI_Errhandler handle)
{
    struct handler *h = handle_find(&handlers, HANDLE_ERRHANDLER, handle);

    return h ? h->function : NULL;
}

int mpi_new_errhandler(mpi_any_errhandler *function, MPI_Errhandler *errhandler)
{
    mpi_must_run();
    struct handler *h = function ? malloc(sizeof *h) : NULL;
    if (!function)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "the function is NULL", 0, 0));
    *errhandler = h ? handle_new(&handlers, HANDLE_ERRHANDLER, h) : NULL;
    if (!*errhandler) {
        free(h);
        *errhandler = MPI_ERRHANDLER_NULL;
        return mpi_fail_alone(mpi_error(MPI_ERR_NO_MEM, "no memory for an error handler", 0, 0));
    }
    *h = (struct handler){function, 1};
    mpi_call_errhandler = call_errhandler;
    return MPI_SUCCESS;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    MPI_ENTER("Comm_create_errhandler", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return mpi_new_errhandler((mpi_any_errhandler *)function, errhandler);
}
MPI_NAME(Comm_create_errhandler);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_set_errhandler", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = mpi_check_errhandler(errhandler);
    if (error == MPI_SUCCESS) {
        mpi_use_errhandler(errhandler, 1);
        mpi_use_errhandler(c->errhandler, -1);
        c->errhandler = errhandler;
    }
    return mpi_leave(c, error);
}
MPI_NAME(Comm_set_errhandler);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_get_errhandler", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *errhandler = c->errhandler;
    mpi_use_errhandler(*errhandler, 1);
    return MPI_SUCCESS;
}
MPI_NAME(Comm_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_call_errhandler", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    mpi_fail(c, errorcode);
    return MPI_SUCCESS;
}
MPI_NAME(Comm_call_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    MPI_ENTER("Errhandler_free", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = mpi_check_errhandler(*errhandler);
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    if (!is_predefined(*errhandler))
        mpi_use_errhandler(*errhandler, -1);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Errhandler_free);

int PMPI_Error_class(int errorcode, int *errorclass)
{
    MPI_ENTER("Error_class", NULL, MPI_NO_PEER, MPI_NO_PEER);
    int class = codes_class ? codes_class(errorcode) : errorcode;
    if (!mpi_class_text(errorcode) && class == errorcode)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "%ld is no error code", errorcode, 0));
    *errorclass = class;
    return MPI_SUCCESS;
}
MPI_NAME(Error_class);

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *text = mpi_class_text(errorcode);

    text = text || !codes_text ? text : codes_text(errorcode);
    MPI_ENTER("Error_string", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!text)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "%ld is no error code", errorcode, 0));
    strcpy(string, text);
    text = io_error_text ? io_error_text(errorcode) : NULL;
    if (text) {
        strlcat(string, ": ", MPI_MAX_ERROR_STRING);
        strlcat(string, text, MPI_MAX_ERROR_STRING);
    }
    *resultlen = (int)strlen(string);
    return MPI_SUCCESS;
}
MPI_NAME(Error_string);

/*
 * Requests that are given up, looked at or cancelled [3.7.3, 3.7.6, 3.8.4], and persistent ones [3.9].
 */
#include "libpio/mpi/messages/requests.h"

/* ---- Free, look, cancel ---- */

int PMPI_Request_free(MPI_Request *request)
{
    struct mpi_request *r;

    MPI_ENTER("Request_free", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    r = requests_find(*request);
    if (!r)
        return mpi_fail_alone(mpi_error(MPI_ERR_REQUEST, "0x%lx is none", (long)*request, 0));
    if (r->mode == MODE_SCHEDULE && r->is_active)
        return mpi_fail(r->comm, mpi_error(MPI_ERR_REQUEST, "it is of a collective call", 0, 0));
    if (r->is_active && !r->done)
        r->forget = requests_free;
    else
        requests_free(r);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Request_free);

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct mpi_request *r;
    int error = MPI_SUCCESS;

    MPI_ENTER("Request_get_status", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *flag = requests_is_idle(request, &r, &error);
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    if (*flag) {
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
        return MPI_SUCCESS;
    }
    if (!r->done)
        engine_poll();
    *flag = r->done;
    if (r->done && r->mode == MODE_GENERAL)
        error = requests_call_general(r, REQUESTS_QUERY, &r->status);
    if (r->done)
        status_give(status, r);
    return mpi_leave(r->comm, error);
}
MPI_NAME(Request_get_status);

/* Of sends, none can be cancelled. */
int PMPI_Cancel(MPI_Request *request)
{
    struct mpi_request *r;
    int error = MPI_SUCCESS;

    MPI_ENTER("Cancel", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (*request == MPI_REQUEST_NULL || requests_is_idle(*request, &r, &error))
        return mpi_fail_alone(error != MPI_SUCCESS ? error : mpi_error(MPI_ERR_REQUEST, "it is not active", 0, 0));
    if (r->mode == MODE_RECEIVE)
        receive_cancel(r);
    else if (r->mode == MODE_SCHEDULE)
        error = mpi_error(MPI_ERR_REQUEST, "it is of a collective call", 0, 0);
    else if (r->mode == MODE_GENERAL)
        error = requests_call_general(r, REQUESTS_CANCEL, NULL);
    return mpi_leave(r->comm, error);
}
MPI_NAME(Cancel);

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->mpi_cancelled;
    return MPI_SUCCESS;
}
MPI_NAME(Test_cancelled);

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    status->mpi_cancelled = flag != 0;
    return MPI_SUCCESS;
}
MPI_NAME(Status_set_cancelled);

/* ---- Persistent requests ---- */

REQUEST_TO_SEND(Send_init, MODE_STANDARD, false, )
REQUEST_TO_SEND(Ssend_init, MODE_SYNCHRONOUS, false, )
REQUEST_TO_SEND(Rsend_init, MODE_READY, false, )
REQUEST_TO_RECEIVE(Recv_init, false)

static int start(MPI_Request handle)
{
    struct mpi_request *r = requests_find(handle);

    if (!r)
        return mpi_error(MPI_ERR_REQUEST, "0x%lx is none", (long)handle, 0);
    if (!r->is_persistent || r->is_active)
        return mpi_error(MPI_ERR_REQUEST, r->is_active ? "it is active" : "it is not persistent", 0, 0);
    requests_start(r);
    return MPI_SUCCESS;
}

int PMPI_Start(MPI_Request *request)
{
    MPI_ENTER("Start", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    return mpi_leave(mpi_world.comm[0], start(*request));
}
MPI_NAME(Start);

int PMPI_Startall(int count, MPI_Request requests[])
{
    int error = count < 0 ? mpi_error(MPI_ERR_COUNT, "%ld requests", count, 0) : MPI_SUCCESS;

    MPI_ENTER("Startall", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = start(requests[i]);
    return mpi_leave(mpi_world.comm[0], error);
}
MPI_NAME(Startall);

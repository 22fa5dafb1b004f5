/*
 * Generalized requests [12.2]: the program says when one is done, and what its status is.
 */
#include <stdlib.h>

#include "libpio/mpi/messages/requests.h"

struct general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

/* The functions' results are error codes of the program, or of MPI. */
static int call(struct mpi_request *r, enum requests_call which, MPI_Status *status)
{
    struct general *g = r->buf;
    int error = MPI_SUCCESS;

    if (which == REQUESTS_QUERY)
        error = g->query ? g->query(g->extra, status) : MPI_SUCCESS;
    else if (which == REQUESTS_CANCEL)
        error = g->cancel ? g->cancel(g->extra, r->done) : MPI_SUCCESS;
    else {
        error = g->free ? g->free(g->extra) : MPI_SUCCESS;
        free(g);
    }
    return error == MPI_SUCCESS ? error : mpi_error(error, "by the program's function", 0, 0);
}

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    MPI_ENTER("Grequest_start", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    struct general *g = malloc(sizeof *g);
    struct mpi_request *r = g ? requests_new() : NULL;
    if (!r) {
        free(g);
        return mpi_fail_alone(mpi_error(MPI_ERR_NO_MEM, "no memory for a request", 0, 0));
    }
    *g = (struct general){query_fn, free_fn, cancel_fn, extra_state};
    r->mode = MODE_GENERAL;
    r->comm = mpi_world.comm[0];
    r->buf = g;
    r->peer = r->tag = MPI_NO_PEER;
    r->done = false;
    r->is_active = true;
    r->forget = NULL;
    status_set(&r->status, MPI_UNDEFINED, MPI_UNDEFINED, 0);
    requests_call_general = call;
    mpi_under_way++;
    *request = r->handle;
    return MPI_SUCCESS;
}
MPI_NAME(Grequest_start);

int PMPI_Grequest_complete(MPI_Request request)
{
    MPI_ENTER("Grequest_complete", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    struct mpi_request *r = requests_find(request);
    if (!r || r->mode != MODE_GENERAL || r->done)
        return mpi_fail_alone(mpi_error(MPI_ERR_REQUEST, "0x%lx is no generalized one under way", (long)request, 0));
    request_finish(r, MPI_SUCCESS);
    return MPI_SUCCESS;
}
MPI_NAME(Grequest_complete);

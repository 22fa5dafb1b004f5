/*
 * Waiting for requests [3.7.3, 3.7.5], and tests of them, which make progress, too.
 */
#include "libpio/mpi/messages/requests.h"

static void give_empty(MPI_Status *status)
{
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

/* The communicator whose error handler an error of that request concerns. */
static struct mpi_comm *comm_of(const struct mpi_request *r)
{
    return r ? r->comm : mpi_world.comm[0];
}

/* Names what a call waits for, for reports. */
static void describe(const struct mpi_request *r)
{
    mpi_call.comm = r->comm;
    mpi_call.peer = r->peer;
    mpi_call.tag = r->tag;
    mpi_call.sends = r->mode != MODE_RECEIVE;
    if (r->mode == MODE_SCHEDULE)
        mpi_call.name = r->name;
}

/* ---- One ---- */

/* True: it is done, and has been ended. */
static bool end_one(MPI_Request *request, bool waits, MPI_Status *status, struct mpi_comm **comm, int *error)
{
    struct mpi_request *r;

    *error = MPI_SUCCESS;
    bool idle = requests_is_idle(*request, &r, error);
    *comm = comm_of(r);
    if (idle) {
        give_empty(status);
        return true;
    }
    describe(r);
    if (!r->done && waits)
        engine_wait(r);
    else if (!r->done)
        engine_poll();
    if (r->done)
        *error = requests_end(r, request, status);
    return r->done;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct mpi_comm *comm;
    int error;

    MPI_ENTER("Wait", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    end_one(request, true, status, &comm, &error);
    return mpi_leave(comm, error);
}
MPI_NAME(Wait);

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct mpi_comm *comm;
    int error;

    MPI_ENTER("Test", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *flag = end_one(request, false, status, &comm, &error);
    return mpi_leave(comm, error);
}
MPI_NAME(Test);

/* ---- All ---- */

/* Whether all are done; sets *first to the first that is not. MPI_ERR_REQUEST. */
static bool all_are_done(int count, const MPI_Request requests[], const struct mpi_request **first, int *error)
{
    struct mpi_request *r;

    for (int i = 0; i < count; i++)
        if (!requests_is_idle(requests[i], &r, error) && !r->done) {
            *first = r;
            return false;
        }
    return true;
}

/* The first error of several requests decides what the call returns, and what is told of it. */
static int note_first(int own, const MPI_Status statuses[], struct mpi_comm *of, struct mpi_comm **comm,
                      struct mpi_note *first)
{
    *comm = of;
    *first = mpi_noted(own);
    return statuses ? MPI_ERR_IN_STATUS : own;
}

static int tell_first(const struct mpi_note *first, int error)
{
    return error == MPI_SUCCESS ? error : mpi_error_again(first, error);
}

/* Ends all, which are done. The errors go to the statuses [3.7.5]. */
static int end_all(int count, MPI_Request requests[], MPI_Status statuses[], struct mpi_comm **comm)
{
    struct mpi_request *r;
    struct mpi_note first = {0};
    int error = MPI_SUCCESS, unused;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : NULL;
        bool idle = requests_is_idle(requests[i], &r, &unused);
        struct mpi_comm *of = comm_of(r);
        int own = MPI_SUCCESS;

        if (idle)
            give_empty(status);
        else
            own = requests_end(r, &requests[i], status);
        if (own != MPI_SUCCESS && error == MPI_SUCCESS)
            error = note_first(own, statuses, of, comm, &first);
        if (status)
            status->MPI_ERROR = own;
    }
    return tell_first(&first, error);
}

static int check_count(int count)
{
    return count < 0 ? mpi_error(MPI_ERR_COUNT, "%ld requests", count, 0) : MPI_SUCCESS;
}

/* MPI_ERR_REQUEST if one of them is none. */
static int check_requests(int count, const MPI_Request requests[])
{
    struct mpi_request *r;
    int error = check_count(count);

    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        requests_is_idle(requests[i], &r, &error);
    return error;
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const struct mpi_request *first;
    struct mpi_comm *comm;

    MPI_ENTER("Waitall", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    int error = check_requests(count, requests);
    while (error == MPI_SUCCESS && !all_are_done(count, requests, &first, &error)) {
        describe(first);
        while (!first->done)
            engine_step(true);
    }
    if (error == MPI_SUCCESS)
        error = end_all(count, requests, statuses, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Waitall);

int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    const struct mpi_request *first;
    struct mpi_comm *comm;

    MPI_ENTER("Testall", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    int error = check_requests(count, requests);
    if (error == MPI_SUCCESS)
        engine_poll();
    *flag = error == MPI_SUCCESS && all_are_done(count, requests, &first, &error) && error == MPI_SUCCESS;
    if (*flag)
        error = end_all(count, requests, statuses, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Testall);

/* ---- Any, some ---- */

/* The first that is done, -1: none; *active: how many are active. */
static int find_done(int count, const MPI_Request requests[], int from, int *active, int *error)
{
    struct mpi_request *r;
    int found = -1;

    *active = 0;
    for (int i = from; i < count && found < 0; i++) {
        if (requests_is_idle(requests[i], &r, error))
            continue;
        (*active)++;
        if (r->done)
            found = i;
        else if (*active == 1)
            describe(r);
    }
    return found;
}

/* Waits, or looks, for one that is done. -1: none is; MPI_UNDEFINED: none is active. */
static int await_any(int count, const MPI_Request requests[], bool waits, int *error)
{
    int active, index;

    *error = check_count(count);
    if (*error != MPI_SUCCESS)
        return MPI_UNDEFINED;
    index = find_done(count, requests, 0, &active, error);
    if (index < 0 && active > 0 && !waits) {
        engine_poll();
        index = find_done(count, requests, 0, &active, error);
    }
    while (index < 0 && active > 0 && waits && *error == MPI_SUCCESS) {
        engine_step(true);
        index = find_done(count, requests, 0, &active, error);
    }
    return index < 0 && active == 0 ? MPI_UNDEFINED : index;
}

/* Ends the one that await_any has found. */
static int end_any(int index, MPI_Request requests[], MPI_Status *status, struct mpi_comm **comm)
{
    struct mpi_request *r;
    int error = MPI_SUCCESS;

    if (index < 0) {
        give_empty(status);
        return MPI_SUCCESS;
    }
    requests_is_idle(requests[index], &r, &error);
    *comm = r->comm;
    return requests_end(r, &requests[index], status);
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct mpi_comm *comm;
    int error;

    MPI_ENTER("Waitany", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    *index = await_any(count, requests, true, &error);
    if (error == MPI_SUCCESS)
        error = end_any(*index, requests, status, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Waitany);

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct mpi_comm *comm;
    int error;

    MPI_ENTER("Testany", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    int found = await_any(count, requests, false, &error);
    *flag = error == MPI_SUCCESS && found != -1;
    *index = found < 0 ? MPI_UNDEFINED : found;
    if (*flag)
        error = end_any(found, requests, status, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Testany);

/* Ends all that are done, from the first one on. */
static int end_some(int first, int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[],
                    struct mpi_comm **comm)
{
    int error = MPI_SUCCESS, active, unused;
    struct mpi_note note = {0};

    *outcount = 0;
    for (int i = first; i >= 0; i = find_done(count, requests, i + 1, &active, &unused)) {
        MPI_Status *status = statuses ? &statuses[*outcount] : NULL;
        struct mpi_comm *of = *comm;
        int own = end_any(i, requests, status, &of);

        if (own != MPI_SUCCESS && error == MPI_SUCCESS)
            error = note_first(own, statuses, of, comm, &note);
        if (status)
            status->MPI_ERROR = own;
        indices[(*outcount)++] = i;
    }
    return tell_first(&note, error);
}

static int await_some(int count, MPI_Request requests[], bool waits, int *outcount, int indices[],
                      MPI_Status statuses[], struct mpi_comm **comm)
{
    int error, first = await_any(count, requests, waits, &error);

    if (error != MPI_SUCCESS)
        return error;
    *outcount = first == MPI_UNDEFINED ? MPI_UNDEFINED : 0;
    return first < 0 ? MPI_SUCCESS : end_some(first, count, requests, outcount, indices, statuses, comm);
}

int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct mpi_comm *comm;

    MPI_ENTER("Waitsome", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    int error = await_some(incount, requests, true, outcount, indices, statuses, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Waitsome);

int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct mpi_comm *comm;

    MPI_ENTER("Testsome", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    comm = mpi_world.comm[0];
    int error = await_some(incount, requests, false, outcount, indices, statuses, &comm);
    return mpi_leave(comm, error);
}
MPI_NAME(Testsome);

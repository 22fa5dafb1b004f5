/*
 * The table of requests, and nonblocking calls [3.7.2].
 */
#include "libpio/mpi/messages/requests.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"

void (*requests_start_buffered)(struct mpi_request *r);
int (*requests_call_general)(struct mpi_request *r, enum requests_call which, MPI_Status *status);
static struct handle_table table;
static struct mpi_request *spare; /* given back, for the next */

struct mpi_request *requests_new(void)
{
    struct mpi_request *r = spare;

    if (r)
        spare = r->next;
    else
        r = malloc(sizeof *r);
    MPI_Request handle = r ? handle_new(&table, HANDLE_REQUEST, r) : NULL;
    if (!handle) {
        free(r);
        return NULL;
    }
    r->handle = handle;
    r->is_persistent = false;
    r->mode = MODE_STANDARD;
    return r;
}

void requests_free(struct mpi_request *r)
{
    if (r->mode == MODE_GENERAL)
        requests_call_general(r, REQUESTS_FREE, NULL);
    if (r->handle != MPI_REQUEST_NULL)
        handle_free(&table, r->handle);
    mpi_kept -= r->is_persistent;
    r->next = spare;
    spare = r;
}

struct mpi_request *requests_find(MPI_Request handle)
{
    return handle_find(&table, HANDLE_REQUEST, handle);
}

int requests_used(void)
{
    return (int)table.used;
}

void requests_drop_all(void)
{
    for (uint32_t i = 0; i < table.places; i++)
        free(table.place[i].item);
    handle_drop(&table);
    for (struct mpi_request *next; spare; spare = next) {
        next = spare->next;
        free(spare);
    }
}

/* ---- Begin ---- */

void requests_start(struct mpi_request *r)
{
    r->is_active = true;
    if (r->peer == MPI_PROC_NULL) {
        r->done = true;
        r->error = MPI_SUCCESS;
        status_set(&r->status, r->mode == MODE_RECEIVE ? MPI_PROC_NULL : MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    } else if (r->mode == MODE_RECEIVE) {
        receive_start(r);
    } else if (r->mode == MODE_BUFFERED) {
        requests_start_buffered(r);
    } else {
        send_start(r);
    }
}

int requests_begin(struct mpi_request *checked, int error, bool starts, MPI_Request *request)
{
    struct mpi_request *r = error == MPI_SUCCESS ? requests_new() : NULL;

    if (error == MPI_SUCCESS && !request)
        error = mpi_error(MPI_ERR_ARG, "no place for the request", 0, 0);
    else if (error == MPI_SUCCESS && !r)
        error = mpi_error(MPI_ERR_NO_MEM, "no memory for a request", 0, 0);
    if (error != MPI_SUCCESS) {
        if (r)
            requests_free(r);
        return error;
    }
    checked->handle = r->handle;
    checked->is_persistent = !starts;
    checked->is_active = false;
    *r = *checked;
    mpi_kept += !starts;
    if (starts)
        requests_start(r);
    *request = r->handle;
    return MPI_SUCCESS;
}

REQUEST_TO_SEND(Isend, MODE_STANDARD, true, )
REQUEST_TO_SEND(Issend, MODE_SYNCHRONOUS, true, )
REQUEST_TO_SEND(Irsend, MODE_READY, true, )
REQUEST_TO_RECEIVE(Irecv, true)

/* ---- End ---- */

bool requests_is_idle(MPI_Request handle, struct mpi_request **r, int *error)
{
    *r = NULL;
    if (handle == MPI_REQUEST_NULL)
        return true;
    *r = requests_find(handle);
    if (!*r)
        *error = mpi_error(MPI_ERR_REQUEST, "0x%lx is none", (long)handle, 0);
    return !*r || !(*r)->is_active;
}

int requests_end(struct mpi_request *r, MPI_Request *handle, MPI_Status *status)
{
    int error = r->error == MPI_SUCCESS ? r->error : mpi_error_again(&r->note, r->error);

    if (r->mode == MODE_GENERAL)
        error = requests_call_general(r, REQUESTS_QUERY, &r->status);
    status_give(status, r);
    r->is_active = false;
    if (!r->is_persistent) {
        requests_free(r);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}

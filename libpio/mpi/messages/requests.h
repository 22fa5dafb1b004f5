/*
 * Requests of the program (MPI_Request): a table of those that it has a handle for.
 */
#pragma once

#include "libpio/mpi/messages/request.h"

/* A new request, with no fields set but the handle. NULL: no memory. */
struct mpi_request *requests_new(void);
/* Gives a request back; it is done, or has not begun. */
void requests_free(struct mpi_request *r);
/* NULL: no such request; not for MPI_REQUEST_NULL. */
struct mpi_request *requests_find(MPI_Request handle);

/* Takes over a request that has been checked: begins it, if `starts`, and gives the program its handle. Of one that
 * has failed the check, `error` is returned. */
int requests_begin(struct mpi_request *checked, int error, bool starts, MPI_Request *request);
void requests_start(struct mpi_request *r);

/* The calls that make a request: begun [3.7.2], or persistent [3.9]. `also`: a statement before the request is made. */
#define REQUEST_TO_SEND(name, how, starts, also)                                                                      \
    int PMPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,              \
                    MPI_Request *request)                                                                             \
    {                                                                                                                 \
        struct mpi_comm *c = mpi_find_comm(comm);                                                                     \
        struct mpi_request r = {.mode = (how)};                                                                       \
                                                                                                                      \
        MPI_ENTER(#name, c, dest, tag);                                                                               \
        also;                                                                                                         \
        if (!c)                                                                                                       \
            return mpi_fail_comm(comm);                                                                               \
        return mpi_leave(c, requests_begin(&r, check_send(&r, c, buf, count, datatype, dest, tag), starts, request)); \
    }                                                                                                                 \
    MPI_NAME(name);

#define REQUEST_TO_RECEIVE(name, starts)                                                                      \
    int PMPI_##name(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,          \
                    MPI_Request *request)                                                                     \
    {                                                                                                         \
        struct mpi_comm *c = mpi_find_comm(comm);                                                             \
        struct mpi_request r = {.mode = MODE_RECEIVE};                                                        \
                                                                                                              \
        MPI_ENTER(#name, c, source, tag);                                                                     \
        if (!c)                                                                                               \
            return mpi_fail_comm(comm);                                                                       \
        return mpi_leave(                                                                                     \
            c, requests_begin(&r, check_receive(&r, c, buf, count, datatype, source, tag), starts, request)); \
    }                                                                                                         \
    MPI_NAME(name);

/* Ends a request of the program that is done: sets the status, and *handle. Returns its error. */
int requests_end(struct mpi_request *r, MPI_Request *handle, MPI_Status *status);

/* Whether a handle is one that nobody has to wait for: MPI_REQUEST_NULL, or a persistent request that is not active.
 * Sets *r; *error if there is no such request. */
bool requests_is_idle(MPI_Request handle, struct mpi_request **r, int *error);

void requests_drop_all(void);
/* How many there are. */
int requests_used(void);

/* Calls a function of a generalized request: of its status, of its end, or to cancel it. A class. Set by
 * general_requests.c, if the program has any. */
enum requests_call { REQUESTS_QUERY, REQUESTS_FREE, REQUESTS_CANCEL };
extern int (*requests_call_general)(struct mpi_request *r, enum requests_call which, MPI_Status *status);

/* Begins a buffered send. Set by bsend.c, if the program has any. */
extern void (*requests_start_buffered)(struct mpi_request *r);

/*
 * The schedules of collective calls [5.12, 5.2.2], for their nonblocking forms, and on intercommunicators for the
 * blocking ones, too. Each checks its arguments: *error is a class, for schedule_begin or schedule_run.
 *
 * A blocking call names them weakly (ICOLL_WEAK): a program that makes intercommunicators has all of them, as
 * intercomm.c names them, and others need none.
 */
#pragma once

#include "libpio/mpi/collectives/coll_parts.h"
#include "libpio/mpi/collectives/schedule.h"

#ifdef ICOLL_WEAK
#define ICOLL __attribute__((weak))
#else
#define ICOLL
#endif

struct schedule *icoll_barrier(struct mpi_comm *c, int *error) ICOLL;
struct schedule *icoll_broadcast(struct mpi_comm *c, void *buf, int count, MPI_Datatype datatype, int root,
                                 int *error) ICOLL;
typedef struct schedule *icoll_parts(struct mpi_comm *c, struct parts *sent, struct parts *received, int root,
                                     int *error);
icoll_parts icoll_gather ICOLL, icoll_scatter ICOLL, icoll_all_gather ICOLL, icoll_exchange ICOLL;
struct schedule *icoll_reduce(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, int root, int *error) ICOLL;
struct schedule *icoll_all_reduce(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count,
                                  MPI_Datatype datatype, MPI_Op op, int *error) ICOLL;
/* counts[rank], or, if it is NULL, `count` each. */
struct schedule *icoll_reduce_scatter(struct mpi_comm *c, const void *sendbuf, void *recvbuf, const int counts[],
                                      int count, MPI_Datatype datatype, MPI_Op op, int *error) ICOLL;

/* MPI_Ibcast by the network's own broadcast: whether all members may, which counts it; and its start, whose result is a
 * class. */
bool icoll_can_send_to_all(struct mpi_comm *c, const struct mpi_type *t, int count);
int icoll_send_to_all(struct mpi_comm *c, void *buf, long bytes, int root, MPI_Request *request);
/* The same of data that is not dense at this member, though it may be at others. */
int icoll_send_packed_to_all(struct mpi_comm *c, void *buf, int count, const struct mpi_type *t, int root,
                             MPI_Request *request);

int schedule_run(struct schedule *s, int error) ICOLL;

/* In a blocking call: on an intercommunicator, it is the schedule that `make` makes, with an `error` for it. */
#define ICOLL_IF_INTER(c, make)                          \
    do {                                                 \
        if ((c)->local) {                                \
            int error;                                   \
            struct schedule *s = make;                   \
            return mpi_leave(c, schedule_run(s, error)); \
        }                                                \
    } while (0)

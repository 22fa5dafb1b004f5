/*
 * The parts of all ranks, or one's own, in buffers of the program, of calls like MPI_Gather [5.5 to 5.8], and the list
 * of these calls: each is one line for its blocking form, its nonblocking one, and, where there is one, that of
 * neighbours.
 */
#pragma once

#include "libpio/mpi/collectives/collectives.h"

/* `count` elements for each rank, or counts[]; one after the other, or at displs[], in elements, or in bytes where each
 * part has a type of its own. */
struct parts {
    void *buf;
    MPI_Datatype datatype;
    const struct mpi_type *type; /* where all have one, once it has been checked; of one's own: NULL, it is in place */
    int count;
    const int *counts, *displs;
    const MPI_Datatype *types;
    const MPI_Aint *places;                      /* in place of displs, in bytes: of neighbours */
    enum { PARTS_EQUAL, PARTS_V, PARTS_W } kind; /* V: with counts and displs, W: with types, too */
};

static inline struct parts parts_equal(const void *buf, int count, MPI_Datatype datatype)
{
    return (struct parts){.buf = (void *)buf, .datatype = datatype, .count = count};
}

static inline struct parts parts_v(const void *buf, const int counts[], const int displs[], MPI_Datatype datatype)
{
    return (struct parts){
        .buf = (void *)buf, .datatype = datatype, .counts = counts, .displs = displs, .kind = PARTS_V};
}

static inline struct parts parts_w(const void *buf, const int counts[], const int displs[], const MPI_Datatype types[])
{
    return (struct parts){.buf = (void *)buf, .counts = counts, .displs = displs, .types = types, .kind = PARTS_W};
}

static inline const struct mpi_type *parts_type(const struct parts *p, int rank)
{
    return p->types ? mpi_find_type(p->types[rank]) : p->type;
}

static inline int parts_count(const struct parts *p, int rank)
{
    return p->counts ? p->counts[rank] : p->count;
}

static inline int parts_bytes(const struct parts *p, int rank)
{
    return (int)parts_type(p, rank)->size * parts_count(p, rank);
}

static inline char *parts_place(const struct parts *p, int rank)
{
    if (p->types)
        return (char *)p->buf + (p->places ? p->places[rank] : p->displs[rank]);
    return (char *)p->buf + p->type->extent * (p->displs ? p->displs[rank] : (long)rank * p->count);
}

/* Checks the parts of `size` ranks, and finds p->type where all have one. A class. */
int parts_check(struct parts *p, int size);

/* The same of one's own part and those of all in a call with this root, or with none (MPI_NO_PEER). */
int parts_check_both(const struct mpi_comm *c, struct parts *own, struct parts *all, int root);

static inline bool parts_at_root(const struct mpi_comm *c, int root)
{
    return root == MPI_NO_PEER || (c->local ? root == MPI_ROOT : c->group.rank == root);
}

/* Whether a member has a part of its own: in an intercommunicator not at the root and beside it. */
static inline bool parts_has_own(const struct mpi_comm *c, int root)
{
    return !c->local || root == MPI_NO_PEER || root >= 0;
}

/* ---- The calls: CALL(name, name within others, the function for it, root, (parameters), sent, received) ---- */

#define PARTS_SEND   const void *sendbuf, int sendcount, MPI_Datatype sendtype
#define PARTS_RECV   void *recvbuf, int recvcount, MPI_Datatype recvtype
#define PARTS_SEND_V const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype
#define PARTS_RECV_V void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype
#define PARTS_SEND_W const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[]
#define PARTS_RECV_W void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]

#define PARTS_SENT       parts_equal(sendbuf, sendcount, sendtype)
#define PARTS_RECEIVED   parts_equal(recvbuf, recvcount, recvtype)
#define PARTS_SENT_V     parts_v(sendbuf, sendcounts, sdispls, sendtype)
#define PARTS_RECEIVED_V parts_v(recvbuf, recvcounts, rdispls, recvtype)
#define PARTS_SENT_W     parts_w(sendbuf, sendcounts, sdispls, sendtypes)
#define PARTS_RECEIVED_W parts_w(recvbuf, recvcounts, rdispls, recvtypes)

#define PARTS_CALLS_WITH_ROOT(CALL)                                                                          \
    CALL(Gather, gather, gather, root, (PARTS_SEND, PARTS_RECV, int root), PARTS_SENT, PARTS_RECEIVED)       \
    CALL(Gatherv, gatherv, gather, root, (PARTS_SEND, PARTS_RECV_V, int root), PARTS_SENT, PARTS_RECEIVED_V) \
    CALL(Scatter, scatter, scatter, root, (PARTS_SEND, PARTS_RECV, int root), PARTS_SENT, PARTS_RECEIVED)    \
    CALL(Scatterv, scatterv, scatter, root, (PARTS_SEND_V, PARTS_RECV, int root), PARTS_SENT_V, PARTS_RECEIVED)

/* Of neighbours, too. */
#define PARTS_CALLS_OF_ALL(CALL)                                                                                    \
    CALL(Allgather, allgather, all_gather, MPI_NO_PEER, (PARTS_SEND, PARTS_RECV), PARTS_SENT, PARTS_RECEIVED)       \
    CALL(Allgatherv, allgatherv, all_gather, MPI_NO_PEER, (PARTS_SEND, PARTS_RECV_V), PARTS_SENT, PARTS_RECEIVED_V) \
    CALL(Alltoall, alltoall, exchange, MPI_NO_PEER, (PARTS_SEND, PARTS_RECV), PARTS_SENT, PARTS_RECEIVED)           \
    CALL(Alltoallv, alltoallv, exchange, MPI_NO_PEER, (PARTS_SEND_V, PARTS_RECV_V), PARTS_SENT_V, PARTS_RECEIVED_V)

#define PARTS_CALLS(CALL)       \
    PARTS_CALLS_WITH_ROOT(CALL) \
    PARTS_CALLS_OF_ALL(CALL)    \
    CALL(Alltoallw, alltoallw, exchange, MPI_NO_PEER, (PARTS_SEND_W, PARTS_RECV_W), PARTS_SENT_W, PARTS_RECEIVED_W)

#define PARTS_PARAMETERS(...) __VA_ARGS__

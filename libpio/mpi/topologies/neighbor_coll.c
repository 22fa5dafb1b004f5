/*
 * Collective calls of neighbours [7.6, 7.7]: schedules of one round, which the blocking forms wait for.
 *
 * Two processes may be neighbours several times. Messages between them keep their order, so in a graph the k-th edge to
 * a process meets its k-th edge from here. In a grid what is sent down a dimension is received from above: receives of
 * each dimension begin with the upper one, as sends do with the lower.
 */
#include <stdlib.h>

#include "libpio/mpi/collectives/icoll.h"
#include "libpio/mpi/topologies/topology.h"

/* In an all-gather `to` is one part for all. */
static void add_messages(struct schedule *s, const struct neighbours *n, const struct parts *to, bool same,
                         const struct parts *from)
{
    for (int k = 0; k < n->in; k++) {
        int i = n->is_cart ? k ^ 1 : k;

        schedule_receive(s, parts_place(from, i), parts_count(from, i), parts_type(from, i), n->sources[i]);
    }
    for (int i = 0; i < n->out; i++) {
        int part = same ? 0 : i;

        schedule_send(s, parts_place(to, part), parts_count(to, part), parts_type(to, part), n->destinations[i]);
    }
}

static struct schedule *make(struct mpi_comm *c, struct parts *to, bool same, struct parts *from, int *error)
{
    struct neighbours n = {0};
    struct schedule *s = NULL;

    *error = topology_neighbours(c, &n);
    if (*error == MPI_SUCCESS)
        *error = parts_check(to, same ? 1 : n.out);
    if (*error == MPI_SUCCESS)
        *error = parts_check(from, n.in);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (s)
        add_messages(s, &n, to, same, from);
    free(n.sources);
    return s;
}

static struct schedule *make_all_gather(struct mpi_comm *c, struct parts *to, struct parts *from, int *error)
{
    return make(c, to, true, from, error);
}

static struct schedule *make_exchange(struct mpi_comm *c, struct parts *to, struct parts *from, int *error)
{
    return make(c, to, false, from, error);
}

/* The body of a call of this name, whose schedule `how` starts. */
#define BODY(name, how, sent, received, ...)             \
    {                                                    \
        struct mpi_comm *c = mpi_find_comm(comm);        \
        struct parts to = sent, from = received;         \
        int error;                                       \
                                                         \
        MPI_ENTER(name, c, MPI_NO_PEER, MPI_NO_PEER);    \
        if (!c)                                          \
            return mpi_fail_comm(comm);                  \
        struct schedule *s = how(c, &to, &from, &error); \
        return mpi_leave(c, __VA_ARGS__);                \
    }

/* Both forms of a call. */
#define CALL(name, lower, how, root, parameters, sent, received)                                                 \
    int PMPI_Neighbor_##lower(PARTS_PARAMETERS parameters, MPI_Comm comm)                                        \
        BODY("Neighbor_" #lower, make_##how, sent, received, schedule_run(s, error)) MPI_NAME(Neighbor_##lower); \
                                                                                                                 \
    int PMPI_Ineighbor_##lower(PARTS_PARAMETERS parameters, MPI_Comm comm, MPI_Request *request)                 \
        BODY("Ineighbor_" #lower, make_##how, sent, received, schedule_begin(s, error, request))                 \
            MPI_NAME(Ineighbor_##lower);

PARTS_CALLS_OF_ALL(CALL)

static struct parts with_places(const void *buf, const int counts[], const MPI_Aint places[],
                                const MPI_Datatype types[])
{
    struct parts p = parts_w(buf, counts, NULL, types);

    p.places = places;
    return p;
}

CALL(, alltoallw, exchange, MPI_NO_PEER,
     (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
      void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]),
     with_places(sendbuf, sendcounts, sdispls, sendtypes), with_places(recvbuf, recvcounts, rdispls, recvtypes))

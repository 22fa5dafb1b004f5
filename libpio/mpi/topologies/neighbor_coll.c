/*
 * Collective calls of neighbours [7.6, 7.7]: schedules of one round, which the blocking forms wait for.
 *
 * Two processes may be neighbours several times. Messages between them keep their order, so in a graph the k-th edge to
 * a process meets its k-th edge from here. In a grid what is sent down a dimension is received from above: receives of
 * each dimension begin with the upper one, as sends do with the lower.
 */
#include <limits.h>
#include <stdlib.h>

#include "libpio/mpi/collectives/icoll.h"
#include "libpio/mpi/topologies/topology.h"

/* Parts of neighbours, or one for all. */
struct side {
    struct parts parts;
    const MPI_Aint *places; /* of the w forms, in bytes */
    MPI_Datatype datatype;
    bool same; /* all get the one part */
};

static int part_of(const struct side *s, int i)
{
    return s->same ? 0 : i;
}

static char *place_of(const struct side *s, int i)
{
    return s->places ? (char *)s->parts.buf + s->places[i] : parts_place(&s->parts, part_of(s, i));
}

static int check(struct side *s, int n)
{
    struct parts *p = &s->parts;
    int error = MPI_SUCCESS;

    if (p->kind != PARTS_EQUAL && n > 0 && (!p->counts || (!p->displs && !s->places) || (s->places && !p->types)))
        return mpi_error(MPI_ERR_ARG, "NULL for the counts, displacements or types", 0, 0);
    for (int i = 0; i < (p->counts ? n : 1) && error == MPI_SUCCESS; i++)
        p->type = check_data(p->buf, parts_count(p, i), p->types ? p->types[i] : s->datatype, &error);
    return error;
}

static void add_messages(struct schedule *s, const struct neighbours *n, const struct side *to, const struct side *from)
{
    for (int k = 0; k < n->in; k++) {
        int i = n->is_cart ? k ^ 1 : k;

        schedule_receive(s, place_of(from, i), parts_count(&from->parts, part_of(from, i)),
                         parts_type(&from->parts, part_of(from, i)), n->sources[i]);
    }
    for (int i = 0; i < n->out; i++)
        schedule_send(s, place_of(to, i), parts_count(&to->parts, part_of(to, i)),
                      parts_type(&to->parts, part_of(to, i)), n->destinations[i]);
}

static struct schedule *make(struct mpi_comm *c, struct side *to, struct side *from, int *error)
{
    struct neighbours n = {0};
    struct schedule *s = NULL;

    *error = topology_neighbours(c, &n);
    if (*error == MPI_SUCCESS)
        *error = check(to, to->same ? 1 : n.out);
    if (*error == MPI_SUCCESS)
        *error = check(from, n.in);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (s)
        add_messages(s, &n, to, from);
    free(n.sources);
    return s;
}

/* Both forms of a call: its two sides, and its arguments but the last ones. */
#define CALLS(name, iname, to_side, from_side, ...)                    \
    int PMPI_##name(__VA_ARGS__, MPI_Comm comm)                        \
    {                                                                  \
        struct mpi_comm *c = mpi_find_comm(comm);                      \
        struct side to = to_side, from = from_side;                    \
        int error;                                                     \
                                                                       \
        MPI_ENTER(#name, c, MPI_NO_PEER, MPI_NO_PEER);                 \
        if (!c)                                                        \
            return mpi_fail_comm(comm);                                \
        struct schedule *s = make(c, &to, &from, &error);              \
        return mpi_leave(c, schedule_run(s, error));                   \
    }                                                                  \
    MPI_NAME(name);                                                    \
                                                                       \
    int PMPI_##iname(__VA_ARGS__, MPI_Comm comm, MPI_Request *request) \
    {                                                                  \
        struct mpi_comm *c = mpi_find_comm(comm);                      \
        struct side to = to_side, from = from_side;                    \
        int error;                                                     \
                                                                       \
        MPI_ENTER(#iname, c, MPI_NO_PEER, MPI_NO_PEER);                \
        if (!c)                                                        \
            return mpi_fail_comm(comm);                                \
        struct schedule *s = make(c, &to, &from, &error);              \
        return mpi_leave(c, schedule_begin(s, error, request));        \
    }                                                                  \
    MPI_NAME(iname);

#define ONE(address, n, type, for_all)                                                           \
    {                                                                                            \
        .parts = {.buf = (void *)(address), .count = (n)}, .datatype = (type), .same = (for_all) \
    }
#define LISTED(address, list, where, type)                                                                            \
    {                                                                                                                 \
        .parts = {.buf = (void *)(address), .counts = (list), .displs = (where), .kind = PARTS_V}, .datatype = (type) \
    }
#define TYPED(address, list, where, of)                                                                          \
    {                                                                                                            \
        .parts = {.buf = (void *)(address), .counts = (list), .types = (of), .kind = PARTS_W}, .places = (where) \
    }
CALLS(Neighbor_allgather, Ineighbor_allgather, ONE(sendbuf, sendcount, sendtype, true),
      ONE(recvbuf, recvcount, recvtype, false), const void *sendbuf, int sendcount, MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype)
CALLS(Neighbor_allgatherv, Ineighbor_allgatherv, ONE(sendbuf, sendcount, sendtype, true),
      LISTED(recvbuf, recvcounts, displs, recvtype), const void *sendbuf, int sendcount, MPI_Datatype sendtype,
      void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype)
CALLS(Neighbor_alltoall, Ineighbor_alltoall, ONE(sendbuf, sendcount, sendtype, false),
      ONE(recvbuf, recvcount, recvtype, false), const void *sendbuf, int sendcount, MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype)
CALLS(Neighbor_alltoallv, Ineighbor_alltoallv, LISTED(sendbuf, sendcounts, sdispls, sendtype),
      LISTED(recvbuf, recvcounts, rdispls, recvtype), const void *sendbuf, const int sendcounts[], const int sdispls[],
      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype)
CALLS(Neighbor_alltoallw, Ineighbor_alltoallw, TYPED(sendbuf, sendcounts, sdispls, sendtypes),
      TYPED(recvbuf, recvcounts, rdispls, recvtypes), const void *sendbuf, const int sendcounts[],
      const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[])

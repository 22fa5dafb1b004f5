/* The nonblocking calls of icoll_parts.c [5.12.3 to 5.12.6]. */
#include "libpio/mpi/collectives/icoll.h"

#define EQUAL(address, n)                      \
    {                                          \
        .buf = (void *)(address), .count = (n) \
    }
#define BY_LISTS(address, list, places)                                                 \
    {                                                                                   \
        .buf = (void *)(address), .counts = (list), .displs = (places), .kind = PARTS_V \
    }
#define BY_TYPES(address, list, places, of)                                                            \
    {                                                                                                  \
        .buf = (void *)(address), .counts = (list), .displs = (places), .types = (of), .kind = PARTS_W \
    }

/* The body of a call whose schedule `make` makes. */
#define BEGIN(name, root, make)                                 \
    do {                                                        \
        struct mpi_comm *c = mpi_find_comm(comm);               \
        int error;                                              \
                                                                \
        MPI_ENTER(name, c, root, MPI_NO_PEER);                  \
        if (!c)                                                 \
            return mpi_fail_comm(comm);                         \
        struct schedule *s = make;                              \
        return mpi_leave(c, schedule_begin(s, error, request)); \
    } while (0)

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = EQUAL(recvbuf, recvcount);

    BEGIN("Igather", root, icoll_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root, &error));
}
MPI_NAME(Igather);

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                  const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = BY_LISTS(recvbuf, recvcounts, displs);

    BEGIN("Igatherv", root, icoll_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root, &error));
}
MPI_NAME(Igatherv);

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = EQUAL(sendbuf, sendcount);

    BEGIN("Iscatter", root, icoll_scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root, &error));
}
MPI_NAME(Iscatter);

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = BY_LISTS(sendbuf, sendcounts, displs);

    BEGIN("Iscatterv", root, icoll_scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root, &error));
}
MPI_NAME(Iscatterv);

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = EQUAL(recvbuf, recvcount);

    BEGIN("Iallgather", MPI_NO_PEER, icoll_all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, &error));
}
MPI_NAME(Iallgather);

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct parts all = BY_LISTS(recvbuf, recvcounts, displs);

    BEGIN("Iallgatherv", MPI_NO_PEER, icoll_all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, &error));
}
MPI_NAME(Iallgatherv);

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct parts to = EQUAL(sendbuf, sendcount), from = EQUAL(recvbuf, recvcount);

    BEGIN("Ialltoall", MPI_NO_PEER, icoll_exchange(c, &to, sendtype, &from, recvtype, &error));
}
MPI_NAME(Ialltoall);

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request *request)
{
    struct parts to = BY_LISTS(sendbuf, sendcounts, sdispls), from = BY_LISTS(recvbuf, recvcounts, rdispls);

    BEGIN("Ialltoallv", MPI_NO_PEER, icoll_exchange(c, &to, sendtype, &from, recvtype, &error));
}
MPI_NAME(Ialltoallv);

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm, MPI_Request *request)
{
    struct parts to = BY_TYPES(sendbuf, sendcounts, sdispls, sendtypes);
    struct parts from = BY_TYPES(recvbuf, recvcounts, rdispls, recvtypes);

    BEGIN("Ialltoallw", MPI_NO_PEER, icoll_exchange(c, &to, MPI_DATATYPE_NULL, &from, MPI_DATATYPE_NULL, &error));
}
MPI_NAME(Ialltoallw);

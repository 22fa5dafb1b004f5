/* The nonblocking calls of icoll_parts.c [5.12.3 to 5.12.6]. */
#include "libpio/mpi/collectives/icoll.h"

#define CALL(name, lower, make, root, parameters, sent, received)                       \
    int PMPI_I##lower(PARTS_PARAMETERS parameters, MPI_Comm comm, MPI_Request *request) \
    {                                                                                   \
        struct mpi_comm *c = mpi_find_comm(comm);                                       \
        struct parts send = sent, receive = received;                                   \
        int error;                                                                      \
                                                                                        \
        MPI_ENTER("I" #lower, c, root, MPI_NO_PEER);                                    \
        if (!c)                                                                         \
            return mpi_fail_comm(comm);                                                 \
        struct schedule *s = icoll_##make(c, &send, &receive, root, &error);            \
        return mpi_leave(c, schedule_begin(s, error, request));                         \
    }                                                                                   \
    MPI_NAME(I##lower);

PARTS_CALLS(CALL)

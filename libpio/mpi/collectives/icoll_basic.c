/*
 * Barrier and broadcast as schedules [5.12.1, 5.12.2].
 */
#include "libpio/mpi/collectives/icoll.h"

/* In step k each rank has heard of the 2^k before it [Hensgen, Finkel, Manber: Two algorithms for barrier
 * synchronization, Int. J. Parallel Programming 17(1), 1988]. */
static void disseminate(struct schedule *s)
{
    int n = s->comm->group.size, rank = s->comm->group.rank;

    for (int distance = 1; distance < n; distance <<= 1) {
        schedule_receive(s, NULL, 0, SCHEDULE_BYTES, (rank - distance + n) % n);
        schedule_send(s, NULL, 0, SCHEDULE_BYTES, (rank + distance) % n);
        schedule_round(s);
    }
}

struct schedule *icoll_barrier(struct mpi_comm *c, int *error)
{
    struct schedule *s = schedule_new(c, error);

    if (s && !c->local)
        disseminate(s);
    if (!s || !c->local)
        return s;
    s->reduction.commutes = true;
    schedule_reduce(s, 0);
    if (c->group.rank == 0) {
        schedule_receive(s, NULL, 0, SCHEDULE_BYTES, 0);
        schedule_send(s, NULL, 0, SCHEDULE_BYTES, 0);
    }
    schedule_round(s);
    schedule_broadcast(s, NULL, 0, SCHEDULE_BYTES, 0);
    return s;
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Ibarrier", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    struct schedule *s = icoll_barrier(c, &error);
    return mpi_leave(c, schedule_begin(s, error, request));
}
MPI_NAME(Ibarrier);

/* To the other group by its rank 0. */
static void broadcast_to_others(struct schedule *s, void *buf, int count, const struct mpi_type *t, int root)
{
    if (root == MPI_ROOT)
        schedule_send(s, buf, count, t, 0);
    if (root < 0)
        return;
    if (s->comm->group.rank == 0)
        schedule_receive(s, buf, count, t, root);
    schedule_round(s);
    schedule_broadcast(s, buf, count, t, 0);
}

/* NULL: a bad argument, or none is needed. */
static const struct mpi_type *check_broadcast(struct mpi_comm *c, const void *buf, int count, MPI_Datatype datatype,
                                              int root, int *error)
{
    *error = check_root(c, root);
    return *error == MPI_SUCCESS && root != MPI_PROC_NULL ? check_data(buf, count, datatype, error) : NULL;
}

struct schedule *icoll_broadcast(struct mpi_comm *c, void *buf, int count, MPI_Datatype datatype, int root, int *error)
{
    const struct mpi_type *t = check_broadcast(c, buf, count, datatype, root, error);
    struct schedule *s = *error == MPI_SUCCESS ? schedule_new(c, error) : NULL;

    if (s && c->local)
        broadcast_to_others(s, buf, count, t, root);
    else if (s)
        schedule_broadcast(s, buf, count, t, root);
    return s;
}

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Ibcast", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_type *t = check_broadcast(c, buffer, count, datatype, root, &error);
    if (error == MPI_SUCCESS && !c->local && icoll_can_send_to_all(c, t, count))
        return mpi_leave(c, t->is_dense ? icoll_send_to_all(c, buffer, t->size * count, root, request)
                                        : icoll_send_packed_to_all(c, buffer, count, t, root, request));
    struct schedule *s = icoll_broadcast(c, buffer, count, datatype, root, &error);
    return mpi_leave(c, schedule_begin(s, error, request));
}
MPI_NAME(Ibcast);

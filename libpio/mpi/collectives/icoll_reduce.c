/*
 * Reductions and scans as schedules [5.12.7 to 5.12.12]. In an intercommunicator, each group combines its own elements
 * at its rank 0, and the results are for the other group.
 */
#include <limits.h>
#include <string.h>

#include "libpio/mpi/collectives/icoll.h"

/* Checks the arguments, and makes a schedule with the elements of sendbuf, or, in place, of recvbuf. */
static struct schedule *begin(struct mpi_comm *c, const void *sendbuf, const void *recvbuf, int count,
                              MPI_Datatype datatype, MPI_Op op, bool needs_recvbuf, int *error)
{
    struct reduction r = {0};
    struct schedule *s = NULL;

    *error = reduction_check(&r, sendbuf, recvbuf, count, datatype, op, needs_recvbuf);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (*error == MPI_SUCCESS)
        *error = reduction_begin(&r, count);
    if (*error != MPI_SUCCESS)
        return s;
    reduction_read(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    s->reduction = r;
    return s;
}

/* `result` is the program's buffer, `about` the elements for it. */
static bool write_result(struct schedule *s)
{
    reduction_write(&s->reduction, s->result, s->about);
    return false;
}

static void give_result(struct schedule *s, void *recvbuf, char *elements)
{
    s->result = recvbuf;
    s->about = elements;
    s->end = write_result;
}

/* ---- To one, to all ---- */

/* Of the other group's elements; only the root has a buffer for the result. */
static struct schedule *reduce_others(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count,
                                      MPI_Datatype datatype, MPI_Op op, int root, int *error)
{
    struct schedule *s = NULL;

    if (root == MPI_PROC_NULL)
        return schedule_new(c, error);
    s = begin(c, root == MPI_ROOT ? recvbuf : sendbuf, recvbuf, count, datatype, op, root == MPI_ROOT, error);
    if (*error != MPI_SUCCESS)
        return s;
    if (root == MPI_ROOT) {
        schedule_receive(s, s->reduction.elements, (int)s->reduction.bytes, SCHEDULE_BYTES, 0);
        give_result(s, recvbuf, s->reduction.elements);
        return s;
    }
    schedule_reduce(s, 0);
    if (c->group.rank == 0)
        schedule_send(s, s->reduction.elements, (int)s->reduction.bytes, SCHEDULE_BYTES, root);
    return s;
}

struct schedule *icoll_reduce(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, int root, int *error)
{
    bool at_root = c->group.rank == root;

    *error = check_root(c, root);
    if (*error == MPI_SUCCESS && sendbuf == MPI_IN_PLACE && (!at_root || c->local))
        *error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (*error != MPI_SUCCESS)
        return NULL;
    if (c->local)
        return reduce_others(c, sendbuf, recvbuf, count, datatype, op, root, error);
    struct schedule *s = begin(c, sendbuf, recvbuf, count, datatype, op, at_root, error);
    if (*error == MPI_SUCCESS) {
        schedule_reduce(s, root);
        if (at_root)
            give_result(s, recvbuf, s->reduction.elements);
    }
    return s;
}

/* The groups' results at their ranks 0, exchanged: those of the other group are in `room` afterwards. */
static void exchange_results(struct schedule *s)
{
    struct reduction *r = &s->reduction;

    schedule_reduce(s, 0);
    if (s->comm->group.rank == 0) {
        schedule_receive(s, r->room, (int)r->bytes, SCHEDULE_BYTES, 0);
        schedule_send(s, r->elements, (int)r->bytes, SCHEDULE_BYTES, 0);
    }
    schedule_round(s);
}

struct schedule *icoll_all_reduce(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count,
                                  MPI_Datatype datatype, MPI_Op op, int *error)
{
    struct schedule *s = begin(c, sendbuf, recvbuf, count, datatype, op, true, error);

    if (*error != MPI_SUCCESS)
        return s;
    char *result = c->local ? s->reduction.room : s->reduction.elements;
    if (c->local)
        exchange_results(s);
    else
        schedule_reduce(s, 0);
    schedule_broadcast(s, result, (int)s->reduction.bytes, SCHEDULE_BYTES, 0);
    give_result(s, recvbuf, result);
    return s;
}

/* ---- Shared out ---- */

/* Sum of all counts; -1: one is negative, or they are too many. */
static long add_counts(const struct group *g, const int counts[], int count)
{
    long all = 0;

    for (int i = 0; i < g->size; i++) {
        if ((counts ? counts[i] : count) < 0)
            return -1;
        all += counts ? counts[i] : count;
    }
    return all > INT_MAX ? -1 : all;
}

static bool write_own_part(struct schedule *s)
{
    s->reduction.count = s->number[0];
    s->reduction.bytes = s->reduction.element_bytes * s->number[0];
    return write_result(s);
}

/* From rank 0, which has all of them at `all`, to `part`. */
static void share_out(struct schedule *s, const struct group *g, const int counts[], int count, char *all, char *part)
{
    int element_bytes = (int)s->reduction.element_bytes;

    for (int i = 0; i < g->size; i++) {
        int bytes = element_bytes * (counts ? counts[i] : count);

        if (g->rank == 0 && i == 0)
            schedule_copy(s, all, bytes, SCHEDULE_BYTES, part, bytes, SCHEDULE_BYTES);
        else if (g->rank == 0)
            schedule_send_local(s, all, bytes, SCHEDULE_BYTES, i);
        else if (i == g->rank)
            schedule_receive_local(s, part, bytes, SCHEDULE_BYTES, 0);
        all += bytes;
    }
}

struct schedule *icoll_reduce_scatter(struct mpi_comm *c, const void *sendbuf, void *recvbuf, const int counts[],
                                      int count, MPI_Datatype datatype, MPI_Op op, int *error)
{
    const struct group *g = c->local ? &c->local->group : &c->group;
    long all = add_counts(g, counts, count);
    int own = counts ? counts[g->rank] : count;

    *error = all < 0 ? mpi_error(MPI_ERR_COUNT, "a count is negative, or all are too many", 0, 0) : MPI_SUCCESS;
    if (*error == MPI_SUCCESS)
        check_data(recvbuf, own, datatype, error);
    if (*error != MPI_SUCCESS)
        return NULL;
    struct schedule *s = begin(c, sendbuf, recvbuf, (int)all, datatype, op, false, error);
    if (*error != MPI_SUCCESS)
        return s;
    struct reduction *r = &s->reduction;
    if (c->local)
        exchange_results(s);
    else
        schedule_reduce(s, 0);
    share_out(s, g, counts, count, c->local ? r->room : r->elements, c->local ? r->elements : r->room);
    give_result(s, recvbuf, c->local ? r->elements : r->room);
    s->number[0] = own;
    s->end = write_own_part;
    return s;
}

/* ---- Scans ---- */

/* In step k every rank has the combination of the 2^k ranks up to it [collect.c, collect_scan]. */
static struct schedule *scan(struct mpi_comm *c, const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, bool is_exclusive, int *error)
{
    struct schedule *s = NULL;
    bool has_before = false;
    int rank = c->group.rank, n = c->group.size;

    if (c->local)
        *error = mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0);
    else
        s = begin(c, sendbuf, recvbuf, count, datatype, op, true, error);
    if (*error != MPI_SUCCESS)
        return s;
    struct reduction *r = &s->reduction;
    int bytes = (int)r->bytes;
    char *before = is_exclusive ? schedule_take(s, bytes + 16) : NULL;
    for (int distance = 1; distance < n; distance <<= 1) {
        if (rank + distance < n)
            schedule_send(s, r->elements, bytes, SCHEDULE_BYTES, rank + distance);
        if (rank >= distance)
            schedule_receive(s, r->room, bytes, SCHEDULE_BYTES, rank - distance);
        schedule_round(s);
        if (rank < distance)
            continue;
        if (before && has_before)
            schedule_combine(s, before, r->room, before);
        else if (before)
            schedule_copy(s, r->room, bytes, SCHEDULE_BYTES, before, bytes, SCHEDULE_BYTES);
        has_before = true;
        schedule_combine(s, r->elements, r->room, r->elements);
    }
    if (!is_exclusive || rank > 0) /* rank 0 gets nothing [5.11.2] */
        give_result(s, recvbuf, is_exclusive ? before : r->elements);
    return s;
}

/* ---- The calls ---- */

#define CALL(name, root, list, arguments, make)                 \
    int PMPI_##name list                                        \
    {                                                           \
        struct mpi_comm *c = mpi_find_comm(comm);               \
        int error;                                              \
                                                                \
        MPI_ENTER(#name, c, root, MPI_NO_PEER);                 \
        if (!c)                                                 \
            return mpi_fail_comm(comm);                         \
        struct schedule *s = make arguments;                    \
        return mpi_leave(c, schedule_begin(s, error, request)); \
    }                                                           \
    MPI_NAME(name);

CALL(Ireduce, root,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, count, datatype, op, root, &error), icoll_reduce)
CALL(Iallreduce, MPI_NO_PEER,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, count, datatype, op, &error), icoll_all_reduce)
CALL(Ireduce_scatter, MPI_NO_PEER,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, recvcounts, recvcounts ? 0 : -1, datatype, op, &error), icoll_reduce_scatter)
CALL(Ireduce_scatter_block, MPI_NO_PEER,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, NULL, recvcount, datatype, op, &error), icoll_reduce_scatter)
CALL(Iscan, MPI_NO_PEER,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, count, datatype, op, false, &error), scan)
CALL(Iexscan, MPI_NO_PEER,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (c, sendbuf, recvbuf, count, datatype, op, true, &error), scan)

/*
 * Gather, scatter, all-gather and all-to-all as schedules [5.12.3 to 5.12.6]. In an intercommunicator all parts are of
 * the other group, and the root has MPI_ROOT.
 */
#include "libpio/mpi/collectives/icoll.h"

enum { AT_ONCE = 32 }; /* messages of a round, where one member has one with each other */

static bool is_root(const struct mpi_comm *c, int root)
{
    return c->local ? root == MPI_ROOT : c->group.rank == root;
}

/* The own part of calls whose other side knows it, too; NULL: none is needed. */
static const struct mpi_type *check_own(const struct mpi_comm *c, const void *buf, int count, MPI_Datatype datatype,
                                        bool root, int *error)
{
    if (buf == MPI_IN_PLACE && !c->local && root)
        return NULL;
    if (buf == MPI_IN_PLACE) {
        *error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
        return NULL;
    }
    return check_data(buf, count, datatype, error);
}

/* ---- Gather and scatter ---- */

/* The root's messages with all others; the own part is the caller's. */
static void move_all(struct schedule *s, const struct parts *all, bool gathers)
{
    int n = s->comm->group.size, moved = 0;

    for (int i = 0; i < n; i++) {
        if (!s->comm->local && i == s->comm->group.rank)
            continue;
        if (gathers)
            schedule_receive(s, parts_place(all, i), parts_count(all, i), parts_type(all, i), i);
        else
            schedule_send(s, parts_place(all, i), parts_count(all, i), parts_type(all, i), i);
        if (++moved % AT_ONCE == 0)
            schedule_round(s);
    }
}

struct schedule *icoll_gather(struct mpi_comm *c, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              struct parts *all, MPI_Datatype recvtype, int root, int *error)
{
    bool at_root = is_root(c, root), gives = c->local ? root >= 0 : true;
    const struct mpi_type *t = NULL;
    struct schedule *s = NULL;

    *error = check_root(c, root);
    if (*error == MPI_SUCCESS && at_root)
        *error = parts_check(all, c->group.size, recvtype);
    if (*error == MPI_SUCCESS && gives)
        t = check_own(c, sendbuf, sendcount, sendtype, at_root, error);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (s && at_root)
        move_all(s, all, true);
    if (s && at_root && t)
        schedule_copy(s, sendbuf, sendcount, t, parts_place(all, c->group.rank), parts_count(all, c->group.rank),
                      parts_type(all, c->group.rank));
    else if (s && t)
        schedule_send(s, sendbuf, sendcount, t, root);
    return s;
}

struct schedule *icoll_scatter(struct mpi_comm *c, struct parts *all, MPI_Datatype sendtype, void *recvbuf,
                               int recvcount, MPI_Datatype recvtype, int root, int *error)
{
    bool at_root = is_root(c, root), takes = c->local ? root >= 0 : true;
    const struct mpi_type *t = NULL;
    struct schedule *s = NULL;

    *error = check_root(c, root);
    if (*error == MPI_SUCCESS && at_root)
        *error = parts_check(all, c->group.size, sendtype);
    if (*error == MPI_SUCCESS && takes)
        t = check_own(c, recvbuf, recvcount, recvtype, at_root, error);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (s && at_root)
        move_all(s, all, false);
    if (s && at_root && t)
        schedule_copy(s, parts_place(all, c->group.rank), parts_count(all, c->group.rank),
                      parts_type(all, c->group.rank), recvbuf, recvcount, t);
    else if (s && t)
        schedule_receive(s, recvbuf, recvcount, t, root);
    return s;
}

/* ---- All-gather ---- */

static void spread_by_ring(struct schedule *s, const struct parts *all)
{
    int n = s->comm->group.size, rank = s->comm->group.rank;

    for (int k = 1, at = rank; k < n; k++) {
        int coming = (at + n - 1) % n;

        schedule_receive(s, parts_place(all, coming), parts_count(all, coming), parts_type(all, coming),
                         (rank + n - 1) % n);
        schedule_send(s, parts_place(all, at), parts_count(all, at), parts_type(all, at), (rank + 1) % n);
        schedule_round(s);
        at = coming;
    }
}

struct schedule *icoll_all_gather(struct mpi_comm *c, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  struct parts *all, MPI_Datatype recvtype, int *error)
{
    int rank = c->group.rank;
    const struct mpi_type *t = NULL;
    struct schedule *s = NULL;

    *error = parts_check(all, c->group.size, recvtype);
    if (*error == MPI_SUCCESS)
        t = check_own(c, sendbuf, sendcount, sendtype, true, error);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (s && c->local) {
        move_all(s, all, true);
        for (int i = 0; i < c->group.size; i++)
            schedule_send(s, sendbuf, sendcount, t, i);
    } else if (s) {
        if (t)
            schedule_copy(s, sendbuf, sendcount, t, parts_place(all, rank), parts_count(all, rank),
                          parts_type(all, rank));
        spread_by_ring(s, all);
    }
    return s;
}

/* ---- All to all ---- */

static void exchange_with(struct schedule *s, const struct parts *to, int give_to, const struct parts *from,
                          int take_from)
{
    schedule_receive(s, parts_place(from, take_from), parts_count(from, take_from), parts_type(from, take_from),
                     take_from);
    schedule_send(s, parts_place(to, give_to), parts_count(to, give_to), parts_type(to, give_to), give_to);
}

/* Sends packed copies of what lies where it receives. */
static void exchange_in_place(struct schedule *s, const struct parts *all)
{
    int n = s->comm->group.size, rank = s->comm->group.rank;
    long bytes = 0;

    for (int i = 0; i < n; i++)
        bytes += parts_bytes(all, i);
    char *copy = schedule_take(s, bytes + 1);
    for (int i = 0; i < n && copy; i++) {
        int length = parts_bytes(all, i);

        mpi_pack(parts_type(all, i), parts_count(all, i), parts_place(all, i), 0, length, copy);
        if (i != rank) {
            schedule_receive(s, parts_place(all, i), parts_count(all, i), parts_type(all, i), i);
            schedule_send(s, copy, length, SCHEDULE_BYTES, i);
        }
        copy += length;
    }
}

struct schedule *icoll_exchange(struct mpi_comm *c, struct parts *to, MPI_Datatype sendtype, struct parts *from,
                                MPI_Datatype recvtype, int *error)
{
    int n = c->group.size, rank = c->group.rank;
    bool in_place = to->buf == MPI_IN_PLACE && !c->local;
    struct schedule *s = NULL;

    *error = parts_check(from, n, recvtype);
    if (*error == MPI_SUCCESS && !in_place)
        *error = parts_check(to, n, sendtype);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (!s)
        return s;
    if (in_place) {
        exchange_in_place(s, from);
        return s;
    }
    if (!c->local)
        schedule_copy(s, parts_place(to, rank), parts_count(to, rank), parts_type(to, rank), parts_place(from, rank),
                      parts_count(from, rank), parts_type(from, rank));
    for (int k = c->local ? 0 : 1; k < n; k++) {
        exchange_with(s, to, c->local ? k : (rank + k) % n, from, c->local ? k : (rank + n - k) % n);
        if (k % (AT_ONCE / 2) == 0 && !c->local)
            schedule_round(s);
    }
    return s;
}

/*
 * Gather, scatter, all-gather and all-to-all as schedules [5.12.3 to 5.12.6]. In an intercommunicator all parts are of
 * the other group, and the root has MPI_ROOT.
 */
#include "libpio/mpi/collectives/icoll.h"

enum { AT_ONCE = 32 }; /* messages of a round, where one member has one with each other */

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

static void copy_part(struct schedule *s, const struct parts *from, int of, const struct parts *to, int at)
{
    schedule_copy(s, parts_place(from, of), parts_count(from, of), parts_type(from, of), parts_place(to, at),
                  parts_count(to, at), parts_type(to, at));
}

/* One's own part lies where that of rank 0 would. */
static struct schedule *move(struct mpi_comm *c, struct parts *own, struct parts *all, int root, bool gathers,
                             int *error)
{
    int rank = c->group.rank;

    *error = parts_check_both(c, own, all, root);
    struct schedule *s = *error == MPI_SUCCESS ? schedule_new(c, error) : NULL;
    if (s && parts_at_root(c, root)) {
        move_all(s, all, gathers);
        if (own->type && gathers)
            copy_part(s, own, 0, all, rank);
        else if (own->type)
            copy_part(s, all, rank, own, 0);
    } else if (s && own->type && gathers) {
        schedule_send(s, own->buf, own->count, own->type, root);
    } else if (s && own->type) {
        schedule_receive(s, own->buf, own->count, own->type, root);
    }
    return s;
}

struct schedule *icoll_gather(struct mpi_comm *c, struct parts *sent, struct parts *received, int root, int *error)
{
    return move(c, sent, received, root, true, error);
}

struct schedule *icoll_scatter(struct mpi_comm *c, struct parts *sent, struct parts *received, int root, int *error)
{
    return move(c, received, sent, root, false, error);
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

struct schedule *icoll_all_gather(struct mpi_comm *c, struct parts *own, struct parts *all, int root, int *error)
{
    *error = parts_check_both(c, own, all, root);
    struct schedule *s = *error == MPI_SUCCESS ? schedule_new(c, error) : NULL;
    if (s && c->local) {
        move_all(s, all, true);
        for (int i = 0; i < c->group.size; i++)
            schedule_send(s, own->buf, own->count, own->type, i);
    } else if (s) {
        if (own->type)
            copy_part(s, own, 0, all, c->group.rank);
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

struct schedule *icoll_exchange(struct mpi_comm *c, struct parts *to, struct parts *from, int root, int *error)
{
    int n = c->group.size, rank = c->group.rank;
    bool in_place = to->buf == MPI_IN_PLACE && !c->local;
    struct schedule *s = NULL;

    (void)root;
    *error = parts_check(from, n);
    if (*error == MPI_SUCCESS && !in_place)
        *error = parts_check(to, n);
    if (*error == MPI_SUCCESS)
        s = schedule_new(c, error);
    if (!s)
        return s;
    if (in_place) {
        exchange_in_place(s, from);
        return s;
    }
    if (!c->local)
        copy_part(s, to, rank, from, rank);
    for (int k = c->local ? 0 : 1; k < n; k++) {
        exchange_with(s, to, c->local ? k : (rank + k) % n, from, c->local ? k : (rank + n - k) % n);
        if (k % (AT_ONCE / 2) == 0 && !c->local)
            schedule_round(s);
    }
    return s;
}

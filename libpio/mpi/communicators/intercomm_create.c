/*
 * MPI_Intercomm_create [6.6.2]: the leaders of two groups, who know each other in another communicator, exchange the
 * lists of their groups and the numbers that are free there, and tell their groups.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/intercomm.h"

/* What a leader tells the other, and then its group. */
struct offer {
    int size;
    int free_numbers[COMMS_WORDS];
    int list[]; /* ranks in MPI_COMM_WORLD */
};

struct making {
    struct mpi_comm *local;
    int local_leader, remote_leader, tag;
    MPI_Comm peer;
};

static size_t bytes_of(int size)
{
    return sizeof(struct offer) + (size_t)size * sizeof(int);
}

static int broadcast(const struct making *m, void *buf, size_t bytes)
{
    struct group *g = engine_group(m->local);

    return collective_error(m->local, collect_broadcast(g, buf, (int)bytes, collect_place(g, m->local_leader),
                                                        COLLECTIVE_TYPE(m->local->number, COLLECTIVE_MAKE)));
}

/* The leader's part; the others get it from there. Errors of the leaders' messages are the peer communicator's. */
static int exchange(const struct making *m, const void *own, size_t own_bytes, void *other, size_t other_bytes)
{
    int error = MPI_SUCCESS;

    if (m->local->group.rank == m->local_leader) {
        const struct mpi_call call = mpi_call;

        error = PMPI_Sendrecv(own, (int)own_bytes, MPI_BYTE, m->remote_leader, m->tag, other, (int)other_bytes,
                              MPI_BYTE, m->remote_leader, m->tag, m->peer, MPI_STATUS_IGNORE);
        mpi_call = call;
    }
    return error == MPI_SUCCESS ? broadcast(m, other, other_bytes) : error;
}

/* What this group offers; all of it know. */
static int make_offer(const struct making *m, struct offer *own)
{
    int room[COMMS_WORDS];
    struct group *g = engine_group(m->local);

    own->size = g->size;
    for (int i = 0; i < g->size; i++)
        own->list[i] = collect_rank_of(&mpi_world.group, collect_process(g, i));
    comms_list_free(own->free_numbers);
    return collective_error(m->local,
                            collect_all_reduce(g,
                                               &(struct collect_reduction){own->free_numbers, room, COMMS_WORDS,
                                                                           sizeof(int), collect_and_ints},
                                               COLLECTIVE_TYPE(m->local->number, COLLECTIVE_MAKE)));
}

/* The two lowest numbers that are free in both groups. */
static int choose_numbers(const struct offer *own, const struct offer *other, int number[2])
{
    int set[COMMS_WORDS];

    for (int i = 0; i < COMMS_WORDS; i++)
        set[i] = own->free_numbers[i] & other->free_numbers[i];
    number[0] = number[1] = comms_lowest(set);
    if (number[0] != COMMS_NONE) {
        set[number[0] / 32] &= set[number[0] / 32] - 1;
        number[1] = comms_lowest(set);
    }
    return number[1] == COMMS_NONE
               ? mpi_error(MPI_ERR_OTHER, "there are %ld communicators, more are not possible", COMMS_MAX, 0)
               : MPI_SUCCESS;
}

static int check_disjoint(const struct offer *own, const struct offer *other)
{
    for (int i = 0; i < own->size; i++)
        for (int k = 0; k < other->size; k++)
            if (own->list[i] == other->list[k])
                return mpi_error(MPI_ERR_COMM, "rank %ld of MPI_COMM_WORLD is in both groups", own->list[i], 0);
    return MPI_SUCCESS;
}

static int make(const struct making *m, struct mpi_comm **made)
{
    struct offer *own = calloc(1, bytes_of(m->local->group.size)), *other = NULL;
    int others = 0, number[2];

    comms_hold(true);
    int error = own ? make_offer(m, own) : comms_no_memory(m->local->group.size);

    if (error == MPI_SUCCESS)
        error = exchange(m, &own->size, sizeof own->size, &others, sizeof others);
    if (error == MPI_SUCCESS) {
        other = malloc(bytes_of(others));
        error = other ? exchange(m, own, bytes_of(own->size), other, bytes_of(others)) : comms_no_memory(others);
    }
    if (error == MPI_SUCCESS)
        error = check_disjoint(own, other);
    if (error == MPI_SUCCESS)
        error = choose_numbers(own, other, number);
    if (error == MPI_SUCCESS)
        error = intercomm_make(m->local, number,
                               &(struct intercomm_lists){own->list, own->size, other->list, other->size}, made);
    comms_hold(false);
    free(other);
    free(own);
    return error;
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm *newintercomm)
{
    struct mpi_comm *c = mpi_find_comm(local_comm), *made = NULL;
    const struct making m = {c, local_leader, remote_leader, tag, peer_comm};

    MPI_ENTER("Intercomm_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(local_comm);
    int error = c->local ? mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0) : check_root(c, local_leader);
    if (error == MPI_SUCCESS && tag < 0)
        error = mpi_error(MPI_ERR_TAG, "%ld", tag, 0);
    if (error == MPI_SUCCESS && c->group.rank == local_leader && !mpi_find_comm(peer_comm))
        error = mpi_error(MPI_ERR_COMM, "0x%lx is none", (long)peer_comm, 0);
    if (error == MPI_SUCCESS)
        error = make(&m, &made);
    return mpi_leave(c, comms_give(error, made, newintercomm));
}
MPI_NAME(Intercomm_create);

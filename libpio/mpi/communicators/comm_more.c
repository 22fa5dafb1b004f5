/*
 * Duplicates that are made meanwhile, or with hints, and communicators of a node's processes [6.4.2].
 */
#include <string.h>

#include "libpio/mpi/communicators/comms.h"
#include "libpio/mpi/collectives/icoll.h"
#include "libpio/mpi/base/info.h"

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;

    MPI_ENTER("Comm_dup_with_info", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = info_check(info);
    if (error == MPI_SUCCESS)
        error = comms_dup(c, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Comm_dup_with_info);

/* The processes of a node share memory in the standard's sense: it is one computer's. */
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;

    MPI_ENTER("Comm_split_type", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = info_check(info);
    if (error == MPI_SUCCESS && split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED)
        error = mpi_error(MPI_ERR_ARG, "%ld is no kind of split", split_type, 0);
    if (error == MPI_SUCCESS && c->local)
        error = mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0);
    int node = (int)N_NODE_OF(mpi_world.process);
    if (error == MPI_SUCCESS)
        error = comms_split(c, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : node, key, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Comm_split_type);

/* ---- MPI_Comm_idup ----
 *
 * Several may be under way, and blocking calls between, so the number on which all agree may have been taken at some of
 * them when they hear of it. Therefore all tell whether they have it; if one has not, they try another: the n-th free
 * one, with another n for each call and try, so two that have met once do not meet for ever.
 */

enum { TRIED, CONFIRMED }; /* schedule.number[0] */

struct idup {
    int set[COMMS_WORDS], room[COMMS_WORDS];
    MPI_Comm *newcomm;
    unsigned nth; /* schedule of the communicator, the same at all */
    int tries, number;
};

static void add_agreement(struct schedule *s)
{
    struct reduction *r = &s->reduction;

    r->bytes = r->count * (long)sizeof(int);
    schedule_reduce(s, 0);
    schedule_broadcast(s, r->elements, (int)r->bytes, SCHEDULE_BYTES, 0);
}

static void try_again(struct schedule *s)
{
    struct idup *d = s->about;

    comms_list_free(d->set);
    s->reduction.count = COMMS_WORDS;
    s->number[0] = TRIED;
    add_agreement(s);
}

/* The n-th number of a set, around; COMMS_NONE if it is empty. */
static int choose(const int set[COMMS_WORDS], unsigned n)
{
    unsigned all = 0;

    for (int i = 0; i < COMMS_WORDS; i++)
        all += (unsigned)__builtin_popcount((unsigned)set[i]);
    n = all > 0 ? n % all : 0;
    for (int i = 0; i < COMMS_MAX; i++)
        if (set[i / 32] & (int)(1u << i % 32) && n-- == 0)
            return i;
    return COMMS_NONE;
}

/* What all have agreed on is free here, still: it is taken, so that nobody else does. */
static bool take(struct schedule *s, struct idup *d)
{
    d->number = choose(d->set, d->nth + (unsigned)(d->tries++ * (s->comm->number + 1) + s->comm->number));
    if (d->number == COMMS_NONE)
        s->error = mpi_error(MPI_ERR_OTHER, "there are %ld communicators, more are not possible", COMMS_MAX, 0);
    return d->number != COMMS_NONE && comms_reserve(d->number, true);
}

static bool go_on(struct schedule *s)
{
    struct idup *d = s->about;
    struct mpi_comm *made = NULL;

    if (s->number[0] == TRIED) {
        s->number[1] = d->set[0] = take(s, d) ? -1 : 0;
        if (d->number == COMMS_NONE) {
            s->note = mpi_noted(s->error);
            return false;
        }
        s->reduction.count = 1;
        s->number[0] = CONFIRMED;
        add_agreement(s);
        return true;
    }
    if (s->number[1])
        comms_reserve(d->number, false);
    if (d->set[0] == 0) {
        try_again(s);
        return true;
    }
    int error = comms_make(s->comm, d->number, NULL, 0, &made);
    if (error == MPI_SUCCESS)
        error = comms_copy_attached(s->comm, &made);
    comms_give(error, made, d->newcomm);
    s->error = error;
    s->note = mpi_noted(error);
    return false;
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int error;

    MPI_ENTER("Comm_idup", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    if (c->local)
        return mpi_fail(c, mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "of an intercommunicator", 0, 0));
    struct schedule *s = schedule_new(c, &error);
    struct idup *d = s ? schedule_take(s, sizeof *d) : NULL;
    if (d) {
        memset(d, 0, sizeof *d);
        d->newcomm = newcomm;
        d->nth = s->shadow->next_tag;
        *newcomm = MPI_COMM_NULL;
        s->about = d;
        s->end = go_on;
        s->reduction = (struct reduction){
            .operation = collect_and_ints, .commutes = true, .elements = (char *)d->set, .room = (char *)d->room};
        try_again(s);
    }
    return mpi_leave(c, schedule_begin(s, error, request));
}
MPI_NAME(Comm_idup);

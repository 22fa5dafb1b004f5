/*
 * Intercommunicators [6.6]. `group` of one is the remote group; its own group is that of an intracommunicator that the
 * program does not see, `local`. What both groups have to know of each other their ranks 0 exchange, and tell the
 * others of their group.
 *
 * The schedules of all collective calls are named here, as a program that makes intercommunicators may call them on
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/groups.h"
#include "libpio/mpi/collectives/icoll.h"
#include "libpio/mpi/communicators/intercomm.h"

void *const intercomm_calls[] = {icoll_barrier, icoll_broadcast,  icoll_gather,
                                 icoll_scatter, icoll_all_gather, icoll_exchange,
                                 icoll_reduce,  icoll_all_reduce, icoll_reduce_scatter};

/* ---- What the groups tell each other ---- */

static int tell_others(struct mpi_comm *local, void *buf, int bytes)
{
    struct group *g = engine_group(local);

    return collective_error(
        local, collect_broadcast(g, buf, bytes, collect_place(g, 0), COLLECTIVE_TYPE(local->number, COLLECTIVE_MAKE)));
}

/* The same many bytes in both directions, known to all of both groups afterwards. */
static int exchange_equal(struct mpi_comm *c, const void *own, void *other, int bytes)
{
    int error = MPI_SUCCESS;

    if (c->group.rank == 0) {
        struct schedule *s = schedule_new(c, &error);

        if (s) {
            schedule_receive(s, other, bytes, SCHEDULE_BYTES, 0);
            schedule_send(s, own, bytes, SCHEDULE_BYTES, 0);
        }
        error = schedule_run(s, error);
    } else {
        mpi_world.comm[COMMS_MAX + c->number]->next_tag++;
    }
    return error == MPI_SUCCESS ? tell_others(c->local, other, bytes) : error;
}

static int agree(struct mpi_comm *c, int set[COMMS_WORDS])
{
    int other[COMMS_WORDS], error = exchange_equal(c, set, other, sizeof other);

    for (int i = 0; i < COMMS_WORDS; i++)
        set[i] &= other[i];
    return error;
}

/* A list of ranks in MPI_COMM_WORLD for another; the caller frees it. */
static int exchange_lists(struct mpi_comm *c, const int *own, int n, int **other, int *others)
{
    int error = exchange_equal(c, &n, others, sizeof n), both = n > *others ? n : *others;
    int *lists = error == MPI_SUCCESS ? calloc(2 * (size_t)both + 1, sizeof *lists) : NULL;

    *other = NULL;
    if (error == MPI_SUCCESS && !lists)
        return comms_no_memory(both);
    if (error != MPI_SUCCESS)
        return error;
    memcpy(lists + both, own, (size_t)n * sizeof *own);
    error = exchange_equal(c, lists + both, lists, both * (int)sizeof *lists);
    *other = lists;
    return error;
}

/* ---- Make ---- */

/* The remote group, which has the caller behind its members, as a group has its maker; nobody sends to that rank. */
static int make_remote(struct mpi_comm *c, const int *remote, int n, int own_rank)
{
    int *list = malloc((size_t)(n + 1) * sizeof *list), result = -1;

    c->uses = calloc(1, sizeof *c->uses);
    if (list && c->uses) {
        memcpy(list, remote, (size_t)n * sizeof *list);
        list[n] = mpi_world.group.rank;
        result = group_make_in(&c->group, &mpi_world.group, list, n + 1);
        c->group.size = n;
        c->group.rank = own_rank;
    }
    free(list);
    if (result >= 0)
        return MPI_SUCCESS;
    free(c->uses);
    return comms_no_memory(n);
}

static void set_hooks(void);

int intercomm_make(struct mpi_comm *parent, const int number[2], const struct intercomm_lists *l,
                   struct mpi_comm **made)
{
    struct mpi_comm *c = calloc(1, sizeof *c), *local;
    int error = c ? comms_make(parent, number[1], l->own, l->owns, &local) : comms_no_memory(l->others);

    *made = NULL;
    if (error == MPI_SUCCESS) {
        local->handle = NULL; /* the program does not see it */
        error = make_remote(c, l->other, l->others, local->group.rank);
        if (error != MPI_SUCCESS)
            comms_drop(local);
    }
    if (error != MPI_SUCCESS) {
        free(c);
        return error;
    }
    c->local = local;
    set_hooks();
    comms_enter(c, parent, number[0]);
    *made = c;
    return schedule_ready_for(c) ? MPI_SUCCESS : comms_no_memory(l->others);
}

static int *list_of(const struct group *g)
{
    int *list = malloc((size_t)g->size * sizeof *list);

    for (int i = 0; i < g->size && list; i++)
        list[i] = collect_rank_of(&mpi_world.group, collect_process(g, i));
    return list;
}

static int duplicate(struct mpi_comm *c, const int number[2], struct mpi_comm **made)
{
    int *own = list_of(&c->local->group), *other = list_of(&c->group);
    int error = comms_no_memory(c->group.size);

    if (own && other)
        error =
            intercomm_make(c, number, &(struct intercomm_lists){own, c->local->group.size, other, c->group.size}, made);
    free(own);
    free(other);
    return error;
}

/* From the members of this side, in `own`; of the other side if it names some, too. */
static int make_of_both(struct mpi_comm *c, const int *own, int owns, bool is_member, struct mpi_comm **made)
{
    int number[2], *other = NULL, others = 0, error = exchange_lists(c, own, owns, &other, &others);

    if (error == MPI_SUCCESS)
        error = comms_agree(c, number, true);
    if (error == MPI_SUCCESS && is_member && others > 0)
        error = intercomm_make(c, number, &(struct intercomm_lists){own, owns, other, others}, made);
    free(other);
    return error;
}

static int create(struct mpi_comm *c, MPI_Group group, struct mpi_comm **made)
{
    const struct mpi_group *g = groups_find(group);

    return make_of_both(c, g->world_rank, g->size, groups_rank_of(g, mpi_world.group.rank) != MPI_UNDEFINED, made);
}

/* ---- Split ---- */

struct choice {
    int color, key, world_rank, rank;
};

static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->rank - y->rank;
}

/* Those of a color, in their order. */
static int choose(const struct choice *all, int n, int color, int *world_rank, struct choice *chosen)
{
    int found = 0;

    for (int i = 0; i < n; i++)
        if (all[i].color == color)
            chosen[found++] = all[i];
    qsort(chosen, (size_t)found, sizeof *chosen, compare_choices);
    for (int i = 0; i < found; i++)
        world_rank[i] = chosen[i].world_rank;
    return found;
}

static int gather_choices(struct mpi_comm *c, const struct choice *own, struct choice *all, int *bytes)
{
    struct group *g = engine_group(c->local);

    for (int i = 0; i < g->size; i++)
        bytes[i] = sizeof *own;
    return collective_error(c->local,
                            collect_all_gather(g, own, all, bytes, COLLECTIVE_TYPE(c->local->number, COLLECTIVE_MAKE)));
}

/* The choices of both sides are known to all; those of one color on both sides make one. */
static int split(struct mpi_comm *c, int color, int key, struct mpi_comm **made)
{
    int owns = c->local->group.size, others = c->group.size, most = owns > others ? owns : others, number[2];
    const struct choice own = {color, key, mpi_world.group.rank, c->group.rank};
    struct choice *all = calloc(3 * (size_t)most, sizeof *all);
    int *list = malloc(2 * (size_t)most * sizeof *list);
    int error = all && list ? gather_choices(c, &own, all, list) : comms_no_memory(most);

    if (error == MPI_SUCCESS)
        error = exchange_equal(c, all, all + most, most * (int)sizeof *all);
    if (error == MPI_SUCCESS)
        error = comms_agree(c, number, true);
    if (error == MPI_SUCCESS && color != MPI_UNDEFINED) {
        struct intercomm_lists l = {list, 0, list + most, 0};

        l.owns = choose(all, owns, color, list, all + 2 * most);
        l.others = choose(all + most, others, color, list + most, all + 2 * most);
        if (l.others > 0)
            error = intercomm_make(c, number, &l, made);
    }
    free(list);
    free(all);
    return error;
}

static void set_hooks(void)
{
    comms_hooks.inter_agree = agree;
    comms_hooks.inter_dup = duplicate;
    comms_hooks.inter_create = create;
    comms_hooks.inter_split = split;
}

/* ---- Merge ---- */

static int merge(struct mpi_comm *c, int high, struct mpi_comm **made)
{
    int owns = c->local->group.size, others = c->group.size, number[2];
    int own[2] = {high != 0, mpi_world.group.rank}, other[2];
    int *mine = list_of(&c->local->group), *theirs = list_of(&c->group);
    int *list = malloc((size_t)(owns + others) * sizeof *list);
    int error = mine && theirs && list ? exchange_equal(c, own, other, sizeof own) : comms_no_memory(owns + others);

    if (error == MPI_SUCCESS)
        error = comms_agree(c, number, false);
    if (error == MPI_SUCCESS) { /* of two that say the same, the one whose rank 0 is first in MPI_COMM_WORLD */
        bool first = own[0] != other[0] ? !own[0] : mine[0] < theirs[0];

        memcpy(list + (first ? 0 : others), mine, (size_t)owns * sizeof *list);
        memcpy(list + (first ? owns : 0), theirs, (size_t)others * sizeof *list);
        error = comms_make(c, number[0], list, owns + others, made);
    }
    free(list);
    free(theirs);
    free(mine);
    return error;
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct mpi_comm *c = mpi_find_comm(intercomm), *made = NULL;

    MPI_ENTER("Intercomm_merge", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(intercomm);
    int error = c->local ? merge(c, high, &made) : mpi_error(MPI_ERR_COMM, "it is no intercommunicator", 0, 0);
    return mpi_leave(c, comms_give(error, made, newintracomm));
}
MPI_NAME(Intercomm_merge);

/* ---- What is known of one ---- */

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_remote_size", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c || !c->local)
        return c ? mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is no intercommunicator", 0, 0)) : mpi_fail_comm(comm);
    *size = c->group.size;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_remote_size);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_remote_group", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c || !c->local)
        return c ? mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is no intercommunicator", 0, 0)) : mpi_fail_comm(comm);
    return groups_of(&c->group, group);
}
MPI_NAME(Comm_remote_group);

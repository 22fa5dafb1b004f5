/*
 * Communicators [6.4], and their names.
 *
 * A new communicator's number is the lowest that is free on all that make the call: the AND of the sets of free
 * numbers, by a reduction. Its group is made without a message. One that is freed keeps its number and its queues while
 * there are requests, which may be its.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/collectives.h"
#include "libpio/mpi/groups.h"
#include "libpio/mpi/requests.h"
#include "vertex/contract/errors.h"

enum { WORDS = COMMS_MAX / 32, NONE = -1 };

static struct mpi_comm *dying;
static uint32_t nth[COMMS_MAX]; /* use of each number */
static int uses_of_world = 1;   /* its lists last until the end */

/* ---- Free ---- */

static void drop(struct mpi_comm *c)
{
    if (--*c->uses == 0) {
        group_free(&c->group);
        free(c->uses);
    }
    free(c);
}

static void drop_shadow(int number)
{
    struct mpi_comm *shadow = mpi_world.comm[COMMS_MAX + number];

    if (!shadow)
        return;
    receive_drop_all(shadow, true);
    mpi_world.comm[COMMS_MAX + number] = NULL;
    free(shadow);
}

static void bury(void)
{
    if (mpi_under_way > 0 || mpi_kept > 0 || requests_used() > 0)
        return;
    for (struct mpi_comm *c = dying, *next; c; c = next) {
        next = c->next;
        receive_drop_all(c, true);
        drop_shadow(c->number);
        mpi_world.comm[c->number] = NULL;
        drop(c);
    }
    dying = NULL;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    struct mpi_comm *c = mpi_find_comm(*comm);

    MPI_ENTER("Comm_free", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(*comm);
    if (!c->uses)
        return mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is predefined", 0, 0));
    mpi_use_errhandler(c->errhandler, -1);
    c->errhandler = MPI_ERRORS_ARE_FATAL;
    c->handle = NULL;
    c->next = dying;
    dying = c;
    bury();
    mpi_tell_anew();
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_free);

/* ---- Make ---- */

/* The members agree on a number; `number` of all: NONE if none is free. Returns a result of collect.h. */
static int agree(struct group *g, int type, int *number)
{
    int set[WORDS] = {0}, room[WORDS];

    bury();
    for (int i = 0; i < COMMS_MAX; i++)
        set[i / 32] |= mpi_world.comm[i] ? 0 : (int)(1u << i % 32);
    int result =
        collect_all_reduce(g, &(struct collect_reduction){set, room, WORDS, sizeof(int), collect_and_ints}, type);
    *number = NONE;
    for (int i = WORDS - 1; i >= 0; i--)
        if (set[i] != 0)
            *number = 32 * i + __builtin_ctz((unsigned)set[i]);
    return result;
}

/* Makes this process's communicator of that number. Its group is the parent's, or has these ranks of MPI_COMM_WORLD. */
static int make(const struct mpi_comm *parent, int number, const int *world_rank, int size, MPI_Comm *newcomm)
{
    struct mpi_comm *c = calloc(1, sizeof *c);

    if (c && !world_rank && parent->number != 1) {
        c->uses = parent->uses ? parent->uses : &uses_of_world;
        c->group = parent->group;
    } else if (c) {
        int own = mpi_world.group.rank;

        c->uses = calloc(1, sizeof *c->uses);
        if (!c->uses ||
            group_make_in(&c->group, &mpi_world.group, world_rank ? world_rank : &own, world_rank ? size : 1) < 0) {
            free(c->uses);
            free(c);
            c = NULL;
        }
    }
    if (!c)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a communicator of %ld", world_rank ? size : parent->group.size,
                         0);
    ++*c->uses;
    c->number = number;
    c->handle = HANDLE_OF(MPI_Comm, HANDLE_COMM, number, ++nth[number]);
    c->errhandler = parent->errhandler;
    mpi_use_errhandler(c->errhandler, 1);
    mpi_world.comm[number] = c;
    mpi_drop_comm = drop;
    mpi_tell_anew();
    receive_early(c);
    *newcomm = c->handle;
    return MPI_SUCCESS;
}

/* After the agreement: an error, or this process's new communicator if it is one of those. */
static int finish(struct mpi_comm *parent, int result, int number, const int *world_rank, int size, bool is_member,
                  MPI_Comm *newcomm)
{
    int error = collective_error(parent, result);

    if (error == MPI_SUCCESS && number == NONE)
        error = mpi_error(MPI_ERR_OTHER, "there are %ld communicators, more are not possible", COMMS_MAX, 0);
    *newcomm = MPI_COMM_NULL;
    if (error == MPI_SUCCESS && is_member)
        error = make(parent, number, world_rank, size, newcomm);
    return mpi_leave(parent, error);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int number;

    MPI_ENTER("Comm_dup", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int result = agree(engine_group(c), COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE), &number);
    return finish(c, result, number, NULL, 0, true, newcomm);
}
MPI_NAME(Comm_dup);

/* MPI_ERR_GROUP: a group has processes that the communicator does not have. */
static const struct mpi_group *check_group(const struct mpi_comm *c, MPI_Group group, int *error)
{
    const struct mpi_group *g = groups_find(group);

    *error = g ? MPI_SUCCESS : mpi_error(MPI_ERR_GROUP, "0x%lx is none", (long)group, 0);
    for (int i = 0; g && i < g->size && *error == MPI_SUCCESS; i++) {
        int rank = collect_rank_of(&c->group, collect_process(&mpi_world.group, g->world_rank[i]));

        if (rank < 0 || rank >= c->group.size)
            *error = mpi_error(MPI_ERR_GROUP, "its rank %ld is not in the communicator", i, 0);
    }
    return g;
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int number, error;

    MPI_ENTER("Comm_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_group *g = check_group(c, group, &error);
    if (error != MPI_SUCCESS)
        return mpi_fail(c, error);
    int result = agree(engine_group(c), COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE), &number);
    return finish(c, result, number, g->world_rank, g->size, groups_rank_of(g, mpi_world.group.rank) != MPI_UNDEFINED,
                  newcomm);
}
MPI_NAME(Comm_create);

/* Only the members of the group call it, and agree among themselves. */
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct group members;
    int number = NONE, error;

    MPI_ENTER("Comm_create_group", c, MPI_NO_PEER, tag);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_group *g = check_group(c, group, &error);
    if (error == MPI_SUCCESS && tag < 0)
        error = mpi_error(MPI_ERR_TAG, "%ld", tag, 0);
    if (error != MPI_SUCCESS)
        return mpi_fail(c, error);
    *newcomm = MPI_COMM_NULL;
    if (groups_rank_of(g, mpi_world.group.rank) == MPI_UNDEFINED)
        return MPI_SUCCESS;
    mpi_world.group.take = engine_group(c)->take;
    int result = group_make_in(&members, &mpi_world.group, g->world_rank, g->size);
    if (result >= 0) {
        result = agree(&members, COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE), &number);
        group_free(&members);
    }
    return finish(c, result, number, g->world_rank, g->size, true, newcomm);
}
MPI_NAME(Comm_create_group);

/* ---- Split ---- */

struct choice {
    int color, key, world_rank;
};

static int compare_keys(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->color - y->color; /* the rank, by then */
}

/* The ranks in MPI_COMM_WORLD of those with this process's color, by key and rank. Returns how many. */
static int find_alike(const struct mpi_comm *c, struct choice *all, int *world_rank)
{
    int color = all[c->group.rank].color, n = 0;

    for (int r = 0; r < c->group.size; r++)
        if (all[r].color == color)
            all[n++] = (struct choice){r, all[r].key, all[r].world_rank};
    qsort(all, (size_t)n, sizeof *all, compare_keys);
    for (int i = 0; i < n; i++)
        world_rank[i] = all[i].world_rank;
    return n;
}

static int split(struct mpi_comm *c, int color, int key, MPI_Comm *newcomm)
{
    struct group *g = engine_group(c);
    const struct choice own = {color, key, mpi_world.group.rank};
    struct choice *all = malloc((size_t)g->size * (sizeof *all + 2 * sizeof(int)));
    int *bytes = (int *)(all + g->size), *world_rank = bytes + g->size, number, size = 0;

    if (!all)
        return mpi_fail(c, mpi_error(MPI_ERR_NO_MEM, "no memory for the colors of %ld ranks", g->size, 0));
    for (int i = 0; i < g->size; i++)
        bytes[i] = sizeof own;
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE), result = collect_all_gather(g, &own, all, bytes, type);
    if (result >= 0)
        result = agree(g, type, &number);
    if (result >= 0 && color != MPI_UNDEFINED)
        size = find_alike(c, all, world_rank);
    int error = finish(c, result, number, world_rank, size, color != MPI_UNDEFINED, newcomm);
    free(all);
    return error;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_split", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    if (color < 0 && color != MPI_UNDEFINED)
        return mpi_fail(c, mpi_error(MPI_ERR_ARG, "color %ld", color, 0));
    return split(c, color, key, newcomm);
}
MPI_NAME(Comm_split);

/* ---- What is known of one ---- */

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct mpi_comm *a = mpi_find_comm(comm1), *b = mpi_find_comm(comm2);
    int common = 0, same_place = 0;

    MPI_ENTER("Comm_compare", a, MPI_NO_PEER, MPI_NO_PEER);
    if (!a || !b)
        return mpi_fail_comm(a ? comm2 : comm1);
    for (int i = 0; i < a->group.size; i++) {
        int rank = collect_rank_of(&b->group, collect_process(&a->group, i));

        common += rank >= 0 && rank < b->group.size;
        same_place += rank == i && rank < b->group.size;
    }
    if (a == b)
        *result = MPI_IDENT;
    else if (a->group.size != b->group.size || common < a->group.size)
        *result = MPI_UNEQUAL;
    else
        *result = same_place == a->group.size ? MPI_CONGRUENT : MPI_SIMILAR;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_compare);

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_test_inter", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *flag = 0;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_test_inter);

int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_set_name", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    strncpy(c->name, name, sizeof c->name - 1);
    c->name[sizeof c->name - 1] = '\0';
    mpi_tell_anew();
    return MPI_SUCCESS;
}
MPI_NAME(Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_get_name", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    strcpy(name, c->name);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}
MPI_NAME(Comm_get_name);

/*
 * The calls on groups [6.3.1, 6.3.2].
 */
#include "libpio/mpi/communicators/groups.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"

static struct handle_table table;
static struct mpi_group empty;

const struct mpi_group *groups_find(MPI_Group handle)
{
    return handle == MPI_GROUP_EMPTY ? &empty : handle_find(&table, HANDLE_GROUP, handle);
}

int groups_rank_of(const struct mpi_group *g, int world_rank)
{
    for (int i = 0; i < g->size; i++)
        if (g->world_rank[i] == world_rank)
            return i;
    return MPI_UNDEFINED;
}

/* ---- What the calls share ---- */

static const struct mpi_group *get(MPI_Group handle, int *error)
{
    const struct mpi_group *g = groups_find(handle);

    if (!g && *error == MPI_SUCCESS)
        *error = mpi_error(MPI_ERR_GROUP, "0x%lx is none", (long)handle, 0);
    return g;
}

static struct mpi_group *new_group(int most, int *error)
{
    struct mpi_group *g = *error == MPI_SUCCESS ? malloc(sizeof *g + (size_t)(most + 1) * sizeof(int)) : NULL;

    if (g)
        g->size = 0;
    else if (*error == MPI_SUCCESS)
        *error = mpi_error(MPI_ERR_NO_MEM, "no memory for a group of %ld", most, 0);
    return g;
}

/* The way out of calls that make a group, NULL after an error. */
static int finish(struct mpi_group *g, int error, MPI_Group *newgroup)
{
    if (error == MPI_SUCCESS && g->size == 0) {
        free(g);
        *newgroup = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    MPI_Group handle = error == MPI_SUCCESS ? handle_new(&table, HANDLE_GROUP, g) : NULL;
    if (handle) {
        *newgroup = handle;
        return MPI_SUCCESS;
    }
    free(g);
    return mpi_fail_alone(error != MPI_SUCCESS ? error : mpi_error(MPI_ERR_NO_MEM, "no memory for a group", 0, 0));
}

int groups_of(const struct group *members, MPI_Group *group)
{
    int error = MPI_SUCCESS;
    struct mpi_group *g = new_group(members->size, &error);

    if (g)
        for (; g->size < members->size; g->size++)
            g->world_rank[g->size] = collect_rank_of(&mpi_world.group, collect_process(members, g->size));
    return finish(g, error, group);
}

/* ---- What a group is ---- */

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_group", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    return groups_of(c->local ? &c->local->group : &c->group, group);
}
MPI_NAME(Comm_group);

int PMPI_Group_size(MPI_Group group, int *size)
{
    int error = MPI_SUCCESS;

    MPI_ENTER("Group_size", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_group *g = get(group, &error);
    if (!g)
        return mpi_fail_alone(error);
    *size = g->size;
    return MPI_SUCCESS;
}
MPI_NAME(Group_size);

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    int error = MPI_SUCCESS;

    MPI_ENTER("Group_rank", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_group *g = get(group, &error);
    if (!g)
        return mpi_fail_alone(error);
    *rank = groups_rank_of(g, mpi_world.group.rank);
    return MPI_SUCCESS;
}
MPI_NAME(Group_rank);

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    int error = MPI_SUCCESS;

    MPI_ENTER("Group_translate_ranks", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_group *a = get(group1, &error), *b = get(group2, &error);
    for (int i = 0; i < n && error == MPI_SUCCESS; i++)
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= a->size))
            error = mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld", ranks1[i], a->size - 1);
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    for (int i = 0; i < n; i++)
        ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : groups_rank_of(b, a->world_rank[ranks1[i]]);
    return MPI_SUCCESS;
}
MPI_NAME(Group_translate_ranks);

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    int error = MPI_SUCCESS, common = 0;

    MPI_ENTER("Group_compare", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_group *a = get(group1, &error), *b = get(group2, &error);
    if (error != MPI_SUCCESS)
        return mpi_fail_alone(error);
    for (int i = 0; i < a->size; i++)
        common += groups_rank_of(b, a->world_rank[i]) != MPI_UNDEFINED;
    if (a->size == b->size && memcmp(a->world_rank, b->world_rank, (size_t)a->size * sizeof(int)) == 0)
        *result = MPI_IDENT;
    else
        *result = a->size == b->size && common == a->size ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}
MPI_NAME(Group_compare);

int PMPI_Group_free(MPI_Group *group)
{
    int error = MPI_SUCCESS;

    MPI_ENTER("Group_free", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    const struct mpi_group *g = get(*group, &error);
    if (!g)
        return mpi_fail_alone(error);
    if (g != &empty) {
        handle_free(&table, *group);
        free((void *)g);
        if (table.used == 0)
            handle_drop(&table);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Group_free);

/* ---- Sets ---- */

/* Adds those of `from` that are, or are not, in the other group. */
static void add_if(struct mpi_group *to, const struct mpi_group *from, const struct mpi_group *other, bool are_in)
{
    for (int i = 0; i < from->size; i++)
        if ((groups_rank_of(other, from->world_rank[i]) != MPI_UNDEFINED) == are_in)
            to->world_rank[to->size++] = from->world_rank[i];
}

#define SET(name, step)                                                            \
    int PMPI_##name(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)       \
    {                                                                              \
        int error = MPI_SUCCESS;                                                   \
                                                                                   \
        MPI_ENTER(#name, NULL, MPI_NO_PEER, MPI_NO_PEER);                          \
        mpi_must_run();                                                            \
        const struct mpi_group *a = get(group1, &error), *b = get(group2, &error); \
        struct mpi_group *g = new_group(a && b ? a->size + b->size : 0, &error);   \
        if (g) {                                                                   \
            step                                                                   \
        }                                                                          \
        return finish(g, error, newgroup);                                         \
    }                                                                              \
    MPI_NAME(name);

SET(Group_union, add_if(g, a, a, true); add_if(g, b, a, false);)
SET(Group_intersection, add_if(g, a, b, true);)
SET(Group_difference, add_if(g, a, b, false);)

/* ---- Lists of ranks ---- */

/* Notes in `taken` that a rank is named, by its place in the list from 1 on. MPI_ERR_RANK: it is none, or is named
 * twice. */
static int take(const struct mpi_group *g, int rank, int *taken, int place)
{
    if (rank < 0 || rank >= g->size || taken[rank] > 0)
        return mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld, or is there twice", rank, g->size - 1);
    taken[rank] = place;
    return MPI_SUCCESS;
}

/* Those that are named, in their order, or the others. Ranges are triplets; a single rank is one of a single step. */
static int choose(MPI_Group group, int n, const int ranks[], int ranges[][3], bool includes, MPI_Group *newgroup)
{
    int error = MPI_SUCCESS, places = 0;

    mpi_must_run();
    const struct mpi_group *g = get(group, &error);
    if (error == MPI_SUCCESS && n < 0)
        error = mpi_error(MPI_ERR_ARG, "%ld ranks", n, 0);
    struct mpi_group *new = new_group(g ? g->size : 0, &error);
    int *taken = new ? calloc((size_t)g->size + 1, sizeof *taken) : NULL;
    if (new && !taken)
        error = mpi_error(MPI_ERR_NO_MEM, "no memory for %ld ranks", n, 0);
    for (int i = 0; i < n && error == MPI_SUCCESS; i++) {
        int first = ranges ? ranges[i][0] : ranks[i], last = ranges ? ranges[i][1] : first;
        int step = ranges ? ranges[i][2] : 1;

        if (step == 0)
            error = mpi_error(MPI_ERR_ARG, "range %ld has step 0", i, 0);
        for (int r = first; error == MPI_SUCCESS && (step > 0 ? r <= last : r >= last); r += step)
            error = take(g, r, taken, ++places);
    }
    for (int r = 0; error == MPI_SUCCESS && r < g->size; r++)
        if (includes && taken[r] > 0)
            new->world_rank[taken[r] - 1] = g->world_rank[r];
        else if (!includes && taken[r] == 0)
            new->world_rank[new->size++] = g->world_rank[r];
    if (error == MPI_SUCCESS && includes)
        new->size = places;
    free(taken);
    if (error != MPI_SUCCESS) {
        free(new);
        new = NULL;
    }
    return finish(new, error, newgroup);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    MPI_ENTER("Group_incl", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return choose(group, n, ranks, NULL, true, newgroup);
}
MPI_NAME(Group_incl);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    MPI_ENTER("Group_excl", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return choose(group, n, ranks, NULL, false, newgroup);
}
MPI_NAME(Group_excl);

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    MPI_ENTER("Group_range_incl", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return choose(group, n, NULL, ranges, true, newgroup);
}
MPI_NAME(Group_range_incl);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    MPI_ENTER("Group_range_excl", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return choose(group, n, NULL, ranges, false, newgroup);
}
MPI_NAME(Group_range_excl);

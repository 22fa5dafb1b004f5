/*
 * Communicators [6.4], and their names.
 *
 * A new communicator's number is the lowest that is free on all that make the call: the AND of the sets of free
 * numbers, by a reduction. Its group is made without a message. One that is freed keeps its number and its queues while
 * there are requests, which may be its.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/comms.h"
#include "libpio/mpi/communicators/groups.h"
#include "libpio/mpi/messages/requests.h"
#include "vertex/contract/errors.h"

struct comms_hooks comms_hooks;
static struct mpi_comm *dying;
static uint32_t nth[COMMS_MAX]; /* use of each number */
static int reserved[COMMS_WORDS];
static int holders;           /* that have told which numbers are free, so these stay so */
static int uses_of_world = 1; /* its lists last until the end */

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

void comms_drop(struct mpi_comm *c)
{
    receive_drop_all(c, true);
    drop_shadow(c->number);
    mpi_world.comm[c->number] = NULL;
    mpi_tell_anew();
    drop(c);
}

static void bury(void)
{
    if (mpi_under_way > 0 || mpi_kept > 0 || requests_used() > 0)
        return;
    for (struct mpi_comm *c = dying, *next; c; c = next) {
        next = c->next;
        comms_drop(c);
    }
    dying = NULL;
}

static void let_die(struct mpi_comm *c)
{
    mpi_use_errhandler(c->errhandler, -1);
    c->errhandler = MPI_ERRORS_ARE_FATAL;
    c->handle = NULL;
    c->next = dying;
    dying = c;
    if (c->local)
        let_die(c->local);
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    struct mpi_comm *c = mpi_find_comm(*comm);

    MPI_ENTER("Comm_free", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(*comm);
    if (!c->uses)
        return mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is predefined", 0, 0));
    int error = attributes_delete ? attributes_delete(c) : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        return mpi_fail(c, error);
    if (c->topology)
        comms_hooks.free_topology(c);
    let_die(c);
    bury();
    mpi_tell_anew();
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_free);

/* ---- Numbers ---- */

void comms_list_free(int set[COMMS_WORDS])
{
    bury();
    memset(set, 0, COMMS_WORDS * sizeof *set);
    for (int i = 0; i < COMMS_MAX; i++)
        set[i / 32] |= mpi_world.comm[i] ? 0 : (int)(1u << i % 32);
    for (int i = 0; i < COMMS_WORDS; i++)
        set[i] &= ~reserved[i];
}

void comms_hold(bool holds)
{
    holders += holds ? 1 : -1;
}

bool comms_reserve(int number, bool keeps)
{
    int bit = (int)(1u << number % 32), *word = &reserved[number / 32];

    if (keeps && (holders > 0 || mpi_world.comm[number] || *word & bit))
        return false;
    *word = keeps ? *word | bit : *word & ~bit;
    return true;
}

int comms_lowest(const int set[COMMS_WORDS])
{
    for (int i = 0; i < COMMS_WORDS; i++)
        if (set[i] != 0)
            return 32 * i + __builtin_ctz((unsigned)set[i]);
    return COMMS_NONE;
}

static int agree_on_set(struct group *g, int type, int set[COMMS_WORDS])
{
    int room[COMMS_WORDS];

    comms_list_free(set);
    comms_hold(true);
    int result =
        collect_all_reduce(g, &(struct collect_reduction){set, room, COMMS_WORDS, sizeof(int), collect_and_ints}, type);
    comms_hold(false);
    return result;
}

int comms_agree_in(struct group *g, int type, int *number)
{
    int set[COMMS_WORDS], result = agree_on_set(g, type, set);

    *number = comms_lowest(set);
    return result;
}

int comms_agree(struct mpi_comm *c, int number[2], bool two)
{
    struct mpi_comm *own = c->local ? c->local : c;
    int set[COMMS_WORDS];

    comms_hold(true);
    int error =
        collective_error(own, agree_on_set(engine_group(own), COLLECTIVE_TYPE(own->number, COLLECTIVE_MAKE), set));

    if (error == MPI_SUCCESS && c->local)
        error = comms_hooks.inter_agree(c, set);
    comms_hold(false);
    number[0] = number[1] = comms_lowest(set);
    if (two && number[0] != COMMS_NONE) {
        set[number[0] / 32] &= set[number[0] / 32] - 1;
        number[1] = comms_lowest(set);
    }
    if (error == MPI_SUCCESS && number[1] == COMMS_NONE)
        error = mpi_error(MPI_ERR_OTHER, "there are %ld communicators, more are not possible", COMMS_MAX, 0);
    return error;
}

/* ---- Make ---- */

/* The lists of a group, shared with the parent's if it is the same; NULL: no memory. */
static bool make_group(struct mpi_comm *c, const struct mpi_comm *parent, const int *world_rank, int size)
{
    int own = mpi_world.group.rank;

    if (!world_rank && parent->number != 1) {
        c->uses = parent->uses ? parent->uses : &uses_of_world;
        c->group = parent->group;
        return true;
    }
    c->uses = calloc(1, sizeof *c->uses);
    if (c->uses &&
        group_make_in(&c->group, &mpi_world.group, world_rank ? world_rank : &own, world_rank ? size : 1) >= 0)
        return true;
    free(c->uses);
    return false;
}

void comms_enter(struct mpi_comm *c, const struct mpi_comm *parent, int number)
{
    ++*c->uses;
    wire_number_comm(c, number);
    c->handle = HANDLE_OF(MPI_Comm, HANDLE_COMM, number, ++nth[number]);
    c->errhandler = parent->errhandler;
    mpi_use_errhandler(c->errhandler, 1);
    mpi_world.comm[number] = c;
    mpi_drop_comm = drop;
    mpi_tell_anew();
    receive_early(c);
}

int comms_make(const struct mpi_comm *parent, int number, const int *world_rank, int size, struct mpi_comm **made)
{
    struct mpi_comm *c = calloc(1, sizeof *c);

    *made = NULL;
    if (!c || !make_group(c, parent, world_rank, size)) {
        free(c);
        return comms_no_memory(world_rank ? size : parent->group.size);
    }
    comms_enter(c, parent, number);
    *made = c;
    return MPI_SUCCESS;
}

int comms_copy_attached(const struct mpi_comm *from, struct mpi_comm **made)
{
    int error = attributes_copy ? attributes_copy(from, *made) : MPI_SUCCESS;

    if (error == MPI_SUCCESS && from->topology)
        error = comms_hooks.copy_topology(from, *made);
    if (error == MPI_SUCCESS)
        return error;
    let_die(*made);
    *made = NULL;
    return error;
}

int comms_dup(struct mpi_comm *c, struct mpi_comm **made)
{
    int number[2], error = comms_agree(c, number, c->local);

    *made = NULL;
    if (error == MPI_SUCCESS)
        error = c->local ? comms_hooks.inter_dup(c, number, made) : comms_make(c, number[0], NULL, 0, made);
    return error == MPI_SUCCESS ? comms_copy_attached(c, made) : error;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made;

    MPI_ENTER("Comm_dup", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = comms_dup(c, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Comm_dup);

/* MPI_ERR_GROUP: a group has processes that the communicator does not have. */
static const struct mpi_group *check_group(const struct mpi_comm *c, MPI_Group group, int *error)
{
    const struct mpi_group *g = groups_find(group);

    *error = g ? MPI_SUCCESS : mpi_error(MPI_ERR_GROUP, "0x%lx is none", (long)group, 0);
    for (int i = 0; g && i < g->size && *error == MPI_SUCCESS; i++) {
        const struct group *own = comms_own_group(c);
        int rank = collect_rank_of(own, collect_process(&mpi_world.group, g->world_rank[i]));

        if (rank < 0 || rank >= own->size)
            *error = mpi_error(MPI_ERR_GROUP, "its rank %ld is not in the communicator", i, 0);
    }
    return g;
}

/* The members of a group make theirs; all agree on its number. */
int comms_create(struct mpi_comm *c, const struct mpi_group *g, struct mpi_comm **made)
{
    int number[2], error = comms_agree(c, number, false);

    *made = NULL;
    if (error == MPI_SUCCESS && groups_rank_of(g, mpi_world.group.rank) != MPI_UNDEFINED)
        error = comms_make(c, number[0], g->world_rank, g->size, made);
    return error;
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;
    int error;

    MPI_ENTER("Comm_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_group *g = check_group(c, group, &error);
    if (error == MPI_SUCCESS)
        error = c->local ? comms_hooks.inter_create(c, group, &made) : comms_create(c, g, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Comm_create);

/* Only the members of the group call it, and agree among themselves. */
static int create_group(struct mpi_comm *c, const struct mpi_group *g, struct mpi_comm **made)
{
    struct group members;
    int number = COMMS_NONE;

    mpi_world.group.take = engine_group(c)->take;
    int result = group_make_in(&members, &mpi_world.group, g->world_rank, g->size);
    if (result >= 0) {
        result = comms_agree_in(&members, COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE), &number);
        group_free(&members);
    }
    if (result < 0)
        return collective_error(c, result);
    if (number == COMMS_NONE)
        return mpi_error(MPI_ERR_OTHER, "there are %ld communicators, more are not possible", COMMS_MAX, 0);
    return comms_make(c, number, g->world_rank, g->size, made);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;
    int error;

    MPI_ENTER("Comm_create_group", c, MPI_NO_PEER, tag);
    if (!c)
        return mpi_fail_comm(comm);
    const struct mpi_group *g = check_group(c, group, &error);
    if (error == MPI_SUCCESS && tag < 0)
        error = mpi_error(MPI_ERR_TAG, "%ld", tag, 0);
    if (error == MPI_SUCCESS && c->local)
        error = mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0);
    if (error == MPI_SUCCESS && groups_rank_of(g, mpi_world.group.rank) != MPI_UNDEFINED)
        error = create_group(c, g, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
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

int comms_split(struct mpi_comm *c, int color, int key, struct mpi_comm **made)
{
    struct group *g = engine_group(c);
    const struct choice own = {color, key, mpi_world.group.rank};
    struct choice *all = malloc((size_t)g->size * (sizeof *all + 2 * sizeof(int)));
    int *bytes = (int *)(all + g->size), *world_rank = bytes + g->size, number[2], size = 0;

    if (!all)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for the colors of %ld ranks", g->size, 0);
    for (int i = 0; i < g->size; i++)
        bytes[i] = sizeof own;
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE);
    int error = collective_error(c, collect_all_gather(g, &own, all, bytes, type));
    if (error == MPI_SUCCESS)
        error = comms_agree(c, number, false);
    if (error == MPI_SUCCESS && color != MPI_UNDEFINED) {
        size = find_alike(c, all, world_rank);
        error = comms_make(c, number[0], world_rank, size, made);
    }
    free(all);
    return error;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;
    int error = MPI_SUCCESS;

    MPI_ENTER("Comm_split", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    if (color < 0 && color != MPI_UNDEFINED)
        error = mpi_error(MPI_ERR_ARG, "color %ld", color, 0);
    if (error == MPI_SUCCESS)
        error = c->local ? comms_hooks.inter_split(c, color, key, &made) : comms_split(c, color, key, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Comm_split);

/* ---- What is known of one ---- */

static int compare_groups(const struct group *a, const struct group *b)
{
    int common = 0, same_place = 0;

    for (int i = 0; i < a->size; i++) {
        int rank = collect_rank_of(b, collect_process(a, i));

        common += rank >= 0 && rank < b->size;
        same_place += rank == i && rank < b->size;
    }
    if (a->size != b->size || common < a->size)
        return MPI_UNEQUAL;
    return same_place == a->size ? MPI_CONGRUENT : MPI_SIMILAR;
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct mpi_comm *a = mpi_find_comm(comm1), *b = mpi_find_comm(comm2);

    MPI_ENTER("Comm_compare", a, MPI_NO_PEER, MPI_NO_PEER);
    if (!a || !b)
        return mpi_fail_comm(a ? comm2 : comm1);
    int own = compare_groups(comms_own_group(a), comms_own_group(b)), other = compare_groups(&a->group, &b->group);
    *result = a == b ? MPI_IDENT : !a->local != !b->local ? MPI_UNEQUAL : own > other ? own : other;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_compare);

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_test_inter", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *flag = c->local != NULL;
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

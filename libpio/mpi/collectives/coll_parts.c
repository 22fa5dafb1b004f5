/*
 * Gather, scatter, all-gather and all-to-all [5.5 to 5.8]. Parts of dense types that lie side by side are used where
 * they are; others are packed into memory of their own. Where only the root knows all lengths (the v forms of gather
 * and scatter), it exchanges a message with every rank.
 */
#include <stdlib.h>
#include <string.h>

#define ICOLL_WEAK
#include "libpio/group/pacing.h"
#include "libpio/mpi/collectives/icoll.h"

/* The lengths of all parts, and one more element, their sum; the caller frees them. NULL: no memory. */
static int *list_bytes(const struct parts *p, int size)
{
    int *bytes = malloc((size_t)(size + 1) * sizeof *bytes);

    if (!bytes)
        return NULL;
    bytes[size] = 0;
    for (int i = 0; i < size; i++) {
        bytes[i] = parts_bytes(p, i);
        bytes[size] += bytes[i];
    }
    return bytes;
}

static bool are_side_by_side(const struct parts *p)
{
    return !p->displs && !p->counts && p->type->is_dense;
}

static int no_memory(long bytes)
{
    return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", bytes, 0);
}

/* Packs all parts one after the other, or unpacks them. */
static void pack_all(const struct parts *p, int size, char *packed)
{
    for (int i = 0; i < size; i++) {
        mpi_pack(parts_type(p, i), parts_count(p, i), parts_place(p, i), 0, parts_bytes(p, i), packed);
        packed += parts_bytes(p, i);
    }
}

static void unpack_all(const struct parts *p, int size, const char *packed)
{
    for (int i = 0; i < size; i++) {
        mpi_unpack(parts_type(p, i), parts_count(p, i), parts_place(p, i), 0, parts_bytes(p, i), packed);
        packed += parts_bytes(p, i);
    }
}

/* ---- One's own part ---- */

/* As it travels: packed, or where it lies. A part in place is that of all. */
struct own {
    void *data, *memory; /* to be freed */
    long bytes;
};

static int own_begin(struct own *o, const struct parts *own, const struct parts *all, int rank, bool root, bool gives)
{
    const struct mpi_type *t = own->type ? own->type : all->type;
    int count = own->type ? own->count : parts_count(all, rank);

    *o = (struct own){.data = own->buf, .bytes = t->size * count};
    if (root && o->bytes != parts_bytes(all, rank))
        return mpi_error(MPI_ERR_TRUNCATE, "the own part has %ld bytes, not %ld", o->bytes, parts_bytes(all, rank));
    if (own->type && t->is_dense)
        return MPI_SUCCESS;
    o->data = o->memory = malloc((size_t)o->bytes + 1);
    if (!o->memory)
        return no_memory(o->bytes);
    if (gives)
        mpi_pack(t, count, own->type ? own->buf : parts_place(all, rank), 0, o->bytes, o->data);
    return MPI_SUCCESS;
}

/* ---- Gather and scatter ---- */

/* Parts of equal lengths. */
static int move_equal(struct mpi_comm *c, void *part, int bytes, struct parts *all, int root, bool scatters)
{
    struct group *g = engine_group(c);
    bool is_root = g->rank == root, packs = is_root && !are_side_by_side(all);
    int few[COLLECTIVE_FEW], *list = g->size <= COLLECTIVE_FEW ? few : malloc((size_t)g->size * sizeof *list);
    int place = collect_place(g, root), result;
    char *packed = packs ? malloc((size_t)bytes * (size_t)g->size + 1) : is_root ? all->buf : NULL;
    int error = list && (packed || !packs) ? MPI_SUCCESS : no_memory((long)bytes * g->size);

    if (error == MPI_SUCCESS) {
        for (int i = 0; i < g->size; i++)
            list[i] = bytes;
        if (packs && scatters)
            pack_all(all, g->size, packed);
        if (scatters)
            result = pace_scatter(g, packed, part, list, place, mpi_rooted_type(c, ROOTED_SCATTER));
        else
            result = pace_gather(g, part, packed, list, place, mpi_rooted_type(c, ROOTED_GATHER));
        error = collective_error(c, result);
    }
    if (error == MPI_SUCCESS && packs && !scatters)
        unpack_all(all, g->size, packed);
    if (packs)
        free(packed);
    if (list != few)
        free(list);
    return error;
}

/* The root gives or takes each part by itself; after an error, too: others wait for theirs, and the next call must not
 * find what is left. */
static int move_each(struct mpi_comm *c, void *own, struct parts *all, bool scatters, char *packed, int type)
{
    struct group *g = engine_group(c);
    int error = MPI_SUCCESS;

    for (int i = 0; i < g->size; i++) {
        int bytes = parts_bytes(all, i), count = parts_count(all, i), result = 0;
        char *place = parts_place(all, i), *data = i == g->rank ? own : packed ? packed : place;

        if (scatters && data && data != place)
            mpi_pack(all->type, count, place, 0, bytes, data);
        if (i != g->rank)
            result = scatters ? collect_give(g, collect_place(g, i), data, bytes, type)
                              : collect_take(g, collect_place(g, i), data, bytes, type);
        if (result < 0)
            error = collective_error(c, result);
        else if (!scatters && data && data != place)
            mpi_unpack(all->type, count, place, 0, bytes, data);
    }
    return error;
}

static int move_unequal(struct mpi_comm *c, const struct own *own, struct parts *all, int root, bool scatters,
                        bool in_place)
{
    struct group *g = engine_group(c);
    int type = mpi_rooted_type(c, scatters ? ROOTED_SCATTERV : ROOTED_GATHERV), most = 0;
    int result = pace_unequal(g, scatters ? 1 : g->size, type), place = collect_place(g, root);

    if (result >= 0 && g->rank != root)
        result = scatters ? collect_take(g, place, own->data, own->bytes, type)
                          : collect_give(g, place, own->data, own->bytes, type);
    if (result < 0 || g->rank != root)
        return collective_error(c, result);
    for (int i = 0; i < g->size && !all->type->is_dense; i++)
        most = parts_bytes(all, i) > most ? parts_bytes(all, i) : most;
    char *packed = all->type->is_dense ? NULL : malloc((size_t)most + 1);
    if (!packed && !all->type->is_dense)
        return no_memory(most);
    int error = move_each(c, in_place ? NULL : own->data, all, scatters, packed, type);
    free(packed);
    return error;
}

static int move(struct mpi_comm *c, struct parts *own, struct parts *all, int root, bool scatters)
{
    struct own o = {0};
    int error = parts_check_both(c, own, all, root);

    if (error == MPI_SUCCESS)
        error = own_begin(&o, own, all, c->group.rank, c->group.rank == root, !scatters);
    if (error == MPI_SUCCESS)
        error = all->kind == PARTS_V ? move_unequal(c, &o, all, root, scatters, !own->type)
                                     : move_equal(c, o.data, (int)o.bytes, all, root, scatters);
    if (error == MPI_SUCCESS && scatters && own->type && o.memory)
        mpi_unpack(own->type, own->count, own->buf, 0, o.bytes, o.memory);
    free(o.memory);
    return error;
}

static int gather(struct mpi_comm *c, struct parts *sent, struct parts *received, int root)
{
    return move(c, sent, received, root, false);
}

static int scatter(struct mpi_comm *c, struct parts *sent, struct parts *received, int root)
{
    return move(c, received, sent, root, true);
}

/* ---- All-gather ---- */

static int all_gather(struct mpi_comm *c, struct parts *own, struct parts *all, int root)
{
    struct group *g = engine_group(c);
    struct own o = {0};
    int *bytes = NULL, error = parts_check_both(c, own, all, root);

    if (error == MPI_SUCCESS)
        error = own_begin(&o, own, all, g->rank, true, true);
    if (error != MPI_SUCCESS)
        return error;
    bool packs = !are_side_by_side(all);
    bytes = list_bytes(all, g->size);
    char *packed = packs && bytes ? malloc((size_t)bytes[g->size] + 1) : all->buf;
    if (!bytes || (packs && !packed))
        error = no_memory(o.bytes * g->size);
    if (error == MPI_SUCCESS)
        error = collective_error(
            c, collect_all_gather(g, o.data, packed, bytes, COLLECTIVE_TYPE(c->number, COLLECTIVE_ALLGATHER)));
    if (error == MPI_SUCCESS && packs)
        unpack_all(all, g->size, packed);
    if (packs)
        free(packed);
    free(bytes);
    free(o.memory);
    return error;
}

/* ---- All to all ---- */

static int exchange(struct mpi_comm *c, struct parts *to, struct parts *from, int root)
{
    struct group *g = engine_group(c);
    bool in_place = to->buf == MPI_IN_PLACE;

    (void)root;
    int error = parts_check(from, g->size);
    if (in_place)
        *to = *from;
    else if (error == MPI_SUCCESS)
        error = parts_check(to, g->size);
    if (error != MPI_SUCCESS)
        return error;
    int *to_bytes = list_bytes(to, g->size), *from_bytes = list_bytes(from, g->size);
    bool packs = in_place || !are_side_by_side(to), unpacks = !are_side_by_side(from);
    char *sent = packs && to_bytes ? malloc((size_t)to_bytes[g->size] + 1) : to->buf;
    char *got = unpacks && from_bytes ? malloc((size_t)from_bytes[g->size] + 1) : from->buf;
    if (!to_bytes || !from_bytes || (packs && !sent) || (unpacks && !got))
        error = no_memory(0);
    else if (to_bytes[g->rank] != from_bytes[g->rank])
        error = mpi_error(MPI_ERR_TRUNCATE, "%ld bytes to itself, and %ld from itself", to_bytes[g->rank],
                          from_bytes[g->rank]);
    if (error == MPI_SUCCESS) {
        if (packs)
            pack_all(to, g->size, sent);
        error = collective_error(
            c, collect_exchange(g, sent, to_bytes, got, from_bytes, COLLECTIVE_TYPE(c->number, COLLECTIVE_ALLTOALL)));
    }
    if (error == MPI_SUCCESS && unpacks)
        unpack_all(from, g->size, got);
    if (packs)
        free(sent);
    if (unpacks)
        free(got);
    free(from_bytes);
    free(to_bytes);
    return error;
}

/* ---- The calls ---- */

#define CALL(name, lower, make, root, parameters, sent, received)          \
    int PMPI_##name(PARTS_PARAMETERS parameters, MPI_Comm comm)            \
    {                                                                      \
        struct mpi_comm *c = mpi_find_comm(comm);                          \
        struct parts send = sent, receive = received;                      \
                                                                           \
        MPI_ENTER(#name, c, root, MPI_NO_PEER);                            \
        if (!c)                                                            \
            return mpi_fail_comm(comm);                                    \
        ICOLL_IF_INTER(c, icoll_##make(c, &send, &receive, root, &error)); \
        return mpi_leave(c, make(c, &send, &receive, root));               \
    }                                                                      \
    MPI_NAME(name);

PARTS_CALLS(CALL)

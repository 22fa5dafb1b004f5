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

/* One's own part, packed, or where it lies; *memory is to be freed. NULL: no memory. */
static void *own_part(const void *buf, int count, const struct mpi_type *t, bool copies, void **memory)
{
    *memory = NULL;
    if (t->is_dense && !copies)
        return (void *)buf;
    *memory = malloc((size_t)(t->size * count) + 1);
    if (*memory)
        mpi_pack(t, count, buf, 0, t->size * count, *memory);
    return *memory;
}

/* Parts of equal lengths, gathered at the root, or scattered from it. */
static int move_equal(struct mpi_comm *c, void *part, int bytes, struct parts *all, int root, bool scatters)
{
    struct group *g = engine_group(c);
    bool is_root = g->rank == root, packs = is_root && !are_side_by_side(all);
    int *list = malloc((size_t)g->size * sizeof *list), place = collect_place(g, root), result;
    char *packed = packs ? malloc((size_t)bytes * (size_t)g->size + 1) : is_root ? all->buf : NULL;
    int error = list && (packed || !packs) ? MPI_SUCCESS : no_memory((long)bytes * g->size);

    if (error == MPI_SUCCESS) {
        for (int i = 0; i < g->size; i++)
            list[i] = bytes;
        if (packs && scatters)
            pack_all(all, g->size, packed);
        if (scatters)
            result = pace_scatter(g, packed, part, list, place, COLLECTIVE_TYPE(c->number, COLLECTIVE_SCATTER));
        else
            result = pace_gather(g, part, packed, list, place, COLLECTIVE_TYPE(c->number, COLLECTIVE_GATHER));
        error = collective_error(c, result);
    }
    if (error == MPI_SUCCESS && packs && !scatters)
        unpack_all(all, g->size, packed);
    if (packs)
        free(packed);
    free(list);
    return error;
}

/* ---- Gather ---- */

/* The root takes each part by itself. */
static int gather_unequal(struct mpi_comm *c, const void *part, int bytes, struct parts *all, int root, bool in_place)
{
    struct group *g = engine_group(c);
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_GATHERV), most = 0, error = MPI_SUCCESS;
    int result = pace_unequal(g, g->size, type);

    if (result < 0)
        return collective_error(c, result);
    if (g->rank != root)
        return collective_error(c, collect_give(g, collect_place(g, root), part, bytes, type));
    for (int i = 0; i < g->size; i++)
        most = parts_bytes(all, i) > most ? parts_bytes(all, i) : most;
    char *packed = malloc((size_t)most + 1);
    if (!packed)
        return no_memory(most);
    for (int i = 0; i < g->size; i++) { /* after an error, too: the next call must not find what is left */
        bool dense = all->type->is_dense;

        result = i == root ? 0
                           : collect_take(g, collect_place(g, i), dense ? parts_place(all, i) : packed,
                                          parts_bytes(all, i), type);
        if (result < 0)
            error = collective_error(c, result);
        else if (i == root ? !in_place : !dense)
            mpi_unpack(all->type, parts_count(all, i), parts_place(all, i), 0, parts_bytes(all, i),
                       i == root ? part : packed);
    }
    free(packed);
    return error;
}

static int gather(struct mpi_comm *c, const void *sendbuf, int sendcount, MPI_Datatype sendtype, struct parts *all,
                  MPI_Datatype recvtype, int root)
{
    int size = c->group.size, rank = c->group.rank, error = check_root(c, root);
    bool is_root = rank == root, in_place = sendbuf == MPI_IN_PLACE, is_v = all->kind == PARTS_V;
    const struct mpi_type *t = NULL;
    void *memory = NULL, *part = NULL;

    if (error == MPI_SUCCESS && in_place && !is_root)
        error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (error == MPI_SUCCESS && is_root)
        error = parts_check(all, size, recvtype);
    if (error == MPI_SUCCESS && !in_place)
        t = check_data(sendbuf, sendcount, sendtype, &error);
    if (error != MPI_SUCCESS)
        return error;
    if (in_place) {
        t = all->type;
        sendcount = parts_count(all, rank);
        sendbuf = parts_place(all, rank);
    }
    part = own_part(sendbuf, sendcount, t, in_place, &memory);
    if (!part && t->size * sendcount > 0)
        return no_memory(t->size * sendcount);
    int bytes = (int)t->size * sendcount;
    if (is_root && bytes != parts_bytes(all, rank))
        error = mpi_error(MPI_ERR_TRUNCATE, "the own part has %ld bytes, not %ld", bytes, parts_bytes(all, rank));
    else
        error =
            is_v ? gather_unequal(c, part, bytes, all, root, in_place) : move_equal(c, part, bytes, all, root, false);
    free(memory);
    return error;
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {recvbuf, NULL, recvcount, NULL, NULL, NULL, PARTS_EQUAL};

    MPI_ENTER("Gather", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root, &error));
    return mpi_leave(c, gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root));
}
MPI_NAME(Gather);

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {recvbuf, NULL, 0, recvcounts, displs, NULL, PARTS_V};

    MPI_ENTER("Gatherv", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root, &error));
    return mpi_leave(c, gather(c, sendbuf, sendcount, sendtype, &all, recvtype, root));
}
MPI_NAME(Gatherv);

/* ---- Scatter ---- */

static int scatter_unequal(struct mpi_comm *c, struct parts *all, void *part, int bytes, int root, bool in_place)
{
    struct group *g = engine_group(c);
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_SCATTERV), most = 0, error = MPI_SUCCESS;
    int result = pace_unequal(g, 1, type);

    if (result < 0)
        return collective_error(c, result);
    if (g->rank != root)
        return collective_error(c, collect_take(g, collect_place(g, root), part, bytes, type));
    for (int i = 0; i < g->size; i++)
        most = parts_bytes(all, i) > most ? parts_bytes(all, i) : most;
    char *packed = all->type->is_dense ? NULL : malloc((size_t)most + 1);
    if (!all->type->is_dense && !packed)
        return no_memory(most);
    for (int i = 0; i < g->size; i++) { /* after an error, too: others wait for their parts */
        const char *data = packed ? packed : parts_place(all, i);

        if (packed)
            mpi_pack(all->type, parts_count(all, i), parts_place(all, i), 0, parts_bytes(all, i), packed);
        result = i == root ? 0 : collect_give(g, collect_place(g, i), data, parts_bytes(all, i), type);
        if (result < 0)
            error = collective_error(c, result);
        if (i == root && !in_place)
            memcpy(part, data, (size_t)bytes);
    }
    free(packed);
    return error;
}

static int scatter(struct mpi_comm *c, struct parts *all, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root)
{
    int size = c->group.size, rank = c->group.rank, error = check_root(c, root);
    bool is_root = rank == root, in_place = recvbuf == MPI_IN_PLACE, is_v = all->kind == PARTS_V;
    const struct mpi_type *t = NULL;

    if (error == MPI_SUCCESS && in_place && !is_root)
        error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (error == MPI_SUCCESS && is_root)
        error = parts_check(all, size, sendtype);
    if (error == MPI_SUCCESS && !in_place)
        t = check_data(recvbuf, recvcount, recvtype, &error);
    if (error != MPI_SUCCESS)
        return error;
    long bytes = in_place ? parts_bytes(all, rank) : t->size * recvcount;
    void *memory = in_place || !t->is_dense ? malloc((size_t)bytes + 1) : NULL, *part = memory ? memory : recvbuf;
    if (!memory && (in_place || !t->is_dense))
        return no_memory(bytes);
    if (is_root && bytes != parts_bytes(all, rank))
        error = mpi_error(MPI_ERR_TRUNCATE, "the own part has %ld bytes, not %ld", parts_bytes(all, rank), bytes);
    else
        error = is_v ? scatter_unequal(c, all, part, (int)bytes, root, in_place)
                     : move_equal(c, part, (int)bytes, all, root, true);
    if (error == MPI_SUCCESS && !in_place && memory)
        mpi_unpack(t, recvcount, recvbuf, 0, bytes, memory);
    free(memory);
    return error;
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {(void *)sendbuf, NULL, sendcount, NULL, NULL, NULL, PARTS_EQUAL};

    MPI_ENTER("Scatter", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root, &error));
    return mpi_leave(c, scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root));
}
MPI_NAME(Scatter);

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {(void *)sendbuf, NULL, 0, sendcounts, displs, NULL, PARTS_V};

    MPI_ENTER("Scatterv", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root, &error));
    return mpi_leave(c, scatter(c, &all, sendtype, recvbuf, recvcount, recvtype, root));
}
MPI_NAME(Scatterv);

/* ---- All-gather ---- */

static int all_gather(struct mpi_comm *c, const void *sendbuf, int sendcount, MPI_Datatype sendtype, struct parts *all,
                      MPI_Datatype recvtype)
{
    struct group *g = engine_group(c);
    bool in_place = sendbuf == MPI_IN_PLACE, packs;
    const struct mpi_type *t = NULL;
    void *memory = NULL;

    int error = parts_check(all, g->size, recvtype);
    if (error == MPI_SUCCESS && !in_place)
        t = check_data(sendbuf, sendcount, sendtype, &error);
    if (error != MPI_SUCCESS)
        return error;
    if (in_place) {
        t = all->type;
        sendcount = parts_count(all, g->rank);
        sendbuf = parts_place(all, g->rank);
    }
    if (t->size * sendcount != parts_bytes(all, g->rank))
        return mpi_error(MPI_ERR_TRUNCATE, "the own part has %ld bytes, not %ld", t->size * sendcount,
                         parts_bytes(all, g->rank));
    void *part = own_part(sendbuf, sendcount, t, in_place, &memory);
    int *bytes = list_bytes(all, g->size);
    packs = !are_side_by_side(all);
    char *packed = packs && bytes ? malloc((size_t)bytes[g->size] + 1) : all->buf;
    if (!bytes || (packs && !packed) || (!part && sendcount > 0 && t->size > 0))
        error = no_memory(t->size * sendcount);
    if (error == MPI_SUCCESS)
        error = collective_error(
            c, collect_all_gather(g, part, packed, bytes, COLLECTIVE_TYPE(c->number, COLLECTIVE_ALLGATHER)));
    if (error == MPI_SUCCESS && packs)
        unpack_all(all, g->size, packed);
    if (packs)
        free(packed);
    free(bytes);
    free(memory);
    return error;
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {recvbuf, NULL, recvcount, NULL, NULL, NULL, PARTS_EQUAL};

    MPI_ENTER("Allgather", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, &error));
    return mpi_leave(c, all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype));
}
MPI_NAME(Allgather);

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts all = {recvbuf, NULL, 0, recvcounts, displs, NULL, PARTS_V};

    MPI_ENTER("Allgatherv", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype, &error));
    return mpi_leave(c, all_gather(c, sendbuf, sendcount, sendtype, &all, recvtype));
}
MPI_NAME(Allgatherv);

/* ---- All to all ---- */

static int exchange(struct mpi_comm *c, struct parts *to, MPI_Datatype sendtype, struct parts *from,
                    MPI_Datatype recvtype)
{
    struct group *g = engine_group(c);
    bool in_place = to->buf == MPI_IN_PLACE;

    int error = parts_check(from, g->size, recvtype);
    if (in_place)
        *to = *from;
    else if (error == MPI_SUCCESS)
        error = parts_check(to, g->size, sendtype);
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

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts to = {(void *)sendbuf, NULL, sendcount, NULL, NULL, NULL, PARTS_EQUAL};
    struct parts from = {recvbuf, NULL, recvcount, NULL, NULL, NULL, PARTS_EQUAL};

    MPI_ENTER("Alltoall", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_exchange(c, &to, sendtype, &from, recvtype, &error));
    return mpi_leave(c, exchange(c, &to, sendtype, &from, recvtype));
}
MPI_NAME(Alltoall);

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts to = {(void *)sendbuf, NULL, 0, sendcounts, sdispls, NULL, PARTS_V};
    struct parts from = {recvbuf, NULL, 0, recvcounts, rdispls, NULL, PARTS_V};

    MPI_ENTER("Alltoallv", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_exchange(c, &to, sendtype, &from, recvtype, &error));
    return mpi_leave(c, exchange(c, &to, sendtype, &from, recvtype));
}
MPI_NAME(Alltoallv);

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct parts to = {(void *)sendbuf, NULL, 0, sendcounts, sdispls, sendtypes, PARTS_W};
    struct parts from = {recvbuf, NULL, 0, recvcounts, rdispls, recvtypes, PARTS_W};

    MPI_ENTER("Alltoallw", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    ICOLL_IF_INTER(c, icoll_exchange(c, &to, MPI_DATATYPE_NULL, &from, MPI_DATATYPE_NULL, &error));
    return mpi_leave(c, exchange(c, &to, MPI_DATATYPE_NULL, &from, MPI_DATATYPE_NULL));
}
MPI_NAME(Alltoallw);

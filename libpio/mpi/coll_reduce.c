/*
 * Reductions [5.9]. An operation works on elements that lie an extent apart. The elements of derived types travel
 * packed, and are unpacked for the function of the program, which is the only one that they can be combined by.
 *
 * What an operation that does not commute combines has to be in the order of ranks. collect.c combines by place; so
 * where places are ranks the result is made at place 0, elsewhere all elements are gathered at the root.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/collectives.h"
#include "libpio/mpi/reduction.h"
#include "vertex/contract/errors.h"

static struct reduction *current; /* whose function is called; there is one at a time */

/* ---- Functions of the program ---- */

/* `inout` = `in` OP `inout`, both laid out as the type says. */
static void call_function(char *in, char *inout, int n)
{
    MPI_Datatype handle = current->datatype;

    current->function(in, inout, &n, &handle);
}

/* The operation for collect.h: into[i] = low[i] OP high[i], where `into` is one of the two. */
static void combine(void *into, const void *low, const void *high, int n)
{
    const struct mpi_type *t = current->type;
    long bytes = n * t->size;

    if (current->is_packed) {
        mpi_unpack(t, n, current->low, 0, bytes, low);
        mpi_unpack(t, n, current->high, 0, bytes, high);
        call_function(current->low, current->high, n);
        mpi_pack(t, n, current->high, 0, bytes, into);
        return;
    }
    call_function((char *)low, (char *)high, n); /* `high` may be changed: it is `into`, or scratch memory */
    if (into != high)
        memcpy(into, high, (size_t)bytes);
}

/* ---- Memory ---- */

static long span_of(const struct mpi_type *t, int count)
{
    long gap = t->extent < 0 ? -t->extent : t->extent;

    return count > 0 ? t->true_extent + (count - 1) * gap : 0;
}

/* Where element 0 is to be so that all `count` lie in the memory from `at` on. */
static char *place_of(const struct mpi_type *t, int count, char *at)
{
    return at - t->true_lb + (t->extent < 0 ? (count - 1) * -t->extent : 0);
}

/* Makes room for a reduction of `count` elements. MPI_ERR_NO_MEM. */
static int begin(struct reduction *r, int count)
{
    const struct mpi_type *t = r->type;
    bool is_function = r->function != NULL;

    r->is_packed = is_function && !t->is_dense;
    r->element_bytes = r->is_packed ? t->size : t->extent;
    r->bytes = r->element_bytes * count;
    long span = r->is_packed ? span_of(t, count) : 0, aligned = (r->bytes + 15) & ~15l;
    r->memory = malloc((size_t)(2 * aligned + 2 * span) + 16);
    if (!r->memory)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", 2 * aligned + 2 * span, 0);
    r->elements = r->memory;
    r->room = r->memory + aligned;
    r->low = place_of(t, count, r->memory + 2 * aligned);
    r->high = place_of(t, count, r->memory + 2 * aligned + span);
    r->count = count;
    current = r;
    return MPI_SUCCESS;
}

/* Data of the program's buffer to the elements. */
static void read_in(const struct reduction *r, const void *buf)
{
    if (r->is_packed)
        mpi_pack(r->type, r->count, buf, 0, r->bytes, r->elements);
    else
        memcpy(r->elements, buf, (size_t)r->bytes);
}

/* And back; gaps stay as they are. */
static void write_back(const struct reduction *r, void *buf, const char *elements)
{
    if (r->is_packed)
        mpi_unpack(r->type, r->count, buf, 0, r->bytes, elements);
    else if (r->type->is_dense)
        memcpy(buf, elements, (size_t)r->bytes);
    else
        for (int i = 0; i < r->count; i++) { /* a pair */
            char packed[32];

            mpi_pack(r->type, 1, elements + i * r->type->extent, 0, r->type->size, packed);
            mpi_unpack(r->type, 1, (char *)buf + i * r->type->extent, 0, r->type->size, packed);
        }
}

static struct collect_reduction for_collect(const struct reduction *r)
{
    return (struct collect_reduction){r->elements, r->room, r->count, (int)r->element_bytes,
                                      r->function ? combine : r->operation};
}

/* ---- The order of ranks ---- */

static bool places_are_ranks(const struct group *g)
{
    for (int rank = 0; g->process && rank < g->size; rank++)
        if (g->place_of[rank] != rank)
            return false;
    return true;
}

/* To the member that has place 0, and from there to the root; all: it stays there. */
static int reduce_in_order(struct group *g, const struct reduction *r, int root, int type)
{
    const struct collect_reduction x = for_collect(r);
    int result = collect_reduce(g, &x, 0, type);

    if (result < 0 || root == 0)
        return result;
    if (g->rank == 0)
        result = collect_give(g, collect_place(g, root), r->elements, r->bytes, type);
    else if (g->rank == root)
        result = collect_take(g, collect_place(g, 0), r->elements, r->bytes, type);
    return result < 0 ? result : 0;
}

static int gather_and_combine(struct group *g, const struct reduction *r, int root, int type)
{
    int *bytes = malloc((size_t)g->size * sizeof *bytes), result;
    char *all = g->rank == root ? malloc((size_t)(g->size * r->bytes) + 1) : NULL;

    if (!bytes || (g->rank == root && !all)) {
        free(bytes);
        return -N_ENOMEM;
    }
    for (int i = 0; i < g->size; i++)
        bytes[i] = (int)r->bytes;
    result = collect_gather(g, r->elements, all, bytes, collect_place(g, root), type);
    if (result >= 0 && g->rank == root) {
        collect_operation *op = r->function ? combine : r->operation;
        char *last = all + (g->size - 1) * r->bytes;

        for (int i = g->size - 2; i >= 0; i--) /* the last one has what comes behind */
            op(last, all + i * r->bytes, last, r->count);
        memcpy(r->elements, last, (size_t)r->bytes);
    }
    free(all);
    free(bytes);
    return result;
}

/* ---- Reductions ---- */

static int reduce(struct mpi_comm *c, const struct reduction *r, int root)
{
    struct group *g = engine_group(c);
    const struct collect_reduction x = for_collect(r);
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_REDUCE);

    if (r->commutes)
        return collective_error(c, collect_reduce(g, &x, collect_place(g, root), type));
    return collective_error(c, places_are_ranks(g) ? reduce_in_order(g, r, root, type)
                                                   : gather_and_combine(g, r, root, type));
}

static int all_reduce(struct mpi_comm *c, const struct reduction *r)
{
    struct group *g = engine_group(c);
    const struct collect_reduction x = for_collect(r);
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_ALLREDUCE);

    if (r->commutes || places_are_ranks(g))
        return collective_error(c, collect_all_reduce(g, &x, type));
    int result = gather_and_combine(g, r, 0, type);
    if (result >= 0)
        result = collect_broadcast(g, r->elements, (int)r->bytes, collect_place(g, 0), type);
    return collective_error(c, result);
}

/* Checks what all these calls have, and describes the reduction. */
static int check(struct reduction *r, const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                 MPI_Op op, bool needs_recvbuf)
{
    int error;

    r->datatype = datatype;
    r->type = check_data(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype, &error);
    if (error == MPI_SUCCESS && needs_recvbuf)
        check_data(recvbuf, count, datatype, &error);
    if (error == MPI_SUCCESS)
        error = reduction_find(r, op);
    return error;
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct reduction r = {0};

    MPI_ENTER("Reduce", c, root, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    bool is_root = c->group.rank == root;
    int error = check_root(c, root);
    if (error == MPI_SUCCESS && sendbuf == MPI_IN_PLACE && !is_root)
        error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE, not at the root", 0, 0);
    if (error == MPI_SUCCESS)
        error = check(&r, sendbuf, recvbuf, count, datatype, op, is_root);
    if (error == MPI_SUCCESS)
        error = begin(&r, count);
    if (error != MPI_SUCCESS)
        return mpi_leave(c, error);
    read_in(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    error = reduce(c, &r, root);
    if (is_root && error == MPI_SUCCESS)
        write_back(&r, recvbuf, r.elements);
    free(r.memory);
    return mpi_leave(c, error);
}
MPI_NAME(Reduce);

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct reduction r = {0};

    MPI_ENTER("Allreduce", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check(&r, sendbuf, recvbuf, count, datatype, op, true);
    if (error == MPI_SUCCESS)
        error = begin(&r, count);
    if (error != MPI_SUCCESS)
        return mpi_leave(c, error);
    read_in(&r, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    error = all_reduce(c, &r);
    if (error == MPI_SUCCESS)
        write_back(&r, recvbuf, r.elements);
    free(r.memory);
    return mpi_leave(c, error);
}
MPI_NAME(Allreduce);

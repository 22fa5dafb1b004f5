/*
 * Grids [7.5.1 to 7.5.8]. Where the caller lets ranks be put elsewhere (`reorder`), the processes are those of a
 * subcube and the sides are powers of two, neighbours are one hop apart: each side goes by a Gray code.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/topologies/topology.h"

/* ---- Dimensions ---- */

/* The factors of n, none above `most`, of which the first is as small as it can be, then the second, and so on. */
static bool factorize(int n, int factors, int most, int *factor)
{
    if (factors == 0)
        return n == 1;
    for (int first = 1; first <= most && first <= n; first++) {
        long highest = 1;

        for (int i = 0; i < factors && highest < n; i++)
            highest *= first;
        if (n % first == 0 && highest >= n && factorize(n / first, factors - 1, first, factor + 1)) {
            factor[0] = first;
            return true;
        }
    }
    return false;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    long given = 1;
    int free_dims = 0, factor[32], next = 0;

    MPI_ENTER("Dims_create", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mpi_fail_alone(mpi_error(MPI_ERR_DIMS, "dimension %ld is %ld", i, dims[i]));
        free_dims += dims[i] == 0;
        given *= dims[i] > 0 ? dims[i] : 1;
        if (given > nnodes)
            break;
    }
    if (ndims < 0 || nnodes < 1 || free_dims > 32)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "%ld nodes in %ld dimensions", nnodes, ndims));
    if (nnodes % given != 0 || (free_dims == 0 && given != nnodes))
        return mpi_fail_alone(mpi_error(MPI_ERR_DIMS, "%ld nodes are no multiple of %ld", nnodes, given));
    if (free_dims > 0)
        factorize(nnodes / (int)given, free_dims, nnodes, factor);
    for (int i = 0; i < ndims; i++)
        if (dims[i] == 0)
            dims[i] = factor[next++];
    return MPI_SUCCESS;
}
MPI_NAME(Dims_create);

/* ---- Make ---- */

/* MPI_ERR_DIMS, or the number of nodes. */
static int check(int ndims, const int dims[], int size, int *nodes)
{
    long n = 1;

    if (ndims < 0)
        return mpi_error(MPI_ERR_DIMS, "%ld dimensions", ndims, 0);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1)
            return mpi_error(MPI_ERR_DIMS, "dimension %ld is %ld", i, dims[i]);
        n *= dims[i];
        if (n > size)
            return mpi_error(MPI_ERR_ARG, "the grid has more nodes than the communicator, %ld", size, 0);
    }
    *nodes = (int)n;
    return MPI_SUCCESS;
}

static bool is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* The rank of the old communicator for each of the grid; NULL: the same ones. */
static int *lay_out(const struct mpi_comm *c, int ndims, const int dims[], int nodes)
{
    const struct group *g = &c->group;
    bool fits = nodes == g->size && is_power_of_two(nodes) && (!g->process || g->is_subcube);

    for (int i = 0; i < ndims; i++)
        fits &= is_power_of_two(dims[i]);
    int *rank_of = fits ? malloc((size_t)nodes * sizeof *rank_of) : NULL;
    for (int r = 0; r < nodes && rank_of; r++) {
        int place = 0, shift = 0, rest = r;

        for (int i = ndims; i-- > 0; rest /= dims[i]) {
            int at = rest % dims[i];

            place |= (at ^ at >> 1) << shift;
            shift += __builtin_ctz((unsigned)dims[i]);
        }
        rank_of[r] = collect_rank(g, place);
    }
    return rank_of;
}

static struct topology *new_cart(int ndims, const int dims[], const int periods[], int rank)
{
    struct topology *t = topology_new(MPI_CART, 3l * ndims);

    if (!t)
        return NULL;
    t->cart.ndims = ndims;
    t->cart.dims = t->list;
    t->cart.periods = t->list + ndims;
    t->cart.coords = t->list + 2 * ndims;
    memcpy(t->cart.dims, dims, (size_t)ndims * sizeof(int));
    for (int i = 0; i < ndims; i++)
        t->cart.periods[i] = periods[i] != 0;
    topology_coords_of(t, rank, t->cart.coords);
    return t;
}

/* The own rank in the new communicator; it need not be in it. */
static int find_rank(const int *rank_of, int nodes, int rank)
{
    for (int i = 0; rank_of && i < nodes; i++)
        if (rank_of[i] == rank)
            return i;
    return rank;
}

static int create(struct mpi_comm *c, int ndims, const int dims[], const int periods[], int reorder,
                  struct mpi_comm **made)
{
    int nodes, error = c->local ? mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0)
                                : check(ndims, dims, c->group.size, &nodes);

    if (error != MPI_SUCCESS)
        return error;
    int *rank_of = reorder ? lay_out(c, ndims, dims, nodes) : NULL;
    struct topology *t = new_cart(ndims, dims, periods, find_rank(rank_of, nodes, c->group.rank) % nodes);
    error = t ? topology_make(c, nodes, rank_of, t, made) : comms_no_memory(nodes);
    free(rank_of);
    return error;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                     MPI_Comm *comm_cart)
{
    struct mpi_comm *c = mpi_find_comm(comm_old), *made = NULL;

    MPI_ENTER("Cart_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm_old);
    int error = create(c, ndims, dims, periods, reorder, &made);
    return mpi_leave(c, comms_give(error, made, comm_cart));
}
MPI_NAME(Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int nodes;

    (void)periods;
    MPI_ENTER("Cart_map", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check(ndims, dims, c->group.size, &nodes);
    if (error != MPI_SUCCESS)
        return mpi_fail(c, error);
    int *rank_of = lay_out(c, ndims, dims, nodes);
    *newrank = find_rank(rank_of, nodes, c->group.rank);
    free(rank_of);
    if (*newrank >= nodes)
        *newrank = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
MPI_NAME(Cart_map);

/* The grids of those dimensions that remain: one for each position in the others. */
static int make_part(struct mpi_comm *c, const struct topology *t, const int remain_dims[], struct mpi_comm **made)
{
    int color = 0, key = 0, n = 0, *list = malloc((size_t)(2 * t->cart.ndims + 1) * sizeof *list);
    int *periods = list + t->cart.ndims;

    if (!list)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a grid", 0, 0);
    for (int i = 0; i < t->cart.ndims; i++) {
        int *where = remain_dims[i] ? &key : &color;

        *where = *where * t->cart.dims[i] + t->cart.coords[i];
        if (remain_dims[i]) {
            list[n] = t->cart.dims[i];
            periods[n++] = t->cart.periods[i];
        }
    }
    int error = comms_split(c, color, key, made);
    if (error == MPI_SUCCESS) {
        topology_attach(*made, new_cart(n, list, periods, key));
        error = (*made)->topology ? error : mpi_error(MPI_ERR_NO_MEM, "no memory for a grid", 0, 0);
    }
    free(list);
    return error;
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_find_comm(comm), *made = NULL;
    int error;

    MPI_ENTER("Cart_sub", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    const struct topology *t = topology_of(c, MPI_CART, &error);
    if (error == MPI_SUCCESS)
        error = make_part(c, t, remain_dims, &made);
    return mpi_leave(c, comms_give(error, made, newcomm));
}
MPI_NAME(Cart_sub);

/* ---- What is known of one ---- */

/* The way into a call on a grid: sets t, or ends the call. */
#define ENTER(name)                                              \
    struct mpi_comm *c = mpi_find_comm(comm);                    \
    int error;                                                   \
                                                                 \
    MPI_ENTER(name, c, MPI_NO_PEER, MPI_NO_PEER);                \
    if (!c)                                                      \
        return mpi_fail_comm(comm);                              \
    const struct topology *t = topology_of(c, MPI_CART, &error); \
    if (!t)                                                      \
    return mpi_fail(c, error)

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    ENTER("Cartdim_get");
    *ndims = t->cart.ndims;
    return MPI_SUCCESS;
}
MPI_NAME(Cartdim_get);

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    ENTER("Cart_get");
    for (int i = 0; i < t->cart.ndims && i < maxdims; i++) {
        dims[i] = t->cart.dims[i];
        periods[i] = t->cart.periods[i];
        coords[i] = t->cart.coords[i];
    }
    return MPI_SUCCESS;
}
MPI_NAME(Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    ENTER("Cart_rank");
    int found = topology_rank_at(t, coords);
    if (found == MPI_PROC_NULL)
        return mpi_fail(c, mpi_error(MPI_ERR_ARG, "the coordinates are outside of the grid", 0, 0));
    *rank = found;
    return MPI_SUCCESS;
}
MPI_NAME(Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    ENTER("Cart_coords");
    if (rank < 0 || rank >= c->group.size)
        return mpi_fail(c, mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld", rank, c->group.size - 1));
    if (maxdims < t->cart.ndims)
        return mpi_fail(c, mpi_error(MPI_ERR_ARG, "room for %ld coordinates of %ld", maxdims, t->cart.ndims));
    topology_coords_of(t, rank, coords);
    return MPI_SUCCESS;
}
MPI_NAME(Cart_coords);

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    ENTER("Cart_shift");
    if (direction < 0 || direction >= t->cart.ndims)
        return mpi_fail(c, mpi_error(MPI_ERR_DIMS, "there is no dimension %ld", direction, 0));
    int own = t->cart.coords[direction];
    t->cart.coords[direction] = own + disp;
    *rank_dest = topology_rank_at(t, t->cart.coords);
    t->cart.coords[direction] = own - disp;
    *rank_source = topology_rank_at(t, t->cart.coords);
    t->cart.coords[direction] = own;
    return MPI_SUCCESS;
}
MPI_NAME(Cart_shift);

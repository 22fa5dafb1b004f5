/*
 * Topologies [7]: grids, graphs, distributed graphs, and the collective calls of neighbours.
 */
#include "check_mpi.h"

/* ---- Dimensions ---- */

static void dimensions(void)
{
    static const struct {
        int nodes, ndims, given[3], expected[3];
    } table[] = {
        {6, 2, {0, 0}, {3, 2}},        {7, 2, {0, 0}, {7, 1}},
        {6, 3, {0, 3, 0}, {2, 3, 1}},  {12, 2, {0, 0}, {4, 3}},
        {16, 3, {0, 0, 0}, {4, 2, 2}}, {64, 3, {0, 0, 0}, {4, 4, 4}},
        {1, 2, {0, 0}, {1, 1}},        {24, 3, {0, 0, 0}, {4, 3, 2}},
        {36, 2, {0, 4}, {9, 4}},       {4096, 3, {0, 0, 0}, {16, 16, 16}},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int dims[3];

        memcpy(dims, table[i].given, sizeof dims);
        check_equal(MPI_Dims_create(table[i].nodes, table[i].ndims, dims), MPI_SUCCESS);
        for (int d = 0; d < table[i].ndims; d++)
            check_equal(dims[d], table[i].expected[d]);
    }
}

/* ---- Grids ---- */

static void grid(int reorder)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, got[2], wraps[2], coords[2], where, own, source, dest, n, columns[2];
    MPI_Comm cart, row, copy;

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &cart);
    MPI_Topo_test(cart, &n);
    check_equal(n, MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &n);
    check_equal(n, MPI_UNDEFINED);
    MPI_Cartdim_get(cart, &n);
    check_equal(n, 2);
    MPI_Comm_rank(cart, &own);
    MPI_Cart_get(cart, 2, got, wraps, coords);
    check(got[0] == dims[0] && got[1] == dims[1] && wraps[0] && !wraps[1]);
    check_equal(coords[0] * dims[1] + coords[1], own);
    MPI_Cart_rank(cart, (int[]){coords[0] - dims[0], coords[1]}, &where);
    check_equal(where, own);
    MPI_Cart_coords(cart, size - 1, 2, coords);
    check(coords[0] == dims[0] - 1 && coords[1] == dims[1] - 1);
    MPI_Cart_get(cart, 2, got, wraps, coords);

    MPI_Cart_shift(cart, 0, 1, &source, &dest);
    check_equal(dest, (coords[0] + 1) % dims[0] * dims[1] + coords[1]);
    check_equal(source, (coords[0] + dims[0] - 1) % dims[0] * dims[1] + coords[1]);
    MPI_Cart_shift(cart, 1, -1, &source, &dest);
    check_equal(dest, coords[1] > 0 ? own - 1 : MPI_PROC_NULL);
    check_equal(source, coords[1] < dims[1] - 1 ? own + 1 : MPI_PROC_NULL);

    MPI_Cart_sub(cart, (int[]){0, 1}, &row);
    MPI_Comm_size(row, &n);
    check_equal(n, dims[1]);
    MPI_Comm_rank(row, &n);
    check_equal(n, coords[1]);
    MPI_Cart_get(row, 1, got, wraps, columns);
    check(got[0] == dims[1] && columns[0] == coords[1]);
    MPI_Comm_dup(cart, &copy);
    MPI_Cart_get(copy, 2, got, wraps, columns);
    check(columns[0] == coords[0] && columns[1] == coords[1]);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

static void small_grids(void)
{
    MPI_Comm cart;
    int n, dims[1] = {size > 1 ? size - 1 : 1}, periods[1] = {0};

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    check((cart == MPI_COMM_NULL) == (rank >= dims[0]));
    if (cart != MPI_COMM_NULL)
        MPI_Comm_free(&cart);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    dims[0] = size + 1;
    check(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart) != MPI_SUCCESS);
    check(MPI_Cartdim_get(MPI_COMM_WORLD, &n) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Each sends its rank and the direction; sides of 3 or more, so that no neighbour is one twice. */
static void neighbours_of_a_grid(void)
{
    enum { D = 2 };
    int dims[D] = {0, 0}, periods[D] = {1, 0}, sent[2 * D], got[2 * D], source, dest, own;
    MPI_Comm cart;
    MPI_Request r;

    MPI_Dims_create(size, D, dims);
    if (dims[0] < 3)
        periods[0] = 0;
    MPI_Cart_create(MPI_COMM_WORLD, D, dims, periods, 0, &cart);
    MPI_Comm_rank(cart, &own);
    for (int i = 0; i < 2 * D; i++) {
        sent[i] = 100 * own + i;
        got[i] = -1;
    }
    for (int blocking = 0; blocking < 2; blocking++) {
        if (blocking)
            MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, cart);
        else {
            MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, cart, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        for (int d = 0; d < D; d++) {
            MPI_Cart_shift(cart, d, 1, &source, &dest);
            check_equal(got[2 * d], source == MPI_PROC_NULL ? -1 : 100 * source + 2 * d + 1);
            check_equal(got[2 * d + 1], dest == MPI_PROC_NULL ? -1 : 100 * dest + 2 * d);
        }
        MPI_Neighbor_allgather(&own, 1, MPI_INT, got, 1, MPI_INT, cart);
        for (int d = 0; d < D; d++) {
            MPI_Cart_shift(cart, d, 1, &source, &dest);
            check_equal(got[2 * d], source == MPI_PROC_NULL ? -1 : source);
            check_equal(got[2 * d + 1], dest == MPI_PROC_NULL ? -1 : dest);
            got[2 * d] = got[2 * d + 1] = -1;
        }
    }
    MPI_Comm_free(&cart);
}

/* ---- Graphs ---- */

/* A ring, with edges to both sides. */
static void graph(void)
{
    int index[16], edges[32], n, m, list[2], all = 2 * size, out[2], in[2] = {-1, -1}, ranks[32];
    MPI_Comm ring;

    for (int i = 0; i < size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
    MPI_Topo_test(ring, &n);
    check_equal(n, MPI_GRAPH);
    MPI_Graphdims_get(ring, &n, &m);
    check(n == size && m == all);
    MPI_Graph_get(ring, 16, 32, index, ranks);
    check_equal(memcmp(ranks, edges, (size_t)all * sizeof *ranks), 0);
    MPI_Graph_neighbors_count(ring, rank, &n);
    check_equal(n, 2);
    MPI_Graph_neighbors(ring, rank, 2, list);
    check(list[0] == edges[2 * rank] && list[1] == edges[2 * rank + 1]);
    if (size > 2) {
        out[0] = 10 * rank;
        out[1] = 10 * rank + 1;
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
        check_equal(in[0], 10 * list[0] + 1);
        check_equal(in[1], 10 * list[1]);
    }
    MPI_Comm_free(&ring);
}

/* Rank i sends to 2i and 2i + 1: trees of different degrees. */
static void adjacent(void)
{
    int sources[2], destinations[2], in = 0, out = 0, weights[2], got_in, got_out, weighted, list[2], other[2];
    MPI_Comm tree;

    if (rank > 0)
        sources[in++] = (rank - 1) / 2;
    for (int k = 1; k <= 2; k++)
        if (2 * rank + k < size)
            destinations[out++] = 2 * rank + k;
    weights[0] = weights[1] = 5 + rank;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, destinations, weights, MPI_INFO_NULL, 0,
                                   &tree);
    MPI_Dist_graph_neighbors_count(tree, &got_in, &got_out, &weighted);
    check(got_in == in && got_out == out && weighted);
    MPI_Dist_graph_neighbors(tree, 2, list, other, 2, destinations, weights);
    if (in > 0)
        check(list[0] == sources[0] && other[0] == 5 + rank);

    int counts[2] = {1, 2}, displs[2] = {0, 1}, data[3] = {100 * rank, 100 * rank + 1, 100 * rank + 2},
        got[2] = {-1, -1};
    int taken = rank % 2 == 1 ? 1 : 2, zero = 0;
    MPI_Neighbor_alltoallv(data, counts, displs, MPI_INT, got, &taken, &zero, MPI_INT, tree);
    if (rank > 0)
        check_equal(got[0], 100 * sources[0] + (rank % 2 == 1 ? 0 : 1));
    MPI_Aint places[2] = {0, sizeof(int)}, at = 0;
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, type = MPI_INT;
    got[0] = got[1] = -1;
    MPI_Neighbor_alltoallw(data, counts, places, types, got, &taken, &at, &type, tree);
    if (rank > 0)
        check_equal(got[taken - 1], 100 * sources[0] + (rank % 2 == 1 ? 0 : 2));
    MPI_Neighbor_allgatherv(data, 1, MPI_INT, got, counts, &zero, MPI_INT, tree);
    if (rank > 0)
        check_equal(got[0], 100 * sources[0]);
    MPI_Comm_free(&tree);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Rank 0 names all edges of a star, and every rank one to the next. */
static void distributed(void)
{
    int sources[2], degrees[2], destinations[32], n = 0, at = 0, in, out, weighted, from[32], to[32], hub = size - 1;
    MPI_Comm star;

    sources[n] = rank;
    degrees[n++] = 1;
    destinations[at++] = (rank + 1) % size;
    if (rank == 0) {
        sources[n] = hub;
        degrees[n++] = size;
        for (int i = 0; i < size; i++)
            destinations[at++] = i;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    MPI_Dist_graph_neighbors_count(star, &in, &out, &weighted);
    check_equal(in, 2);
    check_equal(out, rank == hub ? size + 1 : 1);
    check_equal(weighted, 0);
    MPI_Dist_graph_neighbors(star, 32, from, MPI_UNWEIGHTED, 32, to, MPI_UNWEIGHTED);
    qsort(from, 2, sizeof *from, compare);
    check_equal(from[0] + from[1], hub + (rank + size - 1) % size);

    int own = rank, got[2];
    MPI_Neighbor_allgather(&own, 1, MPI_INT, got, 1, MPI_INT, star);
    check_equal(got[0] + got[1], from[0] + from[1]);
    MPI_Comm_free(&star);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    dimensions();
    grid(0);
    grid(1);
    small_grids();
    neighbours_of_a_grid();
    graph();
    adjacent();
    distributed();
    end("topologies");
    return 0;
}

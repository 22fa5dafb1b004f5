/* Topologies, and the collective calls of neighbours [7] (subjects.h). */
#include "subjects.h"

#define WORLD MPI_COMM_WORLD

static MPI_Comm grid(int dims[2])
{
    MPI_Comm c;

    dims[0] = dims[1] = 0;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(WORLD, 2, dims, (int[]){1, 0}, 0, &c);
    return c;
}

static void grids(void)
{
    int dims[2], at[2], from, to, n, r, periods[2], status;
    MPI_Comm c = grid(dims);

    MPI_Topo_test(c, &status);
    MPI_Cartdim_get(c, &n);
    MPI_Cart_get(c, 2, dims, periods, at);
    say(" %d %d: %d x %d, %d %d, at %d %d", status == MPI_CART, n, dims[0], dims[1], periods[0], periods[1], at[0],
        at[1]);
    for (int d = 0; d < 2; d++)
        for (int by = -1; by < 3; by += 3) {
            MPI_Cart_shift(c, d, by, &from, &to);
            say(" %d>%d", from == MPI_PROC_NULL ? -1 : from, to == MPI_PROC_NULL ? -1 : to);
        }
    MPI_Cart_rank(c, (int[]){at[0] - dims[0], at[1]}, &r);
    MPI_Cart_coords(c, size - 1, 2, at);
    say(" %d; %d %d", r, at[0], at[1]);
    MPI_Comm_free(&c);
}

static void parts_of_grids(void)
{
    int dims[2], n, r, sum;
    MPI_Comm c = grid(dims), rows;

    MPI_Cart_sub(c, (int[]){0, 1}, &rows);
    MPI_Comm_size(rows, &n);
    MPI_Comm_rank(rows, &r);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, rows);
    say(" %d %d %d", n, r, sum);
    MPI_Comm_free(&rows);
    MPI_Comm_free(&c);
    MPI_Cart_create(WORLD, 1, (int[]){size > 1 ? size - 1 : 1}, (int[]){0}, 0, &c);
    say(" %d", c == MPI_COMM_NULL);
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
}

static void sides(void)
{
    static const int cases[][5] = {{12, 2, 0, 0, 0}, {12, 3, 0, 0, 0}, {60, 3, 0, 0, 0},  {7, 2, 0, 0, 0},
                                   {24, 3, 0, 2, 0}, {64, 3, 0, 0, 0}, {100, 2, 0, 0, 0}, {30, 2, 3, 0, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int dims[3] = {cases[i][2], cases[i][3], cases[i][4]};

        MPI_Dims_create(cases[i][0], cases[i][1], dims);
        say_ints("", dims, cases[i][1]);
    }
}

/* A star around rank 0, with a ring. */
static void graphs(void)
{
    int index[16], edges[64], n = 0, list[16], nodes, all, neighbours, status;
    MPI_Comm c;

    for (int i = 0; i < size; i++) {
        for (int k = 1; k < size && i == 0; k++)
            edges[n++] = k;
        if (i > 0)
            edges[n++] = 0;
        index[i] = n;
    }
    MPI_Graph_create(WORLD, size, index, edges, 0, &c);
    MPI_Topo_test(c, &status);
    MPI_Graphdims_get(c, &nodes, &all);
    MPI_Graph_neighbors_count(c, rank, &neighbours);
    MPI_Graph_neighbors(c, rank, 16, list);
    say(" %d %d %d %d", status == MPI_GRAPH, nodes, all, neighbours);
    say_ints("", list, neighbours);
    MPI_Comm_free(&c);
}

static void distributed_graphs(void)
{
    int in, out, weighted, from[4], from_weight[4], to[4], to_weight[4], got[4] = {0}, mine[2] = {rank, 10 * rank};
    int sources[2] = {(rank + 1) % size, (rank + 2) % size},
        dests[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size};
    MPI_Comm c;

    MPI_Dist_graph_create_adjacent(WORLD, 2, sources, (int[]){5, 6}, 2, dests, (int[]){7, 8}, MPI_INFO_NULL, 0, &c);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(c, 4, from, from_weight, 4, to, to_weight);
    say(" %d %d %d", in, out, weighted);
    say_ints("from", from, in);
    say_ints("to", to, out);
    say_ints("weights", from_weight, in);
    MPI_Neighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, c);
    say_ints("gathered", got, 2);
    if (size > 2)
        MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, c);
    say_ints("exchanged", got, size > 2 ? 2 : 0);
    MPI_Comm_free(&c);
    if (rank == 0) {
        int nodes[16], degrees[16], to_all[16];

        for (int i = 0; i < size; i++) {
            nodes[i] = i;
            degrees[i] = 1;
            to_all[i] = (i + 1) % size;
        }
        MPI_Dist_graph_create(WORLD, size, nodes, degrees, to_all, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    } else {
        MPI_Dist_graph_create(WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    }
    MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
    MPI_Neighbor_allgather(mine, 2, MPI_INT, got, 2, MPI_INT, c);
    say(" %d %d %d", in, out, weighted);
    say_ints("", got, 2);
    MPI_Comm_free(&c);
}

static void neighbours_of_grids(void)
{
    int dims[2], mine[4], got[4] = {-1, -1, -1, -1}, counts[4] = {1, 0, 1, 1}, places[4] = {3, 2, 1, 0};
    MPI_Comm c = grid(dims);
    MPI_Request r;

    for (int i = 0; i < 4; i++)
        mine[i] = 10 * rank + i;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, c);
    say_ints("", got, 4);
    MPI_Ineighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say_ints("", got, 4);
    if (dims[0] > 2) { /* otherwise a neighbour is one on both sides */
        MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, c);
        say_ints("", got, 4);
        counts[1] = 1;
        MPI_Neighbor_alltoallv(mine, counts, places, MPI_INT, got, counts, places, MPI_INT, c);
        say_ints("", got, 4);
    }
    MPI_Comm_free(&c);
}

const struct subject topologies[] = {
    {"grids", grids},   {"parts of grids", parts_of_grids},         {"dims", sides},
    {"graphs", graphs}, {"distributed graphs", distributed_graphs}, {"neighbours of grids", neighbours_of_grids},
    {NULL, NULL}};

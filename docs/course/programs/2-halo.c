/*
 * Exercise 2: a field on a grid of ranks, closed to a torus. In each step, a rank needs the cells of its four
 * neighbours. To complete: exchange, and how the grid is laid out on the cube.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 4096, STEPS = 4 };

static double cell[CELLS], side[4][CELLS]; /* west, east, north, south */

static void exchange(MPI_Comm grid)
{
    for (int d = 0; d < 2; d++) {
        int low, high;

        MPI_Cart_shift(grid, d, 1, &low, &high);
        MPI_Sendrecv(cell, CELLS, MPI_DOUBLE, high, 0, side[2 * d], CELLS, MPI_DOUBLE, low, 0, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(cell, CELLS, MPI_DOUBLE, low, 1, side[2 * d + 1], CELLS, MPI_DOUBLE, high, 1, grid,
                     MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int size, dims[2] = {0, 0}, periods[2] = {1, 1}, coords[2], rank;
    double sum = 0, all, took, most;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    for (int i = 0; i < CELLS; i++)
        cell[i] = coords[0] * 16 + coords[1] * 3 + i % 5;
    MPI_Barrier(grid);
    double start = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        exchange(grid);
        for (int i = 0; i < CELLS; i++)
            cell[i] = 0.1 * side[0][i] + 0.2 * side[1][i] + 0.3 * side[2][i] + 0.4 * side[3][i];
    }
    took = MPI_Wtime() - start;
    sum = cell[1] * (1 + coords[0] + 10 * coords[1]);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
    if (rank == 0)
        printf("sum=%.3f\ntime=%.1f us\n", all, most * 1e6);
    MPI_Finalize();
    return 0;
}

/*
 * Conway's game of life on a torus: each rank has a block, and exchanges its edges with its neighbours in a grid of
 * ranks. A glider comes back to where it began after 4 N generations on an N x N torus.
 *
 *   mpirun -n 4 ./life [N]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rows, columns, width; /* of the block; width: with its edges */

static unsigned char *cell(unsigned char *field, int row, int column)
{
    return &field[row * width + column];
}

/* Rows first, then columns with the corners that have come with them. */
static void exchange_edges(unsigned char *field, MPI_Comm grid, MPI_Datatype column)
{
    int up, down, left, right;

    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(cell(field, 1, 1), columns, MPI_BYTE, up, 0, cell(field, rows + 1, 1), columns, MPI_BYTE, down, 0,
                 grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(field, rows, 1), columns, MPI_BYTE, down, 1, cell(field, 0, 1), columns, MPI_BYTE, up, 1, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(field, 0, 1), 1, column, left, 2, cell(field, 0, columns + 1), 1, column, right, 2, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(field, 0, columns), 1, column, right, 3, cell(field, 0, 0), 1, column, left, 3, grid,
                 MPI_STATUS_IGNORE);
}

static int neighbours_of(unsigned char *field, int row, int column)
{
    int n = -*cell(field, row, column);

    for (int r = row - 1; r <= row + 1; r++)
        for (int c = column - 1; c <= column + 1; c++)
            n += *cell(field, r, c);
    return n;
}

static void step(unsigned char *field, unsigned char *next)
{
    for (int r = 1; r <= rows; r++)
        for (int c = 1; c <= columns; c++) {
            int n = neighbours_of(field, r, c);

            *cell(next, r, c) = n == 3 || (n == 2 && *cell(field, r, c));
        }
}

int main(int argc, char **argv)
{
    static const int glider[5][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
    int n = argc > 1 ? atoi(argv[1]) : 24, size, rank, dims[2] = {0, 0}, periods[2] = {1, 1}, at[2], same, all;
    MPI_Comm grid;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    if (n < 3 || n % dims[0] != 0 || n % dims[1] != 0) {
        if (rank == 0)
            fprintf(stderr, "life: %d x %d ranks cannot share %d rows and columns\n", dims[0], dims[1], n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rows = n / dims[0];
    columns = n / dims[1];
    width = columns + 2;
    size_t bytes = (size_t)(rows + 2) * (size_t)width;
    unsigned char *field = calloc(3, bytes), *next = field + bytes, *first = next + bytes;
    MPI_Type_vector(rows + 2, 1, width, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 5; i++) {
        int r = glider[i][0] - at[0] * rows, c = glider[i][1] - at[1] * columns;

        if (r >= 0 && r < rows && c >= 0 && c < columns)
            *cell(field, r + 1, c + 1) = 1;
    }
    memcpy(first, field, bytes);
    double start = MPI_Wtime();
    for (int i = 0; i < 4 * n; i++) {
        exchange_edges(field, grid, column);
        step(field, next);
        memcpy(field, next, bytes);
    }
    double seconds = MPI_Wtime() - start;
    exchange_edges(first, grid, column);
    exchange_edges(field, grid, column);
    same = memcmp(field, first, bytes) == 0;
    MPI_Reduce(&same, &all, 1, MPI_INT, MPI_LAND, 0, grid);
    if (rank == 0)
        printf("life: after %d generations the glider is %s: %.6f s on %d x %d\n", 4 * n,
               all ? "where it began" : "elsewhere", seconds, dims[0], dims[1]);
    MPI_Finalize();
    return 0;
}

/*
 * Heat in a square plate, whose upper edge is hot. Each rank has a band of rows; in each step it exchanges its outer
 * rows with the ranks above and below while it computes the inner ones, whose neighbours it has.
 *
 *     mpicc -o plate plate.c && mpirun -n 8 --report=plate.html ./plate
 *
 * Prints the heat of one point, which is the same on any number of ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 128, STEPS = 40, ROW_SHOWN = 9, TAG_UP = 1, TAG_DOWN = 2 };

static double now[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2]; /* from 1 on; around them the neighbours' rows */

static void compute(int row)
{
    for (int c = 1; c <= SIDE; c++)
        next[row][c] = (now[row - 1][c] + now[row + 1][c] + now[row][c - 1] + now[row][c + 1]) / 4;
}

/* At the plate's edges the neighbour is MPI_PROC_NULL, to and from which nothing goes. */
static void step(int rows, int up, int down)
{
    MPI_Request r[4];

    MPI_Irecv(&now[0][1], SIDE, MPI_DOUBLE, up, TAG_DOWN, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&now[rows + 1][1], SIDE, MPI_DOUBLE, down, TAG_UP, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&now[1][1], SIDE, MPI_DOUBLE, up, TAG_UP, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&now[rows][1], SIDE, MPI_DOUBLE, down, TAG_DOWN, MPI_COMM_WORLD, &r[3]);
    for (int row = 2; row < rows; row++)
        compute(row);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    compute(1);
    if (rows > 1)
        compute(rows);
    for (int row = 1; row <= rows; row++)
        memcpy(&now[row][1], &next[row][1], SIDE * sizeof now[row][1]);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > SIDE) {
        if (rank == 0)
            fprintf(stderr, "plate: at most %d ranks\n", SIDE);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int first = rank * SIDE / size, rows = (rank + 1) * SIDE / size - first;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int c = 1; rank == 0 && c <= SIDE; c++)
        now[0][c] = 1000;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < STEPS; i++)
        step(rows, up, down);
    if (ROW_SHOWN >= first && ROW_SHOWN < first + rows)
        printf("after %d steps: %.6f in row %d; %.6f s on %d\n", STEPS, now[1 + ROW_SHOWN - first][1 + SIDE / 2],
               ROW_SHOWN, MPI_Wtime() - start, size);
    MPI_Finalize();
    return 0;
}

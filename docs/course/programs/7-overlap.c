/*
 * Exercise 7: blocks go round a ring, and each rank computes something with each of them. To complete: go_round. As it
 * is, a rank computes, and then waits for the next block.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1024 };

static double own[BLOCK], buffer[1][BLOCK];

static double compute(const double *block)
{
    double sum = 0;

    for (int i = 0; i < BLOCK; i++)
        sum += own[i] * block[i];
    return sum;
}

static double go_round(int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, now = 0;
    double sum = 0;

    memcpy(buffer[0], own, sizeof own);
    for (int step = 0; step < size; step++) {
        sum += (step + 1) * compute(buffer[now]);
        MPI_Sendrecv_replace(buffer[now], BLOCK, MPI_DOUBLE, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    double all, took, most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < BLOCK; i++)
        own[i] = rank + i % 3;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), sum = go_round(rank, size);
    took = MPI_Wtime() - start;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum=%.0f\ntime=%.1f us\n", all, most * 1e6);
    MPI_Finalize();
    return 0;
}

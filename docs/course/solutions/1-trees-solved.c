/*
 * Exercise 1: the sum of a value of each rank, at rank 0. In round k, those whose bit k is the lowest one that is set
 * send what they have to the rank without that bit, and are done.
 */
#include <mpi.h>
#include <stdio.h>

static double sum_of_all(double value, int rank, int size)
{
    double other;

    for (int bit = 1; bit < size; bit *= 2) {
        if (rank & bit) {
            MPI_Send(&value, 1, MPI_DOUBLE, rank - bit, 0, MPI_COMM_WORLD);
            break;
        }
        if (rank + bit < size) {
            MPI_Recv(&other, 1, MPI_DOUBLE, rank + bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value += other;
        }
    }
    return value;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), sum = sum_of_all(rank + 1, rank, size);
    if (rank == 0)
        printf("sum=%.0f\ntime=%.1f us\n", sum, (MPI_Wtime() - start) * 1e6);
    MPI_Finalize();
    return 0;
}

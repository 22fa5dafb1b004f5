/*
 * Exercise 1: the sum of a value of each rank, at rank 0. To complete: sum_of_all. As it is, rank 0 receives from each.
 */
#include <mpi.h>
#include <stdio.h>

static double sum_of_all(double value, int rank, int size)
{
    double other;

    if (rank > 0)
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Recv(&other, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value += other;
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

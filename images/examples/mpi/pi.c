/*
 * Pi as the area under 4 / (1 + x^2) from 0 to 1: each rank adds up every size-th strip, and a reduction adds the sums.
 *
 *     mpicc -o pi pi.c && mpirun -n 8 ./pi 100000
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, strips = argc > 1 ? atoi(argv[1]) : 100000;
    double sum = 0, pi;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = rank; i < strips; i += size) {
        double x = (i + 0.5) / strips;

        sum += 4 / (1 + x * x);
    }
    sum /= strips;
    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is about %.12f, wrong by %.1e: %.6f s on %d\n", pi, fabs(pi - acos(-1)), MPI_Wtime() - start, size);
    MPI_Finalize();
    return 0;
}

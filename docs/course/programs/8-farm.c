/*
 * Exercise 8: tasks of very different lengths. To complete: who does which. As it is, each rank has the same number of
 * them.
 */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 40 };

/* Task i takes time in proportion to its number. */
static int solve(int task)
{
    volatile int left = 400 * (task + 1);

    while (left > 0)
        left--;
    return task * task;
}

/* The results of this rank's tasks. */
static long work(int rank, int size)
{
    long sum = 0;

    for (int task = TASKS * rank / size; task < TASKS * (rank + 1) / size; task++)
        sum += solve(task);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    long own = work(rank, size);
    MPI_Reduce(&own, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum=%ld\ntime=%.1f us\n", sum, (MPI_Wtime() - start) * 1e6);
    MPI_Finalize();
    return 0;
}

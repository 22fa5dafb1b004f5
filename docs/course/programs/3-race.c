/*
 * Exercise 3: workers deliver a result for each step, and rank 0 adds up those of each step, whoever comes first. One
 * worker is slow in step 0, the argument says which, and the next one in step 1. To complete: work and collect. The
 * sums are right only as long as every worker sends its result before any other worker sends its next one.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 2 };

static int rank, size, slow;

/* Takes its time. */
static int result_of(int step)
{
    volatile int steps = rank == (slow + step) % size ? 20000 : 1000;

    while (steps > 0)
        steps--;
    return step == 0 ? rank : 10 * rank;
}

static void work(void)
{
    for (int step = 0; step < STEPS; step++) {
        int result = result_of(step);

        MPI_Send(&result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

static void collect(int sum[STEPS])
{
    for (int step = 0; step < STEPS; step++)
        for (int i = 1; i < size; i++) {
            int result;

            MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum[step] += result;
        }
}

int main(int argc, char **argv)
{
    int sum[STEPS] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    slow = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (rank == 0)
        collect(sum);
    else
        work();
    if (rank == 0)
        printf("sum=%d %d\ntime=%.1f us\n", sum[0], sum[1], (MPI_Wtime() - start) * 1e6);
    MPI_Finalize();
    return 0;
}

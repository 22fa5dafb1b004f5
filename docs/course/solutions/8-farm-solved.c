/*
 * Exercise 8: tasks of very different lengths. Rank 0 hands them out one by one, the longest first: who has finished
 * one gets the next.
 */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 40, TAG_TASK, TAG_STOP };

/* Task i takes time in proportion to its number. */
static int solve(int task)
{
    volatile int left = 400 * (task + 1);

    while (left > 0)
        left--;
    return task * task;
}

static long hand_out(int size)
{
    long sum = 0;
    int next = TASKS - 1, working = 0, result;
    MPI_Status status;

    for (int worker = 1; worker < size; worker++, working++, next--)
        MPI_Send(&next, 1, MPI_INT, worker, TAG_TASK, MPI_COMM_WORLD);
    while (working > 0) {
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        sum += result;
        if (next >= 0) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
            next--;
        } else {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TAG_STOP, MPI_COMM_WORLD);
            working--;
        }
    }
    return sum;
}

static void work(void)
{
    int task, result;
    MPI_Status status;

    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_STOP)
            return;
        result = solve(task);
        MPI_Send(&result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
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
    if (rank == 0)
        sum = hand_out(size);
    else
        work();
    if (rank == 0)
        printf("sum=%ld\ntime=%.1f us\n", sum, (MPI_Wtime() - start) * 1e6);
    MPI_Finalize();
    return 0;
}

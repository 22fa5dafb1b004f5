/*
 * Exercise 6: each rank has a block for each other one. To complete: exchange. As it is, all ranks send to rank 0
 * first, then to rank 1, and so on.
 */
#include <mpi.h>
#include <stdio.h>

enum { INTS = 8192, RANKS_MAX = 16 };

static int out[RANKS_MAX][INTS], in[RANKS_MAX][INTS];

static void exchange(int rank, int size)
{
    MPI_Request request[RANKS_MAX];
    int n = 0;

    for (int to = 0; to < size; to++)
        if (to != rank) {
            MPI_Irecv(in[to], INTS, MPI_INT, to, 0, MPI_COMM_WORLD, &request[n++]);
            MPI_Send(out[to], INTS, MPI_INT, to, 0, MPI_COMM_WORLD);
        }
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all;
    double took, most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < INTS; i++)
            out[to][i] = rank * 100 + to;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    exchange(rank, size);
    took = MPI_Wtime() - start;
    for (int from = 0; from < size; from++)
        wrong += from != rank && (in[from][0] != from * 100 + rank || in[from][INTS - 1] != from * 100 + rank);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong=%d\ntime=%.1f us\n", all, most * 1e6);
    MPI_Finalize();
    return 0;
}

/*
 * What MPI calls cost, in virtual time: lines "name=value", in microseconds or per cent of a channel, for docs/mpi.md.
 *
 *     mpi_costs pair                 ranks 0 and 1, which are neighbours
 *     mpi_costs any                  rank 0 receives from all others, whoever comes
 *     mpi_costs short                of both, what takes little time: 8 and 64 bytes
 *     mpi_costs collectives
 */
#include <group.h>
#include <mpi.h>
#include <nself.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 32, STREAM = 100, BYTES_MAX = 1 << 20, CHANNEL_NS = 450 };

static char buf[BYTES_MAX];
static int rank, size;

static double us_since(double start)
{
    return (MPI_Wtime() - start) * 1e6;
}

/* ---- Two ranks ---- */

static double there_and_back(int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(buf, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buf, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return us_since(start) / (2 * ROUNDS);
}

/* The same by nwrite and nread. */
static double by_vertex(int bytes)
{
    nsync(1);
    double start = MPI_Wtime();
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        int src = 1 - rank, type = 0;

        if (rank == 0)
            nwrite(buf, bytes, 1, 0, NULL);
        nread(buf, bytes, &src, &type, NULL);
        if (rank == 1)
            nwrite(buf, bytes, 0, 0, NULL);
    }
    return us_since(start) / (2 * ROUNDS);
}

/* Per cent of a channel. */
static double stream(int bytes, int messages)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < messages && rank < 2; i++)
        if (rank == 0)
            MPI_Send(buf, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 100.0 * bytes * messages * CHANNEL_NS / 1000 / us_since(start);
}

static void pair(void)
{
    static const int lengths[] = {8, 64, 1024, 4096, 16384, 65536, BYTES_MAX};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];
        double way = there_and_back(n), back = by_vertex(n), rate = stream(n, n < BYTES_MAX ? STREAM : 8);

        MPI_Bcast(&rate, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
        if (rank == 0)
            printf("way-%d=%.1f\nvertex-%d=%.1f\nstream-%d=%.1f\n", n, way, n, back, n, rate);
    }
}

/* ---- Many ---- */

static void any(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(buf, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(buf, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    else
        printf("any=%.1f\n", us_since(start) / (size - 1));
}

static void few(void)
{
    for (int n = 8; n <= 64; n *= 8) {
        double way = there_and_back(n), back = by_vertex(n);

        if (rank == 0)
            printf("way-%d=%.1f\nvertex-%d=%.1f\n", n, way, n, back);
    }
    any();
}

static double latest(double start)
{
    double us = us_since(start), most;

    MPI_Allreduce(&us, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

#define MEASURE(name, call)                       \
    do {                                          \
        double took = 0;                          \
        for (int round = 0; round < 2; round++) { \
            MPI_Barrier(MPI_COMM_WORLD);          \
            group_barrier(&g);                    \
            double start = MPI_Wtime();           \
            call;                                 \
            took = latest(start);                 \
        }                                         \
        if (rank == 0)                            \
            printf("%s=%.1f\n", name, took);      \
    } while (0)

static void wait_for_broadcast(double *data)
{
    MPI_Request request;

    MPI_Ibcast(data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    static double from[BYTES_MAX / 8], to[BYTES_MAX / 8];
    struct group g;

    group_make(&g, NULL, 0);
    MEASURE("barrier", MPI_Barrier(MPI_COMM_WORLD));
    MEASURE("group-barrier", group_barrier(&g));
    MEASURE("bcast", MPI_Bcast(from, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    MEASURE("ibcast", wait_for_broadcast(from));
    MEASURE("group-bcast", group_broadcast(&g, from, 8, 0));
    MEASURE("allreduce", MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    MEASURE("group-allreduce", group_all_reduce(&g, to, 1, GROUP_DOUBLE, GROUP_SUM));
    MEASURE("long", MPI_Allreduce(from, to, BYTES_MAX / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    group_free(&g);
}

int main(int argc, char **argv)
{
    nsync(1); /* nodes do not start at the same time */
    double start = MPI_Wtime();

    MPI_Init(&argc, &argv);
    double init = us_since(start);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("init=%.1f\n", init);
    if (argc > 1 && strcmp(argv[1], "pair") == 0)
        pair();
    else if (argc > 1 && strcmp(argv[1], "any") == 0)
        any();
    else if (argc > 1 && strcmp(argv[1], "short") == 0)
        few();
    else
        collectives();
    MPI_Finalize();
    return 0;
}

/*
 * The programs of this folder that another MPI judges, one after the other in one run: a machine is started once for
 * all. Each is compiled with -DSUITE=its name.
 */
#include <mpi.h>
#include <stdio.h>

#define PROGRAMS(X)            \
    X(points)                  \
    X(reductions)              \
    X(parts, "4", "1")         \
    X(communicators)           \
    X(nonblocking)             \
    X(topologies)              \
    X(intercomms)              \
    X(attached)                \
    X(random_points, "4", "1") \
    X(random_types, "30", "1") \
    X(random_collectives, "40", "1")

#define DECLARE(name, ...) int name(int argc, char **argv);
PROGRAMS(DECLARE)

#define RUN(name, ...)                                    \
    do {                                                  \
        char *arguments[] = {#name, ##__VA_ARGS__, NULL}; \
        int n = 0;                                        \
                                                          \
        while (arguments[n])                              \
            n++;                                          \
        name(n, arguments);                               \
    } while (0);

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PROGRAMS(RUN)
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all: passed\n");
    MPI_Finalize();
    return 0;
}

/*
 * More messages of all ranks to rank 0 than its memory takes notes of, each of which knows only what it has to
 * (tests/machine/test_mpi.c). A program of its own, as it needs the memory.
 */
#include <mpi.h>

#include "check.h"

enum { EACH = 40 };

static int rank, size;

static void send_all(void)
{
    static MPI_Request r[EACH];
    static int value[EACH];

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < EACH && rank > 0; i++) {
        value[i] = rank * EACH + i;
        MPI_Isend(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Waitall(EACH, r, MPI_STATUSES_IGNORE);
}

static void receive_one(int source, int tag)
{
    MPI_Status s;
    int got;

    MPI_Recv(&got, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &s);
    check_equal(got, s.MPI_SOURCE * EACH + tag);
}

/* A tag after the other, from whoever comes, some of which are probed. */
static void in_order(void)
{
    MPI_Status s;

    send_all();
    for (int i = 0; i < EACH && rank == 0; i++)
        for (int n = 1; n < size; n++) {
            s.MPI_SOURCE = MPI_ANY_SOURCE;
            if (n % 3 == 0)
                MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &s);
            receive_one(s.MPI_SOURCE, i);
        }
    MPI_Finalize();
}

/* A sender after the other, the last message first. */
static void by_sender(void)
{
    send_all();
    for (int n = size - 1; n > 0 && rank == 0; n--)
        for (int i = EACH - 1; i >= 0; i--)
            receive_one(n, i);
    MPI_Finalize();
}

/* The last message of each first: all have to be noted. */
static void from_the_end(void)
{
    send_all();
    for (int i = EACH - 1; i >= 0 && rank == 0; i--)
        for (int n = 1; n < size; n++)
            receive_one(n, i);
    MPI_Finalize();
}

static const struct test_case cases[] = {
    {"in order", in_order}, {"by sender", by_sender}, {"from the end", from_the_end}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

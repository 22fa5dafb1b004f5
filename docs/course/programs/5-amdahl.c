/*
 * Exercise 5: a table is made, and then something is computed of each entry. To complete: sum_of_table. As it is, rank
 * 0 makes the whole table.
 */
#include <mpi.h>
#include <stdio.h>

enum { ENTRIES = 6000, WORK = 60 };

static double table[ENTRIES];

static void make_entries(int first, int end)
{
    for (int i = first; i < end; i++)
        table[i] = 1.0 / (i + 1);
}

static double compute(double x)
{
    double y = x;

    for (int k = 0; k < WORK; k++)
        y = y * x + 1;
    return y;
}

static double sum_of_table(int rank, int size)
{
    int first = (int)((long)ENTRIES * rank / size), end = (int)((long)ENTRIES * (rank + 1) / size);
    double sum = 0, all = 0;

    if (rank == 0)
        make_entries(0, ENTRIES);
    MPI_Bcast(table, ENTRIES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = first; i < end; i++)
        sum += compute(table[i]);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), sum = sum_of_table(rank, size);
    if (rank == 0)
        printf("sum=%.6f\ntime=%.1f us\n", sum, (MPI_Wtime() - start) * 1e6);
    MPI_Finalize();
    return 0;
}

/*
 * Exercise 4: a matrix in one file, row by row, of which each rank has every size-th column. To complete: write_matrix.
 * As it is, each rank writes element by element.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 64, COLUMNS = 64 };

static int mine[ROWS * COLUMNS], all[ROWS * COLUMNS];

static void write_matrix(const char *name, int rank, int size)
{
    int n = 0;
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < ROWS; i++)
        for (int k = rank; k < COLUMNS; k += size)
            MPI_File_write_at(file, (MPI_Offset)((i * COLUMNS + k) * sizeof(int)), &mine[n++], 1, MPI_INT,
                              MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The element of each place, and how many are wrong. */
static int check_matrix(const char *name)
{
    int wrong = 0;
    MPI_Status status;
    MPI_File file;

    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read(file, all, ROWS * COLUMNS, MPI_INT, &status);
    MPI_File_close(&file);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += all[i] != 7 * i + 1;
    return wrong;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "matrix";
    int rank, size, n = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROWS; i++)
        for (int k = rank; k < COLUMNS; k += size)
            mine[n++] = 7 * (i * COLUMNS + k) + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    write_matrix(name, rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - start;
    if (rank == 0)
        printf("wrong=%d\ntime=%.1f us\n", check_matrix(name), took * 1e6);
    MPI_Finalize();
    return 0;
}

/*
 * Copies a file, each rank its share of it, through views of both: every size-th block is a rank's.
 *
 *   mpirun -n 4 ./share_copy FROM TO [BLOCK]
 *
 * Names are what open takes, or "pio:/name" for a PIO file.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int error, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    if (error == MPI_SUCCESS)
        return;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "share_copy: %s: %s\n", name, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, size, block, got;
    MPI_File from, to;
    MPI_Datatype bytes, share;
    MPI_Offset all;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    block = argc > 3 ? atoi(argv[3]) : 16384;
    if (argc < 3 || block < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: share_copy FROM TO [BLOCK]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &from), argv[1]);
    check(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &to), argv[2]);
    check(MPI_File_set_size(to, 0), argv[2]);
    MPI_Type_contiguous(block, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, (MPI_Aint)block * size, &share);
    MPI_Type_commit(&share);
    MPI_File_set_view(from, (MPI_Offset)rank * block, MPI_BYTE, share, "native", MPI_INFO_NULL);
    MPI_File_set_view(to, (MPI_Offset)rank * block, MPI_BYTE, share, "native", MPI_INFO_NULL);
    char *data = malloc((size_t)block);
    double start = MPI_Wtime();
    do {
        check(MPI_File_read(from, data, block, MPI_BYTE, &status), argv[1]);
        MPI_Get_count(&status, MPI_BYTE, &got);
        check(MPI_File_write(to, data, got, MPI_BYTE, &status), argv[2]);
    } while (got == block);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(to, &all);
    if (rank == 0)
        printf("share_copy: %lld bytes in %.3f s\n", (long long)all, MPI_Wtime() - start);
    MPI_File_close(&from);
    MPI_File_close(&to);
    MPI_Finalize();
    return 0;
}

/*
 * A program with MPI and the CFS deadlocks: in a call of MPI after one of the CFS; or, with an argument, in setiomode.
 * What the report says of a node is what the library has told that it waits in.
 */
#include <cfs.h>
#include <fcntl.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int fd = gopen("/cfs/a", O_RDWR | O_CREAT, 1, 0600);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (argc > 1)
        setiomode(fd, 2);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}

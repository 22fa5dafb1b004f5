/*
 * A (BLOCK, BLOCK) matrix of 8-byte numbers on a square of ranks, written by a collective call of Clusterfile, and by
 * MPI_File_write_all, in turn: clf_matrix SIDE. Prints microseconds of the fastest of three each, and what the views
 * took: both by the slowest rank.
 */
#include <clf.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <pattern.h>

#include "check_mpi.h"

static double worst_us(double since)
{
    double own = (MPI_Wtime() - since) * 1e6, worst;

    MPI_Allreduce(&own, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static double start(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int side = atoi(argv[1]), across = 1;
    while ((across + 1) * (across + 1) <= size)
        across++;
    int block = side / across, sizes[2] = {side, side}, sub[2] = {block, block},
        starts[2] = {rank / across * block, rank % across * block};
    size_t bytes = (size_t)block * block * 8;
    double *data = malloc(bytes), clf = 1e30, mpi = 1e30, since, clf_view, mpi_view;
    MPI_Datatype type;
    MPI_Offset size_now;
    MPI_File f;
    struct group all;

    for (int i = 0; i < block * block; i++)
        data[i] = rank + i;
    MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);

    check(group_make(&all, NULL, size) == 0);
    int fd = clf_open("/clf/clf", O_RDWR | O_CREAT, 0666);
    check(fd >= 0 && clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    int64_t row = side * 8l;
    clf_type items = clf_vector(0, block * 8l - 1, row, block, CLF_BYTE);
    since = start();
    check(clf_setview(fd, items, starts[0] * row + starts[1] * 8, row * side) == 0);
    clf_view = worst_us(since);
    MPI_File_open(MPI_COMM_WORLD, "/clf/mpi", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    since = start();
    check_equal(MPI_File_set_view(f, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    mpi_view = worst_us(since);
    for (int i = 0; i < 3; i++) {
        double us;

        since = start();
        check(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
        check_equal(clf_write(fd, data, bytes), bytes);
        us = worst_us(since);
        clf = us < clf ? us : clf;
        since = start();
        check_equal(MPI_File_write_at_all(f, 0, data, block * block, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_SUCCESS);
        us = worst_us(since);
        mpi = us < mpi ? us : mpi;
    }
    MPI_File_get_size(f, &size_now);
    check(size_now >= row * side);
    MPI_File_close(&f);
    clf_close(fd);
    if (rank == 0)
        printf("clf=%.0f mpi=%.0f clf-view=%.0f mpi-view=%.0f\n", clf, mpi, clf_view, mpi_view);
    MPI_Finalize();
    return 0;
}

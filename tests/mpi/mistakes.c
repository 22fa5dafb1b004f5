/*
 * Wrong arguments under MPI_ERRORS_RETURN: the class, and that the next calls work. What another MPI does with these is
 * its own matter, so it does not judge this program.
 */
#include <limits.h>

#include "check_mpi.h"

/* ---- Parts of wrong lengths ---- */

/* The next call of the same kind must not find what this one has left. */
static void long_parts(void)
{
    int own[8], all[64], counts[16], displs[16];

    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        displs[i] = 3 * i;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            own[i] = 100 * round + 10 * rank + i;
        int error =
            MPI_Gatherv(own, rank == 1 && round == 0 ? 3 : 2, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
        check_equal(error, rank == 0 && round == 0 && size > 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        for (int i = 0; i < size && rank == 0 && round > 0; i++)
            check_equal(all[3 * i + 1], 100 * round + 10 * i + 1);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            all[i] = 1000 * round + i;
        int error = MPI_Scatterv(all, counts, displs, MPI_INT, own, rank == 1 && round == 0 ? 1 : 2, MPI_INT, 0,
                                 MPI_COMM_WORLD);
        check_equal(error, rank == 1 && round == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        if (round > 0)
            check_equal(own[1], 1000 * round + 3 * rank + 1);
    }
    if (rank == 0) {
        counts[0] = 1; /* other than it gives itself */
        check_equal(MPI_Gatherv(own, 2, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
        check_equal(MPI_Scatterv(all, counts, displs, MPI_INT, own, 2, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
    }
}

static void no_lists(void)
{
    int value = 0, all[4], one[1] = {1}, zero[1] = {0};
    MPI_Comm c = MPI_COMM_SELF;

    check_equal(MPI_Gatherv(&value, 1, MPI_INT, all, NULL, zero, MPI_INT, 0, c), MPI_ERR_ARG);
    check_equal(MPI_Gatherv(&value, 1, MPI_INT, all, one, NULL, MPI_INT, 0, c), MPI_ERR_ARG);
    check_equal(MPI_Scatterv(all, NULL, zero, MPI_INT, &value, 1, MPI_INT, 0, c), MPI_ERR_ARG);
    check_equal(MPI_Scatterv(all, one, NULL, MPI_INT, &value, 1, MPI_INT, 0, c), MPI_ERR_ARG);
    check_equal(MPI_Allgatherv(&value, 1, MPI_INT, all, NULL, zero, MPI_INT, c), MPI_ERR_ARG);
    check_equal(MPI_Alltoallv(&value, one, NULL, MPI_INT, all, one, zero, MPI_INT, c), MPI_ERR_ARG);
    check_equal(MPI_Alltoallw(&value, one, zero, NULL, all, one, zero, NULL, c), MPI_ERR_ARG);
    check_equal(MPI_Reduce_scatter(&value, all, NULL, MPI_INT, MPI_SUM, c), MPI_ERR_ARG);
    check_equal(MPI_Reduce_scatter(&value, NULL, one, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER);
    check_equal(MPI_Reduce_scatter_block(&value, NULL, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER);
}

/* ---- Counts whose bytes are no int ---- */

static void large_counts(void)
{
    static double data[4];
    int counts[1] = {INT_MAX / 4}, displs[1] = {0};
    MPI_Comm c = MPI_COMM_SELF;

    check_equal(MPI_Bcast(data, INT_MAX / 4, MPI_DOUBLE, 0, c), MPI_ERR_COUNT);
    check_equal(MPI_Send(data, INT_MAX, MPI_DOUBLE, MPI_PROC_NULL, 0, c), MPI_ERR_COUNT);
    check_equal(MPI_Gatherv(data, 1, MPI_DOUBLE, data, counts, displs, MPI_DOUBLE, 0, c), MPI_ERR_COUNT);
    check_equal(MPI_Allreduce(data, data + 2, INT_MAX / 4, MPI_DOUBLE, MPI_SUM, c), MPI_ERR_COUNT);
    if (size > 1) /* each part is short enough, all together are not */
        check_equal(MPI_Allgather(data, 1, MPI_DOUBLE, data, INT_MAX / 8 / size + 1, MPI_DOUBLE, MPI_COMM_WORLD),
                    MPI_ERR_COUNT);
}

/* ---- Handles that are old ---- */

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void fall_silent(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* The only one of its kind is freed, and another takes its place. */
static void old_handles(void)
{
    int in = 1, out = 0;
    MPI_Op old_op, op;
    MPI_Errhandler old_handler, handler;
    MPI_Group world, old_group, group;

    MPI_Op_create(add, 1, &op);
    old_op = op;
    MPI_Op_free(&op);
    MPI_Op_create(add, 1, &op);
    check_equal(MPI_Reduce_local(&in, &out, 1, MPI_INT, old_op), MPI_ERR_OP);
    check_equal(MPI_Reduce_local(&in, &out, 1, MPI_INT, op), MPI_SUCCESS);
    MPI_Op_free(&op);

    MPI_Comm_create_errhandler(fall_silent, &handler);
    old_handler = handler;
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_errhandler(fall_silent, &handler);
    check_equal(MPI_Comm_set_errhandler(MPI_COMM_SELF, old_handler), MPI_ERR_ARG);
    MPI_Errhandler_free(&handler);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &(int){0}, &group);
    old_group = group;
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &(int){0}, &group);
    check_equal(MPI_Group_size(old_group, &out), MPI_ERR_GROUP);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    long_parts();
    no_lists();
    large_counts();
    old_handles();
    end("mistakes");
    return 0;
}

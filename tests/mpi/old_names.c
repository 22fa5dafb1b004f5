/*
 * The names of MPI-1 [15, 16], which other libraries no longer have, and what this one does not support: both without a
 * judge.
 */
#include "check_mpi.h"

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void types(void)
{
    struct {
        char c;
        double d[2];
    } s;
    MPI_Aint at[2], extent, lb, ub;
    int lengths[2] = {1, 2};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, t, u;

    MPI_Address(&s.c, &at[0]);
    MPI_Address(&s.d, &at[1]);
    at[1] -= at[0];
    at[0] = 0;
    MPI_Type_struct(2, lengths, at, types, &t);
    MPI_Type_extent(t, &extent);
    check_equal(extent, sizeof s);
    MPI_Type_hvector(2, 1, 40, t, &u);
    MPI_Type_lb(u, &lb);
    MPI_Type_ub(u, &ub);
    check(lb == 0 && ub == 40 + (MPI_Aint)sizeof s);
    MPI_Type_free(&u);
    MPI_Type_hindexed(2, lengths, at, MPI_INT, &u);
    MPI_Type_extent(u, &extent);
    check_equal(extent, 16);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
}

static void others(void)
{
    MPI_Errhandler h, got;
    int key, flag;
    void *value;

    MPI_Errhandler_create(hear, &h);
    MPI_Errhandler_set(MPI_COMM_SELF, h);
    MPI_Errhandler_get(MPI_COMM_SELF, &got);
    check(got == h);
    MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&h);
    MPI_Errhandler_free(&got);
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_SELF, key, (void *)1);
    MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag);
    check(flag && value == (void *)1);
    MPI_Attr_delete(MPI_COMM_SELF, key);
    MPI_Keyval_free(&key);
}

static void unsupported(void)
{
    int data = 0;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Aint at = 0;
    MPI_Comm child;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_equal(MPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_SELF, &win), MPI_ERR_UNSUPPORTED_OPERATION);
    check_equal(MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_UNSUPPORTED_OPERATION);
    check_equal(MPI_Win_fence(0, win), MPI_ERR_UNSUPPORTED_OPERATION);
    check_equal(MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    check_equal(MPI_Pack_external("external32", &data, 1, MPI_INT, &data, 4, &at), MPI_ERR_UNSUPPORTED_OPERATION);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    types();
    others();
    unsupported();
    end("old_names");
    return 0;
}

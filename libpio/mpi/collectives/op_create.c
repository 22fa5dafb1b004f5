/*
 * Operations of the program [5.9.5].
 */
#include <stdlib.h>

#include "libpio/mpi/base/handles.h"
#include "libpio/mpi/collectives/reduction.h"

struct made {
    MPI_User_function *function;
    bool commutes;
};

static struct handle_table table;

bool mpi_find_made_operation(MPI_Op op, struct reduction *r)
{
    const struct made *m = handle_find(&table, HANDLE_OP, op);

    if (!m)
        return false;
    r->function = m->function;
    r->commutes = m->commutes;
    return true;
}

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    struct made *m;

    MPI_ENTER("Op_create", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!user_fn)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "the function is NULL", 0, 0));
    m = malloc(sizeof *m);
    *op = m ? handle_new(&table, HANDLE_OP, m) : NULL;
    if (!*op) {
        free(m);
        *op = MPI_OP_NULL;
        return mpi_fail_alone(mpi_error(MPI_ERR_NO_MEM, "no memory for an operation", 0, 0));
    }
    *m = (struct made){user_fn, commute != 0};
    return MPI_SUCCESS;
}
MPI_NAME(Op_create);

int PMPI_Op_free(MPI_Op *op)
{
    void *m = handle_find(&table, HANDLE_OP, *op);

    MPI_ENTER("Op_free", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!m)
        return mpi_fail_alone(mpi_error(MPI_ERR_OP, "0x%lx is none that was made", (long)*op, 0));
    handle_free(&table, *op);
    free(m);
    if (table.used == 0)
        handle_drop(&table);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Op_free);

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    const struct made *m = handle_find(&table, HANDLE_OP, op);
    bool predefined = op != MPI_OP_NULL && HANDLE_KIND(op) == HANDLE_OP && HANDLE_INDEX(op) < HANDLE_FIRST;

    MPI_ENTER("Op_commutative", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!m && !predefined)
        return mpi_fail_alone(mpi_error(MPI_ERR_OP, "0x%lx is none", (long)op, 0));
    *commute = m ? m->commutes : op != MPI_REPLACE;
    return MPI_SUCCESS;
}
MPI_NAME(Op_commutative);

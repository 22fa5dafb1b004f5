/*
 * The calls on attributes of communicators [6.7.2], and what every communicator has [8.1.2]. Those of MPI-1 [15, 16]
 * are the same.
 */
#include "libpio/mpi/base/keyvals.h"

/* ---- Predefined functions ---- */

int MPI_COMM_NULL_COPY_FN(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_COMM_DUP_FN(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_COMM_NULL_DELETE_FN(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_SUCCESS;
}

/* ---- Keys ---- */

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy_fn, MPI_Comm_delete_attr_function *delete_fn, int *keyval,
                            void *extra_state)
{
    MPI_ENTER("Comm_create_keyval", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error =
        key_new(KEY_OF_COMM, (key_copy_function *)copy_fn, (key_delete_function *)delete_fn, extra_state, keyval);
    return error == MPI_SUCCESS ? error : mpi_fail_alone(error);
}
MPI_NAME(Comm_create_keyval);

int PMPI_Comm_free_keyval(int *keyval)
{
    MPI_ENTER("Comm_free_keyval", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = key_free(KEY_OF_COMM, keyval);
    return error == MPI_SUCCESS ? error : mpi_fail_alone(error);
}
MPI_NAME(Comm_free_keyval);

/* ---- Values ---- */

/* NULL: the key is not a predefined one. */
static void *predefined(int keyval)
{
    static int tag_ub = 0x7fffffff, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global = 1, size, appnum,
               last_code = MPI_ERR_LASTCODE;

    switch (keyval) {
    case MPI_TAG_UB:
        return &tag_ub;
    case MPI_HOST:
        return &host;
    case MPI_IO:
        return &io;
    case MPI_WTIME_IS_GLOBAL:
        return &wtime_is_global;
    case MPI_UNIVERSE_SIZE:
        size = mpi_world.group.size;
        return &size;
    case MPI_APPNUM:
        return &appnum;
    case MPI_LASTUSEDCODE:
        return mpi_last_code ? mpi_last_code : &last_code;
    default:
        return NULL;
    }
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_set_attr", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    return mpi_leave(c, attribute_set(&c->attributes, KEY_OF_COMM, comm, keyval, value));
}
MPI_NAME(Comm_set_attr);

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    void *known = predefined(keyval);

    MPI_ENTER("Comm_get_attr", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *flag = known != NULL;
    if (known)
        *(void **)value = known;
    return known ? MPI_SUCCESS : mpi_leave(c, attribute_find(c->attributes, KEY_OF_COMM, keyval, value, flag));
}
MPI_NAME(Comm_get_attr);

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_delete_attr", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    return mpi_leave(c, attribute_delete(&c->attributes, KEY_OF_COMM, comm, keyval));
}
MPI_NAME(Comm_delete_attr);

int attributes_copy(const struct mpi_comm *from, struct mpi_comm *to)
{
    int error = attributes_copy_list(from->attributes, from->handle, &to->attributes);

    if (error != MPI_SUCCESS)
        attributes_delete_list(&to->attributes, to->handle);
    return error;
}

int attributes_delete(struct mpi_comm *c)
{
    return attributes_delete_list(&c->attributes, c->handle);
}

/* ---- The names of MPI-1 ---- */

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}
MPI_NAME(Keyval_create);

int PMPI_Keyval_free(int *keyval)
{
    return PMPI_Comm_free_keyval(keyval);
}
MPI_NAME(Keyval_free);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return PMPI_Comm_set_attr(comm, keyval, value);
}
MPI_NAME(Attr_put);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}
MPI_NAME(Attr_get);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}
MPI_NAME(Attr_delete);

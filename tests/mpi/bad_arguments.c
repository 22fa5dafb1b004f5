/*
 * One bad argument after the other [8.4]: each call returns the class that the standard names for it, and what it would
 * have changed stays as it is. Another MPI has other opinions, so it does not judge this program.
 */
#include "check_mpi.h"

#define C MPI_COMM_WORLD

/* The class that a call gives. */
#define IS(call, class) check_equal(call, MPI_ERR_##class)

static MPI_Comm no_comm(void)
{
    MPI_Comm c;

    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm old = c;
    MPI_Comm_free(&c);
    return old;
}

static MPI_Datatype no_type(void)
{
    MPI_Datatype t;

    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Datatype old = t;
    MPI_Type_free(&t);
    return old;
}

static void messages(void)
{
    int x[4] = {7, 7, 7, 7}, flag = 9;
    MPI_Datatype raw, freed = no_type();
    MPI_Comm gone = no_comm();
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Message m = MPI_MESSAGE_NULL;

    MPI_Type_contiguous(2, MPI_INT, &raw); /* not committed */
    IS(MPI_Send(x, 1, MPI_INT, 0, 0, gone), COMM);
    IS(MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), COMM);
    IS(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, C), RANK);
    IS(MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, C), TAG);
    IS(MPI_Send(x, 1, raw, 0, 0, C), TYPE);
    IS(MPI_Send(x, 1, freed, 0, 0, C), TYPE);
    IS(MPI_Send(NULL, 1, MPI_INT, 0, 0, C), BUFFER);
    IS(MPI_Bsend(x, 4, MPI_INT, 0, 0, C), BUFFER);
    IS(MPI_Isend(x, -3, MPI_INT, 0, 0, C, &r), COUNT);
    IS(MPI_Isend(x, 1, MPI_INT, 0, 0, C, NULL), ARG);
    IS(MPI_Issend(x, 1, MPI_INT, size, 0, C, &r), RANK);
    IS(MPI_Recv(x, 1, MPI_INT, -5, 0, C, MPI_STATUS_IGNORE), RANK);
    IS(MPI_Recv(x, 1, MPI_INT, 0, -5, C, MPI_STATUS_IGNORE), TAG);
    IS(MPI_Irecv(x, 1, freed, 0, 0, C, &r), TYPE);
    IS(MPI_Recv_init(x, -1, MPI_INT, 0, 0, C, &r), COUNT);
    IS(MPI_Sendrecv(x, 1, MPI_INT, 0, 0, x + 1, 1, MPI_INT, size, 0, C, MPI_STATUS_IGNORE), RANK);
    IS(MPI_Probe(size, 0, C, MPI_STATUS_IGNORE), RANK);
    IS(MPI_Iprobe(0, -9, C, &flag, MPI_STATUS_IGNORE), TAG);
    IS(MPI_Mrecv(x, 1, MPI_INT, &m, MPI_STATUS_IGNORE), REQUEST);
    IS(MPI_Start(&r), REQUEST);
    IS(MPI_Cancel(&r), REQUEST);
    IS(MPI_Request_free(&r), REQUEST);
    IS(MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE), COUNT);
    check(r == MPI_REQUEST_NULL && flag == 9 && x[0] == 7 && x[1] == 7);
    MPI_Irecv(x, 1, MPI_INT, rank, 1, C, &r);
    MPI_Request old = r;
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    IS(MPI_Wait(&old, MPI_STATUS_IGNORE), REQUEST);
    IS(MPI_Test(&old, &flag, MPI_STATUS_IGNORE), REQUEST);
    MPI_Type_free(&raw);
}

static void type_calls(void)
{
    MPI_Datatype t = MPI_INT, freed = no_type(), fixed = MPI_INT;
    int n, at = 0;
    char room[8];

    IS(MPI_Type_contiguous(-1, MPI_INT, &t), COUNT);
    IS(MPI_Type_contiguous(1, freed, &t), TYPE);
    IS(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), COUNT);
    IS(MPI_Type_vector(1, -1, 1, MPI_INT, &t), ARG);
    IS(MPI_Type_indexed(1, (int[]){-1}, (int[]){0}, MPI_INT, &t), ARG);
    IS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){3}, (int[]){2}, MPI_ORDER_C, MPI_INT, &t), ARG);
    IS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){3}, (int[]){0}, 77, MPI_INT, &t), ARG);
    IS(MPI_Type_create_darray(2, 2, 1, (int[]){4}, (int[]){MPI_DISTRIBUTE_BLOCK}, (int[]){MPI_DISTRIBUTE_DFLT_DARG},
                              (int[]){2}, MPI_ORDER_C, MPI_INT, &t),
       ARG);
    IS(MPI_Type_size(freed, &n), TYPE);
    IS(MPI_Type_commit(&freed), TYPE);
    IS(MPI_Type_free(&fixed), TYPE);
    IS(MPI_Pack(room, 3, MPI_INT, room, 8, &at, C), TRUNCATE);
    check(t == MPI_INT && fixed == MPI_INT && at == 0);
}

static void collective_calls(void)
{
    int x[64] = {0}, y[64] = {0};
    double d[2] = {0}, e[2];
    MPI_Comm gone = no_comm();
    MPI_Op op = MPI_SUM;

    IS(MPI_Barrier(gone), COMM);
    IS(MPI_Bcast(x, 1, MPI_INT, size, C), ROOT);
    IS(MPI_Bcast(NULL, 1, MPI_INT, 0, C), BUFFER);
    IS(MPI_Gather(x, 1, MPI_INT, y, 1, MPI_INT, -1, C), ROOT);
    IS(MPI_Scatter(x, 1, MPI_INT, y, 1, MPI_INT, size + 1, C), ROOT);
    IS(MPI_Allgather(x, -1, MPI_INT, y, 1, MPI_INT, C), COUNT);
    IS(MPI_Alltoall(x, 1, no_type(), y, 1, MPI_INT, C), TYPE);
    IS(MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, size, C), ROOT);
    IS(MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_BAND, C), OP);
    IS(MPI_Allreduce(x, y, 1, MPI_INT, MPI_MINLOC, C), OP);
    IS(MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, C), OP);
    IS(MPI_Scan(x, y, -1, MPI_INT, MPI_SUM, C), COUNT);
    IS(MPI_Reduce_scatter_block(x, y, -1, MPI_INT, MPI_SUM, C), COUNT);
    IS(MPI_Op_free(&op), OP);
    IS(MPI_Ibcast(x, 1, MPI_INT, size, C, &(MPI_Request){MPI_REQUEST_NULL}), ROOT);
    IS(MPI_Ibcast(x, 1, MPI_INT, 0, C, NULL), ARG);
    IS(MPI_Iallreduce(x, y, 1, MPI_INT, MPI_MAXLOC, C, &(MPI_Request){MPI_REQUEST_NULL}), OP);
    MPI_Barrier(C); /* it is still good */
}

static void of_communicators(void)
{
    MPI_Comm c = MPI_COMM_WORLD, gone = no_comm();
    MPI_Group g, made = MPI_GROUP_NULL;
    int n, key = MPI_KEYVAL_INVALID, dims[2] = {0, 0};

    MPI_Comm_group(C, &g);
    IS(MPI_Comm_rank(gone, &n), COMM);
    IS(MPI_Comm_free(&c), COMM);
    IS(MPI_Comm_split(C, -5, 0, &c), ARG);
    IS(MPI_Comm_set_attr(C, key, &n), KEYVAL);
    IS(MPI_Comm_free_keyval(&key), KEYVAL);
    IS(MPI_Group_incl(g, 1, (int[]){size}, &made), RANK);
    IS(MPI_Group_incl(g, 2, (int[]){0, 0}, &made), RANK);
    IS(MPI_Group_size(MPI_GROUP_NULL, &n), GROUP);
    IS(MPI_Cart_create(C, 1, (int[]){size + 1}, (int[]){0}, 0, &c), ARG);
    IS(MPI_Cart_coords(C, 0, 1, &n), TOPOLOGY);
    IS(MPI_Graph_neighbors_count(C, 0, &n), TOPOLOGY);
    IS(MPI_Dims_create(-1, 2, dims), ARG);
    IS(MPI_Comm_remote_size(C, &n), COMM);
    IS(MPI_Comm_set_errhandler(C, MPI_ERRHANDLER_NULL), ARG);
    check(c == MPI_COMM_NULL && made == MPI_GROUP_NULL); /* what would be made is none */
    MPI_Group_free(&g);
}

static void of_infos(void)
{
    MPI_Info info, gone;
    int n, flag;
    char value[4];

    MPI_Info_create(&info);
    IS(MPI_Info_delete(info, "none"), INFO_NOKEY);
    IS(MPI_Info_set(info, "", "x"), INFO_KEY);
    IS(MPI_Info_get_nthkey(info, 0, value), ARG);
    gone = info;
    MPI_Info_free(&info);
    IS(MPI_Info_get_nkeys(gone, &n), INFO);
    IS(MPI_Info_get(MPI_INFO_NULL, "x", 3, value, &flag), INFO);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    messages();
    type_calls();
    collective_calls();
    of_communicators();
    of_infos();
    end("bad_arguments");
    return 0;
}

/*
 * Nonblocking collective calls [5.12]: several at a time, among messages and blocking calls, ended in any order; their
 * results are those of the blocking calls.
 */
#include "check_mpi.h"

enum { N = 37, MOST = 16 };

/* ---- Each against the blocking one ---- */

static int a[MOST * N], b[MOST * N], c[MOST * N], d[MOST * N];
static int counts[MOST], displs[MOST];

static void set_up(int round)
{
    int at = 0;

    for (int i = 0; i < MOST * N; i++) {
        a[i] = round * 1000003 + rank * 10007 + i * 13;
        b[i] = c[i] = d[i] = -1;
    }
    for (int i = 0; i < size; i++) {
        counts[i] = (i + round) % 5;
        displs[i] = at;
        at += counts[i] + round % 2;
    }
}

static void wait_and_compare(MPI_Request *r)
{
    MPI_Status s;

    check_equal(MPI_Wait(r, &s), MPI_SUCCESS);
    check(*r == MPI_REQUEST_NULL);
    check_equal(memcmp(b, c, sizeof b), 0);
}

static void parts(int round)
{
    int root = round % size;
    MPI_Request r;

    set_up(round);
    MPI_Gather(a, 3, MPI_INT, b, 3, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Igather(a, 3, MPI_INT, c, 3, MPI_INT, root, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Igatherv(a, counts[rank], MPI_INT, c, counts, displs, MPI_INT, root, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Scatter(a, 4, MPI_INT, b, 4, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Iscatter(a, 4, MPI_INT, c, 4, MPI_INT, root, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Scatterv(a, counts, displs, MPI_INT, b, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    MPI_Iscatterv(a, counts, displs, MPI_INT, c, counts[rank], MPI_INT, root, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Allgather(a, 5, MPI_INT, b, 5, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallgather(a, 5, MPI_INT, c, 5, MPI_INT, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallgatherv(a, counts[rank], MPI_INT, c, counts, displs, MPI_INT, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Ialltoall(a, 2, MPI_INT, c, 2, MPI_INT, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
}

/* Rank i sends (i + j) mod 4 elements to rank j. */
static void unequal_exchanges(int round)
{
    int bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request r;

    set_up(round);
    for (int i = 0; i < size; i++) {
        counts[i] = (i + rank) % 4;
        displs[i] = 4 * i;
        bytes[i] = 4 * displs[i];
        types[i] = MPI_INT;
    }
    MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Ialltoallv(a, counts, displs, MPI_INT, c, counts, displs, MPI_INT, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
    MPI_Alltoallw(a, counts, bytes, types, b, counts, bytes, types, MPI_COMM_WORLD);
    MPI_Ialltoallw(a, counts, bytes, types, c, counts, bytes, types, MPI_COMM_WORLD, &r);
    wait_and_compare(&r);
}

/* f(x) = ux + v, by composition: not commutative. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    unsigned *x = in, *y = inout;

    (void)type;
    for (int i = 0; i < *len; i++) {
        y[2 * i + 1] += y[2 * i] * x[2 * i + 1];
        y[2 * i] *= x[2 * i];
    }
}

static void reductions(int round)
{
    int root = round % size;
    MPI_Request r;
    MPI_Op op;
    MPI_Datatype pair;

    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    for (int kind = 0; kind < 2; kind++) {
        MPI_Datatype type = kind ? pair : MPI_INT;
        MPI_Op by = kind ? op : MPI_SUM;

        set_up(round);
        for (int i = 0; i < size; i++)
            counts[i] = (i + round) % 3;
        MPI_Reduce(a, b, N / 2, type, by, root, MPI_COMM_WORLD);
        MPI_Ireduce(a, c, N / 2, type, by, root, MPI_COMM_WORLD, &r);
        wait_and_compare(&r);
        MPI_Allreduce(a, b, N / 2, type, by, MPI_COMM_WORLD);
        MPI_Iallreduce(a, c, N / 2, type, by, MPI_COMM_WORLD, &r);
        wait_and_compare(&r);
        MPI_Reduce_scatter(a, b, counts, type, by, MPI_COMM_WORLD);
        MPI_Ireduce_scatter(a, c, counts, type, by, MPI_COMM_WORLD, &r);
        wait_and_compare(&r);
        MPI_Reduce_scatter_block(a, b, 2, type, by, MPI_COMM_WORLD);
        MPI_Ireduce_scatter_block(a, c, 2, type, by, MPI_COMM_WORLD, &r);
        wait_and_compare(&r);
        MPI_Scan(a, b, N / 2, type, by, MPI_COMM_WORLD);
        MPI_Iscan(a, c, N / 2, type, by, MPI_COMM_WORLD, &r);
        wait_and_compare(&r);
        set_up(round);
        MPI_Exscan(a, b, N / 2, type, by, MPI_COMM_WORLD);
        MPI_Iexscan(a, c, N / 2, type, by, MPI_COMM_WORLD, &r);
        if (rank == 0) /* undefined there */
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        else
            wait_and_compare(&r);
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

/* In place, and of a type with gaps. */
static void other_buffers(void)
{
    MPI_Datatype gaps, dense;
    MPI_Request r;
    int sum = 0;

    MPI_Type_vector(N, 1, 2, MPI_INT, &gaps);
    MPI_Type_contiguous(N, MPI_INT, &dense);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&dense);
    set_up(7);
    for (int i = 0; i < 2 * N; i++)
        b[i] = rank == size - 1 ? i : -1;
    MPI_Ibcast(b, 1, gaps, size - 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        check_equal(b[2 * i], 2 * i);
    check_equal(b[1], rank == size - 1 ? 1 : -1);
    /* A type of one's own on each side */
    MPI_Ibcast(b, rank == 0 ? N : 1, rank == 0 ? MPI_INT : gaps, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N && rank > 0; i++)
        check_equal(b[2 * i], i % 2 == 0 ? i : -1);

    for (int i = 0; i < size; i++)
        c[i] = i == rank ? 100 + i : -1;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        check_equal(c[i], 100 + i);
    for (int i = 0; i < size; i++)
        c[i] = 100 * rank + i;
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        check_equal(c[i], 100 * i + rank);
    for (int i = 0; i < size; i++)
        sum += i;
    c[0] = rank;
    MPI_Iallreduce(MPI_IN_PLACE, c, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    check_equal(c[0], sum);
    MPI_Type_free(&gaps);
    MPI_Type_free(&dense);
}

/* ---- Many at a time ---- */

static void many(void)
{
    enum { CALLS = 60, LONG = 30000 };
    static int value[CALLS], sum[CALLS], data[LONG], all[CALLS][MOST];
    MPI_Request r[4 * CALLS];
    int n = 0, next = (rank + 1) % size, before = (rank + size - 1) % size, got[CALLS], index, flag;

    for (int i = 0; i < LONG; i++)
        data[i] = rank == 0 ? i : 0;
    MPI_Ibcast(data, LONG, MPI_INT, 0, MPI_COMM_WORLD, &r[n++]);
    for (int i = 0; i < CALLS; i++) {
        value[i] = i + rank;
        MPI_Iallreduce(&value[i], &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[n++]);
        MPI_Irecv(&got[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &r[n++]);
        MPI_Iallgather(&value[i], 1, MPI_INT, all[i], 1, MPI_INT, MPI_COMM_WORLD, &r[n++]);
        MPI_Isend(&value[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &r[n++]);
        if (i % 16 == 5)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int left = n - 1; left > n / 2; left--) /* the last ones first */
        MPI_Wait(&r[left], MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++) {
        MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE);
        check(index >= 0);
    }
    do
        MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    for (int i = 0; i < CALLS; i++) {
        check_equal(sum[i], i * size + size * (size - 1) / 2);
        check_equal(got[i], i + before);
        check_equal(all[i][size - 1], i + size - 1);
    }
    for (int i = 0; i < LONG; i++)
        check_equal(data[i], i);
}

/* A barrier that one rank comes to late: the others do something else meanwhile. */
static void late(void)
{
    MPI_Request r, s;
    int flag = 0, value = rank, got = -1;

    if (rank == 0 && size > 1)
        MPI_Recv(&got, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (rank == size - 1 && size > 1) {
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        check_equal(flag, 0);
        MPI_Issend(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &s);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 0 && size > 1)
        check_equal(got, size - 1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int round = 0; round < 5; round++) {
        parts(round);
        unequal_exchanges(round);
        reductions(round);
    }
    other_buffers();
    many();
    late();
    end("nonblocking");
    return 0;
}

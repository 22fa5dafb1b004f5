/*
 * How MPI programs end that do something wrong, each case by itself: tests/machine/test_mpi.c judges the lines. Cases
 * that end well print "passed".
 */
#include <mpi.h>

#include "check.h"

static int rank, size;

static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* ---- Deadlocks ---- */

static void receive_from_each_other(void)
{
    int value;

    begin();
    MPI_Recv(&value, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void synchronous_to_each_other(void)
{
    int value = 0;

    begin();
    MPI_Ssend(&value, 1, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD);
}

static void different_collectives(void)
{
    int value = 0;

    begin();
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void rank_dies(void)
{
    double sum, value = 1;

    begin();
    for (;;)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Rows of two ranks, in descending order. */
static void receive_in_a_row(void)
{
    MPI_Comm row;
    int value, own;

    begin();
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &row);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_rank(row, &own);
    MPI_Recv(&value, 1, MPI_INT, 1 - own, 7, row, MPI_STATUS_IGNORE);
}

static void communicators_run_out(void)
{
    enum { MOST = 1022 }; /* and the two that are predefined */
    static MPI_Comm comm[MOST + 1];
    int n = 0, error, sum;

    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n <= MOST && (error = MPI_Comm_dup(MPI_COMM_WORLD, &comm[n])) == MPI_SUCCESS)
        n++;
    check_equal(error, MPI_ERR_OTHER);
    check_equal(n, MOST);
    check(comm[n] == MPI_COMM_NULL, "a communicator");
    for (int i = 0; i < 3; i++) {
        MPI_Comm_free(&comm[500]);
        check_equal(MPI_Comm_dup(comm[3], &comm[500]), MPI_SUCCESS);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm[500]);
    check_equal(sum, size * (size - 1) / 2);
    check_equal(MPI_Comm_size((MPI_Comm)0x11000400, &n), MPI_ERR_COMM);
    check_equal(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    MPI_Finalize();
}

static void wait_for_any(void)
{
    MPI_Request r;
    int value;

    begin();
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}

/* A collective call that rank 0 does not make, and the others wait for. */
static void wait_for_a_schedule(void)
{
    MPI_Request r;

    begin();
    if (rank > 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}

static void unsupported(void)
{
    MPI_Win win;

    begin();
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

/* Communicators that take part in others: 200 at a time, many times. */
static void many_made_and_freed(void)
{
    enum { AT_A_TIME = 200, TIMES = 5 };
    static MPI_Comm comm[AT_A_TIME];
    MPI_Request r[AT_A_TIME];
    int sum;

    begin();
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < AT_A_TIME; i++)
            MPI_Comm_idup(MPI_COMM_WORLD, &comm[i], &r[i]);
        MPI_Waitall(AT_A_TIME, r, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm[t]);
        check_equal(sum, size * (size - 1) / 2);
        for (int i = 0; i < AT_A_TIME; i++)
            MPI_Comm_free(&comm[i]);
    }
    MPI_Finalize();
}

/* ---- Ends ---- */

static void abort_while_others_wait(void)
{
    begin();
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 42);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static void no_finalize(void)
{
    begin();
    if (rank == 1)
        exit(0);
    MPI_Finalize();
    exit(0);
}

static void before_init(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void after_finalize(void)
{
    int value = 0;

    begin();
    MPI_Finalize();
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    exit(0);
}

static void init_twice(void)
{
    begin();
    MPI_Init(NULL, NULL);
}

/* ---- Errors that are fatal ---- */

static void bad_rank(void)
{
    int value = 0;

    begin();
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void no_buffer(void)
{
    begin();
    if (rank == 0)
        MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void too_long(void)
{
    double values[10] = {0};

    begin();
    if (rank == 0)
        MPI_Send(values, 10, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(values, 5, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

/* Two receives, of which the first one is too short; the text is that of the first. */
static void too_long_of_two(void)
{
    double values[20] = {0};
    MPI_Request r[2];
    MPI_Status s[2];

    begin();
    if (rank == 0) {
        MPI_Send(values, 7, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
        MPI_Send(values, 9, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(values, 3, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(values + 10, 2, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, s);
    }
    MPI_Finalize();
}

static void own_part_differs(void)
{
    int value[2] = {0}, counts[2] = {1, 1}, displs[2] = {0, 1};

    begin();
    MPI_Gatherv(value, 2, MPI_INT, value, counts, displs, MPI_INT, 0, MPI_COMM_SELF);
}

/* Rank 0's memory is full, so what others have sent to it stays in the network, and keeps an error's line there. */
static void full_memory(void)
{
    static char data[4000];
    MPI_Request r[100];

    begin();
    for (size_t n = 1 << 20; n >= 16 && rank == 0; n /= 2)
        while (malloc(n))
            ;
    MPI_Barrier(MPI_COMM_WORLD);
    for (double start = MPI_Wtime(); rank == 2 && MPI_Wtime() < start + 3;)
        ;
    if (rank == 2)
        MPI_Send(data, 1, MPI_INT, -7, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 100 && rank > 0; i++)
        MPI_Isend(data, sizeof data, MPI_CHAR, 0, i, MPI_COMM_WORLD, &r[i]);
    if (rank == 0)
        MPI_Bcast(data, 100, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void counts_differ(void)
{
    int values[100] = {0};

    begin();
    MPI_Bcast(values, rank == 0 ? 100 : 50, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void reduce_of(int count)
{
    int values[8] = {0}, sums[8];

    begin();
    MPI_Allreduce(values, sums, rank == 1 ? count : 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void a_longer_part(void)
{
    reduce_of(4);
}

static void a_shorter_part(void)
{
    reduce_of(2);
}

static void nonblocking_counts_differ(void)
{
    int values[100] = {0};
    MPI_Request r;

    begin();
    MPI_Ibcast(values, rank == 0 ? 100 : 50, MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

static void no_root(void)
{
    int value = 0;
    MPI_Request r[2];

    begin();
    if (rank > 0) {
        MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
}

/* ---- Floods: these end well ---- */

/* Every rank sends to rank 0, which receives all in the opposite order, while another waits for it. */
static void flood(void)
{
    enum { EACH = 40, BYTES = 3000 };
    static char data[EACH][BYTES];
    MPI_Request r[EACH];
    MPI_Status s;

    begin();
    for (int i = 0; i < EACH && rank > 0; i++) {
        memset(data[i], rank + i, BYTES);
        MPI_Isend(data[i], BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    if (rank == 0)
        for (int from = size - 1; from > 0; from--)
            for (int i = EACH - 1; i >= 0; i--) {
                MPI_Recv(data[0], BYTES, MPI_CHAR, from, i, MPI_COMM_WORLD, &s);
                check_equal(data[0][BYTES - 1], (char)(from + i));
            }
    else
        MPI_Waitall(EACH, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
}

/* 10,000 small messages to a rank that receives them last: the last first. */
static void last_first(void)
{
    enum { N = 10000 };
    static MPI_Request r[N];
    static int value[N];
    int got;

    begin();
    for (int i = 0; i < N && rank == 1; i++) {
        value[i] = i;
        MPI_Isend(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    for (int i = N - 1; i >= 0 && rank == 0; i--) {
        MPI_Recv(&got, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_equal(got, i);
    }
    if (rank == 1)
        MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
}

/* Requests that are freed, cancelled, and never waited for. */
static void forgotten(void)
{
    static char data[100000];
    MPI_Request r;

    begin();
    for (int i = 0; i < 50; i++) {
        MPI_Irecv(data, 1, MPI_CHAR, MPI_ANY_SOURCE, 500 + i, MPI_COMM_WORLD, &r);
        if (i % 2)
            MPI_Cancel(&r);
        if (i % 3)
            MPI_Request_free(&r);
        MPI_Isend(data, i * 2000, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD, &r);
        if (i % 3)
            MPI_Request_free(&r);
        MPI_Recv(data, sizeof data, MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}

/* Nobody looks at what they return: ncube run --check does. */
static void returned_errors(void)
{
    int value[4] = {0};
    MPI_File file;

    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_NULL, &rank);
    if (rank == 0)
        MPI_Send(value, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
    else
        MPI_Recv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_File_open(MPI_COMM_WORLD, "/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read(MPI_FILE_NULL, value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

/* The last rank takes another one for the root of the first call, which is that of the second: it may not get the data
 * of that one. */
static void another_root(void)
{
    int value = rank;

    begin();
    for (int root = 0; root < 2; root++) {
        MPI_Bcast(&value, 1, MPI_INT, rank == size - 1 ? 1 : root, MPI_COMM_WORLD);
        check(rank < size - 1, "data of another call");
    }
    MPI_Finalize();
}

enum rooted { SCATTER, SCATTERV, GATHER, GATHERV, REDUCE };

/* The same of others: rank 2 of 4 takes 3 for the root of the first call, and roots are 0 and 1 in turn; whoever has a
 * result has that of the call. */
static void another_root_of(enum rooted call)
{
    int own, all[4], counts[] = {1, 1, 1, 1}, displs[] = {0, 1, 2, 3};
    MPI_Comm c = MPI_COMM_WORLD;

    begin();
    for (int n = 0; n < 14; n++) {
        int root = n == 0 && rank == 2 ? 3 : n % 2;

        for (int i = 0; i < 4; i++)
            all[i] = 100 * n + 10 * rank + i;
        own = 100 * n + rank;
        if (call == SCATTER)
            MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, root, c);
        else if (call == SCATTERV)
            MPI_Scatterv(all, counts, displs, MPI_INT, &own, 1, MPI_INT, root, c);
        else if (call == GATHER)
            MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, c);
        else if (call == GATHERV)
            MPI_Gatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, root, c);
        else
            MPI_Reduce(&own, all, 1, MPI_INT, MPI_SUM, root, c);
        if (call <= SCATTERV)
            check_equal(own, 100 * n + 10 * root + rank);
        else if (rank == root && call <= GATHERV)
            check_equal(all[2], 100 * n + 2);
        else if (rank == root)
            check_equal(all[0], 400 * n + 6);
    }
    MPI_Finalize();
}

static void another_root_scatter(void)
{
    another_root_of(SCATTER);
}

static void another_root_scatterv(void)
{
    another_root_of(SCATTERV);
}

static void another_root_gather(void)
{
    another_root_of(GATHER);
}

static void another_root_gatherv(void)
{
    another_root_of(GATHERV);
}

static void another_root_reduce(void)
{
    another_root_of(REDUCE);
}

static const struct test_case cases[] = {{"receive from each other", receive_from_each_other},
                                         {"synchronous to each other", synchronous_to_each_other},
                                         {"different collectives", different_collectives},
                                         {"receive in a row", receive_in_a_row},
                                         {"communicators run out", communicators_run_out},
                                         {"rank dies", rank_dies},
                                         {"wait for any", wait_for_any},
                                         {"wait for a schedule", wait_for_a_schedule},
                                         {"unsupported", unsupported},
                                         {"returned errors", returned_errors},
                                         {"many made and freed", many_made_and_freed},
                                         {"abort while others wait", abort_while_others_wait},
                                         {"no finalize", no_finalize},
                                         {"before init", before_init},
                                         {"after finalize", after_finalize},
                                         {"init twice", init_twice},
                                         {"bad rank", bad_rank},
                                         {"no buffer", no_buffer},
                                         {"too long", too_long},
                                         {"too long of two", too_long_of_two},
                                         {"own part differs", own_part_differs},
                                         {"full memory", full_memory},
                                         {"counts differ", counts_differ},
                                         {"a longer part", a_longer_part},
                                         {"a shorter part", a_shorter_part},
                                         {"nonblocking counts differ", nonblocking_counts_differ},
                                         {"no root", no_root},
                                         {"another root", another_root},
                                         {"another root, scatter", another_root_scatter},
                                         {"another root, scatterv", another_root_scatterv},
                                         {"another root, gather", another_root_gather},
                                         {"another root, gatherv", another_root_gatherv},
                                         {"another root, reduce", another_root_reduce},
                                         {"flood", flood},
                                         {"last first", last_first},
                                         {"forgotten", forgotten},
                                         {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

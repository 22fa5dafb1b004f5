/*
 * Point-to-point calls [3]: modes, statuses, wildcards, requests of all kinds, probes, cancelled and persistent ones,
 * and messages of a process to itself.
 */
#include "check_mpi.h"

enum { TAG = 5, LONG = 100000 };

static char long_buf[LONG], other[LONG];

static int next(void)
{
    return (rank + 1) % size;
}

static int before(void)
{
    return (rank + size - 1) % size;
}

static int count_of(MPI_Status *s, MPI_Datatype t)
{
    int n;

    check_equal(MPI_Get_count(s, t, &n), MPI_SUCCESS);
    return n;
}

/* ---- Blocking calls ---- */

static void shift_round_the_ring(void)
{
    static const int lengths[] = {0, 1, 7, 8, 64, 65, 1023, 1024, 1025, 16383, 16384, 16385, LONG};
    MPI_Status s;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];

        fill(long_buf, n, (unsigned)(rank + n));
        memset(other, 0, LONG);
        check_equal(
            MPI_Sendrecv(long_buf, n, MPI_BYTE, next(), TAG, other, LONG, MPI_BYTE, before(), TAG, MPI_COMM_WORLD, &s),
            MPI_SUCCESS);
        check(is_filled(other, n, (unsigned)(before() + n)));
        check_equal(count_of(&s, MPI_BYTE), n);
        check_equal(s.MPI_SOURCE, before());
        check_equal(s.MPI_TAG, TAG);
        fill(long_buf, n, (unsigned)(rank + n));
        check_equal(MPI_Sendrecv_replace(long_buf, n, MPI_CHAR, next(), TAG, before(), MPI_ANY_TAG, MPI_COMM_WORLD, &s),
                    MPI_SUCCESS);
        check(is_filled(long_buf, n, (unsigned)(before() + n)));
    }
}

static void send_in_all_modes(void)
{
    static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Rsend,
                                                                                       MPI_Bsend};
    static char room[2 * LONG + 2 * MPI_BSEND_OVERHEAD];
    int bytes = sizeof room;
    void *address = NULL;

    check_equal(MPI_Buffer_attach(room, bytes), MPI_SUCCESS);
    for (int i = 0; i < 4 && size > 1; i++)
        for (int n = 10; n <= LONG; n *= 100) {
            MPI_Request r;
            MPI_Status s;

            if (rank == 0) {
                fill(long_buf, n, (unsigned)i);
                check_equal(MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
                check_equal(send[i](long_buf, n, MPI_BYTE, 1, i, MPI_COMM_WORLD), MPI_SUCCESS);
                memset(long_buf, 0, (size_t)n); /* it may be used again */
            } else if (rank == 1) {
                MPI_Irecv(other, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
                MPI_Send(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD);
                check_equal(MPI_Wait(&r, &s), MPI_SUCCESS);
                check(r == MPI_REQUEST_NULL);
                check_equal(s.MPI_TAG, i);
                check(is_filled(other, n, (unsigned)i));
            }
        }
    check_equal(MPI_Buffer_detach(&address, &bytes), MPI_SUCCESS);
    check(address == room && bytes == sizeof room);
}

static void nobody(void)
{
    MPI_Status s;
    MPI_Request r;
    int flag;

    check_equal(MPI_Send(long_buf, 3, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
    check_equal(MPI_Recv(long_buf, 3, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &s), MPI_SUCCESS);
    check(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count_of(&s, MPI_INT) == 0);
    check_equal(MPI_Irecv(long_buf, 3, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &r), MPI_SUCCESS);
    check_equal(MPI_Wait(&r, &s), MPI_SUCCESS);
    check(s.MPI_SOURCE == MPI_PROC_NULL);
    check_equal(MPI_Iprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &s), MPI_SUCCESS);
    check(flag && s.MPI_SOURCE == MPI_PROC_NULL);
    check_equal(MPI_Wait(&r, &s), MPI_SUCCESS); /* of MPI_REQUEST_NULL */
    check(s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
}

static void to_itself(void)
{
    MPI_Request r[4];
    MPI_Status s[4];

    fill(long_buf, LONG, 3);
    MPI_Isend(long_buf, LONG, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r[0]);
    MPI_Issend(long_buf, 10, MPI_CHAR, 0, 2, MPI_COMM_SELF, &r[1]);
    MPI_Irecv(other, 20, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &r[2]);
    MPI_Irecv(other, LONG, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_SELF, &r[3]);
    check_equal(MPI_Waitall(4, r, s), MPI_SUCCESS);
    check_equal(count_of(&s[2], MPI_CHAR), 10);
    check_equal(count_of(&s[3], MPI_CHAR), LONG);
    check(is_filled(other, LONG, 3));
    check_equal(MPI_Send(long_buf, 100, MPI_CHAR, 0, 3, MPI_COMM_SELF), MPI_SUCCESS);
    memset(long_buf, 0, 100);
    check_equal(MPI_Recv(other, 100, MPI_CHAR, 0, 3, MPI_COMM_SELF, s), MPI_SUCCESS);
    check(is_filled(other, 100, 3));
}

/* ---- Requests ---- */

static void tests_and_free(void)
{
    MPI_Request r = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s;
    int flag, index, count, indices[2], value = rank, got = -1;

    check_equal(MPI_Test(&r, &flag, &s), MPI_SUCCESS);
    check(flag);
    check_equal(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check(flag);
    check_equal(MPI_Testany(2, two, &index, &flag, &s), MPI_SUCCESS);
    check(flag && index == MPI_UNDEFINED);
    check_equal(MPI_Testsome(2, two, &count, indices, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check_equal(count, MPI_UNDEFINED);
    check_equal(MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check_equal(count, MPI_UNDEFINED);

    MPI_Irecv(&got, 1, MPI_INT, before(), 77, MPI_COMM_WORLD, &two[1]);
    check_equal(MPI_Testsome(2, two, &count, indices, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check_equal(count, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&value, 1, MPI_INT, next(), 77, MPI_COMM_WORLD, &r);
    check_equal(MPI_Request_free(&r), MPI_SUCCESS);
    check(r == MPI_REQUEST_NULL);
    for (flag = 0; !flag;)
        check_equal(MPI_Request_get_status(two[1], &flag, &s), MPI_SUCCESS);
    check(two[1] != MPI_REQUEST_NULL && got == before() && s.MPI_SOURCE == before());
    check_equal(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check(flag && two[1] == MPI_REQUEST_NULL);
}

static void cancel(void)
{
    MPI_Request r;
    MPI_Status s;
    int flag, value;

    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1234, MPI_COMM_WORLD, &r);
    check_equal(MPI_Cancel(&r), MPI_SUCCESS);
    check_equal(MPI_Wait(&r, &s), MPI_SUCCESS);
    check_equal(MPI_Test_cancelled(&s, &flag), MPI_SUCCESS);
    check(flag);
    MPI_Status_set_cancelled(&s, 0);
    MPI_Test_cancelled(&s, &flag);
    check(!flag);
}

static void persistent(void)
{
    static int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                               MPI_Request *) = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init};
    static char room[4096];
    MPI_Request r[2];
    MPI_Status s[2];
    int value, got, bytes;
    void *address;

    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 3; i++) {
        check_equal(init[i](&value, 1, MPI_INT, next(), 8, MPI_COMM_WORLD, &r[0]), MPI_SUCCESS);
        check_equal(MPI_Recv_init(&got, 1, MPI_INT, before(), 8, MPI_COMM_WORLD, &r[1]), MPI_SUCCESS);
        check_equal(MPI_Wait(&r[1], s), MPI_SUCCESS); /* not active */
        check(r[1] != MPI_REQUEST_NULL && s->MPI_SOURCE == MPI_ANY_SOURCE);
        for (int round = 0; round < 3; round++) {
            value = 10 * round + rank;
            if (round == 1) {
                MPI_Start(&r[1]);
                MPI_Start(&r[0]);
            } else {
                check_equal(MPI_Startall(2, r), MPI_SUCCESS);
            }
            check_equal(MPI_Waitall(2, r, s), MPI_SUCCESS);
            check_equal(got, 10 * round + before());
            check(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
        }
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
    }
    MPI_Buffer_detach(&address, &bytes);
}

/* ---- Probes ---- */

static void probes(void)
{
    MPI_Message m;
    MPI_Request r;
    MPI_Status s;
    int flag;

    for (int n = 3; n < LONG; n *= 30) {
        fill(long_buf, n, (unsigned)rank);
        MPI_Isend(long_buf, n, MPI_CHAR, next(), 21, MPI_COMM_WORLD, &r);
        check_equal(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        check(s.MPI_SOURCE == before() && s.MPI_TAG == 21 && count_of(&s, MPI_CHAR) == n);
        check_equal(MPI_Recv(other, n, MPI_CHAR, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        check(is_filled(other, n, (unsigned)before()));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);

        MPI_Isend(long_buf, n, MPI_CHAR, next(), 22, MPI_COMM_WORLD, &r);
        check_equal(MPI_Mprobe(before(), 22, MPI_COMM_WORLD, &m, &s), MPI_SUCCESS);
        check_equal(count_of(&s, MPI_CHAR), n);
        check_equal(MPI_Iprobe(before(), 22, MPI_COMM_WORLD, &flag, &s), MPI_SUCCESS);
        check(!flag); /* nobody else finds it */
        check_equal(MPI_Mrecv(other, n, MPI_CHAR, &m, &s), MPI_SUCCESS);
        check(m == MPI_MESSAGE_NULL && is_filled(other, n, (unsigned)before()));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);

        MPI_Isend(long_buf, n, MPI_CHAR, next(), 23, MPI_COMM_WORLD, &r);
        for (flag = 0; !flag;)
            check_equal(MPI_Improbe(before(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s), MPI_SUCCESS);
        MPI_Request receive;
        check_equal(MPI_Imrecv(other, n, MPI_CHAR, &m, &receive), MPI_SUCCESS);
        check_equal(MPI_Wait(&receive, &s), MPI_SUCCESS);
        check(s.MPI_TAG == 23 && is_filled(other, n, (unsigned)before()));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_equal(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &s), MPI_SUCCESS);
    check(m == MPI_MESSAGE_NO_PROC);
    check_equal(MPI_Mrecv(NULL, 0, MPI_INT, &m, &s), MPI_SUCCESS);
    check_equal(s.MPI_SOURCE, MPI_PROC_NULL);
}

/* A rank in a barrier has a receive open, for a message of one that comes to the barrier only when it has arrived. */
static void barrier_makes_progress(void)
{
    MPI_Request r;

    if (rank == 0 && size > 1) {
        MPI_Irecv(other, LONG, MPI_CHAR, size - 1, 31, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        check(is_filled(other, LONG, 9));
    } else {
        fill(long_buf, LONG, 9);
        if (rank == size - 1 && size > 1)
            check_equal(MPI_Ssend(long_buf, LONG, MPI_CHAR, 0, 31, MPI_COMM_WORLD), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void environment(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_PROCESSOR_NAME];
    int version, subversion, n, flag;
    double t = MPI_Wtime();

    check_equal(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    check(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    (void)text;
    check_equal(MPI_Initialized(&flag), MPI_SUCCESS);
    check(flag);
    check_equal(MPI_Finalized(&flag), MPI_SUCCESS);
    check(!flag);
    check_equal(MPI_Query_thread(&n), MPI_SUCCESS);
    check_equal(MPI_Is_thread_main(&flag), MPI_SUCCESS);
    check(flag);
    check(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Wtick() < 1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    environment();
    shift_round_the_ring();
    send_in_all_modes();
    nobody();
    to_itself();
    tests_and_free();
    cancel();
    persistent();
    probes();
    barrier_makes_progress();
    end("points");
    return 0;
}

/* Point-to-point communication [3] (subjects.h). */
#include "subjects.h"

#define WORLD MPI_COMM_WORLD

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

static void modes(void)
{
    int got[4] = {0}, mine = 10 + rank, bytes;
    char *room = malloc(1000 + MPI_BSEND_OVERHEAD), *back;
    MPI_Request request[5];

    for (int i = 0; i < 4; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, left(), i, WORLD, &request[i]);
    MPI_Barrier(WORLD);
    MPI_Buffer_attach(room, 1000 + MPI_BSEND_OVERHEAD);
    MPI_Send(&mine, 1, MPI_INT, right(), 0, WORLD);
    MPI_Bsend(&mine, 1, MPI_INT, right(), 1, WORLD);
    MPI_Rsend(&mine, 1, MPI_INT, right(), 2, WORLD);
    MPI_Issend(&mine, 1, MPI_INT, right(), 3, WORLD, &request[4]);
    MPI_Waitall(5, request, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&back, &bytes);
    say_ints("got", got, 4);
    say(" the buffer is %s, %s", back == room ? "mine" : "another", bytes >= 1000 ? "all of it" : "short");
    free(room);
}

static void probe(void)
{
    int data[7] = {rank, 1, 2, 3, 4, 5, 6}, got[7] = {0}, n;
    MPI_Status s;
    MPI_Request r;

    MPI_Isend(data, rank % 7 + 1, MPI_INT, right(), 5, WORLD, &r);
    MPI_Probe(left(), MPI_ANY_TAG, WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say(" %d from %d, tag %d;", n, s.MPI_SOURCE, s.MPI_TAG);
    MPI_Recv(got, n, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
    say_ints("got", got, n);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void probe_any(void)
{
    int sum = 0, weighed = 0, flag;
    MPI_Status s;

    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 300 + rank, WORLD);
        MPI_Barrier(WORLD); /* nothing else is sent before all is received */
        return;
    }
    for (int i = 1; i < size; i++) {
        int got;

        do
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &s);
        while (!flag);
        MPI_Recv(&got, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
        sum += got;
        weighed += got * (s.MPI_TAG - 300) + (s.MPI_SOURCE == got);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &s);
    say(" %d %d, then %d", sum, weighed, flag);
    MPI_Barrier(WORLD);
}

static void matched_probe(void)
{
    int mine[2] = {rank, 7}, a = -1, b = -1, flag;
    MPI_Message first, second;
    MPI_Request r[3];
    MPI_Status s;

    MPI_Isend(&mine[0], 1, MPI_INT, right(), 1, WORLD, &r[0]);
    MPI_Isend(&mine[1], 1, MPI_INT, right(), 1, WORLD, &r[1]);
    MPI_Mprobe(left(), 1, WORLD, &first, &s);
    MPI_Mprobe(left(), 1, WORLD, &second, MPI_STATUS_IGNORE);
    MPI_Improbe(left(), 1, WORLD, &flag, &(MPI_Message){MPI_MESSAGE_NULL}, MPI_STATUS_IGNORE);
    MPI_Imrecv(&b, 1, MPI_INT, &second, &r[2]);
    MPI_Mrecv(&a, 1, MPI_INT, &first, MPI_STATUS_IGNORE);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    say(" %d then %d, tag %d, more: %d, null: %d;", a, b, s.MPI_TAG, flag, first == MPI_MESSAGE_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &first, &s);
    MPI_Mrecv(&a, 1, MPI_INT, &first, &s);
    say(" of nobody %d", s.MPI_SOURCE == MPI_PROC_NULL);
}

static void persistent(void)
{
    int out = 0, in = 0;
    MPI_Request r[3];

    MPI_Send_init(&out, 1, MPI_INT, right(), 4, WORLD, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left(), 4, WORLD, &r[1]);
    for (int round = 0; round < 3; round++) {
        out = 100 * round + rank;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        say(" %d", in);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE); /* not active: at once */
    say("; active no more, %d", r[0] != MPI_REQUEST_NULL);
    MPI_Ssend_init(&out, 1, MPI_INT, right(), 4, WORLD, &r[2]);
    MPI_Startall(2, &r[1]);
    MPI_Waitall(2, &r[1], MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
    say(" %d %d", in, r[2] == MPI_REQUEST_NULL);
}

static void any_and_some(void)
{
    enum { N = 12 };
    int out[N], in[N], index, seen = 0, left_over = N, list[N], n;
    MPI_Request r[N], s[N];
    MPI_Status status;

    for (int i = 0; i < N; i++) {
        out[i] = i * i + rank;
        MPI_Irecv(&in[i], 1, MPI_INT, left(), N - i, WORLD, &r[i]);
        MPI_Isend(&out[i], 1, MPI_INT, right(), i + 1, WORLD, &s[i]);
    }
    for (int i = 0; i < 4; i++, left_over--) {
        MPI_Waitany(N, r, &index, &status);
        seen += 1 << index;
        say("%s", status.MPI_TAG == N - index ? "" : " wrong tag");
    }
    while (left_over > 0) {
        MPI_Waitsome(N, r, &n, list, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            seen += 1 << list[i];
        left_over -= n;
    }
    MPI_Waitsome(N, r, &n, list, MPI_STATUSES_IGNORE);
    MPI_Waitany(N, r, &index, &status);
    MPI_Waitall(N, s, MPI_STATUSES_IGNORE);
    say(" %x, none: %d %d", (unsigned)seen, n == MPI_UNDEFINED, index == MPI_UNDEFINED);
    say_ints("got", in, N);
}

static void tests_of_requests(void)
{
    int in = -1, flag, index, n, list[2];
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s;

    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    say(" all %d,", flag);
    MPI_Testany(2, r, &index, &flag, &s);
    say(" any %d %d %d,", flag, index == MPI_UNDEFINED, s.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, left(), 8, WORLD, &r[1]);
    MPI_Barrier(WORLD);
    MPI_Testsome(2, r, &n, list, MPI_STATUSES_IGNORE);
    MPI_Test(&r[1], &flag, &s);
    say(" before %d %d;", n, flag);
    MPI_Barrier(WORLD);
    MPI_Send(&rank, 1, MPI_INT, right(), 8, WORLD);
    do
        MPI_Request_get_status(r[1], &flag, &s);
    while (!flag);
    say(" is there: %d, kept: %d,", s.MPI_SOURCE, r[1] != MPI_REQUEST_NULL);
    MPI_Test(&r[1], &flag, &s);
    say(" %d %d %d", flag, in, r[1] == MPI_REQUEST_NULL);
}

static void cancelled(void)
{
    int in = 5, flag;
    MPI_Request r;
    MPI_Status s;

    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 77, WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    say(" %d, still %d", flag, in);
}

static void freed(void)
{
    static int out[2000];
    int in[2000];
    MPI_Request r;

    for (int i = 0; i < 2000; i++)
        out[i] = i ^ rank;
    MPI_Isend(out, 2000, MPI_INT, right(), 2, WORLD, &r);
    MPI_Request_free(&r);
    MPI_Recv(in, 2000, MPI_INT, left(), 2, WORLD, MPI_STATUS_IGNORE);
    say(" %d %d %d", in[0], in[1999], r == MPI_REQUEST_NULL);
    MPI_Barrier(WORLD);
}

static void nobody(void)
{
    int x = 3, n, flag;
    MPI_Status s;
    MPI_Request r;

    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say(" %d %d %d %d,", s.MPI_SOURCE == MPI_PROC_NULL, s.MPI_TAG == MPI_ANY_TAG, n, x);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &r);
    MPI_Wait(&r, &s);
    say(" %d,", s.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Iprobe(MPI_PROC_NULL, 1, WORLD, &flag, &s);
    say(" %d %d", flag, s.MPI_SOURCE == MPI_PROC_NULL);
}

static void both_ways(void)
{
    int a = rank, b = -1, c = rank * rank;
    MPI_Status s;

    MPI_Sendrecv(&a, 1, MPI_INT, right(), 1, &b, 1, MPI_INT, left(), 1, WORLD, &s);
    MPI_Sendrecv_replace(&c, 1, MPI_INT, left(), 2, right(), 2, WORLD, &s);
    say(" %d %d %d", b, c, s.MPI_SOURCE);
    MPI_Sendrecv(&a, 1, MPI_INT, rank > 0 ? rank - 1 : MPI_PROC_NULL, 3, &b, 1, MPI_INT,
                 rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 3, WORLD, &s);
    say(" %d", b);
}

static void elements(void)
{
    int out[3] = {1, 2, 3}, in[8] = {0}, n, e;
    MPI_Count x;
    MPI_Datatype pair;
    MPI_Status s;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(out, 3, MPI_INT, right(), 1, in, 4, pair, left(), 1, WORLD, &s);
    MPI_Get_count(&s, pair, &n);
    MPI_Get_elements(&s, pair, &e);
    MPI_Get_elements_x(&s, pair, &x);
    say(" %d %d %d;", n == MPI_UNDEFINED, e, (int)x);
    MPI_Sendrecv(out, 2, MPI_INT, right(), 1, in, 4, pair, left(), 1, WORLD, &s);
    MPI_Get_count(&s, pair, &n);
    say(" %d", n);
    MPI_Status_set_elements(&s, MPI_INT, 9);
    MPI_Status_set_cancelled(&s, 1);
    MPI_Get_count(&s, MPI_INT, &n);
    MPI_Test_cancelled(&s, &e);
    say(" %d %d", n, e);
    MPI_Type_free(&pair);
}

static void to_oneself(void)
{
    int a[3] = {1 + rank, 2 + rank, 3 + rank}, b[3];
    MPI_Request r[6];

    for (int i = 0; i < 3; i++)
        MPI_Isend(&a[i], 1, MPI_INT, rank, i % 2, MPI_COMM_WORLD, &r[i]);
    MPI_Irecv(&b[0], 1, MPI_INT, rank, 1, WORLD, &r[3]);
    MPI_Irecv(&b[1], 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, &r[4]);
    MPI_Irecv(&b[2], 1, MPI_INT, rank, MPI_ANY_TAG, WORLD, &r[5]);
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    say_ints("got", b, 3);
    MPI_Sendrecv(&a[0], 1, MPI_INT, 0, 0, &b[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    say(" %d", b[0]);
}

static void empty_messages(void)
{
    int n = -1, x = 8;
    MPI_Status s;
    MPI_Request r[2];

    MPI_Isend(&x, 0, MPI_INT, right(), 1, WORLD, &r[0]);
    MPI_Isend(&x, 1, MPI_INT, right(), 1, WORLD, &r[1]);
    MPI_Recv(&x, 1, MPI_INT, left(), 1, WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say(" %d", n);
    MPI_Recv(&x, 1, MPI_INT, left(), 1, WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say(" %d", n);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void too_long(void)
{
    int out[4] = {1, 2, 3, 4}, in[2] = {0}, error;
    MPI_Request r[1];

    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(out, 4, MPI_INT, right(), 1, WORLD, &r[0]);
    error = MPI_Recv(in, 2, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    say(" %s", name_of_class(error));
    MPI_Barrier(WORLD);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void bad_arguments(void)
{
    int x = 0;
    MPI_Datatype t;

    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    say(" %s", name_of_class(MPI_Send(&x, -1, MPI_INT, 0, 0, WORLD)));
    say(" %s", name_of_class(MPI_Send(&x, 1, MPI_INT, size, 0, WORLD)));
    say(" %s", name_of_class(MPI_Send(&x, 1, MPI_INT, 0, -7, WORLD)));
    say(" %s", name_of_class(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, WORLD)));
    say(" %s", name_of_class(MPI_Send(&x, 1, t, 0, 0, WORLD)));
    say(" %s", name_of_class(MPI_Recv(&x, 1, MPI_INT, size, 0, WORLD, MPI_STATUS_IGNORE)));
    say(" %s", name_of_class(MPI_Bcast(&x, 1, MPI_INT, -1, WORLD)));
    say(" %s", name_of_class(MPI_Comm_size(MPI_COMM_NULL, &x)));
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&t);
}

static void no_overtaking(void)
{
    static char large[30000];
    int got[6], n = 0;
    MPI_Request r[6];
    MPI_Status s;
    static const int lengths[6] = {4, 30000, 8, 20000, 0, 100};

    for (int i = 0; i < 6; i++)
        MPI_Isend(large, lengths[i], MPI_CHAR, right(), 6, WORLD, &r[i]);
    for (int i = 0; i < 6; i++) {
        static char in[30000];

        MPI_Recv(in, 30000, MPI_CHAR, left(), i % 2 ? 6 : MPI_ANY_TAG, WORLD, &s);
        MPI_Get_count(&s, MPI_CHAR, &got[n++]);
    }
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    say_ints("lengths", got, n);
}

const struct subject points[] = {{"modes", modes},
                                 {"probe", probe},
                                 {"probe any", probe_any},
                                 {"matched probe", matched_probe},
                                 {"persistent requests", persistent},
                                 {"waitany, waitsome", any_and_some},
                                 {"tests", tests_of_requests},
                                 {"cancel", cancelled},
                                 {"freed request", freed},
                                 {"MPI_PROC_NULL", nobody},
                                 {"sendrecv", both_ways},
                                 {"elements", elements},
                                 {"to oneself", to_oneself},
                                 {"empty messages", empty_messages},
                                 {"too long", too_long},
                                 {"bad arguments", bad_arguments},
                                 {"order", no_overtaking},
                                 {NULL, NULL}};

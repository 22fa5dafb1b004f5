/*
 * Random messages, checked against the rules of [3.5] by what all ranks know: every rank draws all messages of a round
 * and all receives for them.
 *
 *     random_points ROUNDS SEED
 *
 * A receive must get the oldest message of its source that it matches, and that no receive that was posted before has
 * got. So that all find a message whatever the order, the receives of a rank are of one scheme.
 */
#include "check_mpi.h"

#ifndef BYTES_MAX
#define BYTES_MAX 40000
#endif

enum { MESSAGES_MAX = 200, TAGS = 4 };

enum scheme { EXACT, ANY_SOURCE, ANY_TAG, ANY_BOTH, SCHEMES };

struct message {
    int from, to, tag, bytes, mode;
    int got; /* by a receive */
};

static struct message all[MESSAGES_MAX];
static int messages;
static enum scheme scheme[64]; /* of each rank */
static char *buffer;           /* attached */

static int draw_bytes(uint64_t *state)
{
    switch (draw(state) % 6) {
    case 0:
        return 0;
    case 1:
        return (int)(draw(state) % BYTES_MAX);
    case 2:
        return (int)((BYTES_MAX > 16390 ? 16380 : 1020) + draw(state) % 10); /* about where messages begin to ask */
    default:
        return (int)(draw(state) % 100);
    }
}

static void draw_round(uint64_t *state)
{
    messages = 1 + (int)(draw(state) % MESSAGES_MAX);
    for (int i = 0; i < messages; i++)
        all[i] = (struct message){.from = (int)(draw(state) % (unsigned)size),
                                  .to = (int)(draw(state) % (unsigned)size),
                                  .tag = (int)(draw(state) % TAGS),
                                  .bytes = draw_bytes(state),
                                  .mode = (int)(draw(state) % 4)};
    for (int r = 0; r < size; r++)
        scheme[r] = (enum scheme)(draw(state) % SCHEMES);
}

struct receive {
    int source, tag;
    MPI_Request request;
    MPI_Status status;
    char *data;
};

static struct receive receives[MESSAGES_MAX];
static int posted;

static void post(const struct message *m)
{
    struct receive *r = &receives[posted++];

    r->source = scheme[rank] == ANY_SOURCE || scheme[rank] == ANY_BOTH ? MPI_ANY_SOURCE : m->from;
    r->tag = scheme[rank] == ANY_TAG || scheme[rank] == ANY_BOTH ? MPI_ANY_TAG : m->tag;
    r->data = malloc(BYTES_MAX + 1);
    check_equal(MPI_Irecv(r->data, BYTES_MAX, MPI_CHAR, r->source, r->tag, MPI_COMM_WORLD, &r->request), MPI_SUCCESS);
}

/* The receives of a rank, in an order of its own. */
static void post_some(int *order, int n, int *at, int until)
{
    for (; *at < n && *at < until; (*at)++)
        post(&all[order[*at]]);
}

static MPI_Request sends[MESSAGES_MAX];
static char *sent[MESSAGES_MAX];
static int sends_begun;

static void send_one(int i)
{
    static int (*const begin_send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                     MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Isend, MPI_Ibsend};
    const struct message *m = &all[i];
    char *data = malloc((size_t)m->bytes + 1);

    fill(data, m->bytes, (unsigned)i);
    begin_send[m->mode](data, m->bytes, MPI_CHAR, m->to, m->tag, MPI_COMM_WORLD, &sends[sends_begun]);
    sent[sends_begun++] = data;
}

/* The message that a receive has to have got, judging by its status. */
static struct message *find_expected(const struct receive *r)
{
    for (int i = 0; i < messages; i++) {
        struct message *m = &all[i];

        if (m->to == rank && m->from == r->status.MPI_SOURCE && !m->got && (r->tag == MPI_ANY_TAG || m->tag == r->tag))
            return m;
    }
    return NULL;
}

static void judge(void)
{
    for (int i = 0; i < posted; i++) {
        struct receive *r = &receives[i];
        struct message *m = find_expected(r);
        int count;

        check(m != NULL);
        check_equal(r->status.MPI_TAG, m->tag);
        MPI_Get_count(&r->status, MPI_CHAR, &count);
        check_equal(count, m->bytes);
        check(is_filled(r->data, m->bytes, (unsigned)(m - all)));
        m->got = 1;
        free(r->data);
    }
}

static void complete(uint64_t *state)
{
    MPI_Request request[MESSAGES_MAX];
    MPI_Status status[MESSAGES_MAX];
    int index[MESSAGES_MAX], n, left = posted, flag;

    for (int i = 0; i < posted; i++)
        request[i] = receives[i].request;
    switch (draw(state) % 4) {
    case 0:
        check_equal(MPI_Waitall(posted, request, status), MPI_SUCCESS);
        for (int i = 0; i < posted; i++)
            receives[i].status = status[i];
        break;
    case 1:
        for (; left > 0; left--) {
            check_equal(MPI_Waitany(posted, request, &n, status), MPI_SUCCESS);
            receives[n].status = status[0];
        }
        check_equal(MPI_Waitany(posted, request, &n, status), MPI_SUCCESS);
        check_equal(n, MPI_UNDEFINED);
        break;
    case 2:
        while (left > 0) {
            check_equal(MPI_Waitsome(posted, request, &n, index, status), MPI_SUCCESS);
            for (int i = 0; i < n; i++)
                receives[index[i]].status = status[i];
            left -= n;
        }
        break;
    default:
        while (left > 0) {
            check_equal(MPI_Testany(posted, request, &n, &flag, status), MPI_SUCCESS);
            check(flag || n == MPI_UNDEFINED);
            if (flag && n != MPI_UNDEFINED) {
                receives[n].status = status[0];
                left--;
            }
        }
    }
    check_equal(MPI_Waitall(sends_begun, sends, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < sends_begun; i++)
        free(sent[i]);
}

static long play(uint64_t *state)
{
    uint64_t own = draw(state) + 977u * (unsigned)rank;
    int order[MESSAGES_MAX], n = 0, at = 0;
    long bytes = 0;

    draw_round(state);
    posted = sends_begun = 0;
    for (int i = 0; i < messages; i++)
        if (all[i].to == rank)
            order[n++] = i;
    for (int i = n - 1; i > 0; i--) {
        int other = (int)(draw(&own) % (unsigned)(i + 1)), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < messages; i++) {
        bytes += all[i].bytes;
        if (draw(&own) % 4 == 0)
            post_some(order, n, &at, at + 1 + (int)(draw(&own) % 8));
        if (all[i].from == rank)
            send_one(i);
    }
    post_some(order, n, &at, n);
    complete(&own);
    judge();
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10, bytes = MESSAGES_MAX * (BYTES_MAX + MPI_BSEND_OVERHEAD);
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    long sum = 0;
    void *detached;

    begin(&argc, &argv);
    buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    for (int i = 0; i < rounds; i++)
        sum += play(&state);
    MPI_Buffer_detach(&detached, &bytes);
    check(detached == buffer);
    free(buffer);
    if (rank == 0)
        printf("%d rounds, %ld bytes\n", rounds, sum);
    end("random_points");
    return 0;
}

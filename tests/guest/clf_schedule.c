/*
 * Collective calls of Clusterfile in which members begin with different parts of the file:
 *
 *   clf_schedule orders   more parts than a process has requests, which members have used to different degrees; members
 *                         with much, little and nothing to move
 *   clf_schedule spent    a member has no request left
 *   clf_schedule never    a member never calls
 *   clf_schedule ahead    most members begin their next call while others are in the one before
 *   clf_schedule full     the volume of the file becomes full
 *   clf_schedule server   an I/O node dies between two calls or in one
 *
 * A line for each check that fails; each node prints what it has if it must not wait for the others at the end.
 */
#include <fcntl.h>
#include <group.h>
#include <nio.h>
#include <nrequest.h>
#include <nself.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_clf.h"

#define VIEW_BYTES 700
#define MUCH       600000
#define HELD_MOST  63
#define ASKED_MOST 64     /* requests of a process at a time */
#define NO_REQUEST 0x805f /* of Clusterfile's numbers */

static struct group all;
static unsigned char *mine, *got;

static unsigned char byte_of(int node, int at)
{
    return (unsigned char)(node * 50 + at * 7 + at / 251);
}

/* Every node sees every so many pieces of 700 bytes. */
static struct pattern *pieces(void)
{
    char text[40];

    sprintf(text, "cyclic %d %d", VIEW_BYTES, nodes);
    return parse(text);
}

static int open_together(const char *name, const char *layout, int servers, const struct pattern *view)
{
    struct pattern *of_file = layout ? parse(layout) : NULL;
    int fd = own == 0 ? clf_create(name, O_RDWR, 0640, of_file, &(struct clf_place){NULL, servers, 0}) : -1;

    nsync(1);
    if (own != 0)
        fd = clf_open(name, O_RDWR);
    CHECK(fd >= 0);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_setpattern(fd, view, own) == 0);
    pattern_free(of_file);
    return fd;
}

static long move_together(int fd, bool writes, unsigned char *bytes, int n)
{
    if (clf_lseek(fd, 0, SEEK_SET) < 0 || clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) < 0)
        return -1;
    return writes ? clf_write(fd, bytes, (size_t)n) : clf_read(fd, bytes, (size_t)n);
}

/* ---- Orders ---- */

/* Requests that have not been ended, though their server has refused them: so many fewer are left for the file. */
static int hold_requests(long *number, int n)
{
    const int head = 0;
    int fd = open("//df00/held", O_RDWR | O_CREAT, 0600);

    for (int i = 0; i < n; i++)
        number[i] = requeststart(ionode(fd), NO_REQUEST, &head, sizeof head, NULL, 0);
    CHECK(n == 0 || number[n - 1] > 0);
    CHECK(requesttest(0) == ASKED_MOST - n);
    return fd;
}

static void end_requests(const long *number, int n, int fd)
{
    for (int i = 0; i < n; i++)
        CHECK(requestend(number[i], NULL, 0, NULL, 0) == -ENOSYS);
    close(fd);
}

/* Node 0 has read the whole file: the first n bytes of node `of` are where its view has them. */
static void expect_bytes(const unsigned char *file, int of, int n)
{
    int at = 0;

    while (at < n && file[(at / VIEW_BYTES * nodes + of) * VIEW_BYTES + at % VIEW_BYTES] == byte_of(of, at))
        at++;
    CHECK(at == n);
}

static void look(const char *name, const int *n)
{
    const long room = (long)(MUCH / VIEW_BYTES + 1) * VIEW_BYTES * nodes;
    unsigned char *file = calloc(1, (size_t)room);
    int fd = clf_open(name, O_RDONLY);

    CHECK(file && clf_read(fd, file, (size_t)room) > 0);
    for (int i = 0; i < nodes; i++)
        expect_bytes(file, i, n[i]);
    free(file);
    clf_close(fd);
}

/* held: of each node, in turn. */
static void write_all(const char *name, const char *layout, const int held[4])
{
    const int bytes[] = {MUCH, 0, 5000, 70001, 3 * VIEW_BYTES};
    struct pattern *view = pieces();
    long number[HELD_MOST];
    int n[64];

    for (int i = 0; i < nodes; i++)
        n[i] = bytes[i % 5];
    int fd = open_together(name, layout, 0, view), other = hold_requests(number, held[own % 4]);
    for (int i = 0; i < 2; i++) /* the second call is made by some while others are in the first */
        CHECK(move_together(fd, true, mine, n[own]) == n[own]);
    memset(got, 0, MUCH);
    CHECK(move_together(fd, false, got, n[own]) == n[own] && memcmp(mine, got, (size_t)n[own]) == 0);
    end_requests(number, held[own % 4], other);
    CHECK(clf_close(fd) == 0);
    nsync(2);
    if (own == 0) {
        look(name, n);
        CHECK(clf_unlink(name) == 0);
    }
    nsync(2);
    pattern_free(view);
}

static void orders(void)
{
    static const int none[4] = {0, 0, 0, 0}, some[4] = {20, 62, 0, 41}, most[4] = {HELD_MOST, 60, 63, 1};

    write_all("/clf/stripes", NULL, none);
    write_all("/clf/61", "cyclic 500 61", none);
    write_all("/clf/61some", "cyclic 500 61", some);
    write_all("/clf/61most", "cyclic 500 61", most);
    write_all("/clf/130", "cyclic 300 130", some);
}

/* ---- No request left ---- */

/* A member that is refused, as all its requests are the program's own, has sent nothing: it makes the calls again, for
 * which the others wait. */
static void without_requests(void)
{
    struct pattern *view = pieces();
    int fd = open_together("/clf/spent", "cyclic 500 61", 0, view), n = 5000;
    long number[ASKED_MOST];

    if (own == 1) {
        int other = hold_requests(number, ASKED_MOST);

        for (int writes = 1; writes >= 0; writes--) {
            errno = 0;
            CHECK(move_together(fd, writes, writes ? mine : got, n) == -1 && errno == EAGAIN);
        }
        end_requests(number, ASKED_MOST, other);
    }
    CHECK(move_together(fd, true, mine, n) == n);
    CHECK(move_together(fd, false, got, n) == n && memcmp(mine, got, (size_t)n) == 0);
    CHECK(clf_close(fd) == 0);
    pattern_free(view);
}

/* ---- A member that never calls ---- */

/* The first one waits in nread instead; WAY: 1: the call has two phases. */
static void never_calls(int phases)
{
    const struct clf_method two_phases = {.way = CLF_WAY_TWO_PHASE};
    struct pattern *view = pieces();
    int fd = open_together("/clf/never", NULL, 0, view), type = 99, source = -1;

    CHECK(!phases || clf_fcntl(fd, CLF_F_METHOD, &two_phases) == 0);
    if (own == 0)
        nread(got, 1, &source, &type, NULL);
    move_together(fd, phases, mine, 5000);
}

/* ---- Members that are ahead ---- */

/* Two members take longer: the others' next writes wait at the server, or are sent again if it has no memory. */
static void ahead(void)
{
    const int turn = 262144, first = own >= nodes - 2 ? MUCH : 100;
    struct pattern *view = pieces();
    int fd = open_together("/clf/ahead", NULL, 1, view);

    for (int i = 0; i < 2; i++) {
        CHECK(move_together(fd, true, mine, first) == first);
        CHECK(move_together(fd, true, mine, turn) == turn);
        CHECK(move_together(fd, false, got, first) == first && memcmp(mine, got, (size_t)first) == 0);
        CHECK(move_together(fd, false, got, turn) == turn && memcmp(mine, got, (size_t)turn) == 0);
    }
    CHECK(clf_close(fd) == 0);
    pattern_free(view);
}

/* ---- A full volume ---- */

/* What a call says to have written is there. */
static void fill_volume(void)
{
    struct pattern *view = pieces();
    int fd = open_together("/clf/full", NULL, 1, view);
    long n = MUCH, written = 0;
    int calls = 0;

    for (; n == MUCH && calls < 40; calls++) {
        CHECK(clf_lseek(fd, written, SEEK_SET) == written && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
        n = clf_write(fd, mine, MUCH);
        CHECK(n >= 0 || errno == ENOSPC);
        written += n > 0 ? n : 0;
    }
    CHECK(calls > 1 && calls < 40);
    CHECK(clf_close(fd) == 0); /* others may have room for one call more */
    nsync(2);
    fd = clf_open("/clf/full", O_RDONLY);
    CHECK(clf_setpattern(fd, view, own) == 0);
    for (long at = 0; at < written; at += n) {
        n = clf_read(fd, got, MUCH);
        if (n <= 0 || memcmp(got, mine, (size_t)(written - at < n ? written - at : n)) != 0) {
            int q = 0;
            while (q < n && got[q] == mine[q])
                q++;
            printf("node %d at %ld of %ld n %ld first wrong %d is %d\n", own, at, written, n, q, got[q]);
        }
        if (!CHECK(n > 0 && memcmp(got, mine, (size_t)(written - at < n ? written - at : n)) == 0))
            break;
    }
    CHECK(clf_close(fd) == 0);
    nsync(2);
    CHECK(own != 0 || clf_unlink("/clf/full") == 0);
    nsync(2);
    pattern_free(view);
}

/* ---- An I/O node that dies ---- */

static void server_dies(void)
{
    struct pattern *view = pieces();
    int fd = open_together("/clf/dies", "cyclic 500 61", 0, view), calls = 0;
    long n;

    do
        n = move_together(fd, calls % 2 == 0, calls % 2 == 0 ? mine : got, 100000);
    while (n == 100000 && ++calls < 1000);
    CHECK(calls > 0 && calls < 1000 && (n >= 0 || errno == EHOSTUNREACH || errno == EHOSTDOWN || errno == ETIMEDOUT));
    clf_close(fd);
    if (failed == 0)
        printf("node %d passed\n", own);
    exit(failed > 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    whoami(&own, &(int){0}, &(int){0}, &(int){0});
    nodes = ncubesize();
    mine = malloc(MUCH);
    got = malloc(MUCH);
    for (int i = 0; i < MUCH; i++)
        mine[i] = byte_of(own, i);
    group_make(&all, NULL, nodes);
    if (strcmp(what, "orders") == 0)
        orders();
    else if (strcmp(what, "spent") == 0)
        without_requests();
    else if (strcmp(what, "never") == 0)
        never_calls(argc > 2);
    else if (strcmp(what, "ahead") == 0)
        ahead();
    else if (strcmp(what, "full") == 0)
        fill_volume();
    else
        server_dies();
    nsync(1);
    if (failed == 0 && own == 0)
        printf("passed\n");
    return failed > 0;
}

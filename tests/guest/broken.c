/* Programs on a machine with faults. Each case belongs to the faults of its row in tests/machine/test_broken.c. */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <nmon.h>
#include <ntime.h>
#include <unistd.h>

#include "check.h"

#define TYPE 5
#define EACH 12 /* messages from each node to each */

static void wait_until_ms(double ms)
{
    while (amicclk() < ms * 1000)
        ;
}

/* ---- Noise ---- */

/* 0 to 3000 bytes that say who sent them as which. */
static int make_message(char *buf, int from, int to, int k)
{
    int n = 12 + (from * 37 + to * 101 + k * 251) % 3000;

    fill_pattern(buf, (size_t)n, (uint32_t)(from * 10000 + to * 100 + k));
    return n;
}

static void expect_message(int from, int k)
{
    static char buf[4096], expected[4096];
    int src = from, type = TYPE, n = make_message(expected, from, own_node(), k);

    check_equal(nread(buf, sizeof buf, &src, &type, NULL), n);
    check(memcmp(buf, expected, (size_t)n) == 0, "message %d from %d is not as sent", k, from);
}

/* Every node to every node: none lost, doubled, altered or overtaken; and some were sent again. */
static void noise(void)
{
    static char buf[4096];
    int nodes = node_count(), me = own_node(), type = TYPE + 1;
    struct nmonitor m;
    long resent = 0, sum = 0;

    for (int k = 0; k < EACH; k++)
        for (int to = 0; to < nodes; to++)
            check_equal(nwrite(buf, make_message(buf, me, to, k), to, TYPE, NULL), 0);
    for (int from = 0; from < nodes; from++)
        for (int k = 0; k < EACH; k++)
            expect_message(from, k);
    check_equal(nsync(TYPE + 2), 0);
    int none = TYPE; /* of other types the next may be here already */
    check_equal(ntest(NULL, &none), -N_EAGAIN);
    check_equal(nmonitor(&m), 0);
    resent = (long)m.resent;
    check_equal(nwrite(&resent, sizeof resent, 0, type, NULL), 0);
    for (int from = 0; from < nodes && me == 0; from++, sum += resent)
        check_equal(nread(&resent, sizeof resent, &from, &type, NULL), sizeof resent);
    check(me != 0 || sum > 0, "no message was sent again");
}

/* ---- Links and nodes that die ---- */

/* Sends to a node that it cannot reach; the time until it knew, in cycles. */
static long cycles_to_failure(int to)
{
    struct nmonitor m;

    check_equal(nwrite("lost", 4, to, TYPE, NULL), 0);
    do
        check_equal(nmonitor(&m), 0);
    while (m.sent_done_cycles == 0);
    check_equal(nwrite("", 0, own_node(), TYPE + 1, NULL), -N_EHOSTUNREACH);
    return (long)(m.sent_done_cycles - m.sent_start_cycles);
}

/* 0 -> 1 -> 3 -> 7 is dead between 1 and 3 from 200 to 400 ms. */
static void dead_link(void)
{
    int src = 0, type = TYPE;
    char buf[8];

    if (own_node() == 0) {
        wait_until_ms(250);
        check_equal(cycles_to_failure(7), 72 + 90); /* one hop there and back */
        check_equal(nwrite("round", 5, 2, TYPE, NULL), 0);
        wait_until_ms(450);
        check_equal(nwrite("back", 4, 7, TYPE, NULL), 0);
    }
    if (own_node() == 7) {
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 4);
        check(memcmp(buf, "back", 4) == 0, "a message was kept");
    }
    if (own_node() == 2)
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 5);
}

/* The link 0 - 1 is dead from the start of the case to its end. */
static void last_message(void)
{
    if (own_node() == 0) {
        wait_until_ms(250);
        check_equal(nwrite("lost", 4, 1, TYPE, NULL), 0);
        wait_until_ms(300);
    }
}

/* Node 3 is dead from 200 to 400 ms. */
static void dead_node(void)
{
    int src = 0, type = TYPE;
    char buf[8];

    if (own_node() == 0) {
        wait_until_ms(250);
        check_equal(cycles_to_failure(3), 72 + 90);
        wait_until_ms(450);
        check_equal(nwrite("back", 4, 3, TYPE, NULL), 0);
    }
    if (own_node() == 3) {
        wait_until_ms(250);
        check_equal(cycles_to_failure(2), 72);
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 4);
    }
    if (own_node() != 3)
        wait_until_ms(500);
}

/* A long message is on its way from 0 to 1 when the link dies, at 200 ms; it recovers at 400 ms. */
static void cut(void)
{
    static char buf[1 << 20];
    int src = 0, type = TYPE;

    if (own_node() == 0) {
        wait_until_ms(150);
        check_equal(nwrite(buf, sizeof buf, 1, TYPE, NULL), 0); /* takes 0.47 s: is damaged, then has no way or one */
        check_equal(nwrite("after", 5, 1, TYPE, NULL), 0);
    } else {
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), sizeof buf);
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 5);
    }
}

/* The link 1 - 3 dies under a long message from 0 to 3, at 200 ms, and recovers at 300 ms. The message is damaged, the one
 * behind it finds no way, and so does the first when it is sent again: what comes after all that must not be held up. */
static void followed(void)
{
    static char buf[200000];
    int src = 0, type = TYPE;

    if (own_node() == 0) {
        wait_until_ms(150);
        check_equal(nwrite(buf, sizeof buf, 3, TYPE, NULL), 0);
        check_equal(nwrite("x", 1, 3, TYPE, NULL), 0);
        wait_until_ms(400);
        check_equal(nwrite("told", 4, 3, TYPE, NULL), -N_EHOSTUNREACH);
        check_equal(nwrite("back", 4, 3, TYPE, NULL), 0);
    }
    if (own_node() == 3)
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 4);
}

/* ---- I/O ---- */

static int new_file(const char *path)
{
    int fd = open(path, O_CREAT | O_RDWR, 0644);

    check(fd >= 0, "%s: errno %d", path, errno);
    return fd;
}

static void expect_write(int fd, long result, int error)
{
    errno = 0;
    long n = write(fd, "data", 4);
    if (n == 4)
        n = fsync(fd) < 0 ? -1 : 4;
    check(n == result && (n >= 0 || errno == error), "write: %ld, errno %d", n, errno);
}

/* What serves df00 is dead from 500 to 900 ms. df01 lives. */
static void dead_server(int error)
{
    int fd = new_file("//df00/f"), other = new_file("//df01/f");

    expect_write(fd, 4, 0);
    wait_until_ms(600);
    expect_write(fd, -1, error);
    expect_write(other, 4, 0);
    wait_until_ms(1000);
}

static void dead_io_node(void)
{
    dead_server(EHOSTUNREACH);
    expect_write(new_file("//df00/g"), 4, 0);
}

static void dead_drive(void)
{
    dead_server(EIO);
}

static void works(void)
{
}

static void works_for_300_ms(void)
{
    wait_until_ms(300);
}

/* The server dies when it has the request, so that its answer has no way: it is given up after 60 s. */
static void answer_is_lost(void)
{
    static char block[8192];
    int fd = open("//df00/file", O_RDWR | O_CREAT | O_TRUNC, 0644);

    check(fd >= 0 && write(fd, block, sizeof block) == sizeof block, "open and write: errno %d", errno);
    wait_until_ms(494);
    double start_us = amicclk();
    errno = 0;
    check(write(fd, block, sizeof block) == -1 && errno == ETIMEDOUT, "errno %d", errno);
    double took_s = (amicclk() - start_us) / 1e6;
    check(took_s > 60 && took_s < 60.1, "it took %.3f s", took_s);
    check(pwrite(fd, block, sizeof block, 0) == sizeof block && close(fd) == 0, "afterwards: errno %d", errno);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"noise", noise},           {"dead link", dead_link},   {"dead node", dead_node}, {"cut", cut}, {"followed", followed},
        {"dead I/O node", dead_io_node}, {"dead drive", dead_drive}, {"works", works},
        {"last message", last_message}, {"answer is lost", answer_is_lost},
        {"works for 300 ms", works_for_300_ms}, {0}};

    return run_case(cases, argc, argv);
}

/* Programs on a machine with faults. Each case belongs to the faults of its row in tests/machine/test_broken.c. */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <nio.h>
#include <nmon.h>
#include <nio.h>
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

/* Makes a message of 12 to 3011 bytes that contains its sender, receiver and number. */
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

/* Every node sends to every node: no message is lost, doubled, altered or overtaken; and some were sent again. */
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

/* Reads a lost message: EIO, in the message's place in the order, with its source and type. */
static void expect_lost(int from, int type)
{
    char buf[8];
    int src = N_ANY, any = N_ANY;

    check_equal(nread(buf, sizeof buf, &src, &any, NULL), -N_EIO);
    check(src == from && any == type, "a message of type %d from %d is lost, not of %d from %d", any, src, type, from);
}

static void expect_text(int from, int type, const char *text)
{
    char buf[16];
    int n = nread(buf, sizeof buf, &from, &type, NULL);

    check(n == (int)strlen(text) && memcmp(buf, text, (size_t)n) == 0, "not '%s' but %d bytes", text, n);
}

static void expect_missed(long expected)
{
    struct nmonitor m;

    check_equal(nmonitor(&m), 0);
    check_equal(m.missed, expected);
}

/* ---- Messages that are given up ---- */

/* After 200 ms the link between nodes 0 and 1 damages every long message; a short one arrives after a few attempts. */
static void given_up(void)
{
    static char buf[10000];
    int src = 0, type = TYPE, other = TYPE + 1;

    if (own_node() == 0) {
        wait_until_ms(250);
        for (int t = TYPE; t <= TYPE + 2; t++) {
            check_equal(nwrite(buf, sizeof buf, 1, t, NULL), 0);
            check_equal(nwrite("next", 4, 1, t, NULL), 0);
            wait_until_ms(250 + 200 * (t - TYPE + 1));
            check_equal(nwrite("", 0, 1, t, NULL), -N_EIO); /* once */
        }
        check_equal(nwrite("last", 4, 1, TYPE, NULL), 0);
        return;
    }
    char *got = NULL;
    check_equal(nread(buf, sizeof buf, &src, &other, NULL), -N_EIO); /* while it waits, and past what is queued */
    expect_lost(0, TYPE);
    expect_text(0, TYPE, "next");
    expect_text(0, TYPE + 1, "next");
    while (ntest(&src, NULL) == -N_EAGAIN)
        ;
    src = type = N_ANY;
    check_equal(ntest(&src, &type), -N_EIO); /* it stays, */
    check(src == 0 && type == TYPE + 2, "type %d from %d", type, src);
    check_equal(nreadp(&got, 0, &src, &type, NULL), -N_EIO); /* until it is read */
    expect_text(0, TYPE + 2, "next");
    expect_missed(3);
    expect_text(0, TYPE, "last");
}

/* Nothing crosses the link 0 - 1 from 200 to 700 ms, not even the notice: it arrives once the link is sound. */
static void owed(void)
{
    long sent = 0;

    if (own_node() == 0) {
        wait_until_ms(210);
        while (sent < 10) /* now and then one is refused, since some before it have failed */
            sent += nwrite("lost", 4, 1, TYPE + sent % 2, NULL) == 0;
        wait_until_ms(750);
        check_equal(nwrite("", 0, 1, TYPE, NULL), -N_EIO);
        check_equal(nwrite("back", 4, 1, TYPE, NULL), 0);
        return;
    }
    for (int type = TYPE + 1; type >= TYPE; type--) { /* once for all of a type */
        int src = 0;
        check_equal(nread(NULL, 0, &src, &type, NULL), -N_EIO);
    }
    expect_text(0, TYPE, "back");
    expect_missed(10);
}

/* The link 0 - 1, by which 0 reaches 1 and 3, is dead from 200 to 400 ms. Each failure is reported for its own
 * destination, and messages to other nodes arrive. */
static void told_by_destination(void)
{
    if (own_node() == 0) {
        wait_until_ms(250);
        for (int k = 0; k < 4; k++) {
            for (int to = 1; to <= 3; to += 2)
                check_equal(nwrite("lost", 4, to, TYPE, NULL), k % 2 ? -N_EHOSTUNREACH : 0);
            wait_until_ms(255 + 5 * k);
        }
        check_equal(nwrite("fine", 4, 2, TYPE, NULL), 0);
        check_equal(nwrite("lost", 4, 3, TYPE, NULL), 0);
        wait_until_ms(450);
        check_equal(nwrite("fine", 4, 1, TYPE, NULL), 0);
        check_equal(nwrite("none", 4, N_DEST_ALL, TYPE, NULL), -N_EHOSTUNREACH);
        check_equal(nwrite("all", 3, N_DEST_ALL, TYPE, NULL), 0);
    }
    if (own_node() == 1 || own_node() == 3)
        expect_lost(0, TYPE);
    if (own_node() == 1 || own_node() == 2)
        expect_text(0, TYPE, "fine");
    expect_text(0, TYPE, "all");
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
    check_equal(nwrite("", 0, to, TYPE, NULL), -N_EHOSTUNREACH);
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
        expect_lost(0, TYPE);
        expect_text(0, TYPE, "back");
    }
    if (own_node() == 2)
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), 5);
}

/* The link 0 - 1 is dead from the start of the case until shortly before its end: then the waiting node is notified. */
static void last_message(void)
{
    if (own_node() == 0) {
        wait_until_ms(250);
        check_equal(nwrite("lost", 4, 1, TYPE, NULL), 0);
        wait_until_ms(300);
    } else {
        expect_lost(0, TYPE);
    }
}

/* Node 3 is dead from 200 to 400 ms. */
static void dead_node(void)
{
    if (own_node() == 0) {
        wait_until_ms(250);
        check_equal(cycles_to_failure(3), 72 + 90);
        wait_until_ms(450);
        check_equal(nwrite("back", 4, 3, TYPE, NULL), 0);
    }
    if (own_node() == 3) {
        wait_until_ms(250);
        check_equal(cycles_to_failure(2), 72);
        expect_lost(0, TYPE);
        expect_text(0, TYPE, "back");
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

/* The link 1 - 3 dies under a long message from 0 to 3, at 200 ms, and recovers at 300 ms. The message is damaged, the
 * one behind it finds no way, and so does the first when it is sent again: what comes after all that must not be held
 * up. */
static void followed(void)
{
    static char buf[200000];

    if (own_node() == 0) {
        wait_until_ms(150);
        check_equal(nwrite(buf, sizeof buf, 3, TYPE, NULL), 0);
        check_equal(nwrite("x", 1, 3, TYPE, NULL), 0);
        wait_until_ms(400);
        check_equal(nwrite("told", 4, 3, TYPE, NULL), -N_EHOSTUNREACH);
        check_equal(nwrite("back", 4, 3, TYPE, NULL), 0);
    }
    if (own_node() == 3) {
        expect_lost(0, TYPE);
        expect_text(0, TYPE, "back");
        expect_missed(2);
    }
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

/* The server of df00 is dead from 500 to 900 ms. That of df01 lives. */
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

/* df01 is missing, df00 is mounted. */
static void expect_missing(int error)
{
    errno = 0;
    check(open("//df01/f", O_CREAT | O_RDWR, 0644) == -1 && errno == error, "open: errno %d", errno);
    expect_write(new_file("//df00/f"), 4, 0);
}

static void missing_volume(void)
{
    expect_missing(EHOSTUNREACH);
}

static void missing_drive(void)
{
    expect_missing(EIO);
}

/* df01's I/O node is dead until 500 ms: files that are written after that are complete on the disk. */
static void late_volume(void)
{
    expect_missing(EHOSTUNREACH);
    wait_until_ms(600);
    expect_write(new_file("//df01/f"), 4, 0);
}

/* Nothing gets to the front end from 200 ms on. */
static void noise_to_the_front_end(void)
{
    wait_until_ms(250);
}

static void works(void)
{
}

static void works_for_300_ms(void)
{
    wait_until_ms(300);
}

/* The server dies when it has the request, so that its answer has no path: the client gives up after 60 s. */
static void answer_is_lost(void)
{
    static char block[8192];
    int fd = open("//df00/file", O_RDWR | O_CREAT | O_TRUNC, 0644);

    check(fd >= 0 && write(fd, block, sizeof block) == sizeof block, "open and write: errno %d", errno);
    wait_until_ms(494);
    double start_us = amicclk();
    errno = 0;
    check(write(fd, block, sizeof block) == -1 && errno == ETIMEDOUT, "errno %d", errno);
    check(strcmp(nfailed(), "write //df00/file: volume df00 on I/O node 0 of board 3: timed out") == 0, "%s",
          nfailed());
    double took_s = (amicclk() - start_us) / 1e6;
    check(took_s > 60 && took_s < 60.1, "it took %.3f s", took_s);
    check(pwrite(fd, block, sizeof block, 0) == sizeof block && close(fd) == 0, "afterwards: errno %d", errno);
}

/* From 500 ms on the server's link lets short messages through but no block: the data of a read are lost. */
static void lose_reply(const char *path)
{
    static char block[8192];
    int fd = new_file(path);

    check(write(fd, block, sizeof block) == sizeof block && lseek(fd, 0, SEEK_SET) == 0, "write: errno %d", errno);
    wait_until_ms(500);
    errno = 0;
    check(read(fd, block, sizeof block) == -1 && errno == EIO, "read: errno %d", errno);
    check_equal(readstart(fd, sizeof block), 0);
    check_equal(readend(fd, block), -N_EIO);
    check(amicclk() < 2e6, "it took until %.3f s", amicclk() / 1e6);
}

static void reply_is_given_up(void)
{
    lose_reply("//df00/file");
}

static void front_ends_reply_is_given_up(void)
{
    lose_reply("file");
}

/* The front end reaches node 3 by the link 1 - 3, over which nothing gets from 200 to 400 ms; node 3's messages to it
 * take another way. So the reply is lost, and the notice comes when it can. */
static void front_end_owes(void)
{
    if (own_node() != 3)
        return;
    int fd = new_file("file");
    wait_until_ms(250);
    errno = 0;
    check(write(fd, "lost", 4) == -1 && errno == EIO, "write: errno %d", errno);
    check(amicclk() > 400e3 && amicclk() < 401e3, "it took until %.3f s", amicclk() / 1e6);
    check(write(fd, "fine", 4) == 4 && close(fd) == 0, "afterwards: errno %d", errno);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"noise", noise},
        {"dead link", dead_link},
        {"dead node", dead_node},
        {"cut", cut},
        {"followed", followed},
        {"dead I/O node", dead_io_node},
        {"dead drive", dead_drive},
        {"works", works},
        {"last message", last_message},
        {"answer is lost", answer_is_lost},
        {"works for 300 ms", works_for_300_ms},
        {"missing volume", missing_volume},
        {"missing drive", missing_drive},
        {"late volume", late_volume},
        {"noise to the front end", noise_to_the_front_end},
        {"given up", given_up},
        {"owed", owed},
        {"told by destination", told_by_destination},
        {"reply is given up", reply_is_given_up},
        {"front end's reply is given up", front_ends_reply_is_given_up},
        {"front end owes", front_end_owes},
        {0},
    };

    return run_case(cases, argc, argv);
}

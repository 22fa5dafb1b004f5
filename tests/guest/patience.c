/*
 * How long a node waits for a file server, on a machine with server_limit_s = 1 (tests/machine/test_patience.c).
 *
 *   patience slow            a server that works for more than four seconds on one request is waited for
 *   patience queued          so is one that serves others first
 *   patience dead            one that dies with a request: its client gives up after the limit
 *   patience dying           one that dies while it works on a request: within the limit from then on
 *   patience dead volumes    two of a PIO file's servers die while they are busy: pio_unlink takes one limit, not two
 *   patience dying volumes   two of them die while a PIO file is written: pio_write ends, and other files work on
 *   patience gone            a request cannot reach its server: the process that waits for the answer is woken
 *
 * Faults: the I/O nodes of df01 and df02 die at 2.5 s; but in "dead", at 0.5 s.
 */
#include <fcntl.h>
#include <nio.h>
#include <ntime.h>
#include <pattern.h>
#include <pio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check_files.h"

#define LIMIT_S   1.0
#define DEATH_S   2.5
#define OWN_BYTES 6144 /* in pieces of 8 bytes, 4096 apart: 768 commands of the drive */

#define LARGE_BYTES (512 << 10)

static char buffer[8192];

static double now_s(void)
{
    return amicclk() / 1e6;
}

static void wait_until_s(double s)
{
    while (now_s() < s)
        ;
}

static int make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

/* Opens a file of which this node has 8 bytes in each 4096; its writes keep the server busy. Node 3 has the rest. */
static int open_scattered(const char *path)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;
    int fd = make_file(path);

    check(pattern_parse("falls (0,7,8,1,8,3)(24,4095,-,1)@3", &p, why) == 0, "%s", why);
    check_equal(ioctl(fd, N_SETMAP, p), 0);
    return fd;
}

static void slow(void)
{
    if (own_node() != 0)
        return;
    int fd = open_scattered("//df00/slow");
    double from = now_s();
    check_equal(write(fd, buffer, OWN_BYTES), OWN_BYTES);
    check(now_s() - from > 4 * LIMIT_S, "it took only %.3f s", now_s() - from);
    check_equal(close(fd), 0);
}

static void queued(void)
{
    if (own_node() == 3)
        return;
    int fd = own_node() == 0 ? make_file("//df00/plain") : open_scattered("//df00/slow");
    wait_until_s(own_node() == 0 ? 1.2 : 1);
    double from = now_s();
    int bytes = own_node() == 0 ? 1000 : OWN_BYTES;
    check(write(fd, buffer, (size_t)bytes) == bytes, "%s", nfailed());
    check(now_s() - from > 4 * LIMIT_S, "node %d: it took only %.3f s", own_node(), now_s() - from);
    check_equal(close(fd), 0);
}

static void expect_silence(ssize_t result, double from, double to)
{
    check(result == -1 && errno == ETIMEDOUT, "%ld, errno %d, at %.3f s", (long)result, errno, now_s());
    check(now_s() >= from && now_s() <= to, "given up at %.3f s, not within %.3f to %.3f", now_s(), from, to);
}

static void dead(void)
{
    if (own_node() != 0)
        return;
    int fd = make_file("//df01/f");
    check_equal(write(fd, buffer, sizeof buffer), (ssize_t)sizeof buffer);
    wait_until_s(0.494);
    double from = now_s();
    expect_silence(write(fd, buffer, sizeof buffer), from + LIMIT_S, from + LIMIT_S + 0.1);
    expect_silence(-1, from + LIMIT_S, from + LIMIT_S + 0.1);
}

static void dying(void)
{
    if (own_node() != 0)
        return;
    int fd = open_scattered("//df01/slow");
    expect_silence(write(fd, buffer, OWN_BYTES), DEATH_S, DEATH_S + LIMIT_S + 0.1);
}

static void keep_busy(const char *path)
{
    int fd = open_scattered(path);

    wait_until_s(1.5);
    check(write(fd, buffer, OWN_BYTES) == -1 && errno == ETIMEDOUT, "errno %d", errno);
}

static void dead_volumes(void)
{
    const struct pio_layout layout = {.disks = 4};

    if (own_node() == 1 || own_node() == 2) {
        keep_busy(own_node() == 1 ? "//df01/slow" : "//df02/slow");
        return;
    }
    if (own_node() == 3)
        return;
    int file = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    check(file >= 0, "errno %d", errno);
    check_equal(pio_close(file), 0);
    check(now_s() < 1.5, "it is %.3f s", now_s());
    wait_until_s(2);
    expect_silence(pio_unlink("//df00/f"), DEATH_S, DEATH_S + LIMIT_S + 0.1);
}

static char large[LARGE_BYTES];

static void dying_volumes(void)
{
    const struct pio_layout four = {.disks = 4}, two = {.disks = 2, .volumes = (const char *[]){"df00", "df03"}};

    if (own_node() != 0)
        return;
    int file = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &four);
    int other = pio_open_layout("//df00/g", O_RDWR | O_CREAT, 0644, &two);
    check(file >= 0 && other >= 0, "errno %d", errno);
    wait_until_s(DEATH_S - 0.05);
    check_equal(pio_iwrite(other, large, LARGE_BYTES), 0);
    ssize_t done = pio_write(file, large, LARGE_BYTES);
    check(done > 0 && done < LARGE_BYTES, "%ld bytes, at %.3f s", (long)done, now_s());
    check(now_s() > DEATH_S + LIMIT_S / 2 && now_s() < DEATH_S + LIMIT_S + 0.3, "at %.3f s", now_s());
    check(strcmp(pio_failed_path(), "//df01/f") == 0, "at %s", pio_failed_path());
    check_equal(pio_iowait(0), LARGE_BYTES);
    check(pio_write(file, large, LARGE_BYTES) == -1 && (errno == ETIMEDOUT || errno == EHOSTUNREACH), "errno %d",
          errno);
    check_equal(pio_pread(other, large, LARGE_BYTES, 0), LARGE_BYTES);
    check_equal(pio_close(other), 0);
}

/* Each node has two processes, so an event does not let a process go on that nobody wakes. */
static void gone(void)
{
    const struct pio_layout layout = {.disks = 4};
    int type = 1, other = own_node() | 1 << 16;
    char word[8] = "";

    if (own_node() != 0)
        return;
    if (npid() >> 16) {
        check_equal(nread(word, sizeof word, &(int){0}, &type, NULL), sizeof word);
        return;
    }
    int fd = make_file("//df01/g"), file = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    check(file >= 0, "errno %d", errno);
    wait_until_s(DEATH_S + 0.1);
    check(write(fd, buffer, 1000) == -1 && errno == EHOSTUNREACH, "errno %d", errno);
    check_equal(writestart(fd, buffer, 1000), 0);
    check_equal(writeend(fd), -EHOSTUNREACH);
    check(pio_pwrite(file, buffer, 8000, 16384) == -1 && errno == EHOSTUNREACH, "errno %d", errno);
    check(pio_pread(file, buffer, 8000, 0) == 0 || errno == EHOSTUNREACH, "errno %d", errno);
    check(now_s() < DEATH_S + 0.1 + LIMIT_S / 4, "only at %.3f s", now_s());
    check_equal(nwrite(word, sizeof word, other, type, NULL), 0);
}

static const struct test_case cases[] = {
    {"slow", slow},
    {"queued", queued},
    {"dead", dead},
    {"dying", dying},
    {"dead volumes", dead_volumes},
    {"dying volumes", dying_volumes},
    {"gone", gone},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

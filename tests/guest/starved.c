/*
 * Requests that are too large for the I/O node's memory: they do less, or fail, and nothing that
 * was written before is lost. Every node has a file of its own in the folder that the second
 * argument names.
 */
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <unistd.h>

#include "check.h"

#define SHORT 5000

static char *buffer;
static int own;
static size_t size;
static char path[200];

static int own_file(void)
{
    own = own_node();
    snprintf(path, sizeof path, "%sfile%d", test_argv[0], own);
    int fd = open(path, O_RDWR | O_CREAT, 0666);

    check(fd >= 0, "%s: errno %d", path, errno);
    return fd;
}

/* Writes a value at equal distances that depends on its place. */
#define STRIDE 64

static void fill(size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += STRIDE)
        buffer[i] = (char)(seed + i / STRIDE * 7 + (unsigned)own);
}

static void expect_filled(size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += STRIDE)
        if (buffer[i] != (char)(seed + i / STRIDE * 7 + (unsigned)own))
            check(0, "byte %zu of %zu is wrong", i, bytes);
}

/* As large as memory allows, to 1 MB. */
static void make_buffer(void)
{
    for (size = 1u << 20; !(buffer = malloc(size)); size /= 2)
        check(size > SHORT, "no memory for a buffer");
}

/* Returns how much a request has transferred; without memory it fails with ENOMEM. */
static size_t moved(int n, size_t wanted, const char *what)
{
    check((n > 0 && (size_t)n <= wanted) || n == -ENOMEM, "%s of %zu bytes: %d", what, wanted, n);
    return n > 0 ? (size_t)n : 0;
}

static void write_and_read(int fd, size_t bytes)
{
    fill(bytes, bytes);
    lseek(fd, 0, SEEK_SET);
    int started = writestart(fd, buffer, (int)bytes);
    size_t put = started == 0 ? moved(writeend(fd), bytes, "writeend") : moved(started, bytes, "writestart");
    check_equal(lseek(fd, 0, SEEK_CUR), put);
    check(put > 0 || bytes > 8192, "nothing of %zu bytes was written", bytes);
    memset(buffer, 0, bytes);
    lseek(fd, 0, SEEK_SET);
    started = readstart(fd, (int)bytes);
    size_t got = started == 0 ? moved(readend(fd, buffer), bytes, "readend") : moved(started, bytes, "readstart");
    check(got > 0 || put == 0 || bytes > 8192, "nothing of %zu bytes was read", bytes);
    expect_filled(got < put ? got : put, bytes);
}

/* Written before, and never synced. */
static void expect_first(int fd)
{
    memset(buffer, 0, SHORT);
    check_equal(pread(fd, buffer, SHORT, 2 << 20), SHORT);
    expect_filled(SHORT, 1);
}

static void all_sizes(void)
{
    make_buffer();
    int fd = own_file();
    fill(SHORT, 1);
    check_equal(pwrite(fd, buffer, SHORT, 2 << 20), SHORT);
    for (size_t bytes = 1; bytes <= size; bytes *= 2)
        write_and_read(fd, bytes);
    for (size_t bytes = size; bytes > 4096; bytes = bytes * 2 / 5)
        write_and_read(fd, bytes);
    expect_first(fd);
    check_equal(close(fd), 0);
}

/* All nodes at once, and each several at once. */
static void many_at_once(void)
{
    enum { STARTS = 4 };

    make_buffer();
    int fd = own_file();
    fill(SHORT, 1);
    check_equal(pwrite(fd, buffer, SHORT, 2 << 20), SHORT);
    for (int round = 0; round < 3; round++) {
        size_t bytes = size >> (2 * round);

        check_equal(nsync(1), 0);
        int started = 0;
        while (started < STARTS && writestart(fd, buffer, (int)bytes) == 0)
            started++;
        while (started-- > 0)
            moved(writeend(fd), bytes, "writeend");
        lseek(fd, 0, SEEK_SET);
        started = 0;
        while (started < STARTS && readstart(fd, (int)bytes) == 0)
            started++;
        while (started-- > 0) {
            int n = readend(fd, buffer);

            check((n >= 0 && n <= (int)bytes) || n == -ENOMEM, "readend of %zu bytes: %d", bytes, n);
        }
    }
    expect_first(fd);
}

/* More requests than the server's memory holds: they wait in the network. */
static void floods(void)
{
    enum { MANY = 150, BYTES = 1000 };

    make_buffer();
    int fd = own_file(), started = 0, done = 0;
    fill(SHORT, 1);
    check_equal(pwrite(fd, buffer, SHORT, 2 << 20), SHORT);
    while (started < MANY && writestart(fd, buffer, BYTES) == 0)
        started++;
    check(started > 20, "only %d starts", started);
    for (int i = 0; i < started; i++)
        done += writeend(fd) == BYTES;
    check_equal(done, started);
    check_equal(lseek(fd, 0, SEEK_END), 2 << 20 | SHORT);
    expect_first(fd);
}

/* Many small requests that all need memory at the server: open files, long names, folders. */
static void many_files(void)
{
    static int fds[250];
    int open_files = 0;

    make_buffer();
    for (int i = 0; i < 250; i++) {
        snprintf(path, sizeof path, "%s%0100d_%d", test_argv[0], i, own_node());
        int fd = open(path, O_RDWR | O_CREAT, 0666);
        check(fd >= 0 || errno == ENOMEM || errno == ENFILE || errno == ENOSPC, "%s: errno %d", path, errno);
        if (fd < 0)
            break;
        fds[open_files++] = fd;
        check_equal(write(fd, &i, sizeof i), sizeof i);
    }
    check(open_files > 5, "only %d files", open_files);
    for (int i = 0, n; i < open_files; i++) {
        check_equal(pread(fds[i], &n, sizeof n, 0), sizeof n);
        check_equal(n, i);
        check_equal(close(fds[i]), 0);
    }
}

static void open_again(int times)
{
    for (int i = 0; i < times; i++)
        check(open(path, O_RDWR) >= 0, "open %d of %s: errno %d: %s", i, path, errno, nfailed());
}

/* While the requests of three quarters of the nodes wait, the table of open files must grow to more than 2048. */
static void opens_in_a_flood(void)
{
    enum { STARTS = 16, WRITES = 64, OPENS = 242, FEW = 3, FURTHER = 2 };

    make_buffer();
    int fd = own_file(), started = 0, ended = 0;
    open_again(own % 4 == 0 ? OPENS : FEW); /* 2040 files are open */
    check_equal(nsync(1), 0);
    if (own % 4 == 0) {
        sleep(1);
        open_again(FURTHER);
        return;
    }
    while (ended < WRITES)
        if (started < WRITES && started - ended < STARTS) {
            check_equal(writestart(fd, buffer, 16384), 0);
            started++;
        } else {
            check_equal(writeend(fd), 16384);
            ended++;
        }
}

static const struct test_case cases[] = {
    {"all sizes", all_sizes},   {"many at once", many_at_once},         {"floods", floods},
    {"many files", many_files}, {"opens in a flood", opens_in_a_flood}, {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

/*
 * I/O modes of the CFS, and files that all nodes open together: every node checks, node 0 prints "passed".
 *
 *   cfs_modes          all modes
 *   cfs_modes unequal  lengths in mode 3 that differ are seen when the file is closed
 *   cfs_modes absent CALL  node 0 does not take part in setiomode, gopen, read or close: a deadlock
 */
#include <cfs.h>
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <npara_prt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int own, nodes, failed;
static unsigned char buf[40000];

#define CHECK(condition) check((condition), __LINE__, #condition)

static void check(int good, int line, const char *text)
{
    if (good)
        return;
    failed++;
    printf("node %d, line %d: %s (errno %d, %s)\n", own, line, text, errno, strerror(errno));
}

static unsigned char byte_of(unsigned node, unsigned turn, unsigned i)
{
    return (unsigned char)(node * 31 + turn * 7 + i);
}

static void fill(unsigned node, unsigned turn, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf[i] = byte_of(node, turn, i);
}

static int is(unsigned node, unsigned turn, unsigned n)
{
    unsigned i = 0;

    while (i < n && buf[i] == byte_of(node, turn, i))
        i++;
    return i == n;
}

/* Records of equal length, in the order of nodes. */
static void mode_3(void)
{
    int fd = gopen("/cfs/three", O_RDWR | O_CREAT | O_TRUNC, 3, 0600);

    CHECK(fd >= 0 && iomode(fd) == 3);
    CHECK(lseek(fd, 0, SEEK_SET) == -1 && errno == EINVAL);
    for (unsigned turn = 0; turn < 3; turn++) {
        fill((unsigned)own, turn, 5000);
        cwrite(fd, buf, 5000);
    }
    setiomode(fd, 0);
    CHECK(iomode(fd) == 0 && lseek(fd, 0, SEEK_END) == 15000 * nodes);
    lseek(fd, 0, SEEK_SET);
    for (unsigned k = 0; k < 3u * (unsigned)nodes; k++) {
        cread(fd, buf, 5000);
        CHECK(is(k % (unsigned)nodes, k / (unsigned)nodes, 5000));
    }
    setiomode(fd, 3);
    for (unsigned turn = 0; turn < 3; turn++) {
        const long id = iread(fd, buf, 5000);

        iowait(id);
        CHECK(is((unsigned)own, turn, 5000));
    }
    CHECK(iseof(fd) == 1 && _cread(fd, buf, 1) == 0);
    CHECK(close(fd) == 0);
}

static unsigned length_of(unsigned node, unsigned turn)
{
    return (node * 1237 + turn * 4099 + 11) % 9000;
}

/* Records of any length, in the order of nodes. */
static void mode_2(void)
{
    int fd = open("/cfs/two", O_RDWR | O_CREAT, 0600);

    setiomode(fd, 2);
    for (unsigned turn = 0; turn < 3; turn++) {
        fill((unsigned)own, turn, length_of((unsigned)own, turn));
        cwrite(fd, buf, length_of((unsigned)own, turn));
    }
    setiomode(fd, 2);
    for (unsigned turn = 0; turn < 3; turn++) {
        cread(fd, buf, length_of((unsigned)own, turn));
        CHECK(is((unsigned)own, turn, length_of((unsigned)own, turn)));
    }
    CHECK(_cread(fd, buf, 100) == 0 && iseof(fd) == 1);
    setiomode(fd, 0);
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned node = 0; node < (unsigned)nodes; node++) {
            cread(fd, buf, length_of(node, turn));
            CHECK(is(node, turn, length_of(node, turn)));
        }
    CHECK(close(fd) == 0);
}

/* Each record once, whoever comes first. */
static void mode_1(void)
{
    enum { RECORDS = 5, BYTES = 900 };
    static unsigned char seen[64 * RECORDS];
    int fd = open("/cfs/one", O_RDWR | O_CREAT, 0600), got = 0;

    setiomode(fd, 1);
    for (unsigned turn = 0; turn < RECORDS; turn++) {
        fill((unsigned)own, turn, BYTES);
        buf[0] = (unsigned char)own;
        buf[1] = (unsigned char)turn;
        cwrite(fd, buf, BYTES);
    }
    setiomode(fd, 1);
    while (_cread(fd, buf, BYTES) == BYTES)
        got++;
    CHECK(isumn(got) == RECORDS * nodes && iseof(fd) == 1);
    setiomode(fd, 0);
    for (int k = 0; k < RECORDS * nodes; k++) {
        cread(fd, buf, BYTES);
        const unsigned node = buf[0], turn = buf[1];

        CHECK(node < (unsigned)nodes && turn < RECORDS && !seen[node * RECORDS + turn]++);
        buf[0] = byte_of(node, turn, 0);
        buf[1] = byte_of(node, turn, 1);
        CHECK(is(node, turn, BYTES));
    }
    CHECK(_cread(fd, buf, 1) == 0 && close(fd) == 0);
}

static void errors(void)
{
    CHECK(_setiomode(99, 1) == -1 && errno == EBADF);
    CHECK(_setiomode(1, 1) == -1 && errno == ENOTSUP);
    CHECK(_gopen("/cfs/none", O_RDONLY, 3, 0) == -1 && errno == ENOENT);
    CHECK(_gopen("/cfs/none", O_RDONLY, 4, 0) == -1 && errno == EINVAL);
    int fd = gopen("/cfs/one", O_RDONLY, 0, 0);
    CHECK(fd >= 0 && iomode(fd) == 0 && _setiomode(fd, 4) == -1 && errno == EINVAL);
    CHECK(_setiomode(fd, 1) == 0 && _cwrite(fd, buf, 1) == -1 && errno == EBADF);
    CHECK(close(fd) == 0);
}

static void unequal(void)
{
    int fd = gopen("/cfs/u", O_RDWR | O_CREAT, 3, 0600);

    CHECK(fd >= 0 && _cwrite(fd, buf, own == 1 ? 10 : 20) > 0);
    CHECK(close(fd) == -1 && errno == EINVAL);
}

/* In modes 1 and 2 the file is one that all have opened. */
static void absent(const char *call)
{
    const int by_all = strcmp(call, "read") == 0 || strcmp(call, "close") == 0;
    int fd = by_all ? gopen("/cfs/a", O_RDWR | O_CREAT, call[0] == 'r' ? 2 : 1, 0600)
                    : open("/cfs/a", O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0);
    if (own == 0)
        nsync(5);
    else if (strcmp(call, "setiomode") == 0)
        setiomode(fd, 2);
    else if (strcmp(call, "gopen") == 0)
        gopen("/cfs/b", O_RDONLY, 0, 0);
    else if (strcmp(call, "read") == 0)
        cread(fd, buf, 10);
    else
        close(fd);
}

int main(int argc, char **argv)
{
    int process, host, dim;

    whoami(&own, &process, &host, &dim);
    nodes = 1 << dim;
    if (argc == 2 && strcmp(argv[1], "unequal") == 0) {
        unequal();
    } else if (argc == 3 && strcmp(argv[1], "absent") == 0) {
        absent(argv[2]);
    } else {
        mode_3();
        mode_2();
        mode_1();
        errors();
    }
    failed = isumn(failed);
    if (own == 0 && failed == 0)
        puts("passed");
    return failed != 0;
}

/* The way of requests to an I/O node by a chosen channel, seen by how long they take on the way. */
#include <fcntl.h>
#include <n_errno.h>
#include <nio.h>
#include <nmon.h>
#include <unistd.h>

#include "check.h"

static int open_volume_file(void)
{
    int fd = open("//df00/f", O_CREAT | O_RDWR, 0644);

    check(fd >= 0, "no file on df00");
    return fd;
}

/* Hops that a request takes now: 45 cycles each, and 9 per byte. */
static long hops_of_request(int fd)
{
    struct nmonitor m;

    check_equal(writestart(fd, "x", 1), 0);
    check_equal(nmonitor(&m), 0);
    while (m.sent_done_cycles == 0)
        check_equal(nmonitor(&m), 0);
    uint64_t sent_bytes = m.sent_bytes, took = m.sent_done_cycles - m.sent_start_cycles;
    check_equal(writeend(fd), 1);
    check_equal((took - 9 * sent_bytes) % 45, 0);
    return (took - 9 * sent_bytes) / 45;
}

/* The I/O node's channels reach nodes 1, 6 and, by channel 3, 7; this is node 0. */
static void chosen(void)
{
    int fd = open_volume_file();

    check_equal(hops_of_request(fd), 2);
    check_equal(iochannel(fd, 1), 0);
    check_equal(hops_of_request(fd), 3);
    check_equal(iochannel(fd, 3), 0);
    check_equal(hops_of_request(fd), 4);
    check_equal(iochannel(fd, -1), 0);
    check_equal(hops_of_request(fd), 2);
}

static void not_connected(void)
{
    int fd = open_volume_file();

    check_equal(iochannel(fd, 2), 0);
    check_equal(writestart(fd, "x", 1), 0);
    check_equal(writeend(fd), -N_EHOSTUNREACH);
    check_equal(iochannel(fd, -1), 0);
    check_equal(hops_of_request(fd), 2);
}

static void wrong(void)
{
    int fd = open_volume_file();

    check_equal(iochannel(fd, 8), -N_EINVAL);
    check_equal(iochannel(fd, -2), -N_EINVAL);
    check_equal(iochannel(1, 0), -N_EINVAL);
    check_equal(iochannel(99, 0), -N_EBADF);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"chosen", chosen}, {"not connected", not_connected}, {"wrong", wrong}, {0}};

    return run_case(cases, argc, argv);
}

/*
 * Measures the service time of an nsdisk as a monitor program sees it, from the arrival of a request at the I/O node
 * until the reply is handed to its NCU; and that of the client's processor, from the arrival of the reply until the
 * next request is sent. It uses PIO WRITE and PIO READ of one block at a time on one volume. So no request waits for
 * another, and between two requests the client does the work of a PIO transfer.
 *
 *   diskmon [VOLUME]     writes and then reads 64 blocks of 4, 8 and 16 KB one after the other; prints the means.
 *                        One more before them brings the drive's heads there and is not counted
 *
 * [P0 section 3] measured 17.3, 19.5 and 20.5 ms for such a request, and 0.8, 1.065 and 1.82 ms of the processor. To
 * come near the latter a machine needs `timing = "wang-leiss"`.
 */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <nmon.h>
#include <nself.h>
#include <pio.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS  64
#define BYTES_MAX 16384

static const int block_bytes[] = {4096, 8192, BYTES_MAX};
#define BLOCKS (int)(sizeof block_bytes / sizeof block_bytes[0])

static char buffer[BYTES_MAX];

static void fail(const char *what)
{
    int error = errno;
    const char *where = pio_failed_path();

    fprintf(stderr, "diskmon: %s: %s%s%s\n", what, strerror(error), where[0] ? ": " : "", where);
    exit(1);
}

/* Of the request that was the last message sent, and the reply that was the last taken. */
static struct nmonitor look(void)
{
    struct nmonitor monitor;
    int result = nmonitor(&monitor);

    if (result < 0) {
        nperror("diskmon: nmonitor");
        exit(1);
    }
    return monitor;
}

static double us_between(unsigned long from_cycles, unsigned long to_cycles)
{
    return (double)(to_cycles - from_cycles) / NMON_CYCLES_PER_US;
}

static void measure(bool writing, const char *volume, int bytes)
{
    const struct pio_layout layout = {.disks = 1, .block_size = bytes, .buffers = 1, .volumes = &volume};
    double disk_us = 0, cpu_us = 0;
    struct nmonitor last = {0};
    char name[32];

    snprintf(name, sizeof name, "/diskmon-%d", bytes);
    int pfd = pio_open_layout(name, writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644, &layout);
    if (pfd < 0)
        fail(name);
    for (int i = 0; i <= REQUESTS; i++) {
        ssize_t done = writing ? pio_write(pfd, buffer, bytes) : pio_read(pfd, buffer, bytes);

        if (done != bytes)
            fail(name);
        struct nmonitor now = look();
        if (i > 0) {
            disk_us += us_between(now.sent_done_cycles, now.recv_start_cycles);
            cpu_us += us_between(last.recv_done_cycles, now.sent_start_cycles);
        }
        last = now;
    }
    if (pio_close(pfd) < 0)
        fail(name);
    printf("diskmon op=%s bytes=%d us=%.1f cpu_us=%.1f\n", writing ? "write" : "read", bytes, disk_us / REQUESTS,
           cpu_us / REQUESTS);
}

int main(int argc, char **argv)
{
    const char *volume = argc > 1 ? argv[1] : "df00";
    int node;

    whoami(&node, NULL, NULL, NULL);
    for (int i = 0; i < BLOCKS && node == 0; i++)
        measure(true, volume, block_bytes[i]);
    for (int i = 0; i < BLOCKS && node == 0; i++)
        measure(false, volume, block_bytes[i]);
    return 0;
}

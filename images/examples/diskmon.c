/*
 * The service time of an nsdisk, as a monitor program sees it: from a request being at the I/O node to the reply
 * being handed to its NCU. One request at a time, so none waits for another.
 *
 *   diskmon [VOLUME]     writes and then reads 64 blocks of 4, 8 and 16 KB one after the other; prints the mean
 *
 * [P0 section 3] measured 17.3, 19.5 and 20.5 ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <nmon.h>
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS 64
#define BYTES_MAX 16384

static const int block_bytes[] = {4096, 8192, BYTES_MAX};
#define BLOCKS (int)(sizeof block_bytes / sizeof block_bytes[0])

static char buffer[BYTES_MAX];

static void fail(const char *what)
{
    fprintf(stderr, "diskmon: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Of the request that was the last message sent, and the reply that was the last taken. */
static double service_us(void)
{
    struct nmonitor monitor;
    int result = nmonitor(&monitor);

    if (result < 0) {
        nperror("nmonitor", result);
        exit(1);
    }
    return (double)(monitor.recv_start_cycles - monitor.sent_done_cycles) / NMON_CYCLES_PER_US;
}

static void measure(const char *op, const char *path, int bytes)
{
    int writing = strcmp(op, "write") == 0;
    int fd = open(path, writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);
    double sum_us = 0;

    if (fd < 0)
        fail(path);
    for (int i = 0; i < REQUESTS; i++) {
        int done = writing ? write(fd, buffer, bytes) : read(fd, buffer, bytes);
        if (done != bytes)
            fail(path);
        sum_us += service_us();
    }
    if (close(fd) < 0)
        fail(path);
    printf("diskmon op=%s bytes=%d us=%.1f\n", op, bytes, sum_us / REQUESTS);
}

int main(int argc, char **argv)
{
    const char *volume = argc > 1 ? argv[1] : "df00";
    char path[64];
    int node;

    whoami(&node, NULL, NULL, NULL);
    if (node != 0)
        return 0;
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(path, sizeof path, "//%s/diskmon.%d", volume, block_bytes[i]);
        measure("write", path, block_bytes[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(path, sizeof path, "//%s/diskmon.%d", volume, block_bytes[i]);
        measure("read", path, block_bytes[i]);
        unlink(path);
    }
    return 0;
}

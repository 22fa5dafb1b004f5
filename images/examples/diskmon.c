/*
 * Measures the service time of an nsdisk as a monitor program sees it, from the arrival of a request at the I/O node
 * until the reply is handed to its NCU; and that of the client's processor, from the arrival of the reply until the
 * next request is sent. It uses PIO WRITE and PIO READ of one block at a time on one volume. So no request waits for
 * another, and between two requests the client does the work of a PIO transfer.
 *
 *   diskmon [VOLUME [BYTES...]]     writes and then reads 64 blocks of 4, 8 and 16 KB, or of so many bytes, one after
 *                                   the other; prints the means. One more before them brings the drive's heads there
 *                                   and is not counted
 *   diskmon VOLUME pauses=US,N BYTES...     the same with a pause before each request: of 0, US, 2 US, ... (N - 1) US;
 *                                           for each, means of 12 requests after 2 more
 *
 * [P0 section 3] measured 17.3, 19.5 and 20.5 ms for such a request, and 0.8, 1.065 and 1.82 ms of the processor. To
 * come near the latter a machine needs `timing = "wang-leiss"`.
 */
#include <fcntl.h>
#include <nmon.h>
#include <nself.h>
#include <pio.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

#define BYTES_MAX    (64 << 10)
#define REQUESTS_MAX 64

struct plan {
    const char *volume;
    int requests, before; /* that are counted, and not */
    int pause_us, pauses; /* the step, and how many */
};

static const int block_bytes[] = {4096, 8192, 16384};
#define BLOCKS (int)(sizeof block_bytes / sizeof block_bytes[0])

static char buffer[BYTES_MAX];

static void fail(const char *what)
{
    pio_complain("diskmon", what);
    exit(1);
}

/* Of the request that was the last message sent, and the reply that was the last taken. */
static struct nmonitor look(void)
{
    struct nmonitor monitor;

    must("diskmon: nmonitor", nmonitor(&monitor));
    return monitor;
}

static double us_between(unsigned long from_cycles, unsigned long to_cycles)
{
    return (double)(to_cycles - from_cycles) / NMON_CYCLES_PER_US;
}

struct sums {
    double disk_us, cpu_us, out_us, back_us, idle_us;
};

/* What the monitor saw after each request. It is added up afterwards, so that measuring takes little of the
 * processor's time between two requests. */
static struct nmonitor seen[REQUESTS_MAX + 1];

static void add(struct sums *s, const struct nmonitor *last, const struct nmonitor *now)
{
    s->disk_us += us_between(now->sent_done_cycles, now->recv_start_cycles);
    s->cpu_us += us_between(last->recv_done_cycles, now->sent_start_cycles);
    s->out_us += us_between(now->sent_start_cycles, now->sent_done_cycles);
    s->back_us += us_between(now->recv_start_cycles, now->recv_done_cycles);
    s->idle_us += us_between(last->recv_start_cycles, now->sent_done_cycles);
}

static void report(bool writing, int bytes, int requests, bool paused, const struct sums *s)
{
    printf("diskmon op=%s bytes=%d us=%.1f cpu_us=%.1f out_us=%.1f back_us=%.1f", writing ? "write" : "read", bytes,
           s->disk_us / requests, s->cpu_us / requests, s->out_us / requests, s->back_us / requests);
    if (paused)
        printf(" idle_us=%.1f", s->idle_us / requests);
    putchar('\n');
}

/* A call that comes short has met an error, which the next call returns. */
static void request(int pfd, const char *name, bool writing, int bytes)
{
    for (ssize_t done = 0, n; done < bytes; done += n) {
        n = writing ? pio_write(pfd, buffer + done, bytes - done) : pio_read(pfd, buffer + done, bytes - done);
        if (n < 0)
            fail(name);
        if (n == 0) {
            fprintf(stderr, "diskmon: %s: the file ends before what was written\n", name);
            exit(1);
        }
    }
}

static void measure(const struct plan *p, bool writing, int bytes)
{
    const struct pio_layout layout = {.disks = 1, .block_size = bytes, .buffers = 1, .volumes = &p->volume};
    char name[32];

    snprintf(name, sizeof name, "/diskmon-%d", bytes);
    int pfd = pio_open_layout(name, writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644, &layout);
    if (pfd < 0)
        fail(name);
    for (int k = 0; k < p->pauses; k++) {
        struct sums sums = {0};

        for (int i = 0; i < p->before + p->requests; i++) {
            if (k > 0)
                usleep(k * p->pause_us);
            request(pfd, name, writing, bytes);
            seen[i] = look();
        }
        for (int i = p->before; i < p->before + p->requests; i++)
            add(&sums, &seen[i - 1], &seen[i]);
        report(writing, bytes, p->requests, p->pause_us > 0, &sums);
    }
    if (pio_close(pfd) < 0)
        fail(name);
}

static int take_bytes(const char *word)
{
    char *end;
    long value = strtol(word, &end, 10);

    if (end == word || *end || value < 1 || value > BYTES_MAX) {
        fprintf(stderr, "diskmon: '%s': give bytes, 1 to %d\n", word, BYTES_MAX);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    struct plan p = {.volume = argc > 1 ? argv[1] : "df00", .requests = REQUESTS_MAX, .before = 1, .pauses = 1};
    char **word = argv + (argc > 1 ? 2 : 1);
    int node;

    whoami(&node, NULL, NULL, NULL);
    if (node > 0)
        return 0;
    memset(buffer, 1, sizeof buffer); /* its pages are there */
    if (*word && sscanf(*word, "pauses=%d,%d", &p.pause_us, &p.pauses) == 2) {
        p.requests = 12;
        p.before = 2;
        word++;
    }
    for (int writing = 1; writing >= 0; writing--) {
        for (int i = 0; i < BLOCKS && !*word; i++)
            measure(&p, writing, block_bytes[i]);
        for (char **bytes = word; *bytes; bytes++)
            measure(&p, writing, take_bytes(*bytes));
    }
    return 0;
}

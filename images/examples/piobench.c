/*
 * Measures PIO WRITE or PIO READ of 2 MB on eight volumes for B = 4, 8, 16 KB and C = 1, 2, as in [P0 section 4], and
 * the plain write or read of one file on one volume. One node of the subcube works, the others end at once.
 *
 *   piobench write NODE     makes one file for each measurement
 *   piobench read NODE      reads those files and checks their contents
 *
 * In one run of the machine an nsdisk may still have the written data in its memory. So run "write" and "read" in two
 * runs of the machine to measure the drives.
 *
 * Only the calls themselves are timed, in virtual time; opening and closing are not.
 * Prints a line for each measurement,
 *   pio node=3 op=write B=4096 C=1 bytes=2097152 us=1477532.10
 * and the same with "plain" and B and C of 0 for the plain calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <ntime.h>
#include <pio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES      (2 << 20)
#define PLAIN_PATH "//df00/bench"

static const int block_sizes[] = {4096, 8192, 16384};
static const int buffer_counts[] = {1, 2};
#define BLOCK_SIZES   (int)(sizeof block_sizes / sizeof block_sizes[0])
#define BUFFER_COUNTS (int)(sizeof buffer_counts / sizeof buffer_counts[0])

static char *buffer;

static void fail(const char *what)
{
    int error = errno;
    const char *where = pio_failed_path();

    fprintf(stderr, "piobench: %s: %s%s%s\n", what, strerror(error), where[0] ? ": " : "", where);
    exit(1);
}

/* The content of a measurement's file: no two 8-byte words of it are equal, nor those of two files. */
static void fill(uint64_t seed)
{
    uint64_t *word = (uint64_t *)buffer;

    for (uint64_t i = 0; i < BYTES / sizeof *word; i++)
        word[i] = seed << 32 | i;
}

static void check_content(uint64_t seed, const char *name)
{
    const uint64_t *word = (const uint64_t *)buffer;

    for (uint64_t i = 0; i < BYTES / sizeof *word; i++)
        if (word[i] != (seed << 32 | i)) {
            fprintf(stderr, "piobench: %s: wrong byte in the word at %lu\n", name, (unsigned long)(8 * i));
            exit(1);
        }
}

static void report(const char *kind, int node, bool writing, int block_size, int buffers, double us)
{
    printf("%s node=%d op=%s B=%d C=%d bytes=%d us=%.2f\n", kind, node, writing ? "write" : "read", block_size, buffers,
           BYTES, us);
}

static int open_pio(const char *name, bool writing, int block_size, int buffers)
{
    struct pio_layout layout = {.block_size = block_size, .buffers = buffers};
    int pfd = pio_open_layout(name, writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644, &layout);

    if (pfd < 0)
        fail(name);
    return pfd;
}

static void measure_pio(int node, bool writing, int block_size, int buffers)
{
    char name[32];
    uint64_t seed = block_size + buffers;

    snprintf(name, sizeof name, "/bench-%d-%d", block_size, buffers);
    if (writing)
        fill(seed);
    int pfd = open_pio(name, writing, block_size, buffers);
    double start_us = amicclk();
    ssize_t done = writing ? pio_write(pfd, buffer, BYTES) : pio_read(pfd, buffer, BYTES);
    double us = amicclk() - start_us;
    if (done != BYTES || pio_close(pfd) < 0)
        fail(name);
    if (!writing)
        check_content(seed, name);
    report("pio", node, writing, block_size, buffers, us);
}

static void measure_plain(int node, bool writing)
{
    int done = 0;

    if (writing)
        fill(0);
    int fd = open(PLAIN_PATH, writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);
    if (fd < 0)
        fail(PLAIN_PATH);
    double start_us = amicclk();
    while (done < BYTES) {
        int n = writing ? write(fd, buffer + done, BYTES - done) : read(fd, buffer + done, BYTES - done);

        if (n <= 0)
            fail(PLAIN_PATH);
        done += n;
    }
    double us = amicclk() - start_us;
    if (close(fd) < 0)
        fail(PLAIN_PATH);
    if (!writing)
        check_content(0, PLAIN_PATH);
    report("plain", node, writing, 0, 0, us);
}

static void measure_all(int node, bool writing)
{
    buffer = malloc(BYTES);
    if (!buffer)
        fail("2 MB of memory");
    measure_plain(node, writing);
    for (int c = 0; c < BUFFER_COUNTS; c++)
        for (int b = 0; b < BLOCK_SIZES; b++)
            measure_pio(node, writing, block_sizes[b], buffer_counts[c]);
    free(buffer);
}

int main(int argc, char **argv)
{
    int node, dim;
    char *end = "?";

    whoami(&node, NULL, NULL, &dim);
    long chosen = argc == 3 ? strtol(argv[2], &end, 10) : -1;
    bool writing = argc == 3 && strcmp(argv[1], "write") == 0;
    if (argc != 3 || *end || chosen < 0 || chosen >= 1 << dim || (!writing && strcmp(argv[1], "read") != 0)) {
        if (node == 0)
            fprintf(stderr, "usage: piobench write|read NODE, node 0 to %d\n", (1 << dim) - 1);
        return 2;
    }
    if (node == chosen)
        measure_all(node, writing);
    return 0;
}

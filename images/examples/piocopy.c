/*
 * Copies a file of the front end into a PIO file on one node; another node reads it back and compares it with the
 * front end's, byte for byte. Prints one line.
 *
 *   piocopy FILE NAME [WRITER [READER]]     nodes of the subcube; without them its first and its last
 */
#include <fcntl.h>
#include <n_errno.h>
#include <nself.h>
#include <pio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

#define TYPE_WRITTEN 1
#define CHUNK_BYTES  (256 << 10) /* a round of two blocks of 16 KB on each of eight volumes */

static char chunk[CHUNK_BYTES], expected[CHUNK_BYTES];

/* Reads n bytes, or up to the end of the file. Returns the number of bytes, or -1. */
static ssize_t read_full(int fd, char *buf, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = read(fd, buf + done, n - done);

        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += got;
    }
    return done;
}

/* Writes all n bytes. After a short count the next call returns the error. Returns 0, or -1. */
static int write_full(int pfd, const char *buf, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pio_write(pfd, buf + done, n - done);

        if (put < 0)
            return -1;
        done += put;
    }
    return 0;
}

/* Returns the bytes copied, or -1 after a complaint. */
static long copy(int fd, const char *file, int pfd, const char *name)
{
    long total = 0;
    ssize_t n;

    while ((n = read_full(fd, chunk, sizeof chunk)) > 0) {
        if (write_full(pfd, chunk, n) < 0) {
            pio_complain("piocopy", name);
            return -1;
        }
        total += n;
    }
    if (n < 0) {
        pio_complain("piocopy", file);
        return -1;
    }
    return total;
}

static long write_file(const char *file, const char *name)
{
    int fd = open(file, O_RDONLY);

    if (fd < 0) {
        pio_complain("piocopy", file);
        return -1;
    }
    int pfd = pio_open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    long bytes = pfd < 0 ? -1 : copy(fd, file, pfd, name);
    if (pfd < 0 || (bytes >= 0 && (pio_fsync(pfd) < 0 || pio_close(pfd) < 0))) {
        pio_complain("piocopy", name);
        bytes = -1;
    }
    close(fd);
    return bytes;
}

/* Returns 1 when the rest of both files is equal, 0 when not, -1 after a complaint. */
static int compare(int fd, const char *file, int pfd, const char *name)
{
    for (long offset = 0;; offset += CHUNK_BYTES) {
        ssize_t wanted = read_full(fd, expected, sizeof expected);

        if (wanted < 0) {
            pio_complain("piocopy", file);
            return -1;
        }
        ssize_t n = pio_read(pfd, chunk, sizeof chunk);
        if (n < 0) {
            pio_complain("piocopy", name);
            return -1;
        }
        if (n != wanted || memcmp(chunk, expected, n) != 0) {
            fprintf(stderr, "piocopy: %s and %s differ in the %d bytes from %ld\n", file, name, CHUNK_BYTES, offset);
            return 0;
        }
        if (n == 0)
            return 1;
    }
}

static int check_file(const char *file, const char *name)
{
    int fd = open(file, O_RDONLY);

    if (fd < 0) {
        pio_complain("piocopy", file);
        return -1;
    }
    int pfd = pio_open(name, O_RDONLY);
    if (pfd < 0)
        pio_complain("piocopy", name);
    int equal = pfd < 0 ? -1 : compare(fd, file, pfd, name);
    pio_close(pfd);
    close(fd);
    return equal;
}

/* The writer sends the reader the file's length, or -1: then the reader reads nothing. */
static int run_writer(const char *file, const char *name, int reader)
{
    long bytes = write_file(file, name);
    int error = nwrite(&bytes, sizeof bytes, reader, TYPE_WRITTEN, NULL);

    if (error < 0)
        nperror("piocopy: nwrite");
    return bytes < 0 || error < 0;
}

static int run_reader(const char *file, const char *name, int writer)
{
    long bytes;
    int node, from = writer, type = TYPE_WRITTEN;
    int error = nread(&bytes, sizeof bytes, &from, &type, NULL);

    if (error < 0)
        nperror("piocopy: nread");
    if (error < 0 || bytes < 0)
        return 1;
    int equal = check_file(file, name);
    if (equal != 1)
        return 1;
    whoami(&node, NULL, NULL, NULL);
    printf("%s: %ld bytes, written to %s by node %d, read back by node %d: equal\n", file, bytes, name, writer, node);
    return 0;
}

/* A node's number from an argument, or -1. */
static int parse_node(const char *text, int nodes)
{
    char *end;
    long node = strtol(text, &end, 10);

    return *text && !*end && node >= 0 && node < nodes ? (int)node : -1;
}

int main(int argc, char **argv)
{
    int node, failed = 0;

    whoami(&node, NULL, NULL, NULL);
    int nodes = ncubesize();
    int writer = argc > 3 ? parse_node(argv[3], nodes) : 0;
    int reader = argc > 4 ? parse_node(argv[4], nodes) : nodes - 1;
    if (argc < 3 || argc > 5 || writer < 0 || reader < 0) {
        if (node == 0)
            fprintf(stderr, "usage: piocopy FILE NAME [WRITER [READER]], nodes 0 to %d\n", nodes - 1);
        return 2;
    }
    if (node == writer)
        failed |= run_writer(argv[1], argv[2], reader);
    if (node == reader)
        failed |= run_reader(argv[1], argv[2], writer);
    return failed;
}

/*
 * A driver in a program: "count:PATH" is the file PATH; when that is closed, a line reports the number of reads and of
 * bytes read. Prints a file through it.
 *
 *     ncube run --serve /etc examples/counted count:/hostname
 */
#include <errno.h>
#include <fcntl.h>
#include <ndevices.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "count:"

struct counted {
    int fd;
    long calls, bytes;
};

static int counted_match(const char *path)
{
    return strncmp(path, PREFIX, strlen(PREFIX)) == 0;
}

/* Opens the file through the switch again: it may be another driver's. */
static int counted_open(const char *path, int flags, mode_t mode, void **state)
{
    struct counted *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    c->fd = open(path + strlen(PREFIX), flags, mode);
    if (c->fd < 0) {
        free(c);
        return -errno;
    }
    *state = c;
    return 0;
}

static ssize_t counted_read(void *state, void *buf, size_t n)
{
    struct counted *c = state;
    ssize_t got = read(c->fd, buf, n);

    if (got < 0)
        return -errno;
    c->calls++;
    c->bytes += got;
    return got;
}

static int counted_fstat(void *state, struct stat *st)
{
    return fstat(((struct counted *)state)->fd, st) < 0 ? -errno : 0;
}

static int counted_close(void *state)
{
    struct counted *c = state;
    int result = close(c->fd) < 0 ? -errno : 0;

    fprintf(stderr, "%ld reads, %ld bytes\n", c->calls, c->bytes);
    free(c);
    return result;
}

static const struct ndevice counted = {
    .name = "count",
    .match = counted_match,
    .open = counted_open,
    .read = counted_read,
    .fstat = counted_fstat,
    .close = counted_close,
};

__attribute__((constructor)) static void add_device(void)
{
    ndevice_add(&counted);
}

int main(int argc, char **argv)
{
    char line[200];
    FILE *file = fopen(argc > 1 ? argv[1] : "", "r");

    if (!file) {
        fprintf(stderr, "usage: counted FILE; FILE may be count:PATH: %s\n", strerror(errno));
        return 1;
    }
    while (fgets(line, sizeof line, file))
        fputs(line, stdout);
    return fclose(file) == 0 ? 0 : 1;
}

/*
 * A parallel device of one's own [P1 2.4]: a frame buffer with four PEs that share the scan lines; PE k has lines k,
 * k + 4, ... Nodes draw pixels anywhere, in any order; before they are transferred, they are sorted among the nodes
 * that are connected to the device, which are addressed by N_OWN. In the device's place is a file, a PPM.
 *
 *     ncube run -d 3 --serve . examples/frame 64x64 /picture.ppm
 *
 * "frame:WxH:FILE" takes struct pixels by write. All nodes open and close it; close transfers the picture.
 */
#include <errno.h>
#include <fcntl.h>
#include <ndevices.h>
#include <nself.h>
#include <pattern.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PREFIX  "frame:"
#define PES     4    /* of the device; so many nodes are connected to it, if the program has them */
#define OWN     1000 /* from this address on: the nodes of this program */
#define TYPE    7
#define PACKET  512 /* pixels in a message; fewer, the last one of a node */
#define COLOURS 3

struct pixel {
    uint16_t x, y;
    uint8_t colour[COLOURS], unused;
};

/* ---- The driver ---- */

struct frame {
    int fd, width, height, own, nodes, connected;
    long header;
    struct pixel packet[PES][PACKET]; /* for each connected node */
    int packed[PES];
    uint8_t *line; /* of this node: its lines one after the other */
};

static int frame_match(const char *path)
{
    return strncmp(path, PREFIX, strlen(PREFIX)) == 0;
}

static long line_bytes(const struct frame *f)
{
    return (long)f->width * COLOURS;
}

/* The lines of a connected node. */
static int lines_of(const struct frame *f, int node)
{
    return node < f->connected ? (f->height - node + f->connected - 1) / f->connected : 0;
}

/* Writes what stands before the picture, on one node, and makes the file as long as it will be. */
static int make_file(struct frame *f)
{
    char head[40];

    f->header = snprintf(head, sizeof head, "P6\n%d %d\n255\n", f->width, f->height);
    if (f->own > 0)
        return 0;
    if (ftruncate(f->fd, f->header + f->height * line_bytes(f)) < 0 || pwrite(f->fd, head, f->header, 0) < 0)
        return -errno;
    return 0;
}

static int frame_open(const char *path, int flags, mode_t mode, void **state)
{
    struct frame *f = calloc(1, sizeof *f);
    int at = 0;

    if (!f)
        return -ENOMEM;
    f->own = npid();
    f->nodes = ncubesize();
    f->connected = f->nodes < PES ? f->nodes : PES;
    int read = sscanf(path, PREFIX "%dx%d:%n", &f->width, &f->height, &at);
    int error =
        read < 2 || at == 0 || f->width < 1 || f->height < 1 || f->width > 65535 || f->height > 65535 ? -EINVAL : 0;
    if (!error) {
        f->fd = open(path + at, flags | O_CREAT, mode);
        error = f->fd < 0 ? -errno : make_file(f);
    }
    if (!error && lines_of(f, f->own) > 0) {
        f->line = calloc((size_t)lines_of(f, f->own), (size_t)line_bytes(f));
        error = f->line ? 0 : -ENOMEM;
    }
    if (!error)
        error = ioctl(nself, N_OWN, (void *)(long)OWN) < 0 ? -errno : 0;
    if (error) {
        free(f->line);
        free(f);
        return error;
    }
    *state = f;
    return 0;
}

/* Sends the packet for a connected node. */
static int send_packet(struct frame *f, int node)
{
    struct ncaddr to = {.pid = (short)(OWN + node), .type = TYPE};
    const struct strbuf address = {.len = sizeof to, .buf = (char *)&to};
    const struct strbuf pixels = {.len = f->packed[node] * (int)sizeof(struct pixel), .buf = (char *)f->packet[node]};

    f->packed[node] = 0;
    return putmsg(nself, &address, &pixels, 0) < 0 ? -errno : 0;
}

/* Puts pixels into the packets of the nodes that have their lines. */
static ssize_t frame_write(void *state, const void *buf, size_t n)
{
    struct frame *f = state;
    const struct pixel *p = buf;

    if (n % sizeof *p != 0)
        return -EINVAL;
    for (size_t i = 0; i < n / sizeof *p; i++, p++) {
        int node = p->y % f->connected;

        if (p->x >= f->width || p->y >= f->height)
            continue; /* not in the picture */
        f->packet[node][f->packed[node]++] = *p;
        int error = f->packed[node] == PACKET ? send_packet(f, node) : 0;
        if (error)
            return error;
    }
    return (ssize_t)n;
}

/* Receives the pixels of this node's lines, until every node has sent a packet that is not full. */
static int take_packets(struct frame *f)
{
    static struct pixel packet[PACKET];

    for (int left = f->nodes; left > 0;) {
        struct ncaddr from = {.pid = -1, .procid = -1, .type = TYPE};
        struct strbuf address = {.maxlen = sizeof from, .len = sizeof from, .buf = (char *)&from};
        struct strbuf pixels = {.maxlen = sizeof packet, .buf = (char *)packet};
        int flags = 0;

        if (getmsg(nself, &address, &pixels, &flags) < 0)
            return -errno;
        int n = pixels.len / (int)sizeof *packet;
        for (int i = 0; i < n; i++)
            memcpy(f->line + packet[i].y / f->connected * line_bytes(f) + packet[i].x * COLOURS, packet[i].colour,
                   COLOURS);
        left -= n < PACKET;
    }
    return 0;
}

/* Each connected node writes its lines by one call. A mapping has an element for each node; what lies behind the file
 * is for the last one of those that are not connected. */
static int write_lines(struct frame *f)
{
    char text[200], why[PATTERN_WHY_BYTES];
    long line = line_bytes(f), bytes = lines_of(f, f->own) * line, round = line * f->connected;
    long rounds = (f->height + f->connected - 1) / f->connected;
    struct pattern *map;

    int at = snprintf(text, sizeof text, "falls (0,%ld,%ld,%ld,%ld,%d)", line - 1, round, rounds, line, f->connected);
    if (f->nodes > f->connected)
        at += snprintf(text + at, sizeof text - at, "(%ld,%ld,-,1)@%d", rounds * round, rounds * round, f->nodes - 1);
    snprintf(text + at, sizeof text - at, " +%ld", f->header);
    if (pattern_parse(text, &map, why) < 0)
        return -EINVAL;
    int error = ioctl(f->fd, N_SETMAP, map) < 0 || (bytes > 0 && write(f->fd, f->line, bytes) != bytes) ? -errno : 0;
    ioctl(f->fd, N_UNMAP);
    pattern_free(map);
    return error;
}

static int frame_close(void *state)
{
    struct frame *f = state;
    int error = 0;

    for (int node = 0; node < f->connected && !error; node++)
        error = send_packet(f, node);
    if (!error && f->own < f->connected)
        error = take_packets(f);
    if (!error)
        error = write_lines(f);
    if (close(f->fd) < 0 && !error)
        error = -errno;
    free(f->line);
    free(f);
    return error;
}

static const struct ndevice frame = {
    .name = "frame", .match = frame_match, .open = frame_open, .close = frame_close, .write = frame_write};

__attribute__((constructor)) static void add_frame(void)
{
    ndevice_add(&frame);
}

/* ---- A program that draws ---- */

/* How soon the point leaves the circle of radius 2 (the Mandelbrot set). */
static int steps_of(double re, double im)
{
    double x = 0, y = 0;
    int n = 0;

    for (; n < 50 && x * x + y * y < 4; n++) {
        double next = x * x - y * y + re;

        y = 2 * x * y + im;
        x = next;
    }
    return n;
}

/* Each node draws every so many columns. */
static int draw(int fd, int width, int height)
{
    for (int x = npid(); x < width; x += ncubesize())
        for (int y = 0; y < height; y++) {
            int n = steps_of(3.0 * x / width - 2.2, 2.4 * y / height - 1.2);
            struct pixel p = {
                (uint16_t)x, (uint16_t)y, {(uint8_t)(n * 5), (uint8_t)(n * n / 10), (uint8_t)(255 - n * 5)}, 0};

            if (write(fd, &p, sizeof p) < 0)
                return -1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    char path[200];
    int width, height;

    if (argc != 3 || sscanf(argv[1], "%dx%d", &width, &height) != 2) {
        fprintf(stderr, "usage: frame WIDTHxHEIGHT FILE\n");
        return 2;
    }
    snprintf(path, sizeof path, PREFIX "%s:%s", argv[1], argv[2]);
    int fd = open(path, O_WRONLY, 0644);
    if (fd < 0 || draw(fd, width, height) < 0 || close(fd) < 0) {
        perror(path);
        return 1;
    }
    return 0;
}

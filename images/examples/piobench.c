/*
 * Measures PIO WRITE or PIO READ of a file over several volumes, and the plain write or read of one file on one volume,
 * as in [P0 section 4]. Only the calls themselves are timed, in virtual time; opening and closing are not.
 *
 *   piobench write NODE     2 MB for B = 4, 8, 16 KB and C = 1, 2, one file for each, and one plain file
 *   piobench read NODE      reads those files and checks their contents
 *   piobench write|read NODE[,NODE...] WORD...     one measurement; the nodes begin at the same time, each on a file of
 *                                                  its own. WORD is one of
 *       B=16384 C=2         of the layout
 *       volumes=df00,df01   its volumes, which are also the number of them, D (default: df00 to df07)
 *       bytes=2097152       of each file, a multiple of 8
 *       request=65536       bytes of one call (default: the whole file in one)
 *       random              the calls in a random order, always the same
 *       plain               one file on the first volume, by write and read
 *
 * In one run of the machine an nsdisk may still have the written data in its memory. So run "write" and "read" in two
 * runs of the machine to measure the drives. Prints a line for each measurement, such as
 *
 *   pio node=3 op=write B=4096 C=1 bytes=2097152 us=1477532.10
 *
 * and the same with "plain" and B and C of 0 for the plain calls. With words, the times of the calls' begin and end
 * follow, and set_up_us, what opening before and closing behind them took.
 */
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

#include "must.h"

#define BYTES        (2 << 20)
#define BYTES_MAX    (8 << 20)
#define NODES_MAX    64
#define VOLUMES_MAX  64
#define SYNC_TYPE    1
#define RANDOM_FIRST 12345u

static const int block_sizes[] = {4096, 8192, 16384};
static const int buffer_counts[] = {1, 2};
#define BLOCK_SIZES   (int)(sizeof block_sizes / sizeof block_sizes[0])
#define BUFFER_COUNTS (int)(sizeof buffer_counts / sizeof buffer_counts[0])

struct plan {
    int node; /* this one */
    bool writing, plain, random;
    int block_size, buffers, bytes, request;
    const char *volume[VOLUMES_MAX];
    int volumes; /* 0: the default */
    const char *name;
    uint64_t seed;
    bool long_line;
    bool together; /* nodes begin at the same time */
};

static char *buffer;

static void fail(const char *what)
{
    pio_complain("piobench", what);
    exit(1);
}

/* The content of a measurement's file: no two 8-byte words of it are equal, nor those of two files. */
static void fill(uint64_t seed, int bytes)
{
    uint64_t *word = (uint64_t *)buffer;

    for (uint64_t i = 0; i < bytes / sizeof *word; i++)
        word[i] = seed << 32 | i;
}

static void check_content(uint64_t seed, int bytes, const char *name)
{
    const uint64_t *word = (const uint64_t *)buffer;

    for (uint64_t i = 0; i < bytes / sizeof *word; i++)
        if (word[i] != (seed << 32 | i)) {
            fprintf(stderr, "piobench: %s: wrong byte in the word at %lu\n", name, (unsigned long)(8 * i));
            exit(1);
        }
}

static int open_file(const struct plan *p)
{
    int flags = p->writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
    struct pio_layout layout = {.block_size = p->block_size, .buffers = p->buffers, .disks = p->volumes};

    if (p->volumes > 0)
        layout.volumes = (const char **)p->volume;
    int fd = p->plain ? open(p->name, flags, 0644) : pio_open_layout(p->name, flags, 0644, &layout);
    if (fd < 0)
        fail(p->name);
    return fd;
}

/* One call, in pieces where a plain call takes less. */
static void transfer(const struct plan *p, int fd, int at, int bytes)
{
    for (int done = 0; done < bytes;) {
        char *from = buffer + at + done;
        int n = p->plain     ? (p->writing ? write(fd, from, bytes - done) : read(fd, from, bytes - done))
                : p->writing ? pio_write(fd, from, bytes - done)
                             : pio_read(fd, from, bytes - done);

        if (n <= 0)
            fail(p->name);
        done += n;
    }
}

static void transfer_at_random(const struct plan *p, int fd)
{
    int n = (p->bytes + p->request - 1) / p->request;
    int *order = malloc(n * sizeof *order);
    uint64_t random = RANDOM_FIRST;

    if (!order)
        fail("the order of the calls");
    for (int i = 0; i < n; i++) { /* Fisher and Yates, with Knuth's linear congruence */
        random = random * 6364136223846793005u + 1442695040888963407u;
        int j = (int)((random >> 33) % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < n; i++) {
        int at = order[i] * p->request, left = p->bytes - at;
        off_t to = p->plain ? lseek(fd, at, SEEK_SET) : pio_lseek(fd, at, SEEK_SET);

        if (to != at)
            fail(p->name);
        transfer(p, fd, at, left < p->request ? left : p->request);
    }
    free(order);
}

static void transfer_in_order(const struct plan *p, int fd)
{
    for (int at = 0; at < p->bytes; at += p->request)
        transfer(p, fd, at, p->bytes - at < p->request ? p->bytes - at : p->request);
}

static void report(const struct plan *p, double from_us, double to_us, double set_up_us)
{
    printf("%s node=%d op=%s B=%d C=%d bytes=%d us=%.2f", p->plain ? "plain" : "pio", p->node,
           p->writing ? "write" : "read", p->plain ? 0 : p->block_size, p->plain ? 0 : p->buffers, p->bytes,
           to_us - from_us);
    if (p->long_line)
        printf(" request=%d from_us=%.2f to_us=%.2f set_up_us=%.2f", p->request, from_us, to_us, set_up_us);
    putchar('\n');
}

/* Every measurement begins at the same angle of the platters, whatever the program has done before: at a full tenth of
 * a second, six turns of a drive at 3600 rpm. */
static void await_angle(void)
{
    const long begin_us = 100000;
    int us;

    n_time(&us);
    usleep((useconds_t)(begin_us - us % begin_us));
}

static void measure(const struct plan *p)
{
    double from_us = 0, to_us = 0, set_up_us = 0;

    if (p->writing)
        fill(p->seed, p->bytes);
    if (p->long_line)
        set_up_us -= amicclk();
    int fd = open_file(p);
    if (p->long_line)
        set_up_us += amicclk();
    if (p->together)
        nsync(SYNC_TYPE);
    await_angle();
    from_us = amicclk();
    if (p->random)
        transfer_at_random(p, fd);
    else
        transfer_in_order(p, fd);
    to_us = amicclk();
    if ((p->plain ? close(fd) : pio_close(fd)) < 0)
        fail(p->name);
    if (p->long_line)
        set_up_us += amicclk() - to_us;
    if (!p->writing)
        check_content(p->seed, p->bytes, p->name);
    report(p, from_us, to_us, set_up_us);
}

static void measure_all(int node, bool writing)
{
    struct plan p = {.node = node, .writing = writing, .plain = true, .bytes = BYTES, .request = BYTES};

    p.name = "//df00/bench";
    char name[32];
    measure(&p);
    p.plain = false;
    p.name = name;
    for (int c = 0; c < BUFFER_COUNTS; c++)
        for (int b = 0; b < BLOCK_SIZES; b++) {
            p.block_size = block_sizes[b];
            p.buffers = buffer_counts[c];
            p.seed = p.block_size + p.buffers;
            snprintf(name, sizeof name, "/bench-%d-%d", p.block_size, p.buffers);
            measure(&p);
        }
}

/* ---- Command line ---- */

static _Noreturn void refuse(const char *why, const char *word)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    if (node == 0)
        fprintf(stderr, "piobench: %s '%s'; usage: piobench write|read NODE[,NODE...] [WORD...]\n", why, word);
    exit(2);
}

static int take_number(const char *word, int least, int most)
{
    char *end;
    const char *text = strchr(word, '=') + 1;
    long value = strtol(text, &end, 10);

    if (end == text || *end || value < least || value > most)
        refuse("a number is missing or out of range in", word);
    return (int)value;
}

static void take_volumes(struct plan *p, char *list)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (p->volumes == VOLUMES_MAX)
            refuse("too many volumes, from", name);
        p->volume[p->volumes++] = name;
    }
}

static void take_word(struct plan *p, char *word)
{
    if (strncmp(word, "B=", 2) == 0)
        p->block_size = take_number(word, 1, 1 << 20);
    else if (strncmp(word, "C=", 2) == 0)
        p->buffers = take_number(word, 1, 512);
    else if (strncmp(word, "bytes=", 6) == 0)
        p->bytes = take_number(word, 8, BYTES_MAX) & ~7;
    else if (strncmp(word, "request=", 8) == 0)
        p->request = take_number(word, 1, BYTES_MAX);
    else if (strncmp(word, "volumes=", 8) == 0)
        take_volumes(p, word + 8);
    else if (strcmp(word, "random") == 0)
        p->random = true;
    else if (strcmp(word, "plain") == 0)
        p->plain = true;
    else
        refuse("unknown word", word);
}

/* Reads the list of nodes. Returns how many there are; *chosen: whether this one is among them. */
static int take_nodes(const char *list, int node, bool *chosen)
{
    const char *at = list;
    int n = 0;

    *chosen = false;
    do {
        char *end;
        long value = strtol(at, &end, 10);

        if (end == at || (*end && *end != ',') || value < 0 || value >= ncubesize())
            refuse("no node of this subcube in", list);
        *chosen |= value == node;
        n++;
        at = end + 1;
    } while (at[-1] == ',');
    return n;
}

static void measure_one(struct plan *p, char **word)
{
    char name[64];

    p->block_size = 16384;
    p->buffers = 2;
    p->bytes = BYTES;
    p->seed = p->node + 1;
    p->long_line = true;
    for (; *word; word++)
        take_word(p, *word);
    if (p->request == 0)
        p->request = p->bytes;
    if (p->plain)
        snprintf(name, sizeof name, "//%s/bench-%d", p->volumes > 0 ? p->volume[0] : "df00", p->node);
    else
        snprintf(name, sizeof name, "/bench-%d", p->node);
    p->name = name;
    measure(p);
}

int main(int argc, char **argv)
{
    struct plan p = {0};
    bool chosen;

    whoami(&p.node, NULL, NULL, NULL);
    if (argc < 3)
        refuse("give an operation and a node after", argv[0]);
    p.writing = strcmp(argv[1], "write") == 0;
    if (!p.writing && strcmp(argv[1], "read") != 0)
        refuse("unknown operation", argv[1]);
    p.together = take_nodes(argv[2], p.node, &chosen) > 1;
    if (!chosen) {
        if (p.together)
            nsync(SYNC_TYPE);
        return 0;
    }
    buffer = malloc(BYTES_MAX);
    if (!buffer)
        fail("8 MB of memory");
    if (argc == 3)
        measure_all(p.node, p.writing);
    else
        measure_one(&p, argv + 3);
    free(buffer);
    return 0;
}

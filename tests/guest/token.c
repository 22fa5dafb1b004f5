/*
 * One file of several nodes, in blocks of 1 KB that belong to them in turn [P1 2.6, Figure 9], for
 * tests/machine/test_merging.c.
 *
 *   token WAY PATH NODES BYTES    the first NODES nodes of the subcube write; prints how long it took, in microseconds
 *
 *   token        one node at a time: it writes its block and sends a message to the next one
 *   mapped       each node writes its element of "cyclic 1024 NODES", by one call
 *   positioned   each node writes its blocks by pwrite, as fast as it can
 */
#include <fcntl.h>
#include <npara_prt.h>
#include <nself.h>
#include <ntime.h>
#include <pattern.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check_files.h"

#define BLOCK 1024
#define TURN  7 /* type of the token */

static char *own;
static int nodes;
static long blocks;

static char content(long x)
{
    return (char)(x * 7 + (x >> 8) * 3 + 1);
}

/* Makes this node's bytes: its blocks one after the other. Returns how many. */
static long make_own(void)
{
    long n = 0;

    own = malloc((size_t)(blocks / nodes + 1) * BLOCK);
    check(own != NULL, "no memory");
    for (long b = own_node(); b < blocks; b += nodes)
        for (long i = 0; i < BLOCK; i++)
            own[n++] = content(b * BLOCK + i);
    return n;
}

static void write_in_turn(int fd)
{
    char token = 0;
    int type = TURN, from = N_ANY;

    for (long b = own_node(); b < blocks; b += nodes) {
        if (b > 0)
            check_equal(nread(&token, 1, &from, &type, NULL), 1);
        check_equal(pwrite(fd, own + b / nodes * BLOCK, BLOCK, b * BLOCK), BLOCK);
        if (b + 1 < blocks)
            check_equal(nwrite(&token, 1, (int)((b + 1) % nodes), TURN, NULL), 0);
    }
}

/* A mapping has an element for each node; what lies behind the file is for a node that does not write. */
static void write_mapped(int fd, long n)
{
    char why[PATTERN_WHY_BYTES], text[200];
    struct pattern *p;
    int dim;

    whoami(NULL, NULL, NULL, &dim);
    long rounds = (blocks + nodes - 1) / nodes, round = (long)nodes * BLOCK;
    if (nodes == 1 << dim)
        snprintf(text, sizeof text, "cyclic %d %d", BLOCK, nodes);
    else
        snprintf(text, sizeof text, "falls (0,%d,%ld,%ld,%d,%d)(%ld,%ld,-,1)@%d", BLOCK - 1, round, rounds, BLOCK,
                 nodes, rounds * round, rounds * round + BLOCK - 1, (1 << dim) - 1);
    check(pattern_parse(text, &p, why) == 0, "%s", why);
    check_equal(ioctl(fd, N_SETMAP, p), 0);
    check_equal(write(fd, own, (size_t)n), n);
}

static void write_positioned(int fd)
{
    for (long b = own_node(); b < blocks; b += nodes)
        check_equal(pwrite(fd, own + b / nodes * BLOCK, BLOCK, b * BLOCK), BLOCK);
}

int main(int argc, char **argv)
{
    check(argc == 5, "token WAY PATH NODES BYTES");
    nodes = atoi(argv[3]);
    blocks = atol(argv[4]) / BLOCK;
    bool takes_part = own_node() < nodes;
    long n = takes_part ? make_own() : 0;
    int fd = open(argv[2], O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "%s: %s", argv[2], strerror(errno));
    dmaxn(0); /* all have opened */
    double from = amicclk();
    if (takes_part && strcmp(argv[1], "token") == 0)
        write_in_turn(fd);
    else if (takes_part && strcmp(argv[1], "mapped") == 0)
        write_mapped(fd, n);
    else if (takes_part)
        write_positioned(fd);
    double us = dmaxn(takes_part ? amicclk() - from : 0);
    check_equal(close(fd), 0);
    if (own_node() == 0)
        printf("%.0f\n", us);
    return 0;
}

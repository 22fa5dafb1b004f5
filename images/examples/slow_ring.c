/*
 * A ring that is slow because of where its members are. Each round, every member sends a block to the next one and
 * receives one from the member before. The ring is laid into the cube in one of two ways:
 *
 *     ncube run -d 6 --report=slow.html examples/slow_ring halves
 *     ncube run -d 6 --report=fast.html examples/slow_ring gray
 *
 *   halves   even members in the lower half of the cube, in order; odd ones in the upper half, in bit-reversed order,
 *            as a program with two kinds of members might number each kind by itself. A block crosses half of the
 *            dimensions, and e-cube routing leads many blocks over the same channels.
 *   gray     by Gray code: each member next to the one before.
 *
 * Both send the same blocks. The report shows why one takes longer: which channels are hot, and whose blocks share
 * them.
 */
#include <nmon.h>
#include <nself.h>
#include <ntime.h>
#include <stdio.h>
#include <string.h>

#include "must.h"

#define TYPE_BLOCK  1
#define TYPE_SYNC   2
#define BLOCK_BYTES 8192
#define ROUNDS      16

static int reversed(int bits, int n)
{
    int result = 0;

    while (n-- > 0) {
        result = result << 1 | (bits & 1);
        bits >>= 1;
    }
    return result;
}

/* Returns the node of member i of a ring over 2^dim nodes. */
static int place_by_halves(int i, int dim)
{
    return i % 2 == 0 ? i / 2 : (1 << (dim - 1)) + reversed(i / 2, dim - 1);
}

static int place_by_gray(int i, int dim)
{
    (void)dim;
    return i ^ i >> 1;
}

static int find_member(int (*place)(int i, int dim), int node, int dim)
{
    int i = 0;

    while (place(i, dim) != node)
        i++;
    return i;
}

static void pass_blocks(int next, int previous)
{
    static char sent[BLOCK_BYTES], received[BLOCK_BYTES];

    for (int round = 0; round < ROUNDS; round++) {
        int from = previous, type = TYPE_BLOCK;

        must("nwrite", nwrite(sent, sizeof sent, next, TYPE_BLOCK, NULL));
        must("nread", nread(received, sizeof received, &from, &type, NULL));
    }
}

int main(int argc, char **argv)
{
    int (*place)(int i, int dim) = argc > 1 && strcmp(argv[1], "gray") == 0 ? place_by_gray : place_by_halves;
    int node, dim;

    if (argc > 2 || (argc > 1 && place == place_by_halves && strcmp(argv[1], "halves") != 0)) {
        fprintf(stderr, "usage: slow_ring [halves | gray]\n");
        return 2;
    }
    whoami(&node, NULL, NULL, &dim);
    int nodes = 1 << dim, i = dim > 0 ? find_member(place, node, dim) : 0;
    int next = dim > 0 ? place((i + 1) % nodes, dim) : 0, previous = dim > 0 ? place((i + nodes - 1) % nodes, dim) : 0;
    must("nsync", nsync(TYPE_SYNC));
    nmark("ring");
    double start_us = amicclk();
    pass_blocks(next, previous);
    must("nsync", nsync(TYPE_SYNC));
    if (node == 0)
        printf("%d rounds of %d bytes around %d nodes: %.0f us\n", ROUNDS, BLOCK_BYTES, nodes, amicclk() - start_us);
    return 0;
}

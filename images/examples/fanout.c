/*
 * Measures the gain of channel-disjoint routings: node 0 sends one message to each of n nodes at once, n from 1 to the
 * dimension of the subcube, first to nodes whose paths all begin with channel 0 (joint), then to nodes whose paths
 * have no channel in common (disjoint). Prints, a line each,
 *
 *     fanout kind=joint n=3 bytes=4096 us=... to=1,3,5
 *
 * with the time from the first message's start to the last one's last byte, by the NCUs' time stamps, as the mean of
 * ROUNDS. Receivers keep the times until they are asked, and node 0 prints at the end, so that no message arrives while
 * it sends. The mean includes the kernel's work of freeing the memory of finished sends, once in 15 sends of
 * up to 64 bytes and in 7 longer ones.
 */
#include <nmon.h>
#include <nself.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "must.h"

#define TYPE_MESSAGE 1
#define TYPE_TIMES   2
#define TYPE_READY   3
#define TYPE_ASK     4
#define BYTES_MAX    65536
#define DIM_MAX      13
#define ROUNDS       7

enum kind { JOINT, DISJOINT, KINDS };

static const char *const kind_name[KINDS] = {"joint", "disjoint"};
static const int sizes[] = {8, 64, 512, 4096, 16384, BYTES_MAX};
#define SIZES (int)(sizeof sizes / sizeof sizes[0])

static char buffer[BYTES_MAX];
static uint64_t cycles[KINDS][SIZES][DIM_MAX + 1]; /* on node 0, of n destinations: the sum of all rounds */

/* Destination i of a kind: 1, 3, 5, 9, 17 ... all differ from 0 in bit 0; 1, 2, 4, 8 ... differ in one bit each. */
static int destination(enum kind kind, int i)
{
    return kind == DISJOINT ? 1 << i : 1 | (i > 0 ? 1 << i : 0);
}

static void send_all(enum kind kind, int n, int bytes)
{
    for (int i = 0; i < n; i++)
        must("nwrite", nwrite(buffer, bytes, destination(kind, i), TYPE_MESSAGE, NULL));
}

/* Asks the receivers for their times. Returns the cycles from the earliest start to the latest end. */
static uint64_t collect(enum kind kind, int n)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (int i = 0; i < n; i++) {
        struct nmonitor m;
        int from = destination(kind, i), type = TYPE_TIMES;

        must("nwrite", nwrite(NULL, 0, from, TYPE_ASK, NULL));
        must("nread", nread(&m, sizeof m, &from, &type, NULL));
        first = m.recv_start_cycles < first ? m.recv_start_cycles : first;
        last = m.recv_done_cycles > last ? m.recv_done_cycles : last;
    }
    return last - first;
}

static void print(enum kind kind, int size, int n)
{
    printf("fanout kind=%s n=%d bytes=%d us=%.2f to=", kind_name[kind], n, sizes[size],
           (double)cycles[kind][size][n] / ROUNDS / NMON_CYCLES_PER_US);
    for (int i = 0; i < n; i++)
        printf("%s%d", i > 0 ? "," : "", destination(kind, i));
    printf("\n");
}

static void receive(int bytes)
{
    struct nmonitor m;
    int from = 0, type = TYPE_MESSAGE;

    must("nread", nread(buffer, bytes, &from, &type, NULL));
    must("nmonitor", nmonitor(&m));
    type = TYPE_ASK;
    must("nread", nread(NULL, 0, &from, &type, NULL));
    must("nwrite", nwrite(&m, sizeof m, 0, TYPE_TIMES, NULL));
}

static bool is_destination(int node, enum kind kind, int n)
{
    for (int i = 0; i < n; i++)
        if (destination(kind, i) == node)
            return true;
    return false;
}

static void measure(int node, enum kind kind, int size, int n)
{
    if (node == 0) {
        send_all(kind, n, sizes[size]);
        cycles[kind][size][n] += collect(kind, n);
    } else if (is_destination(node, kind, n)) {
        receive(sizes[size]);
    }
}

int main(void)
{
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    must("nsync", nsync(TYPE_READY));
    for (int kind = 0; kind < KINDS; kind++)
        for (int s = 0; s < SIZES; s++)
            for (int n = 1; n <= dim; n++)
                for (int round = 0; round < ROUNDS; round++)
                    measure(node, kind, s, n);
    for (int kind = 0; node == 0 && kind < KINDS; kind++)
        for (int s = 0; s < SIZES; s++)
            for (int n = 1; n <= dim; n++)
                print(kind, s, n);
    return 0;
}

/*
 * Sends messages of several lengths back and forth between node 0 and the node farthest from it. Prints for each length
 * the time of one way, half the round trip, as a program sees it: with Vertex's work at both ends.
 */
#include <nself.h>
#include <ntime.h>
#include <stdio.h>

#include "must.h"

#define TYPE_BALL  1
#define TYPE_START 2
#define ROUNDS     8
#define BYTES_MAX  65536

static const int lengths[] = {0, 8, 64, 512, 4096, 16384, BYTES_MAX};
#define LENGTHS (int)(sizeof lengths / sizeof lengths[0])

static char ball[BYTES_MAX];

static void send(int to, int bytes)
{
    must("nwrite", nwrite(ball, bytes, to, TYPE_BALL, NULL));
}

static void receive(int from)
{
    int type = TYPE_BALL;

    must("nread", nread(ball, sizeof ball, &from, &type, NULL));
}

static void serve(int to, int dim)
{
    for (int i = 0; i < LENGTHS; i++) {
        double start_us = amicclk();

        for (int round = 0; round < ROUNDS; round++) {
            send(to, lengths[i]);
            receive(to);
        }
        printf("%6d bytes over %d hops: %9.2f us\n", lengths[i], dim, (amicclk() - start_us) / (2 * ROUNDS));
    }
}

static void reply(int to)
{
    for (int i = 0; i < LENGTHS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            receive(to);
            send(to, lengths[i]);
        }
}

int main(void)
{
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    int last = (1 << dim) - 1;
    must("nsync", nsync(TYPE_START));
    if (last == 0)
        printf("pingpong needs two nodes: ncube run -d 1\n");
    else if (node == 0)
        serve(last, dim);
    else if (node == last)
        reply(0);
    return last == 0;
}

/*
 * Passes a number once around the nodes; each adds its own. Node 0 prints the sum and the virtual time that it took.
 */
#include <nself.h>
#include <ntime.h>
#include <stdio.h>

#include "must.h"

#define TYPE_RING 1

static long receive(int from)
{
    long sum;
    int type = TYPE_RING;

    must("nread", nread(&sum, sizeof sum, &from, &type, NULL));
    return sum;
}

static void send(int to, long sum)
{
    must("nwrite", nwrite(&sum, sizeof sum, to, TYPE_RING, NULL));
}

int main(void)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    int nodes = ncubesize();
    int next = (node + 1) % nodes;
    int previous = (node + nodes - 1) % nodes;

    must("nsync", nsync(TYPE_RING + 1));
    if (node != 0) {
        send(next, receive(previous) + node);
        return 0;
    }
    double start_us = amicclk();
    send(next, 0);
    long sum = receive(previous);
    printf("%d nodes, sum %ld, %.2f us\n", nodes, sum, amicclk() - start_us);
    return 0;
}

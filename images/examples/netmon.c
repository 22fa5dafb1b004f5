/*
 * Measures the service time of the network as a monitor program does: from the time at which the sender's NCU takes a
 * message to the arrival of its last byte in the receiver's memory. Node 0 sends to the node farthest from it, one
 * message at a time, on an otherwise idle network. [P0 section 3] measured 1854, 3697, 7384 and 15 us over five hops.
 *
 * The lengths are those on the wire: the header of 8 bytes is part of them.
 */
#include <nmon.h>
#include <nself.h>
#include <stdio.h>

#include "must.h"

#define TYPE_MESSAGE 1
#define TYPE_READY   2
#define HEADER_BYTES 8
#define BYTES_MAX    16384

static const int wire_bytes[] = {4096, 8192, BYTES_MAX, HEADER_BYTES};
#define MESSAGES (int)(sizeof wire_bytes / sizeof wire_bytes[0])

static char buffer[BYTES_MAX];

static void send(int to, int bytes)
{
    char ready;
    int type = TYPE_READY;

    must("nread", nread(&ready, 1, &to, &type, NULL));
    must("nwrite", nwrite(buffer, bytes - HEADER_BYTES, to, TYPE_MESSAGE, NULL));
}

static void receive(int from, int hops)
{
    struct nmonitor monitor;
    int type = TYPE_MESSAGE;

    must("nwrite", nwrite(NULL, 0, from, TYPE_READY, NULL));
    must("nread", nread(buffer, sizeof buffer, &from, &type, NULL));
    must("nmonitor", nmonitor(&monitor));
    printf("netmon hops=%d bytes=%d us=%.2f\n", hops, (int)monitor.recv_bytes,
           (double)(monitor.recv_done_cycles - monitor.recv_start_cycles) / NMON_CYCLES_PER_US);
}

int main(void)
{
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    int last = (1 << dim) - 1;
    for (int i = 0; i < MESSAGES && last > 0; i++) {
        if (node == 0)
            send(last, wire_bytes[i]);
        else if (node == last)
            receive(0, dim);
    }
    return 0;
}

/*
 * Computes on every node (work.h), and sends 8 bytes to a neighbour now and then.
 *
 *   compute TURNS ROUNDS     ROUNDS times: TURNS turns of work, then an exchange with the neighbour in dimension 0
 *                            (none on a single node)
 */
#include <nself.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/bench/work.h"

static uint64_t memory[WORK_WORDS];

static void exchange(int node)
{
    uint64_t out = (uint64_t)node, in;
    int source = node ^ 1, type = 1;

    nwrite(&out, sizeof out, node ^ 1, 1, NULL);
    if (nread(&in, sizeof in, &source, &type, NULL) != (int)sizeof in || in != (uint64_t)source)
        exit(1);
}

int main(int argc, char **argv)
{
    int node, proc, host, dim;
    uint64_t sum = 0;

    if (argc != 3)
        return 2;
    whoami(&node, &proc, &host, &dim);
    for (int round = atoi(argv[2]); round > 0; round--) {
        sum += work(strtoull(argv[1], NULL, 10), memory);
        if (dim > 0)
            exchange(node);
    }
    return sum == 0;
}

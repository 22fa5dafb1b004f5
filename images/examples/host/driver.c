/*
 * driver: a host program. It opens a cube of a machine that is up, loads `searcher` on all its nodes, gives each node a
 * range of numbers whenever it is free, and adds up the primes that the nodes find there.
 */
#include <nhost.h>
#include <stdio.h>
#include <stdlib.h>

#include "search.h"

#define RANGE_NUMBERS 20000

static int cube, next, end;

static void fail(const char *what)
{
    fprintf(stderr, "driver: %s: %s\n", what, nfailed());
    exit(1);
}

/* Gives the node the next range; an empty one ends it. Returns 1 if it has work now. */
static int give(int node)
{
    const int first = next;
    const int32_t range[2] = {first, end - first < RANGE_NUMBERS ? end : first + RANGE_NUMBERS};

    next = range[1];
    if (nwrite(cube, range, sizeof range, node, RANGE) < 0)
        fail("nwrite");
    return range[0] < range[1];
}

int main(int argc, char **argv)
{
    int dim = argc > 1 ? atoi(argv[1]) : 2, working = 0, primes = 0;

    end = argc > 2 ? atoi(argv[2]) : 100000;
    if ((cube = nopen(dim)) < 0)
        fail("nopen");
    if (rexecl(nodeset(cube, "all"), "./searcher", "searcher", NULL).np_pid == -1)
        fail("rexecl");
    for (int node = 0; node < 1 << dim; node++)
        working += give(node);
    while (working > 0) {
        int node = -1, type = COUNT;
        int32_t count;

        if (nread(cube, &count, sizeof count, &node, &type) < 0)
            fail("nread");
        primes += count;
        working += give(node) - 1;
    }
    if (nwait(cube) != 0)
        fail("nwait");
    printf("%d primes below %d\n", primes, end);
    return nclose(cube);
}

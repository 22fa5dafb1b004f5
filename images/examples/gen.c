/*
 * The beginning of a pipeline: random numbers on the standard output, 4 bytes each. Each node writes its own part of
 * them, every so many blocks of 1024 numbers.
 *
 *     ncube run -d 2 examples/gen 100000 '|' -d 3 examples/psort '|' examples/check
 */
#include <nself.h>
#include <pattern.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK_NUMBERS 1024

/* The number at that place, whichever node writes it. */
static uint32_t number_at(long i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15ull;

    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

int main(int argc, char **argv)
{
    long numbers = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    int node;
    struct pattern *map;

    whoami(&node, NULL, NULL, NULL);
    int nodes = ncubesize();
    if (pattern_stripe(BLOCK_NUMBERS * sizeof(uint32_t), nodes, &map) < 0 || ioctl(STDOUT_FILENO, N_SETMAP, map) < 0) {
        perror("gen: the standard output");
        return 1;
    }
    for (long first = (long)node * BLOCK_NUMBERS; first < numbers; first += (long)nodes * BLOCK_NUMBERS) {
        uint32_t block[BLOCK_NUMBERS];
        long n = numbers - first < BLOCK_NUMBERS ? numbers - first : BLOCK_NUMBERS;

        for (long i = 0; i < n; i++)
            block[i] = number_at(first + i);
        if (write(STDOUT_FILENO, block, (size_t)n * sizeof *block) < 0) {
            perror("gen");
            return 1;
        }
    }
    return 0;
}

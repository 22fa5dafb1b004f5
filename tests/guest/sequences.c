/*
 * sequences FIRST VOLUMES [N]: node 0 runs N (or 3) random sequences of PIO calls from number FIRST on against plain
 * arrays (tests/libpio/sequences.h).
 */
#include "tests/libpio/sequences.h"

#include <stdio.h>

#include "check.h"

static unsigned long seed;

void sequences_failed(int line, const char *text)
{
    fprintf(stderr, "sequence %lu, sequences.c:%d: %s\n", seed, line, text);
    exit(1);
}

static void sequences(void)
{
    unsigned long first = strtoul(test_argv[0], NULL, 10), n = test_argc > 2 ? strtoul(test_argv[2], NULL, 10) : 3;

    sequences_volumes = atoi(test_argv[1]);
    for (seed = first; own_node() == 0 && seed < first + n; seed++)
        sequences_run(seed);
}

static const struct test_case cases[] = {{"sequences", sequences}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}

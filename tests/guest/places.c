/*
 * Nodes that compute in several functions, for less and for more than 50 ms, poll, and are interrupted by messages: for
 * runs with a limit, which name where a node computes only if it is the same place in every run. Argument: a seed.
 */
#include <nself.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

static volatile long turns;

/* Functions of a few microseconds each, so that code that is elsewhere is in another one. */
#define STEP(number)                                          \
    static void __attribute__((noinline)) step_##number(void) \
    {                                                         \
        for (int i = 0; i < 10; i++)                          \
            turns = turns * 3 + number;                       \
    }

STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)

static void compute(int times)
{
    while (times-- > 0) {
        step_1();
        step_2();
        step_3();
        step_4();
        step_5();
    }
}

static void poll(int times)
{
    while (times-- > 0) {
        int from = -1, type = 7777;

        ntest(&from, &type);
    }
}

int main(int argc, char **argv)
{
    int node, proc, host, dim;

    whoami(&node, &proc, &host, &dim);
    uint64_t state = strtoull(argc > 1 ? argv[1] : "1", NULL, 10) + 77u * (unsigned)node;
    for (int i = 0; i < 1000; i++) {
        uint32_t what = draw(&state) % 4, times = draw(&state) % 5000;

        if (what == 0)
            compute(2 * (int)times);
        if (what == 1)
            check_equal(nwrite("x", 1, draw(&state) % (1 << dim), 5, NULL), 0);
        if (what == 2)
            poll(3000);
        compute((int)times / 2);
    }
    return 0;
}

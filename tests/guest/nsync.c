/*
 * nsync is a barrier: no node leaves it before all have arrived. The nodes arrive at very different times; node 0
 * compares. Prints "5 barriers hold", or the first that does not.
 */
#include <nself.h>
#include <ntime.h>
#include <stdio.h>

enum { ROUNDS = 5, TYPE_SYNC = 9, TYPE_TIMES = 10 };

struct times {
    double came_us, left_us;
};

static void compute(int steps)
{
    for (volatile int i = 0; i < steps; i++)
        ;
}

/* On node 0: returns true if the first node left after the last had arrived. */
static int holds(int round, int nodes, struct times own)
{
    double last_came_us = own.came_us, first_left_us = own.left_us;

    for (int node = 1; node < nodes; node++) {
        int src = node, type = TYPE_TIMES + round;
        struct times other;

        if (nread(&other, sizeof other, &src, &type, NULL) != sizeof other)
            return 0;
        if (other.came_us > last_came_us)
            last_came_us = other.came_us;
        if (other.left_us < first_left_us)
            first_left_us = other.left_us;
    }
    return first_left_us >= last_came_us;
}

int main(void)
{
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    for (int round = 0; round < ROUNDS; round++) {
        struct times own;

        compute((node * 7 + round * 5) % 32 * 300);
        own.came_us = amicclk();
        int result = nsync(TYPE_SYNC);
        own.left_us = amicclk();
        if (result < 0)
            return 1;
        if (node != 0) {
            nwrite(&own, sizeof own, 0, TYPE_TIMES + round, NULL);
        } else if (!holds(round, 1 << dim, own)) {
            printf("barrier %d does not hold\n", round);
            return 1;
        }
    }
    if (node == 0)
        printf("%d barriers hold\n", ROUNDS);
    return 0;
}

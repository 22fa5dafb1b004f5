/*
 * A program that does not end on 4 nodes: node 3 computes, node 2 waits for a message that nobody sends, and the others
 * wait for both in nsync.
 */
#include <nself.h>
#include <stdio.h>

static volatile long turns;

static void __attribute__((noinline)) compute(void)
{
    for (;;)
        turns = turns * 3 + 1;
}

int main(void)
{
    int node, proc, host, dim, src = 1, type = 5;
    char buf[8];

    whoami(&node, &proc, &host, &dim);
    if (node == 0) {
        printf("runs\n");
        fflush(stdout);
    }
    if (node == 3)
        compute();
    if (node == 2)
        nread(buf, sizeof buf, &src, &type, NULL);
    return nsync(1);
}

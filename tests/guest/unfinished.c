/*
 * A program that does not end on 4 nodes: node 3 computes, node 2 waits for a message that nobody sends, and the others
 * wait for both in nsync. With an argument it computes in the C library.
 */
#include <nself.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile long turns;

static void __attribute__((noinline)) compute(void)
{
    for (;;)
        turns = turns * 3 + 1;
}

/* Almost all of its time is the library's. */
static void __attribute__((noinline)) fill(void)
{
    static char bytes[1 << 20];

    for (;;) {
        memset(bytes, (int)turns, sizeof bytes);
        turns = bytes[turns & 1023] + 1;
    }
}

/* Node 3 has long begun to compute then. */
static void tell(void)
{
    usleep(20000);
    nwrite("x", 1, 3, 9, NULL);
}

int main(int argc, char **argv)
{
    int node, proc, host, dim, src = 1, type = 5;
    char buf[8];

    whoami(&node, &proc, &host, &dim);
    if (node == 0) {
        printf("runs\n");
        fflush(stdout);
    }
    if (node == 3 && argc > 1 && strcmp(argv[1], "fill") == 0)
        fill();
    if (node == 3)
        compute();
    if (node == 2 && argc > 1 && strcmp(argv[1], "told") == 0)
        tell();
    if (node == 2)
        nread(buf, sizeof buf, &src, &type, NULL);
    return nsync(1);
}

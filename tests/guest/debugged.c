/*
 * For tests of gdb on the machine (tests/machine/test_gdb.sh): every node but 0 works a little and sends its result to
 * node 0, which adds them up. With a word: "fault": the last node then stores to address 8. "early": it does so instead
 * of sending. "stuck": all wait for a message that nobody sends. "loop": all run for ever.
 */
#include <nself.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TYPE_RESULT 7
#define TYPE_NEVER  9

struct point {
    double x;
    int node;
};

static struct point here;
static int total;
static volatile unsigned turns;

static int add(int k)
{
    total += k;
    return k * 2;
}

static int work(int node)
{
    double half = node + 0.5;

    here = (struct point){half, node};
    for (int i = 1; i <= 3; i++)
        add(i * node);
    return (int)half;
}

static int receive(int wanted)
{
    int value = 0, from = -1, type = wanted;

    nread((char *)&value, sizeof value, &from, &type, NULL);
    return value;
}

static void collect(int nodes)
{
    int sum = 0;

    for (int i = 1; i < nodes; i++)
        sum += receive(TYPE_RESULT);
    printf("sum %d\n", sum);
}

static void fault(int node)
{
    *(volatile int *)8 = node;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int node, process, host, dim;

    whoami(&node, &process, &host, &dim);
    int result = work(node);
    bool last = node == (1 << dim) - 1;

    if (last && strcmp(how, "early") == 0)
        fault(node);
    if (node == 0)
        collect(1 << dim);
    else
        nwrite((char *)&result, sizeof result, 0, TYPE_RESULT, NULL);
    if (strcmp(how, "stuck") == 0)
        receive(TYPE_NEVER);
    while (strcmp(how, "loop") == 0)
        turns++;
    if (last && strcmp(how, "fault") == 0)
        fault(node);
    return 0;
}

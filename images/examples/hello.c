/*
 * Every node prints its number.
 */
#include <nself.h>
#include <stdio.h>

int main(void)
{
    int node, proc, host, dim;

    whoami(&node, &proc, &host, &dim);
    printf("hello from node %d of %d\n", node, 1 << dim);
    return 0;
}

/*
 * Every node prints its number.
 */
#include <nself.h>
#include <stdio.h>

int main(void)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    printf("hello from node %d of %d\n", node, ncubesize());
    return 0;
}

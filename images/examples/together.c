/*
 * Global mode: all nodes make the same calls, and input and output happen once. They ask for a number, add up the
 * squares to it, each a part, and print the sum.
 *
 *     echo 1000 | ncube run -d 3 examples/together
 */
#include <npara_prt.h>
#include <nself.h>
#include <stdio.h>

int main(void)
{
    int n, node = npid(), nodes = ncubesize();
    double sum = 0;

    nglobal();
    printf("how many? ");
    if (scanf("%d", &n) != 1)
        return 1;
    nlocal();
    for (int i = 1 + node; i <= n; i += nodes)
        sum += (double)i * i;
    if (node == nodes - 1)
        printf("node %d has %.0f\n", node, sum); /* in local mode each node prints for itself */
    sum = dsumn(sum);
    nglobal();
    printf("the squares to %d add up to %.0f\n", n, sum);
    return 0;
}

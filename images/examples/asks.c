/*
 * One of two programs that work together on one subcube: this one asks, `answers` answers.
 *
 *     ncube run -d 2 -n 2 examples/asks : -n 2 examples/answers
 *
 * The first nodes run this program, the others the second one; node n asks its neighbour in the highest dimension.
 */
#include <n_errno.h>
#include <nself.h>
#include <stdio.h>

#define QUESTION 1
#define ANSWER   2

int main(void)
{
    int node, dim;
    long number;

    whoami(&node, NULL, NULL, &dim);
    int partner = node ^ 1 << (dim - 1), type = ANSWER;
    number = 10 + node;
    if (nwrite(&number, sizeof number, partner, QUESTION, NULL) < 0 ||
        nread(&number, sizeof number, &partner, &type, NULL) < 0) {
        nperror("asks");
        return 1;
    }
    printf("node %d: the square of %d is %ld\n", node, 10 + node, number);
    return 0;
}

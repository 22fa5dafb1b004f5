/*
 * An addressing domain: the nodes are a matrix with rows of four, each node has a number, and each row adds up its own
 * with a routine for whole programs.
 *
 *     ncube run -d 3 examples/rows
 */
#include <npara_prt.h>
#include <nself.h>
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

enum { COLUMNS = 4, SUM = 1 };

int main(void)
{
    int node = npid(), nodes = ncubesize(), program = nself;
    int columns = nodes < COLUMNS ? nodes : COLUMNS, first = node / columns * columns, member[COLUMNS];

    for (int k = 0; k < columns; k++)
        member[k] = first + k;
    int row = ndomain(program, columns, member);
    if (row < 0) {
        perror("ndomain");
        return 1;
    }
    nself = row; /* from here on the program is this row */
    int place = npid(), sum = isumn(node * node);
    nself = program;
    if (place == 0)
        nwrite(&sum, sizeof sum, 0, SUM, NULL);
    for (int from = 0, type = SUM; node == 0 && from < nodes; from += columns) {
        nread(&sum, sizeof sum, &from, &type, NULL);
        printf("nodes %d to %d: %d\n", from, from + columns - 1, sum);
    }
    return close(row);
}

/*
 * Jacobi's iteration on a torus: each node has a square of points and exchanges its edges with four neighbours in the
 * cube; every tenth step all nodes learn the largest change. Prints the virtual microseconds that the steps took.
 *
 *   jacobi STEPS
 */
#include <math.h>
#include <npara_prt.h>
#include <nself.h>
#include <ntime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, MEET_EVERY = 10 };

static double now[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2]; /* from 1 on; around them the neighbours' edges */
static int neighbour[4];                                         /* up, down, left, right */

static int gray(int i)
{
    return i ^ i >> 1;
}

static int inverse_gray(int code)
{
    int i = 0;

    for (; code > 0; code >>= 1)
        i ^= code;
    return i;
}

static void find_neighbours(int node, int dim)
{
    int right_bits = dim / 2, rows = 1 << (dim - right_bits), columns = 1 << right_bits;
    int row = inverse_gray(node >> right_bits), column = inverse_gray(node & (columns - 1));

    neighbour[0] = gray((row + rows - 1) % rows) << right_bits | gray(column);
    neighbour[1] = gray((row + 1) % rows) << right_bits | gray(column);
    neighbour[2] = gray(row) << right_bits | gray((column + columns - 1) % columns);
    neighbour[3] = gray(row) << right_bits | gray((column + 1) % columns);
}

/* The i-th point of the line that lies `out` points outside of a side. */
static double *point(int side, int out, int i)
{
    return side == 0   ? &now[1 - out][1 + i]
           : side == 1 ? &now[SIDE + out][1 + i]
           : side == 2 ? &now[1 + i][1 - out]
                       : &now[1 + i][SIDE + out];
}

static void exchange_edges(void)
{
    double edge[SIDE];

    for (int side = 0; side < 4; side++) {
        for (int i = 0; i < SIDE; i++)
            edge[i] = *point(side, 0, i);
        if (nwrite(edge, sizeof edge, neighbour[side], side, NULL) < 0)
            exit(1);
    }
    for (int side = 0; side < 4; side++) {
        int source = neighbour[side], type = side ^ 1; /* what is its upper edge is sent up */

        if (nread(edge, sizeof edge, &source, &type, NULL) != (int)sizeof edge)
            exit(1);
        for (int i = 0; i < SIDE; i++)
            *point(side, 1, i) = edge[i];
    }
}

static double step(void)
{
    double change = 0;

    for (int r = 1; r <= SIDE; r++)
        for (int c = 1; c <= SIDE; c++) {
            next[r][c] = (now[r - 1][c] + now[r + 1][c] + now[r][c - 1] + now[r][c + 1]) / 4;
            double difference = fabs(next[r][c] - now[r][c]);
            change = difference > change ? difference : change;
        }
    memcpy(now, next, sizeof now);
    return change;
}

int main(int argc, char **argv)
{
    int node, dim, steps = argc > 1 ? atoi(argv[1]) : 0;

    whoami(&node, NULL, NULL, &dim);
    find_neighbours(node, dim);
    for (int i = 0; node == 0 && i < SIDE; i++)
        now[1][1 + i] = 100;
    double begin_us = amicclk();
    for (int i = 1; i <= steps; i++) {
        exchange_edges();
        double change = step();
        if (i % MEET_EVERY == 0 && dmaxn(change) <= 0)
            return 1; /* the plate is never even so early */
    }
    if (node == 0)
        printf("%.0f\n", amicclk() - begin_us);
    return 0;
}

/*
 * Heat in a square plate, whose upper edge is hot. Each node has a rectangle of the plate; in each step it exchanges
 * edges with its four neighbours, then each point becomes the mean of the four around it. Rows and columns of
 * rectangles lie in the cube by Gray code, so all neighbours of a rectangle are neighbours of its node.
 *
 *     ncube run -d 4 --report=heat.html examples/heat
 *
 * Prints the heat of one point, which is the same on any number of nodes.
 */
#include <nmon.h>
#include <nself.h>
#include <ntime.h>
#include <stdio.h>
#include <string.h>

#include "must.h"

#define SIDE    128 /* points of the plate in a row */
#define STEPS   40
#define DIM_MAX 10

enum side { UP, DOWN, LEFT, RIGHT, SIDES };

static double now[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2]; /* from 1 on; around them the neighbours' edges */
static int rows, columns;                                        /* of this node's rectangle */
static int neighbour[SIDES];                                     /* nodes; -1: the plate ends there */

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

/* Returns the node of a rectangle, or -1. The high bits of a node are its row's. */
static int node_at(int row, int column, int down_bits, int right_bits)
{
    if (row < 0 || row >= 1 << down_bits || column < 0 || column >= 1 << right_bits)
        return -1;
    return gray(row) << right_bits | gray(column);
}

/* Returns the i-th point of the line that lies `out` points outside of a side: 0 is the edge itself, 1 beyond it. */
static double *point(enum side side, int out, int i)
{
    switch (side) {
    case UP:
        return &now[1 - out][1 + i];
    case DOWN:
        return &now[rows + out][1 + i];
    case LEFT:
        return &now[1 + i][1 - out];
    default:
        return &now[1 + i][columns + out];
    }
}

static void send_edge(enum side side)
{
    double edge[SIDE];
    int n = side == UP || side == DOWN ? columns : rows;

    for (int i = 0; i < n; i++)
        edge[i] = *point(side, 0, i);
    must("nwrite", nwrite(edge, n * (int)sizeof *edge, neighbour[side], side, NULL));
}

/* What a neighbour below has sent is its upper edge. */
static void receive_edge(enum side side)
{
    static const enum side opposite[] = {[UP] = DOWN, [DOWN] = UP, [LEFT] = RIGHT, [RIGHT] = LEFT};
    double edge[SIDE];
    int n = side == UP || side == DOWN ? columns : rows, type = opposite[side];

    must("nread", nread(edge, n * (int)sizeof *edge, &neighbour[side], &type, NULL));
    for (int i = 0; i < n; i++)
        *point(side, 1, i) = edge[i];
}

static void step(void)
{
    for (int side = 0; side < SIDES; side++)
        if (neighbour[side] >= 0)
            send_edge((enum side)side);
    for (int side = 0; side < SIDES; side++)
        if (neighbour[side] >= 0)
            receive_edge((enum side)side);
    for (int r = 1; r <= rows; r++)
        for (int c = 1; c <= columns; c++)
            next[r][c] = (now[r - 1][c] + now[r + 1][c] + now[r][c - 1] + now[r][c + 1]) / 4;
    for (int r = 1; r <= rows; r++)
        memcpy(&now[r][1], &next[r][1], (size_t)columns * sizeof now[r][1]);
}

int main(void)
{
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    if (dim > DIM_MAX) {
        fprintf(stderr, "heat: at most %d nodes\n", 1 << DIM_MAX);
        return 2;
    }
    int down = dim / 2, right = dim - down;
    int row = inverse_gray(node >> right), column = inverse_gray(node & ((1 << right) - 1));
    rows = SIDE >> down;
    columns = SIDE >> right;
    neighbour[UP] = node_at(row - 1, column, down, right);
    neighbour[DOWN] = node_at(row + 1, column, down, right);
    neighbour[LEFT] = node_at(row, column - 1, down, right);
    neighbour[RIGHT] = node_at(row, column + 1, down, right);
    for (int i = 0; row == 0 && i < columns; i++)
        *point(UP, 1, i) = 1000;
    nmark("steps");
    double start_us = amicclk();
    for (int i = 0; i < STEPS; i++)
        step();
    int shown_row = STEPS / 4 - 1, shown_column = SIDE / 2; /* of the plate */
    if (shown_row / rows == row && shown_column / columns == column)
        printf("after %d steps: %.6f in row %d; %.0f us\n", STEPS,
               now[1 + shown_row % rows][1 + shown_column % columns], shown_row, amicclk() - start_us);
    return 0;
}

/*
 * Heat in a square plate, as data-parallel code (<cstar.h>): each point is a virtual processor. After some steps the
 * plate is written to a parallel file, a checkpoint; another run, on any number of nodes, reads it and goes on.
 *
 *     ncube run -d 3 -m sandia --images disks examples/starheat 20
 *     ncube run -d 2 -m sandia --images disks examples/starheat 20 restart
 *
 * Prints the heat of one point and how many steps it took in all, the same on any number of nodes.
 */
#include <cstar.h>
#include <nself.h>
#include <stdlib.h>

#include "must.h"

#define SIDE      64 /* points of the plate in a row */
#define FILE_NAME "/plate"

struct point {
    double heat;
    int steps;
};

/* What a node has of the plate: its rows, between a neighbour's last and a neighbour's first. */
static struct point *plate; /* local VP i at plate + SIDE + i */
static double *next;

static void die(const char *what)
{
    cs_perror(what);
    exit(1);
}

/* Sends the heat of a row to a node, and receives one from another; -1: there is none. */
static void pass_row(long from, int to_node, long to, int from_node, int type)
{
    double row[SIDE];

    for (int i = 0; i < SIDE; i++)
        row[i] = plate[from + i].heat;
    if (to_node >= 0)
        must("nwrite", nwrite(row, sizeof row, to_node, type, NULL));
    if (from_node < 0)
        return;
    must("nread", nread(row, sizeof row, &from_node, &type, NULL));
    for (int i = 0; i < SIDE; i++)
        plate[to + i].heat = row[i];
}

/* One step of all VPs: scalar code that every node executes, then code for each VP. */
static void step(const struct cs_shape *s)
{
    long n = cs_local(s);
    int node, nodes = ncubesize();

    whoami(&node, NULL, NULL, NULL);
    int above = node > 0 ? node - 1 : -1, below = node < nodes - 1 ? node + 1 : -1;
    pass_row(SIDE, above, SIDE + n, below, 1); /* the first row goes up */
    pass_row(n, below, 0, above, 2);           /* the last one down */
    for (long i = 0; i < n; i++) {
        struct point *p = &plate[SIDE + i];
        double left = cs_pcoord(s, i, 1) > 0 ? p[-1].heat : 0, right = cs_pcoord(s, i, 1) < SIDE - 1 ? p[1].heat : 0;

        next[i] = (p[-SIDE].heat + p[SIDE].heat + left + right) / 4;
    }
    for (long i = 0; i < n; i++) {
        plate[SIDE + i].heat = next[i];
        plate[SIDE + i].steps++;
    }
}

static void restart(const struct cs_shape *s)
{
    CS_FILE *f = cs_fopen(FILE_NAME, "r");

    if (!f || cs_fread(CS_PAR(s, plate + SIDE), sizeof *plate, 1, f) < 0 || cs_fclose(f) < 0)
        die("starheat: cannot read the checkpoint");
}

static void checkpoint(const struct cs_shape *s)
{
    CS_FILE *f = cs_fopen(FILE_NAME, "w");

    /* What only one node could not write, cs_fclose tells all. */
    if (!f || cs_fwrite(CS_PAR(s, plate + SIDE), sizeof *plate, 1, f) < 0 || cs_fclose(f) < 0)
        die("starheat: cannot write the checkpoint");
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 20;

    if (cs_init(0, 0) < 0)
        die("starheat: cs_init");
    struct cs_shape *s = cs_shape(2, (const long[]){SIDE, SIDE});
    if (!s || SIDE % ncubesize() != 0) {
        printf("starheat: give a power of two of nodes, at most %d\n", SIDE);
        return 2;
    }
    long n = cs_local(s), shown = (SIDE / 8) * SIDE + SIDE / 2;
    plate = calloc((size_t)n + 2 * SIDE, sizeof *plate);
    next = calloc((size_t)n, sizeof *next);
    if (!plate || !next)
        die("starheat: calloc");
    CS_WITH(s)
    {
        if (argc > 2)
            restart(s);
        for (int i = 0; cs_number(s, 0) == 0 && i < SIDE; i++)
            plate[i].heat = 1000; /* beyond the upper edge */
        for (int i = 0; i < steps; i++)
            step(s);
        checkpoint(s);
        CS_EACH(i)
        if (cs_number(s, i) == shown)
            printf("after %d steps: %.6f\n", plate[SIDE + i].steps, plate[SIDE + i].heat);
    }
    return 0;
}

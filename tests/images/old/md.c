/* Molecular dynamics, all pairs: each node has some atoms, and all positions go round a ring of nodes. */
#include <stdio.h>
#include <math.h>

#define ATOMS 64
#define STEPS 20
#define DT 0.002
#define RING 7
#define ENERGY 300
#define START 1000

typedef struct { double x[3], v[3], f[3]; } ATOM;
typedef struct { double x[3]; } PLACE;

extern int md_node, md_nodes;
double md_gsum();

static ATOM atom[ATOMS];
static int mine;

static double pair(a, p)
ATOM *a;
PLACE *p;
{
    double d[3], r2 = 0, s6, f;
    int k;

    for (k = 0; k < 3; k++) {
        d[k] = a->x[k] - p->x[k];
        r2 += d[k] * d[k];
    }
    if (r2 == 0 || r2 > 6.25)
        return 0;
    s6 = 1 / (r2 * r2 * r2);
    f = 24 * s6 * (2 * s6 - 1) / r2;
    for (k = 0; k < 3; k++)
        a->f[k] += f * d[k];
    return 2 * s6 * (s6 - 1);
}

static double forces()
{
    PLACE going[ATOMS];
    double potential = 0;
    int i, j, hop, left, type, right = (md_node + 1) % md_nodes;

    for (i = 0; i < mine; i++)
        for (j = 0; j < 3; j++) {
            atom[i].f[j] = 0;
            going[i].x[j] = atom[i].x[j];
        }
    for (hop = 0; hop < md_nodes; hop++) {
        for (i = 0; i < mine; i++)
            for (j = 0; j < mine; j++)
                potential += pair(&atom[i], &going[j]);
        md_write((char *) going, mine * sizeof(PLACE), right, RING);
        left = -1;
        type = RING;
        while (md_probe(&left, &type) < 0)
            ;
        md_read((char *) going, mine * sizeof(PLACE), &left, &type);
    }
    return md_gsum(potential, ENERGY);
}

static double kinetic()
{
    double sum = 0;
    int i, k;

    for (i = 0; i < mine; i++)
        for (k = 0; k < 3; k++)
            sum += atom[i].v[k] * atom[i].v[k] / 2;
    return md_gsum(sum, ENERGY + 50);
}

static kick()
{
    int i, k;

    for (i = 0; i < mine; i++)
        for (k = 0; k < 3; k++)
            atom[i].v[k] += DT / 2 * atom[i].f[k];
}

main()
{
    double spacing = 1.2, before, after;
    int i, k, n, id;

    md_init();
    md_broadcast((char *) &spacing, sizeof spacing, START);
    mine = ATOMS / md_nodes;
    for (i = 0; i < mine; i++)
        for (id = md_node * mine + i, k = 0; k < 3; k++, id /= 4) {
            atom[i].x[k] = spacing * (id % 4);
            atom[i].v[k] = 0.1 * ((md_node * mine + i) * 7 % 5 - 2);
        }
    before = forces() + kinetic();
    for (n = 0; n < STEPS; n++) {
        kick();
        for (i = 0; i < mine; i++)
            for (k = 0; k < 3; k++)
                atom[i].x[k] += DT * atom[i].v[k];
        after = forces();
        kick();
    }
    after += kinetic();
    if (md_node == 0)
        printf("energy %s\n", fabs(after - before) < 1e-3 * fabs(before) ? "kept" : "lost");
    return 0;
}

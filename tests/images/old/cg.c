/* Conjugate gradients for the Laplacian of a square, in strips of rows; boundary rows go to the neighbours. */
#include <stdio.h>
#include <math.h>

#define N 32
#define ROWS 32
#define UP 100
#define DOWN 101
#define SUM 200

extern int md_node, md_nodes;
double md_gsum(), md_seconds();

static double x[ROWS + 2][N + 2], r[ROWS + 2][N + 2], p[ROWS + 2][N + 2], q[ROWS + 2][N + 2];
static int rows;

static exchange(v)
double v[ROWS + 2][N + 2];
{
    int above = md_node - 1, below = md_node + 1, up = UP, down = DOWN;

    if (above >= 0)
        md_write(&v[1][0], sizeof v[1], above, UP);
    if (below < md_nodes)
        md_write(&v[rows][0], sizeof v[1], below, DOWN);
    if (below < md_nodes)
        md_read(&v[rows + 1][0], sizeof v[1], &below, &up);
    if (above >= 0)
        md_read(&v[0][0], sizeof v[1], &above, &down);
}

static apply(to, v)
double to[ROWS + 2][N + 2], v[ROWS + 2][N + 2];
{
    register int i, j;

    exchange(v);
    for (i = 1; i <= rows; i++)
        for (j = 1; j <= N; j++)
            to[i][j] = 4 * v[i][j] - v[i - 1][j] - v[i + 1][j] - v[i][j - 1] - v[i][j + 1];
}

static double dot(a, b)
double a[ROWS + 2][N + 2], b[ROWS + 2][N + 2];
{
    double sum = 0;
    register int i, j;

    for (i = 1; i <= rows; i++)
        for (j = 1; j <= N; j++)
            sum += a[i][j] * b[i][j];
    return md_gsum(sum, SUM);
}

main(argc, argv)
int argc;
char **argv;
{
    int i, j, n;
    double rho, old, alpha;

    md_init();
    rows = N / md_nodes;
    for (i = 1; i <= rows; i++)
        for (j = 1; j <= N; j++)
            p[i][j] = r[i][j] = 1;
    rho = dot(r, r);
    for (n = 0; n < 200 && sqrt(rho) > 1e-10; n++) {
        apply(q, p);
        alpha = rho / dot(p, q);
        for (i = 1; i <= rows; i++)
            for (j = 1; j <= N; j++) {
                x[i][j] += alpha * p[i][j];
                r[i][j] -= alpha * q[i][j];
            }
        old = rho;
        rho = dot(r, r);
        for (i = 1; i <= rows; i++)
            for (j = 1; j <= N; j++)
                p[i][j] = r[i][j] + rho / old * p[i][j];
    }
    alpha = md_gsum(dot(x, x) / md_nodes, SUM);
    if (md_node == 0)
        printf("%s, |x| %.6f, %s\n", n < 200 ? "converged" : "did not converge", sqrt(alpha),
               md_seconds() > 0 ? "in time" : "no time");
    exit(0);
}

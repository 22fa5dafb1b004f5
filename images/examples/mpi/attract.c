/*
 * Bodies that attract each other, all pairs: the bodies of all ranks go round a ring, and each rank adds the forces of
 * those that are with it while the next ones are under way.
 *
 *   mpirun -n 8 ./attract [BODIES [STEPS]]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct body {
    double x, y, z, mass;
};

static void add_forces(double (*force)[3], const struct body *own, const struct body *others, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double x = others[k].x - own[i].x, y = others[k].y - own[i].y, z = others[k].z - own[i].z;
            double r2 = x * x + y * y + z * z + 1e-6, f = others[k].mass / (r2 * sqrt(r2));

            force[i][0] += f * x;
            force[i][1] += f * y;
            force[i][2] += f * z;
        }
}

int main(int argc, char **argv)
{
    int bodies = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 4, rank, size;
    double momentum[3] = {0}, sum[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = bodies / size, doubles = n * 4, next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (n < 1 || n * size != bodies) {
        if (rank == 0)
            fprintf(stderr, "attract: %d bodies cannot be shared by %d ranks\n", bodies, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct body *own = malloc(3 * (size_t)n * sizeof *own), *here = own + n, *coming = here + n;
    double(*force)[3] = calloc((size_t)n, sizeof *force), (*speed)[3] = calloc((size_t)n, sizeof *speed);
    for (int i = 0; i < n; i++) {
        int k = rank * n + i;

        own[i] = (struct body){cos(k * 0.7) * k, sin(k * 1.1) * k, cos(k * 1.9) * k, 1 + k % 3};
    }
    double start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        memset(force, 0, (size_t)n * sizeof *force);
        memcpy(here, own, (size_t)n * sizeof *here);
        for (int k = 0; k < size; k++) {
            MPI_Request r[2];

            MPI_Irecv(coming, doubles, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &r[0]);
            MPI_Isend(here, doubles, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &r[1]);
            add_forces(force, own, here, n);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            memcpy(here, coming, (size_t)n * sizeof *here);
        }
        for (int i = 0; i < n; i++) {
            for (int d = 0; d < 3; d++)
                speed[i][d] += 0.01 * force[i][d];
            own[i].x += 0.01 * speed[i][0];
            own[i].y += 0.01 * speed[i][1];
            own[i].z += 0.01 * speed[i][2];
        }
    }
    double seconds = MPI_Wtime() - start;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            momentum[d] += own[i].mass * speed[i][d];
    MPI_Reduce(momentum, sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("attract: momentum is %s: %.6f s on %d\n",
               fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) < 1e-6 ? "zero" : "not zero", seconds, size);
    MPI_Finalize();
    return 0;
}
